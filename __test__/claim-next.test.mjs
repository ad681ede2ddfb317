// Taking the next run of a queue in one call.

import assert from 'node:assert/strict';
import { readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { noFaults } from './faults.mjs';
import { addon, bodyOf, claimsOf, HOUR_MS, namesOf } from './helpers.mjs';
import {
  attribution,
  filesOf,
  idsOf,
  layTree,
  letNamesBeKept,
  parked,
  scope,
  storeOver,
} from './listing-helpers.mjs';
import {
  assertRefuses,
  heldUpIn,
  makeCheckpoint,
  scopeOf,
  startTracedStoreCalls,
} from './store-helpers.mjs';
import { testDrains } from './torture/drain-tests.mjs';

const asWorker = (holder, more) => ({ holder, ttlMs: HOUR_MS, ...more });

testDrains({ processes: 5, lanes: 2, runs: 120 });

// Guards what a caller is told: the row as it is under its own lease.
test('a caller alone takes the runs in order, with their rows', async () => {
  const { baseDir, store } = storeOver({
    ...filesOf('run_c', 'run_a', 'run_a/children/run_b'),
    'run_a/checkpoints/cp_2.json': makeCheckpoint('cp_2', { createdAt: 9e12, ...parked(5) }),
    'run_b/claims/1.json': { holder: 'x', expiresAt: 5 },
  });
  const now = Date.now();
  const { entry, lease, ...rest } = await store.claimNext(scope, asWorker('w', { now }));
  assert.deepEqual(lease, { holder: 'w', fence: 1, expiresAt: now + HOUR_MS });
  assert.deepEqual(entry, {
    ...attribution,
    runId: 'run_a',
    checkpointCount: 2,
    latestCheckpointId: 'cp_2',
    latestCheckpointAt: 9e12,
    park: { state: 'outstanding', checkpointId: 'cp_2', requestType: 'question', parkedAt: 5 },
    claim: { ...lease, expired: false },
  });
  assert.deepEqual(rest, {});
  const [listed] = (await store.listDurableRuns(scope, { limit: 1 })).entries;
  assert.deepEqual(listed, entry);
  // The worker's own runs are not free, and a run without a checkpoint is none.
  const others = [];
  for (let next = entry; next; ) {
    next = (await store.claimNext(scope, asWorker('w')))?.entry;
    if (next) others.push(next);
  }
  assert.deepEqual(idsOf(others), ['run_a/run_b', 'run_c']);
  assert.deepEqual(namesOf(join(baseDir, 'run_b')), ['1.json']);
});

// Guards leases: a live one keeps a run, an ended or damaged one does not, and the fence goes on.
test('held runs are passed over, and others taken at the next fence', async () => {
  const { store } = storeOver({
    ...filesOf('run_a', 'run_b', 'run_c', 'run_d'),
    'run_a/claims/7.json': { holder: 'x', expiresAt: 8.64e15 },
    'run_b/claims/7.json': { holder: 'x', expiresAt: Date.now() - 1 },
    'run_c/claims/8.json': 'damaged',
    'run_d/claims/9.json': { holder: '', expiresAt: 0 },
  });
  const taken = [];
  for (let next = true; next; ) {
    next = await store.claimNext(scope, asWorker('w'));
    if (next) taken.push([next.entry.runId, next.lease.fence]);
  }
  assert.deepEqual(taken, [
    ['run_b', 8],
    ['run_c', 9],
    ['run_d', 10],
  ]);
});

test('only runs that match are taken, in the order that is asked for', async () => {
  const made = (runCreatedAt, more) => makeCheckpoint('cp_1', { runCreatedAt, ...more });
  const { store } = storeOver({
    'run_a/checkpoints/cp_1.json': made(3, parked(1, { resolvedAt: 2 })),
    'run_b/checkpoints/cp_1.json': made(1, parked(1, { deadlineAt: 50 })),
    'run_c/checkpoints/cp_1.json': made(2, parked(1)),
    'run_d/checkpoints/cp_1.json': made(0),
    'run_e/checkpoints/cp_1.json': made(1, parked(1, { resolvedAt: 2 })),
  });
  const take = async (more) => {
    const next = await store.claimNext(scope, asWorker('w', { now: 49, ...more }));
    return next?.entry.runId ?? null;
  };
  assert.equal(await take({ park: ['expired'] }), null);
  assert.equal(await take({ park: ['expired'], now: 50 }), 'run_b');
  assert.equal(await take({ park: ['resolved', 'outstanding'], orderBy: 'createdAt' }), 'run_e');
  assert.equal(await take({ park: ['resolved', 'outstanding'], orderBy: 'createdAt' }), 'run_c');
  assert.equal(await take({ park: ['resolved', 'outstanding'] }), 'run_a');
  assert.equal(await take({ park: [] }), 'run_d');
});

// Guards two calls of one worker under one name: to each its own run.
test('calls at the same time get different runs', async () => {
  const runs = Array.from({ length: 30 }, (_, number) => `run_${number}`);
  const { store } = storeOver(filesOf(...runs));
  const taken = await Promise.all(runs.map(() => store.claimNext(scope, asWorker('w'))));
  assert.deepEqual(taken.map(({ entry }) => entry.runId).sort(), runs.sort());
  assert.ok(taken.every(({ lease }) => lease.fence === 1));
  assert.equal(await store.claimNext(scope, asWorker('w')), null);
});

// Guards the re-check: held up between its look and its link, the caller must see what the run has
// become, and must not keep it.
test('a run that stops matching before it is won is given back', { skip: noFaults }, async () => {
  const { baseDir, store } = storeOver(
    Object.fromEntries(
      ['run_a', 'run_b'].map((run) => [
        `${run}/checkpoints/cp_1.json`,
        makeCheckpoint('cp_1', parked(1, { resolvedAt: 2 })),
      ]),
    ),
  );
  const options = asWorker('w', { park: ['resolved'] });
  const { pid, go, outcomes } = await startTracedStoreCalls(
    { baseDir },
    [['claimNext', scope, options]],
    { attribution, inject: ['linkat:delay_enter=3000000:when=1'] },
  );
  go();
  const isHeldUp = await heldUpIn(pid);
  await store.writeCheckpoint(scopeOf('run_a'), makeCheckpoint('cp_2', parked(3)));
  assert.ok(isHeldUp(), 'the checkpoint came before the link');
  const [{ value, error }] = await outcomes;
  assert.ifError(error);
  assert.deepEqual([value.entry.runId, value.lease.fence], ['run_b', 1]);
  assert.deepEqual(namesOf(join(baseDir, 'run_a')), ['1.json', '2.json']);
  const { holder, expiresAt } = bodyOf(join(baseDir, 'run_a'), 2);
  assert.deepEqual([holder, expiresAt], ['', 0]);
  assert.deepEqual(readdirSync(claimsOf(join(baseDir, 'run_b'))), ['1.json']);
});

// Guards one bad file against stopping everybody, and against being passed over unasked.
test('a damaged run refuses when it is next, or is passed over', async () => {
  const { baseDir, store } = storeOver({
    ...filesOf('run_a', 'run_c'),
    'run_b/checkpoints/cp_1.json': '{}',
  });
  assert.equal((await store.claimNext(scope, asWorker('w'))).entry.runId, 'run_a');
  await assertRefuses(() => store.claimNext(scope, asWorker('w')), {
    code: 'storage_error',
    mentions: ['cp_1.json', 'not a usable checkpoint'],
  });
  const passing = asWorker('w', { damaged: 'report' });
  assert.equal((await store.claimNext(scope, passing)).entry.runId, 'run_c');
  assert.equal(await store.claimNext(scope, passing), null);
  assert.deepEqual(readdirSync(join(baseDir, 'run_b')), ['checkpoints']);
});

test('bad input is refused before the disk is touched', async () => {
  const { baseDir, store } = storeOver(filesOf('run_a'));
  for (const bad of [
    undefined,
    {},
    { holder: '', ttlMs: 1 },
    { holder: 'w', ttlMs: 0 },
    { holder: 'w', ttlMs: Number.NaN },
    asWorker('w', { now: Number.NaN }),
    asWorker('w', { now: 1.7e308, ttlMs: 1.7e308 }),
    asWorker('w', { park: 'resolved' }),
    asWorker('w', { park: ['done'] }),
    asWorker('w', { orderBy: 'age' }),
    asWorker('w', { damaged: 'skip' }),
  ]) {
    await assertRefuses(() => store.claimNext(scope, bad), { code: 'invalid_config' });
  }
  await assertRefuses(() => store.claimNext(scope, { holder: 'w', ttlMs: -1 }), {
    code: 'invalid_config',
    details: { ttlMs: -1 },
    mentions: ['positive number of milliseconds'],
  });
  await assertRefuses(() => store.claimNext({ tenantId: 'a', sessionId: 'b' }, asWorker('w')), {
    code: 'invalid_config',
    mentions: ['claimNext', 'contiguous prefix'],
  });
  const without = new addon.DiskCheckpointStore({ baseDir });
  await assertRefuses(() => without.claimNext(scope, asWorker('w')), {
    code: 'invalid_config',
    mentions: ['without attribution'],
  });
  assert.equal(await store.claimNext({ tenantId: 'tnt_2' }, asWorker('w')), null);
  assert.deepEqual(readdirSync(join(baseDir, 'run_a')), ['checkpoints']);
});

// Guards a claim's durability, which the store was made with.
test('a claim of a store that outlives the loss of power is as durable', {
  skip: noFaults,
}, async () => {
  const baseDir = layTree(filesOf('run_a'));
  const traced = await startTracedStoreCalls(
    { baseDir, durability: 'power' },
    [['claimNext', scope, asWorker('w')]],
    { attribution },
  );
  traced.go();
  const [{ value, error }] = await traced.outcomes;
  assert.ifError(error);
  assert.equal(value.lease.fence, 1);
  const synced = traced.log().filter((line) => line.startsWith('fsync('));
  assert.ok(
    synced.some((line) => line.includes('/claims>')),
    'the directory',
  );
  assert.ok(
    synced.some((line) => !line.includes('/claims>')),
    'the file',
  );
  assert.ok(readFileSync(join(baseDir, 'run_a/claims/1.json')).length > 0);
});

describe('names that are kept from call to call', () => {
  // Guards `null`, which sends a worker to sleep: it is never for want of a look.
  test('are read anew before a call says that there is nothing', async () => {
    const { baseDir, store } = storeOver(filesOf('run_b', 'run_c'));
    letNamesBeKept(baseDir);
    const take = async () => (await store.claimNext(scope, asWorker('w')))?.entry.runId;
    assert.equal(await take(), 'run_b');
    // It leaves the directory at the top as it was.
    layTree(filesOf('run_b/children/run_a'), baseDir);
    assert.deepEqual([await take(), await take()].sort(), ['run_a', 'run_c']);
    assert.equal(await take(), undefined);
    layTree(filesOf('run_c/children/run_d'), baseDir);
    assert.equal(await take(), 'run_d');
  });

  // Guards whoever wants to be told: another's call that passes over trouble does not use it up.
  test('keep the trouble there was in reading them', async () => {
    const { baseDir, store } = storeOver(filesOf('run_a', 'run_b', 'run_c'));
    symlinkSync('children', join(baseDir, 'run_b/children'));
    letNamesBeKept(baseDir);
    const next = (damaged) => store.claimNext(scope, { ...asWorker('w'), damaged });
    await assert.rejects(next('refuse'), /run_b/);
    assert.equal((await next('report')).entry.runId, 'run_a');
    await assert.rejects(next('refuse'), /run_b/);
  });

  // Guards the price of a claim in a large tree, most of which is for the names.
  test('are not read for each claim', { skip: noFaults }, async () => {
    const baseDir = layTree(filesOf(...Array.from({ length: 200 }, (_, at) => `run_${at}`)));
    letNamesBeKept(baseDir);
    const calls = Array.from({ length: 10 }, () => ['claimNext', scope, asWorker('w')]);
    const traced = await startTracedStoreCalls({ baseDir }, calls, { attribution });
    traced.go();
    const outcomes = await traced.outcomes;
    assert.equal(new Set(outcomes.map(({ value }) => value.entry.runId)).size, 10);
    const looks = traced.log().filter((line) => line.includes('/children"')).length;
    // A slow machine may need more than a second for some of them, and then looks again.
    assert.ok(looks >= 200 && looks < 2_000, `${looks} looks`);
  });
});
