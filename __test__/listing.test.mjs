// Listings: the observed answers, and what they promise beyond them.

import assert from 'node:assert/strict';
import { existsSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { addon, snapshot, tempDir } from './helpers.mjs';
import {
  attribution,
  filesOf,
  idsOf,
  layTree,
  listingCases,
  pagesOf,
  parked,
  scope,
  storeOver,
} from './listing-helpers.mjs';
import { listDurableRuns as listInPlainJs } from './peer/listing.mjs';
import { assertRefuses, makeCheckpoint } from './store-helpers.mjs';

const DAMAGED = '{"id":"cp_bad"}';
const LIVE = { holder: 'w', expiresAt: 8.64e15 };

const cases = listingCases();

test('there are observed cases, and each option and refusal is among them', () => {
  const calls = cases.flatMap((one) => one.calls);
  assert.ok(calls.length >= 333, `only ${calls.length} calls`);
  const options = new Set(calls.flatMap((call) => Object.keys(call.options)));
  assert.deepEqual([...options].sort(), ['claimed', 'limit', 'now', 'orderBy', 'park']);
  assert.ok(calls.some(({ error }) => error));
});

// Guards the agreement with existing workers about rows, order, filters and pages; and that a
// listing, which many workers make all the time, writes nothing.
test('every observed listing is reproduced, and nothing is made on disk', async () => {
  for (const { name, attribution: own, files, calls } of cases) {
    const { baseDir, store } = storeOver(files, own);
    const before = snapshot(baseDir);
    for (const call of calls) {
      const list = (options) => store.listDurableRuns(call.scope, options);
      const told = `${name}: ${JSON.stringify(call.scope)} ${JSON.stringify(call.options)}`;
      if (call.error) {
        await assertRefuses(() => pagesOf(list, call.options), refusalOf(name));
      } else {
        const pages = await pagesOf(list, call.options);
        const entries = pages.map((page) => page.entries);
        assert.deepEqual(entries, call.pages, told);
      }
    }
    assert.deepEqual(snapshot(baseDir), before, name);
    rmSync(baseDir, { recursive: true });
  }
});

/** What is fixed about the refusals of the cases. */
function refusalOf(name) {
  if (!name.startsWith('checkpoint:')) {
    return { code: 'invalid_config', mentions: ['contiguous prefix', 'without `projectId`'] };
  }
  const file = name.includes('schema') ? {} : { mentions: ['cp_b.json'] };
  return { code: 'storage_error', ...(name.includes('schema ') && { name: /./ }), ...file };
}

// Guards that the rules are the same for rows that JavaScript keeps: the helpers must come to what
// the store comes to.
test('the pure helpers come to every observed listing too', () => {
  for (const { name, attribution: own, files, calls } of cases) {
    for (const { scope: of, options, pages } of calls) {
      const isOwn = Object.keys(of).every((key) => of[key] === own[key]);
      if (!pages || !isOwn) continue;
      const entries = entriesOf(files, own, options.now);
      const walked = [];
      let cursor;
      do {
        const page = addon.paginateDurableRuns(entries, { ...options, cursor });
        walked.push(page.entries);
        cursor = page.cursor;
      } while (cursor !== undefined);
      assert.deepEqual(walked, pages, `${name}: ${JSON.stringify(options)}`);
    }
  }
});

/** The rows of a case's files, by the helpers and plain JavaScript. */
function entriesOf(files, own, now) {
  const runs = new Map();
  const runOf = (path) => /^(?:(run_[^/]+)\/children\/)?(run_[^/]+)\//.exec(path);
  for (const [path, content] of Object.entries(files)) {
    const [at, parentRunId, runId] = runOf(path) ?? [];
    if (!at) continue;
    const run = runs.get(at) ?? { parentRunId, runId, checkpoints: [], holdings: [] };
    runs.set(at, run);
    const name = path.slice(at.length);
    if (/^checkpoints\/[^/]+\.json$/.test(name)) {
      run.checkpoints.push({ name, checkpoint: parsed(content) });
    }
    const fence = /^claims\/(\d+)\.json$/.exec(name)?.[1];
    if (fence) run.holdings.push({ fence: Number(fence), body: parsed(content) });
  }
  const entries = [];
  for (const { parentRunId, runId, checkpoints, holdings } of runs.values()) {
    // In the order in which Node.js lists a directory.
    const inOrder = checkpoints.sort((a, b) => (a.name < b.name ? -1 : 1));
    const ids = { ...own, runId, ...(parentRunId && { parentRunId }) };
    const entry = addon.toDurableRunEntry(
      ids,
      inOrder.map(({ checkpoint }) => checkpoint),
      now,
    );
    const [top] = holdings.sort((a, b) => b.fence - a.fence);
    const body = typeof top?.body?.holder === 'string' ? top.body : { holder: '', expiresAt: 0 };
    const claim = top && addon.toClaimSummary({ ...body, fence: top.fence }, now);
    if (entry) entries.push(claim ? { ...entry, claim } : entry);
  }
  return entries;
}

function parsed(content) {
  if (typeof content !== 'string') return content;
  try {
    return JSON.parse(content);
  } catch {
    return undefined;
  }
}

// Guards the order of ids and the exactness of pages on trees of some size, with ids that occur
// under several runs, ids beyond ASCII, ties of time, and every size of page.
test('pages of any size come to one listing, which is that of plain JavaScript', async () => {
  const files = {};
  const names = [
    'run_b',
    'run_B',
    'run__',
    'run_9',
    'run_\u{1f600}',
    'run_\uff5e',
    'run_é',
    'run_',
  ];
  let made = 0;
  for (const parent of names) {
    const times = [undefined, 5, 5, 7][made % 4];
    const checkpoint = { ...makeCheckpoint(), runCreatedAt: times, createdAt: made };
    files[`${parent}/checkpoints/cp_1.json`] = checkpoint;
    for (const child of names.slice(made % 3)) {
      files[`${parent}/children/${child}/checkpoints/cp_1.json`] = checkpoint;
    }
    made += 1;
  }
  const { baseDir, store } = storeOver(files);
  for (const orderBy of ['runId', 'createdAt']) {
    const list = (options) => store.listDurableRuns(scope, { orderBy, ...options });
    const { entries } = await list({ limit: 1000 });
    assert.equal(entries.length, Object.keys(files).length);
    const plain = await listInPlainJs(baseDir, attribution, { orderBy, limit: 1000 });
    assert.deepEqual(entries, plain.entries);
    for (let limit = 1; limit < entries.length + 2; limit += 3) {
      const pages = await pagesOf(list, { limit });
      assert.deepEqual(
        pages.flatMap((page) => page.entries),
        entries,
        `${limit} a page`,
      );
      assert.ok(pages.slice(0, -1).every((page) => page.entries.length === limit));
      assert.ok(!('cursor' in pages.at(-1)));
    }
  }
});

// Guards large trees: names are kept from page to page, put in order piece by piece, and judged by
// several threads, and none of it may lose, repeat or misplace a run.
test('10,000 runs page by page are one listing of all', async () => {
  const files = {};
  const expected = [];
  for (let number = 0; number < 10_000; number += 1) {
    // Every tenth is a sub-run; the order of making is not that of the ids.
    const id = `run_${((number * 7919) % 10_000).toString(36)}`;
    const path = number % 10 === 9 ? `run_parent${number % 7}/children/${id}` : id;
    files[`${path}/checkpoints/cp_1.json`] = makeCheckpoint('cp_1', { runCreatedAt: number % 50 });
    expected.push(id);
  }
  const { store } = storeOver(files);
  const list = (options) => store.listDurableRuns(scope, options);
  const { entries, ...rest } = await list({ limit: 10_000 });
  assert.deepEqual(rest, {});
  assert.deepEqual(
    entries.map(({ runId }) => runId),
    expected.sort(),
  );
  for (const limit of [97, 1_500]) {
    const pages = await pagesOf(list, { limit });
    assert.equal(pages.length, Math.ceil(10_000 / limit));
    assert.deepEqual(
      pages.flatMap((page) => page.entries),
      entries,
    );
  }
  const byCreation = await pagesOf(list, { orderBy: 'createdAt', limit: 4_000 });
  const inOrder = [...entries].sort((a, b) => a.runCreatedAt - b.runCreatedAt);
  assert.deepEqual(
    byCreation.flatMap((page) => page.entries),
    inOrder,
  );
});

// Guards the host's event loop: a large page arrives as texts that each take a moment to parse,
// and others have a turn in between.
test('a large page is parsed in pieces, with turns for others between them', async (t) => {
  const runs = Array.from({ length: 1_500 }, (_, number) => `run_${number}`);
  const { store } = storeOver(filesOf(...runs));
  const lengths = [];
  const turns = new Set();
  let turn = 0;
  const next = () => {
    turn += 1;
    counting = setImmediate(next);
  };
  let counting = setImmediate(next);
  const { parse } = JSON;
  t.mock.method(JSON, 'parse', (text) => {
    lengths.push(text.length);
    turns.add(turn);
    return parse(text);
  });
  const page = await store.listDurableRuns(scope, { limit: 1_500 });
  clearImmediate(counting);
  assert.equal(page.entries.length, 1_500);
  assert.ok(lengths.length >= 6, `${lengths.length} texts`);
  assert.ok(Math.max(...lengths) <= 64 * 1024, `one has ${Math.max(...lengths)} characters`);
  assert.ok(turns.size >= lengths.length - 1, `${lengths.length} texts in ${turns.size} turns`);
});

describe('which directories are runs', () => {
  // Guards against rows that no call can be made for, and runs that are passed over.
  test('names that do not start with run_, files and links are none', async () => {
    const more = { run_file: 'a file', 'run_empty/checkpoints': null, run_bare: null };
    const { baseDir, store } = storeOver({
      ...filesOf('run_a', 'runa', 'Run_b', 'xrun_c', '.run_d', 'run_a/run_e', 'run_f/child/run_g'),
      ...filesOf('run_p/children/run_h', 'run_p/children/h', 'x/children/run_i'),
      ...filesOf('run_p/children/run_h/children/run_j', 'run_'),
      ...more,
      'run_txt/checkpoints/cp_1.txt': makeCheckpoint(),
      'run_q/children': 'a file',
      'run_r/checkpoints': 'a file',
    });
    if (process.platform !== 'win32') {
      const { symlinkSync } = await import('node:fs');
      symlinkSync(join(baseDir, 'run_a'), join(baseDir, 'run_link'));
    }
    const { entries } = await store.listDurableRuns(scope);
    assert.deepEqual(idsOf(entries), ['run_', 'run_a', 'run_p/run_h']);
    assert.ok(existsSync(join(baseDir, 'run_file')));
  });

  // Guards ids: what is no text has none, and must not be listed under another's.
  test('a name that is not text is none', { skip: noBytesInNames() }, async () => {
    const { baseDir, store } = storeOver(filesOf('run_a', 'run_x'));
    const name = Buffer.concat([Buffer.from(`${baseDir}/run_`), Buffer.from([0xff])]);
    renameSync(join(baseDir, 'run_x'), name);
    assert.deepEqual(idsOf((await store.listDurableRuns(scope)).entries), ['run_a']);
  });

  test('a tree that is not there has no runs, and is not made', async () => {
    const baseDir = join(tempDir(), 'not', 'there');
    const store = new addon.DiskCheckpointStore({ baseDir }, attribution);
    assert.deepEqual(await store.listDurableRuns(scope), { entries: [] });
    assert.ok(!existsSync(baseDir));
  });
});

function noBytesInNames() {
  return process.platform === 'linux' ? false : 'only Linux has names that are any bytes';
}

describe('runs that cannot be judged', () => {
  const files = {
    ...filesOf('run_a', 'run_b', 'run_c', 'run_d', 'run_e'),
    'run_c/checkpoints/cp_2.json': DAMAGED,
    'run_d/children/run_bb/checkpoints/cp_3.json': 'not json',
  };

  // Guards both ends of the default: a page that ends before a damaged run is given out, and one
  // that would go beyond it is refused whole, with what to mend.
  test('refuse the page that would reach them, and no other', async () => {
    const { store } = storeOver(files);
    const first = await store.listDurableRuns(scope, { limit: 2 });
    assert.deepEqual(idsOf(first.entries), ['run_a', 'run_b']);
    assert.ok(first.cursor);
    for (const options of [{ limit: 3 }, {}, { limit: 2, cursor: first.cursor }]) {
      const refused = await assertRefuses(() => store.listDurableRuns(scope, options), {
        code: 'storage_error',
        mentions: ['cp_3.json', 'not a usable checkpoint'],
      });
      assert.equal(refused.details.file, 'cp_3.json');
      assert.match(refused.details.path, /run_bb.checkpoints$/);
      assert.match(refused.details.reason, /^not a usable checkpoint: not JSON/);
    }
    await assertRefuses(() => store.listDurableRuns(scope, { orderBy: 'createdAt', limit: 1 }), {
      code: 'storage_error',
    });
  });

  // Guards that one bad file stops nobody and is hidden from nobody: each is told of once in a
  // walk, by pages of any size.
  test('are left out and told of, once, when that is asked for', async () => {
    const { store } = storeOver(files);
    const named = [
      { runId: 'run_bb', parentRunId: 'run_d', file: 'cp_3.json', reason: /: not JSON at byte 1/ },
      { runId: 'run_c', file: 'cp_2.json', reason: /^not a usable checkpoint: `iteration`/ },
    ];
    for (const orderBy of ['runId', 'createdAt']) {
      for (const limit of [1, 2, 3, 4, 100]) {
        const list = (options) => store.listDurableRuns(scope, options);
        const pages = await pagesOf(list, { orderBy, limit, damaged: 'report' });
        assert.deepEqual(
          idsOf(pages.flatMap((page) => page.entries)),
          ['run_a', 'run_b', 'run_d', 'run_e'],
          `${orderBy}, ${limit} a page`,
        );
        const damaged = pages.flatMap((page) => page.damaged);
        assert.equal(damaged.length, 2, `${orderBy}, ${limit} a page`);
        for (const [index, { reason, ...ids }] of named.entries()) {
          assert.match(damaged[index].reason, reason);
          assert.deepEqual({ ...damaged[index], reason }, { ...ids, reason });
        }
      }
    }
    const healthy = storeOver(filesOf('run_a'));
    const page = await healthy.store.listDurableRuns(scope, { damaged: 'report' });
    assert.deepEqual(page.damaged, []);
    assert.ok(!('damaged' in (await healthy.store.listDurableRuns(scope))));
    const elsewhere = await healthy.store.listDurableRuns({ tenantId: 'x' }, { damaged: 'report' });
    assert.deepEqual(elsewhere, { entries: [], damaged: [] });
  });

  // Guards the price of a queue: most runs of it are held, and their checkpoints play no part.
  test('do not matter where the claim filter drops them', async () => {
    const { store } = storeOver({ ...files, 'run_c/claims/7.json': LIVE });
    const report = { claimed: false, damaged: 'report' };
    const { entries, damaged } = await store.listDurableRuns(scope, report);
    assert.deepEqual(idsOf(entries), ['run_a', 'run_b', 'run_d', 'run_e']);
    assert.deepEqual(idsOf(damaged), ['run_d/run_bb']);
    const held = await store.listDurableRuns(scope, { claimed: true, damaged: 'report' });
    assert.deepEqual([idsOf(held.entries), idsOf(held.damaged)], [[], ['run_c']]);
  });

  // Guards the row: a park that cannot be told must not read as none, or the run would be handed
  // to whoever asks for runs that wait for nobody.
  test('are also those whose park cannot be told', async () => {
    for (const pending of [{}, 'x', 5, { request: { type: 'q' } }, { request: 1, parkedAt: 1 }]) {
      const { store } = storeOver({
        'run_a/checkpoints/cp_1.json': makeCheckpoint('cp_1', { pending }),
      });
      await assertRefuses(() => store.listDurableRuns(scope), {
        code: 'storage_error',
        mentions: ['cp_1.json', 'not a usable checkpoint', '`pending'],
      });
    }
  });

  test('are told from those of another schema, which are not damaged but new', async () => {
    const { store } = storeOver({
      'run_a/checkpoints/cp_1.json': { ...makeCheckpoint(), schemaVersion: 2 },
    });
    const refused = await assertRefuses(() => store.listDurableRuns(scope), {
      name: 'SchemaVersionError',
      code: 'storage_error',
      found: 2,
      supported: 1,
    });
    assert.match(refused.message, /cp_1\.json.*\b2\b.*\b1\b/);
  });
});

describe('cursors', () => {
  // Guards against a walk that silently starts anywhere.
  test('that this listing did not issue are refused', async () => {
    const { store } = storeOver(filesOf('run_a', 'run_b', 'run_c'));
    const { cursor } = await store.listDurableRuns(scope, { limit: 1 });
    const byCreation = await store.listDurableRuns(scope, { limit: 1, orderBy: 'createdAt' });
    const foreign = [
      ['', 'runId'],
      ['run_a', 'runId'],
      [`${cursor}=`, 'runId'],
      [cursor.slice(0, -2), 'runId'],
      [byCreation.cursor, 'runId'],
      [cursor, 'createdAt'],
      [Buffer.from('["run_a"]').toString('base64url'), 'runId'],
      ['\ud800', 'runId'],
    ];
    for (const [text, orderBy] of foreign) {
      const refused = await assertRefuses(
        () => store.listDurableRuns(scope, { cursor: text, orderBy }),
        { code: 'invalid_config', mentions: ['not a cursor this listing issued'] },
      );
      assert.deepEqual(refused.details, { cursor: text, orderBy });
      await assertRefuses(async () => addon.paginateDurableRuns([], { cursor: text, orderBy }), {
        code: 'invalid_config',
        mentions: ['not a cursor this listing issued'],
      });
    }
    const { cursor: usual } = await store.listDurableRuns(scope, { limit: 1 });
    await assertRefuses(() => store.listDurableRuns(scope, { cursor: 5 }), {
      code: 'invalid_config',
    });
    assert.match(usual, /^[\w-]+$/);
  });

  // Guards that a cursor is a place and not a count: what comes and goes between two pages neither
  // shifts nor repeats the rest, at once and after a while.
  test('stay where they are when runs come and go', async () => {
    const { baseDir, store } = storeOver(filesOf('run_b', 'run_d', 'run_f', 'run_h'));
    // Long enough for the tree's names to be kept.
    await new Promise((resume) => setTimeout(resume, 80));
    const first = await store.listDurableRuns(scope, { limit: 2 });
    assert.deepEqual(idsOf(first.entries), ['run_b', 'run_d']);
    rmSync(join(baseDir, 'run_d'), { recursive: true });
    rmSync(join(baseDir, 'run_f'), { recursive: true });
    layTree(filesOf('run_a', 'run_c', 'run_e', 'run_g'), baseDir);
    const rest = { cursor: first.cursor };
    const expected = ['run_e', 'run_g', 'run_h'];
    assert.deepEqual(idsOf((await store.listDurableRuns(scope, rest)).entries), expected);
    layTree(filesOf('run_h/children/run_ee'), baseDir);
    await new Promise((resume) => setTimeout(resume, 1_100));
    const later = await store.listDurableRuns(scope, rest);
    assert.deepEqual(idsOf(later.entries), ['run_e', 'run_h/run_ee', 'run_g', 'run_h']);
  });

  // Guards the names that are kept from page to page: they are those of one walk in one tree, from
  // where it had come to.
  test('of several walks and trees do not mix', async () => {
    const trees = [filesOf('run_a', 'run_b', 'run_c', 'run_d'), filesOf('run_b', 'run_c', 'run_x')];
    const stores = trees.map((files) => storeOver(files).store);
    await new Promise((resume) => setTimeout(resume, 80));
    const next = async (store, cursor) => store.listDurableRuns(scope, { limit: 1, cursor });
    const [a1, b1] = [await next(stores[0]), await next(stores[1])];
    const a2 = await next(stores[0], a1.cursor);
    const a3 = await next(stores[0], a2.cursor);
    assert.deepEqual(idsOf([a1, a2, a3].flatMap(({ entries }) => entries)), [
      'run_a',
      'run_b',
      'run_c',
    ]);
    // Back to an earlier place, and with a cursor of the other tree.
    assert.deepEqual(idsOf((await next(stores[0], a1.cursor)).entries), ['run_b']);
    assert.deepEqual(idsOf((await next(stores[1], a2.cursor)).entries), ['run_c']);
    assert.deepEqual(idsOf((await next(stores[0], b1.cursor)).entries), ['run_c']);
    const ends = await Promise.all([next(stores[0], a3.cursor), next(stores[0], a3.cursor)]);
    assert.deepEqual(
      ends.map(({ entries }) => idsOf(entries)),
      [['run_d'], ['run_d']],
    );
  });
});

describe('whose runs', () => {
  // Guards tenants from each other.
  test('only those of the store, and none without attribution', async () => {
    const { baseDir, store } = storeOver(filesOf('run_a'));
    const { tenantId, projectId, sessionId } = attribution;
    for (const own of [{ tenantId }, { tenantId, projectId }, attribution]) {
      assert.equal((await store.listDurableRuns(own)).entries.length, 1);
    }
    for (const other of [
      { tenantId: 'tnt_2' },
      { tenantId, projectId: 'prj_2' },
      { tenantId, projectId, sessionId: 'ses_2' },
      { tenantId: 'tnt_2', projectId, sessionId },
    ]) {
      assert.deepEqual(await store.listDurableRuns(other), { entries: [] });
    }
    await assertRefuses(() => store.listDurableRuns({ tenantId, sessionId }), {
      code: 'invalid_config',
      mentions: ['contiguous prefix', 'without `projectId`', 'listDurableRuns'],
    });
    const without = new addon.DiskCheckpointStore({ baseDir });
    await assertRefuses(() => without.listDurableRuns(scope), {
      code: 'invalid_config',
      mentions: ['without attribution'],
    });
    for (const bad of [undefined, null, 'tnt_1', {}, { tenantId: 5 }, { ...scope, projectId: 1 }]) {
      await assertRefuses(() => store.listDurableRuns(bad), { code: 'invalid_config' });
    }
  });

  // Guards every string on its way through the addon.
  test('ids of any characters come back as they were', async () => {
    const own = { tenantId: '"\\\u0000é😀\ud800', projectId: '', sessionId: '\u2028' };
    const id = '\udc00"\\\n漢字';
    const { store } = storeOver(
      {
        'run_é "漢字/checkpoints/cp_1.json': makeCheckpoint(id, {
          pending: { request: { type: '😀\ud83d' }, parkedAt: 1.5, deadlineAt: 1e300 },
        }),
        'run_é "漢字/claims/3.json': { holder: 'w\ud800"', expiresAt: 5.25 },
      },
      own,
    );
    const { entries } = await store.listDurableRuns({ tenantId: own.tenantId }, { now: 5.25 });
    assert.deepEqual(entries, [
      {
        ...own,
        runId: 'run_é "漢字',
        checkpointCount: 1,
        latestCheckpointId: id,
        latestCheckpointAt: makeCheckpoint().createdAt,
        park: {
          state: 'outstanding',
          checkpointId: id,
          requestType: '😀\ud83d',
          parkedAt: 1.5,
          deadlineAt: 1e300,
        },
        claim: { holder: 'w\ud800"', fence: 3, expiresAt: 5.25, expired: true },
      },
    ]);
  });
});

describe('options', () => {
  test('of a wrong type are refused before the disk is touched', async () => {
    const { store } = storeOver({ 'run_a/checkpoints/cp_1.json': DAMAGED });
    for (const options of [
      null,
      [],
      'x',
      { orderBy: 'id' },
      { orderBy: null },
      { park: 'expired' },
      { park: ['parked'] },
      { park: [0] },
      { claimed: 1 },
      { claimed: null },
      { limit: '1' },
      { limit: Number.NaN },
      { cursor: null },
      { now: Number.POSITIVE_INFINITY },
      { now: '5' },
      { damaged: 'skip' },
      { damaged: true },
    ]) {
      const told = { code: 'invalid_config' };
      await assertRefuses(() => store.listDurableRuns(scope, options), told);
      await assertRefuses(async () => addon.paginateDurableRuns([], options), told);
    }
  });

  // Guards every reading of a limit: none may give an empty page or none at all.
  test('limits are cut off, at least 1, and 100 by default', async () => {
    const runs = Array.from({ length: 103 }, (_, number) => `run_${number}`);
    const { store } = storeOver(filesOf(...runs));
    for (const [limit, length] of [
      [undefined, 100],
      [0, 1],
      [-5, 1],
      [0.5, 1],
      [2.99, 2],
      [102, 102],
      [103, 103],
      [1e300, 103],
      [Number.POSITIVE_INFINITY, 103],
      [Number.NEGATIVE_INFINITY, 1],
    ]) {
      const page = await store.listDurableRuns(scope, { limit });
      assert.equal(page.entries.length, length, `limit ${limit}`);
      assert.equal('cursor' in page, length < 103);
      const entries = runs.map((runId) => ({ runId }));
      assert.equal(addon.paginateDurableRuns(entries, { limit }).entries.length, length);
    }
  });

  // Guards the default present, which is the wall clock, in parks and claims.
  test('the present is the wall clock unless it is given', async () => {
    const soon = Date.now() + 3_600_000;
    const { store } = storeOver({
      'run_a/checkpoints/cp_1.json': makeCheckpoint('cp_1', parked(1, { deadlineAt: soon })),
      'run_a/claims/1.json': { holder: 'w', expiresAt: soon },
    });
    const rowAt = async (now) => (await store.listDurableRuns(scope, { now })).entries[0];
    const states = async (now) => {
      const { park, claim } = await rowAt(now);
      return [park.state, claim.expired];
    };
    assert.deepEqual(await states(undefined), ['outstanding', false]);
    assert.deepEqual(await states(soon - 0.5), ['outstanding', false]);
    assert.deepEqual(await states(soon), ['expired', true]);
  });
});

describe('pure helpers', () => {
  const at = (id, createdAt, more) => ({ id, createdAt, ...more });

  test('summarizePark tells the wait that counts', () => {
    const summary = (...checkpoints) => addon.summarizePark(checkpoints, 100);
    assert.equal(summary(), undefined);
    assert.equal(summary(at('a', 1), at('b', 2, { pending: null })), undefined);
    const outstanding = at('a', 1, parked(1, { deadlineAt: null }));
    const expired = at('b', 2, parked(50, { deadlineAt: 100 }));
    const resolved = at('c', 3, parked(90, { deadlineAt: 95, resolvedAt: 99 }));
    assert.deepEqual(summary(resolved, expired, outstanding), {
      state: 'outstanding',
      checkpointId: 'a',
      requestType: 'question',
      parkedAt: 1,
    });
    assert.deepEqual(summary(resolved, expired), {
      state: 'expired',
      checkpointId: 'b',
      requestType: 'question',
      parkedAt: 50,
      deadlineAt: 100,
    });
    assert.deepEqual(summary(resolved), {
      state: 'resolved',
      checkpointId: 'c',
      requestType: 'question',
      parkedAt: 90,
      deadlineAt: 95,
      resolvedAt: 99,
    });
    const never = { deadlineAt: Number.POSITIVE_INFINITY };
    assert.equal(summary(at('d', 1, parked(1, never))).state, 'outstanding');
    assert.equal(summary(at('d', 1, parked(1)), at('e', 2, parked(1))).checkpointId, 'd');
  });

  test('toDurableRunEntry makes a row, and none without checkpoints', () => {
    const run = { ...attribution, runId: 'run_1', more: 'is left out' };
    assert.equal(addon.toDurableRunEntry(run, [], 100), null);
    const checkpoints = [
      at('a', 5, { runCreatedAt: 3 }),
      at('b', 7),
      at('c', 7, { runCreatedAt: 2, ...parked(1) }),
    ];
    assert.deepEqual(addon.toDurableRunEntry({ ...run, parentRunId: 'run_p' }, checkpoints, 100), {
      ...attribution,
      runId: 'run_1',
      parentRunId: 'run_p',
      runCreatedAt: 2,
      checkpointCount: 3,
      latestCheckpointId: 'b',
      latestCheckpointAt: 7,
      park: { state: 'outstanding', checkpointId: 'c', requestType: 'question', parkedAt: 1 },
    });
    const bare = addon.toDurableRunEntry(run, [at('a', 5)], 100);
    assert.deepEqual(Object.keys(bare), [
      ...['tenantId', 'projectId', 'sessionId', 'runId'],
      ...['checkpointCount', 'latestCheckpointId', 'latestCheckpointAt'],
    ]);
  });

  // Guards the rows that a host keeps: they come back as they are, and not as copies.
  test('paginateDurableRuns gives back the rows themselves', () => {
    const park = { state: 'expired' };
    const rows = [
      { runId: 'run_c', claim: { expired: false } },
      { runId: 'run_a', claim: { expired: true }, park },
      { runId: 'run_b', big: 1n, park },
      { runId: 'run_a', parentRunId: 'run_b' },
    ];
    const page = (options) => addon.paginateDurableRuns(rows, options);
    const { entries, cursor } = page({ limit: 2 });
    assert.ok(entries[0] === rows[1] && entries[1] === rows[3]);
    assert.deepEqual(idsOf(page({ cursor }).entries), ['run_b', 'run_c']);
    assert.deepEqual(idsOf(page({ claimed: true }).entries), ['run_c']);
    assert.deepEqual(idsOf(page({ claimed: false }).entries), ['run_a', 'run_b/run_a', 'run_b']);
    assert.deepEqual(idsOf(page({ park: ['expired'] }).entries), ['run_a', 'run_b']);
    assert.deepEqual(page({ park: ['resolved'] }), { entries: [] });
  });

  test('what is no checkpoint and no row is refused', async () => {
    const refuses = (call) => assertRefuses(async () => call(), { code: 'invalid_config' });
    for (const bad of [
      null,
      [],
      {},
      at(5, 1),
      at('a', Number.NaN),
      at('a', '1'),
      at('a', 1, { pending: 'x' }),
      at('a', 1, { pending: { parkedAt: 1 } }),
      at('a', 1, parked('1')),
      at('a', 1, parked(1, { deadlineAt: Number.NaN })),
    ]) {
      await refuses(() => addon.summarizePark([bad], 1));
      await refuses(() => addon.toDurableRunEntry({ ...attribution, runId: 'r' }, [bad], 1));
    }
    await refuses(() => addon.summarizePark([], Number.NaN));
    await refuses(() => addon.summarizePark({}, 1));
    await refuses(() => addon.toDurableRunEntry(null, [], 1));
    for (const bad of [{}, [null], [{}], [{ runId: 5 }], [{ runId: 'a', parentRunId: null }]]) {
      await refuses(() => addon.paginateDurableRuns(bad));
    }
  });
});

// Guards the boundary of what a listing reads: a page of one among many opens no file of the others.
test('a page reads no further than it has to', async () => {
  const { baseDir, store } = storeOver({
    ...filesOf('run_a', 'run_b'),
    ...Object.fromEntries(
      Array.from({ length: 400 }, (_, number) => [
        `run_c${String(number).padStart(3, '0')}/checkpoints/cp_1.json`,
        DAMAGED,
      ]),
    ),
  });
  const { entries, cursor } = await store.listDurableRuns(scope, { limit: 2 });
  assert.deepEqual(idsOf(entries), ['run_a', 'run_b']);
  assert.ok(cursor);
  assert.equal(readdirSync(baseDir).length, 402);
});
