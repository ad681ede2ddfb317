// The addon on volumes as machines have them: made, mounted and unmounted here, which takes root. A
// volume that cannot be mounted is named, with the reason; the table of what was seen is in
// docs/testing.md.

import assert from 'node:assert/strict';
import {
  chmodSync,
  closeSync,
  constants,
  mkdirSync,
  openSync,
  readdirSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { TracedProcess } from '../calls/traced.mjs';
import { judge, startClaimers, stopClaimers } from '../claimers.mjs';
import { callThere } from '../faults.mjs';
import { addon, bodyOf, claimsOf, HOUR_MS, namesOf, outcome } from '../helpers.mjs';
import { attribution, scope } from '../listing-helpers.mjs';
import { makeCheckpoint, scopeOf } from '../store-helpers.mjs';
import { install, Mounts, run } from './mounts.mjs';
import { needed, small, sound, tmpfs, withoutLinks } from './volumes.mjs';

if (process.getuid?.() !== 0) throw new Error('only root can mount volumes: run this as root');
install(needed);

const RUNS = 100;
const HAMMER_MS = 2_000;
const NOBODY_UID = 65534;
const mounts = new Mounts();
const table = [];

after(() => {
  assert.deepEqual(mounts.undo(), [], 'could not be undone');
  console.log(`| volume | files without a name | outcome |\n|---|---|---|\n${table.join('\n')}`);
});

/** A test on a volume; `check` resolves to what the table says of it. */
function onVolume(name, make, check) {
  test(name, async (t) => {
    let place;
    try {
      place = await make(mounts);
    } catch (error) {
      table.push(`| ${name} | | not mounted: ${error.message} |`);
      t.diagnostic(`NOT MOUNTED: ${error.message}`);
      return;
    }
    const nameless = namelessIn(place);
    table.push(`| ${name} | ${nameless} | ${await check(place)} |`);
  });
}

/** Whether the volume has files without a name. */
function namelessIn(directory) {
  const O_TMPFILE = 0o20000000 | constants.O_DIRECTORY;
  try {
    closeSync(openSync(directory, O_TMPFILE | constants.O_WRONLY, 0o600));
    return 'yes';
  } catch (error) {
    return error.code;
  }
}

const storeIn = (baseDir) => new addon.DiskCheckpointStore({ baseDir }, attribution);
const claim = (holder, more = {}) => ({ holder, ttlMs: HOUR_MS, ...more });

/** What one worker after another does with a run. */
async function useIn(baseDir) {
  const store = storeIn(baseDir);
  const run = scopeOf();
  const runDir = join(baseDir, 'run_1');
  assert.equal((await store.claimRun(run, claim('a'))).fence, 1);
  assert.equal(await store.claimRun(run, claim('b')), null);
  assert.equal((await store.claimRun(run, claim('a'))).fence, 2);
  await store.writeCheckpoint(run, makeCheckpoint('cp_1', { iteration: 2 }), 2);
  await store.releaseRun(run, 2);
  assert.deepEqual(await addon.readClaim(runDir), { holder: '', fence: 3, expiresAt: 0 });
  const late = store.writeCheckpoint(run, makeCheckpoint('cp_1', { iteration: 9 }), 2);
  await assert.rejects(late, /no longer holds it/);
  const { entry, lease } = await store.claimNext(scope, claim('b'));
  assert.deepEqual([entry.runId, lease.fence], ['run_1', 4]);
  await store.writeCheckpoint(run, makeCheckpoint('cp_2', { createdAt: 5 }), 4);
  const now = Date.now() + 2 * HOUR_MS;
  assert.equal((await store.claimRun(run, claim('c', { now }))).fence, 5);
  const { entries } = await store.listDurableRuns(scope);
  assert.deepEqual([entries[0].checkpointCount, entries[0].claim.holder], [2, 'c']);
  assert.equal((await store.readCheckpoint(run, 'cp_1')).iteration, 2);
  await store.writeCheckpoint(run, makeCheckpoint('cp_3'));
  await store.deleteCheckpoint(run, 'cp_3');
  assert.deepEqual(readdirSync(join(runDir, 'checkpoints')).sort(), ['cp_1.json', 'cp_2.json']);
  for (let fence = 6; fence <= 50; fence += 1) {
    assert.equal((await store.claimRun(run, claim('c', { now }))).fence, fence);
  }
  assert.equal(namesOf(runDir).length, 33);
  const durable = new addon.DiskCheckpointStore({ baseDir, durability: 'power' }, attribution);
  assert.equal((await durable.claimRun(scopeOf('run_2'), claim('a'))).fence, 1);
}

/** Several processes that race for runs, then for one run. */
async function raceIn(baseDir) {
  const claimers = await startClaimers(['async', 'async', 'sync', 'sync']);
  for (let number = 0; number < RUNS; number += 1) {
    const runDir = join(baseDir, `run_race${number}`);
    const command = { op: 'claim', runDir, ttlMs: HOUR_MS };
    const leases = await Promise.all(claimers.map((claimer) => claimer.tell(command)));
    assert.equal(leases.filter(Boolean).length, 1, `${runDir} has several winners, or none`);
    assert.deepEqual(namesOf(runDir), ['1.json']);
    assert.equal(bodyOf(runDir, 1).holder, leases.find(Boolean).holder);
  }
  const runDir = join(baseDir, 'run_hammer');
  const until = Date.now() + HAMMER_MS;
  await Promise.all(claimers.map((claimer) => claimer.tell({ op: 'hammer', runDir, until })));
  const { violations, told } = judge(await stopClaimers(claimers));
  assert.deepEqual(violations, []);
  for (const name of readdirSync(claimsOf(runDir))) assert.match(name, /^\d+\.json$/);
  return told - RUNS;
}

/**
 * Holds readers up when their listing has begun, while a worker renews the run more often than
 * holdings are kept, and writes its checkpoint anew: what they answer is no older than their call.
 */
async function readLateIn(baseDir) {
  const runDir = join(baseDir, 'run_late');
  const store = storeIn(baseDir);
  const late = scopeOf('run_late');
  const write = (fence) => store.writeCheckpoint(late, makeCheckpoint(), fence);
  const traced = new TracedProcess();
  /** What a call answers whose `count`-th reading of a directory is held up. */
  async function answer(count, method, ...args) {
    const operation = { config: { baseDir }, attribution, method, args };
    const { fence } = await addon.acquireClaim(runDir, claim('a'));
    await write(fence);
    const meanwhile = async () => {
      for (let turn = 0; turn < 40; turn += 1) await addon.acquireClaim(runDir, claim('a'));
      await write(fence + 40);
    };
    const { outcome } = await traced.holdUp(operation, { name: 'getdents64', count }, meanwhile);
    assert.equal(outcome.error, undefined, outcome.error?.message);
    return { fence, value: outcome.value };
  }
  try {
    const lease = await answer(1, 'readClaim', runDir);
    assert.ok(lease.value?.fence >= lease.fence, `read ${JSON.stringify(lease)}`);
    const current = await answer(1, 'currentFence', runDir);
    assert.ok(current.value >= current.fence, `read ${JSON.stringify(current)}`);
    const checkpoints = await answer(1, 'listCheckpoints', late);
    assert.equal(checkpoints.value.length, 1);
    const { value } = await answer(3, 'listDurableRuns', scope, {});
    assert.equal(value.entries.length, 1);
  } finally {
    traced.end();
  }
}

for (const [name, make] of Object.entries(sound)) {
  onVolume(name, make, async (place) => {
    await useIn(place);
    await readLateIn(join(place, 'late'));
    const told = await raceIn(place);
    return `${RUNS} races of four, one winner each; ${told} claims of one run in two seconds, no violation`;
  });
}

for (const [name, make] of Object.entries(withoutLinks)) {
  // Guards the refusal: anything weaker than `link` would let two in.
  onVolume(name, make, async (place) => {
    const store = storeIn(place);
    const { error } = await outcome(() => store.claimRun(scopeOf(), claim('a')));
    assert.equal(error?.code, 'capability_unavailable', error?.message);
    assert.equal(error.retryable, false);
    assert.match(error.message, /cannot publish a run claim.*EPERM.*hard-link support/s);
    assert.match(error.message, /single writer per run/);
    assert.deepEqual(readdirSync(join(place, 'run_1/claims')), []);
    await store.writeCheckpoint(scopeOf(), makeCheckpoint());
    assert.equal((await store.listDurableRuns(scope)).entries[0].claim, undefined);
    return `claims refused: \`capability_unavailable\`, ${error.details.code}; a single writer’s checkpoints work`;
  });
}

/** Takes all room of a volume; returns what gives it back. */
function fill(place, by) {
  const filler = join(place, 'filler');
  mkdirSync(filler);
  if (by === 'bytes') fillBytes(join(filler, 'bytes'));
  // What is left goes to small files, one of which a claim would be.
  for (let count = 0; ; count += 1) {
    try {
      writeFileSync(join(filler, `${count}`), by === 'bytes' ? 'x'.repeat(4096) : '');
    } catch (error) {
      assert.equal(error.code, 'ENOSPC');
      break;
    }
  }
  return () => rmSync(filler, { recursive: true });
}

function fillBytes(file) {
  const descriptor = openSync(file, 'w');
  for (let size = 2 ** 20; size >= 512; ) {
    try {
      writeSync(descriptor, Buffer.alloc(size));
    } catch (error) {
      assert.equal(error.code, 'ENOSPC');
      size /= 2;
    }
  }
  closeSync(descriptor);
}

/** Makes calls for which there is no room; returns the errnos of those that were refused. */
async function useFull(store, place) {
  const refusals = new Set();
  const held = join(place, 'run_1');
  const calls = [
    ...Array.from({ length: 20 }, () => () => store.claimRun(scopeOf(), claim('a'))),
    () => store.claimRun(scopeOf('run_2'), claim('a')),
    () => store.claimRun(scopeOf('run_free'), claim('a')),
    () => store.releaseRun(scopeOf('run_3'), 1),
    () => store.writeCheckpoint(scopeOf(), makeCheckpoint('cp_1', { note: 'x'.repeat(2 ** 20) })),
  ];
  for (const call of calls) {
    const { error, value } = await outcome(call);
    if (!error) assert.notEqual(value, null, 'nobody else holds it');
    else {
      assert.equal(error.code, 'storage_error', error.message);
      assert.ok(error.message.includes(place), error.message);
      refusals.add(error.details.code ?? error.message);
    }
  }
  const current = await addon.readClaim(held);
  assert.equal(current.holder, 'a');
  return [...refusals];
}

for (const [name, { make, by }] of Object.entries(small)) {
  // Guards the check of every write before the link, and the cause in the refusal: a full volume is
  // nobody else's lease.
  onVolume(name, make, async (place) => {
    const store = storeIn(place);
    for (const id of ['run_1', 'run_3']) await store.claimRun(scopeOf(id), claim('a'));
    await store.writeCheckpoint(scopeOf(), makeCheckpoint());
    await store.claimRun(scopeOf('run_free'), claim('gone', { now: 0 }));
    const empty = fill(place, by);
    const refused = await useFull(store, place);
    assert.ok(refused.length > 0, 'it was not full');
    assert.equal((await store.readCheckpoint(scopeOf(), 'cp_1')).note, undefined);
    for (const run of ['run_1', 'run_free', 'run_3']) {
      for (const file of readdirSync(join(place, run, 'claims'))) {
        assert.match(file, /^\d+\.json$/, 'litter');
        const { holder } = bodyOf(join(place, run), Number.parseInt(file, 10));
        assert.equal(typeof holder, 'string', `${run}/${file} is damaged`);
      }
    }
    assert.deepEqual(readdirSync(join(place, 'run_1/checkpoints')), ['cp_1.json']);
    empty();
    for (const id of ['run_1', 'run_2', 'run_free']) {
      assert.equal((await store.claimRun(scopeOf(id), claim('a'))).holder, 'a');
    }
    await store.writeCheckpoint(scopeOf(), makeCheckpoint('cp_1', { note: 'there is room' }));
    assert.equal((await store.readCheckpoint(scopeOf(), 'cp_1')).note, 'there is room');
    return `refused: \`storage_error\`, ${refused.join(', ')}; no litter, nothing damaged; works again with room`;
  });
}

onVolume(
  'read-only',
  (mounts) => tmpfs(mounts, 'read-only', 'size=2m'),
  async (place) => {
    const store = storeIn(place);
    await store.claimRun(scopeOf(), claim('a'));
    await store.writeCheckpoint(scopeOf(), makeCheckpoint());
    run('mount', '-o', 'remount,ro', place);
    const calls = [
      () => store.claimRun(scopeOf(), claim('a')),
      () => store.claimRun(scopeOf('run_2'), claim('a')),
      () => store.releaseRun(scopeOf(), 1),
      () => store.writeCheckpoint(scopeOf(), makeCheckpoint(), 1),
      () => store.deleteCheckpoint(scopeOf(), 'cp_1'),
    ];
    for (const call of calls) {
      const { error } = await outcome(call);
      assert.deepEqual([error?.code, error?.details.code], ['storage_error', 'EROFS']);
    }
    assert.equal(await store.claimRun(scopeOf(), claim('b')), null);
    assert.equal((await store.listDurableRuns(scope)).entries[0].claim.holder, 'a');
    return 'writing refused: `storage_error`, EROFS; reading works';
  },
);

onVolume(
  'a directory of another user',
  (mounts) => tmpfs(mounts, 'foreign', 'size=2m'),
  async (place) => {
    for (const way of [mounts.directory, place]) chmodSync(way, 0o755);
    const runDir = join(place, 'run_1');
    await addon.acquireClaim(runDir, claim('a'));
    const asked = claim('a');
    const calls = [
      ['acquireClaim', runDir, asked],
      ['acquireClaim', join(place, 'run_2'), asked],
      ['releaseClaim', runDir, 1],
      ['readClaim', runDir],
    ];
    const outcomes = await callThere(calls, { uid: NOBODY_UID });
    for (const { error } of outcomes.slice(0, 3)) {
      assert.deepEqual([error?.code, error?.details.code], ['storage_error', 'EACCES']);
    }
    assert.equal(outcomes[3].value.holder, 'a');
    chmodSync(claimsOf(runDir), 0o700);
    const [hidden] = await callThere([['readClaim', runDir]], { uid: NOBODY_UID });
    assert.deepEqual([hidden.error?.code, hidden.error?.details.code], ['storage_error', 'EACCES']);
    return 'writing refused: `storage_error`, EACCES; reading as its rights say';
  },
);
