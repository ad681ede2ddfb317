// Listings: order and pages, which directories are runs, whose runs, and options.

import assert from 'node:assert/strict';
import { existsSync, renameSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { addon, tempDir } from './helpers.mjs';
import {
  attribution,
  filesOf,
  idsOf,
  pagesOf,
  parked,
  scope,
  storeOver,
} from './listing-helpers.mjs';
import { listDurableRuns as listInPlainJs } from './peer/listing.mjs';
import { assertRefuses, makeCheckpoint } from './store-helpers.mjs';

const DAMAGED = '{"id":"cp_bad"}';

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
