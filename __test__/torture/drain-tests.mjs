// Many processes that drain one queue by `claimNext`, judged from what each wrote down.

import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { test } from 'node:test';
import { readRecord } from '../claimers.mjs';
import { addon, namesOf, tempDir, workerFile } from '../helpers.mjs';
import { attribution, layTree, parked, scope } from '../listing-helpers.mjs';
import { makeCheckpoint } from '../store-helpers.mjs';

/** A tree of runs that have their decision, every fifth of them a sub-run. */
function layQueue(runs) {
  const files = {};
  for (let number = 0; number < runs; number += 1) {
    const path = number % 5 === 4 ? `run_p${number % 3}/children/run_${number}` : `run_${number}`;
    const checkpoint = makeCheckpoint('cp_1', parked(number, { resolvedAt: number + 1 }));
    files[`${path}/checkpoints/cp_1.json`] = checkpoint;
  }
  return layTree(files);
}

/**
 * Starts workers, lets them go at once, and resolves to all that they wrote down.
 * @param settings `lanes`: how many claim under one name; `outcome`: the checkpoint that a run gets
 *   before it is given back; without one it is kept
 */
async function drain(baseDir, processes, settings) {
  const directory = tempDir();
  const workers = Array.from({ length: processes }, (_, number) => {
    const holder = `worker-${number}`;
    const recordFile = join(directory, holder);
    const told = { config: { baseDir }, attribution, holder, recordFile, ...settings };
    const child = fork(workerFile('drain.mjs'), [JSON.stringify(told)]);
    return { child, recordFile, ready: once(child, 'message'), ended: once(child, 'exit') };
  });
  await Promise.all(workers.map(({ ready }) => ready));
  for (const { child } of workers) child.send('go');
  for (const { ended } of workers) assert.deepEqual(await ended, [0, null]);
  return workers.flatMap(({ recordFile }) => readRecord(recordFile));
}

/** @param size how many `processes`, each of `lanes` that claim under one name, drain `runs` */
export function testDrains({ processes, lanes, runs }) {
  const company = `${processes} processes of ${lanes}`;

  // Guards the queue: a claim that another could renew, a run that is skipped, or one that is given
  // out twice shows in the record.
  test(`${company} drain ${runs} runs and keep them: each is given out once`, async (t) => {
    const baseDir = layQueue(runs);
    const record = await drain(baseDir, processes, { lanes });
    assertEachOnce(record, runs);
    assert.ok(record.every(({ lease }) => lease.fence === 1));
    tellShares(t, record);
  });

  // Guards the re-check under the claim: what others have worked on and given back is free, and was
  // seen as matching by callers that looked before.
  test(`${company} work on ${runs} runs and give them back: each is worked on once`, async (t) => {
    const baseDir = layQueue(runs);
    const outcome = makeCheckpoint('cp_2', parked(10));
    const record = await drain(baseDir, processes, { lanes, outcome });
    assertEachOnce(record, runs);
    // A claim and a tombstone for the work; what is beyond them was claimed in vain.
    const fences = record.map(({ run, parent }) => {
      const runDir = parent ? join(baseDir, parent, 'children', run) : join(baseDir, run);
      return Number.parseInt(namesOf(runDir).at(-1), 10);
    });
    const inVain = fences.reduce((sum, fence) => sum + (fence - 2) / 2, 0);
    t.diagnostic(`${inVain / runs} claims in vain for each run`);
    assert.ok(inVain <= 3 * runs, `${inVain} claims in vain`);
    for (const [index, { lease }] of record.entries()) assert.ok(lease.fence < fences[index]);
    const store = new addon.DiskCheckpointStore({ baseDir }, attribution);
    const left = await store.listDurableRuns(scope, { park: ['resolved'] });
    assert.deepEqual(left.entries, []);
    const done = await store.listDurableRuns(scope, { claimed: false, limit: runs + 1 });
    assert.equal(done.entries.length, runs);
    tellShares(t, record);
  });
}

function assertEachOnce(record, runs) {
  const given = record.map(({ run }) => run);
  assert.equal(given.length, runs);
  assert.equal(new Set(given).size, runs);
  for (const { entry, lease, holder } of record) {
    assert.deepEqual(entry.claim, { ...lease, expired: false });
    assert.equal(lease.holder, holder);
    assert.equal(entry.park.state, 'resolved');
  }
}

function tellShares(t, record) {
  const shares = {};
  for (const { holder } of record) shares[holder] = (shares[holder] ?? 0) + 1;
  t.diagnostic(`runs by worker: ${Object.values(shares)}`);
}
