// Directories of earlier times, and damaged ones, frozen in `tests/fixture/directories`: each is
// read, listed and claimed anew, and every answer is written down here.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { makeOwn } from '../tests/fixture/make_directory.mjs';
import {
  addon,
  forms,
  HOUR_MS,
  holdings,
  namesOf,
  outcome,
  packageRoot,
  putClaims,
  snapshot,
  tempDir,
} from './helpers.mjs';
import { assertRefusal } from './store-helpers.mjs';

const frozen = join(packageRoot, 'tests/fixture/directories');
const attribution = { tenantId: 'tnt_one', projectId: 'prj_one', sessionId: 'ses_one' };
const listed = { tenantId: 'tnt_one' };
const scopeOf = (runId, parentRunId) => ({ ...attribution, runId, parentRunId });
const nobody = (fence) => ({ holder: '', fence, expiresAt: 0 });

/** A copy of a frozen directory, and a store over it. */
function thaw(name) {
  const baseDir = join(tempDir(), name);
  cpSync(join(frozen, name), baseDir, { recursive: true });
  const store = new addon.DiskCheckpointStore({ baseDir }, attribution);
  return { baseDir, store, runDir: (run) => join(baseDir, run) };
}

/** That a run reads as this lease in both forms, `null` for one never claimed. */
async function assertLease(runDir, lease) {
  for (const form of Object.values(forms)) {
    assert.deepEqual(await form.read(runDir), lease, runDir);
    assert.equal(await form.currentFence(runDir), lease?.fence ?? 0, runDir);
  }
}

/** Takes a run once all its leases have ended, and resolves to the fence. */
async function take(runDir) {
  const asked = { holder: 'next', ttlMs: HOUR_MS, now: 1e16 };
  const lease = await addon.acquireClaim(runDir, asked);
  await assertLease(runDir, lease);
  return lease.fence;
}

describe('a directory of the TypeScript module', () => {
  const begin = 1_700_000_000_000;

  test('is read as it was meant', async () => {
    const { baseDir, store, runDir } = thaw('typescript');
    const before = snapshot(baseDir);
    await assertLease(runDir('run_busy'), {
      holder: 'host-a-0',
      fence: 40,
      expiresAt: begin + 40 * 60_000,
    });
    await assertLease(runDir('run_busy/children/run_sub'), nobody(2));
    await assertLease(runDir('run_early'), {
      holder: 'host-a',
      fence: 1,
      expiresAt: begin + 60_000.5,
    });
    await assertLease(runDir('run_parked'), null);
    const file = join(runDir('run_busy'), 'checkpoints/cp_2.json');
    const checkpoint = await store.readCheckpoint(scopeOf('run_busy'), 'cp_2');
    assert.deepEqual(checkpoint, JSON.parse(readFileSync(file, 'utf8')));
    const early = await store.listCheckpoints(scopeOf('run_early'));
    assert.deepEqual(
      early.map(({ id, schemaVersion }) => [id, schemaVersion]),
      [['cp_1', undefined]],
    );
    assert.deepEqual(snapshot(baseDir), before);
  });

  test('is listed', async () => {
    const { store } = thaw('typescript');
    const row = (runId, checkpoints, more, ids = attribution) => ({
      ...ids,
      runId,
      runCreatedAt: begin,
      checkpointCount: checkpoints,
      latestCheckpointId: `cp_${checkpoints}`,
      latestCheckpointAt: begin + checkpoints * 1000,
      ...more,
    });
    const claim = (holder, fence, expiresAt) => ({ holder, fence, expiresAt, expired: true });
    const asked = { now: begin + 1e9 };
    const { entries, cursor } = await store.listDurableRuns(listed, asked);
    assert.equal(cursor, undefined);
    const park = (state, requestType, checkpointId, more) => ({
      state,
      requestType,
      checkpointId,
      ...more,
    });
    const resolved = { parkedAt: begin + 2000, resolvedAt: begin + 3000 };
    const expired = { parkedAt: begin + 1000, deadlineAt: begin + 9000 };
    assert.deepEqual(entries, [
      row('run_busy', 2, {
        park: park('resolved', 'plan_approval', 'cp_2', resolved),
        claim: claim('host-a-0', 40, begin + 40 * 60_000),
      }),
      row('run_early', 1, { claim: claim('host-a', 1, begin + 60_000.5) }),
      row('run_parked', 1, { park: park('expired', 'question', 'cp_1', expired) }),
      row('run_sub', 1, { claim: claim('', 2, 0) }, { ...attribution, parentRunId: 'run_busy' }),
    ]);
  });

  test('is taken over', async () => {
    const { store, runDir } = thaw('typescript');
    assert.equal(await take(runDir('run_busy')), 41);
    // What is its and not a holding stays, until it is old.
    const left = ['.tmp-1234-41-k3v9q0ab-41', ...holdings(9, 41)];
    assert.deepEqual(namesOf(runDir('run_busy')).sort(), left.sort());
    assert.equal(await take(runDir('run_busy/children/run_sub')), 3);
    assert.equal(await take(runDir('run_early')), 2);
    assert.equal(await take(runDir('run_parked')), 1);
    const next = { holder: 'next', ttlMs: HOUR_MS, now: 3e16 };
    const { entry, lease } = await store.claimNext(listed, { ...next, park: ['resolved'] });
    assert.deepEqual([entry.runId, lease.fence], ['run_busy', 42]);
  });
});

describe('a directory of this version', () => {
  const begin = 1_800_000_000_000;

  test('is read as it was meant', async () => {
    const { baseDir, store, runDir } = thaw('fencelink-0.1');
    const before = snapshot(baseDir);
    const held = { holder: 'worker-0', fence: 40, expiresAt: begin + 40 * HOUR_MS };
    await assertLease(runDir('run_held'), held);
    await assertLease(runDir('run_released'), nobody(2));
    const child = { holder: 'worker-1', fence: 1, expiresAt: begin + 1 };
    await assertLease(runDir('run_held/children/run_child'), child);
    await assertLease(runDir('run_unclaimed'), null);
    const [one, two] = await store.listCheckpoints(scopeOf('run_released'));
    assert.deepEqual([one.id, two.id, two.pending.parkedAt], ['cp_1', 'cp_2', begin]);
    assert.equal(one.messages[0].content, 'go on — “漢字” \ud83d\ude00 \ud800');
    const { entries } = await store.listDurableRuns(listed, { now: begin });
    assert.deepEqual(
      entries.map(({ runId, park, claim }) => [runId, park?.state, claim?.expired]),
      [
        ['run_child', undefined, false],
        ['run_held', undefined, false],
        ['run_released', 'outstanding', true],
        ['run_unclaimed', undefined, undefined],
      ],
    );
    assert.deepEqual(snapshot(baseDir), before);
  });

  // Guards what crashed workers of this version have left: none of it needs anybody's help.
  test('is taken over, and its staged write never appears', async () => {
    const { store, runDir } = thaw('fencelink-0.1');
    const held = runDir('run_held');
    const known = await store.readCheckpoint(scopeOf('run_held'), 'cp_1');
    assert.equal(await take(held), 41);
    const left = ['.tmp-4711-3-0f1e2d3c4b5a6978', ...holdings(9, 41)];
    assert.deepEqual(namesOf(held).sort(), left.sort());
    assert.deepEqual(await store.readCheckpoint(scopeOf('run_held'), 'cp_1'), known);
    const late = await outcome(() => store.writeCheckpoint(scopeOf('run_held'), known, 40));
    assert.match(late.error.message, /no longer holds it/);
    assert.equal(await take(runDir('run_released')), 3);
    assert.equal(await take(runDir('run_unclaimed')), 1);
  });

  // Guards the format: a change that an older version would trip over shows here first.
  test('is what the addon writes now', async () => {
    const baseDir = join(tempDir(), 'now');
    mkdirSync(baseDir);
    await makeOwn(baseDir);
    const contents = (directory) =>
      snapshot(directory)
        .filter(({ name, content }) => content !== null && !/\/\.tmp-/.test(name))
        .map(({ name, content }) => {
          const text = Buffer.from(content, 'base64').toString();
          return [name, text.replace(/"nonce":"\d+-\d+-[0-9a-f]{16}"/, '"nonce":…')];
        });
    assert.deepEqual(contents(baseDir), contents(join(frozen, 'fencelink-0.1')));
  });
});

describe('a damaged directory', () => {
  const names = (start) =>
    readdirSync(join(frozen, 'damaged')).filter((name) => name.startsWith(start));

  // Guards the order by names alone: damage to a body frees the run, and never its fence.
  test('has bodies that are nobody’s', async () => {
    const { runDir } = thaw('damaged');
    const runs = names('run_body_');
    assert.equal(runs.length, 11);
    for (const run of runs) {
      await assertLease(runDir(run), nobody(4));
      assert.equal(await take(runDir(run)), 5, run);
    }
  });

  // Guards live leases: to judge one of these damaged hands a running run to a second worker.
  test('has bodies that are sound and do not look so', async () => {
    const { runDir } = thaw('damaged');
    const holders = { duplicate: 'a', bytes: 'a\ufffd\ufffd', surrogate: '\ud800', deep: 'a' };
    assert.equal(names('run_sound_').length, Object.keys(holders).length);
    for (const [name, holder] of Object.entries(holders)) {
      const run = runDir(`run_sound_${name}`);
      await assertLease(run, { holder, fence: 4, expiresAt: 9e15 });
      const asked = { holder: 'next', ttlMs: HOUR_MS, now: 9e15 - 1 };
      assert.equal(await addon.acquireClaim(run, asked), null, name);
    }
  });

  test('has names that are no holdings, and gaps', async () => {
    const { runDir } = thaw('damaged');
    await assertLease(runDir('run_names'), { holder: 'a', fence: 5, expiresAt: 1 });
    const before = namesOf(runDir('run_names'));
    assert.equal(await take(runDir('run_names')), 6);
    assert.deepEqual(namesOf(runDir('run_names')).sort(), [...before, '6.json'].sort());
    await assertLease(runDir('run_padded'), { holder: 'a', fence: 7, expiresAt: 1 });
    assert.equal(await take(runDir('run_padded')), 8);
    assert.equal(await take(runDir('run_gaps')), 901);
    assert.deepEqual(namesOf(runDir('run_gaps')), ['900.json', '901.json']);
  });

  test('has claims that cannot be: each is refused, and says why', async () => {
    const { runDir } = thaw('damaged');
    const asked = { holder: 'next', ttlMs: HOUR_MS, now: 1e16 };
    const usedUp = await outcome(() => addon.acquireClaim(runDir('run_used_up'), asked));
    const path = join(runDir('run_used_up'), 'claims');
    assertRefusal(usedUp.error, { code: 'storage_error', retryable: false, mentions: [path] });
    const file = join(runDir('run_no_directory'), 'claims');
    const calls = [
      () => addon.acquireClaim(runDir('run_no_directory'), asked),
      () => addon.readClaim(runDir('run_no_directory')),
      () => addon.currentFence(runDir('run_no_directory')),
      () => addon.releaseClaim(runDir('run_no_directory'), 1),
    ];
    for (const call of calls) {
      const { error } = await outcome(call);
      assertRefusal(error, { code: 'storage_error', mentions: ['ENOTDIR', file] });
    }
  });

  test('has checkpoints that refuse the read and the page', async () => {
    const { store } = thaw('damaged');
    const runs = names('run_cp_');
    const why = (run) => {
      if (run === 'run_cp_later') return 'version 2';
      return run === 'run_cp_no_budget' ? 'malformed budget state' : 'not a usable checkpoint';
    };
    for (const run of runs) {
      const calls = [
        () => store.readCheckpoint(scopeOf(run), 'cp_1'),
        () => store.listCheckpoints(scopeOf(run)),
      ];
      for (const call of calls) {
        const { error } = await outcome(call);
        const expected = { code: 'storage_error', retryable: false };
        assertRefusal(error, { ...expected, mentions: [why(run), 'cp_1.json'] });
      }
      assert.equal((await store.readCheckpoint(scopeOf(run), 'cp_0')).id, 'cp_0');
    }
    const refused = await outcome(() => store.listDurableRuns(listed));
    assertRefusal(refused.error, { code: 'storage_error', mentions: ['cp_1.json'] });
    const page = await store.listDurableRuns(listed, { damaged: 'report' });
    assert.deepEqual(page.entries, []);
    assert.deepEqual(
      page.damaged.map(({ runId, file }) => [runId, file]),
      runs.map((run) => [run, 'cp_1.json']),
    );
  });

  // Guards against a call that blocks for ever, or reads what never ends.
  const unix = { skip: process.platform === 'win32' && 'there are no such files' };
  test('has holdings that are no files', unix, async (t) => {
    const put = {
      directory: (path) => mkdirSync(path),
      fifo: (path) => execFileSync('mkfifo', [path]),
      socket: (path) => {
        const server = createServer().listen(path);
        t.after(() => server.close());
        return new Promise((resolve) => server.once('listening', resolve));
      },
      device: (path) => symlinkSync('/dev/zero', path),
      loop: (path) => symlinkSync('4.json', path),
      large: (path) => {
        const body = '{"holder":"a","expiresAt":9e15}';
        writeFileSync(path, body.padEnd(2 ** 20 + 1));
      },
    };
    for (const [what, make] of Object.entries(put)) {
      const runDir = join(tempDir(), 'run_1');
      putClaims(runDir, { '3.json': { holder: 'a', expiresAt: 9e15 } });
      await make(join(runDir, 'claims', '4.json'));
      const read = await outcome(() => addon.readClaim(runDir));
      if (what === 'loop')
        assertRefusal(read.error, { code: 'storage_error', mentions: ['ELOOP'] });
      else assert.deepEqual(read, { value: nobody(4) }, what);
      assert.equal(await addon.currentFence(runDir), 4, what);
      if (what !== 'loop') assert.equal(await take(runDir), 5, what);
    }
  });

  test('has a name with a line end in it', unix, async () => {
    const runDir = join(tempDir(), 'run_1');
    putClaims(runDir, { '3.json': { holder: 'a', expiresAt: 1 } });
    putClaims(runDir, { '7.json\n': { holder: 'b', expiresAt: 9e15 } });
    assert.equal(await addon.currentFence(runDir), 3);
    assert.equal(await take(runDir), 4);
  });
});
