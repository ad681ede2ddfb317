// Many processes over one tree: what was promised is judged from what every worker wrote down.

import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { Worker } from 'node:worker_threads';
import { judge, startClaimers, stopClaimers } from './claimers.mjs';
import {
  addon,
  bodyOf,
  claimsOf,
  HOUR_MS,
  makeRun,
  namesOf,
  putClaims,
  tempDir,
  workerFile,
} from './helpers.mjs';

const RUNS = 300;
const HAMMER_MS = 5_000;

const companies = {
  'four workers of the addon': ['async', 'async', 'async', 'sync'],
  'two of the addon and two in plain JavaScript': ['async', 'sync', 'peer', 'peer'],
};

for (const [company, kinds] of Object.entries(companies)) {
  // Guards the decision by `link` to a name that depends on the fence alone: published any other
  // way, some of these runs have two winners.
  test(`${company} race for ${RUNS} fresh and ${RUNS} expired runs`, async (t) => {
    const directory = tempDir();
    const fresh = Array.from({ length: RUNS }, (_, index) => join(directory, `run_new${index}`));
    const expired = Array.from({ length: RUNS }, (_, index) => join(directory, `run_old${index}`));
    for (const runDir of expired) putClaims(runDir, { '7.json': { holder: 'gone', expiresAt: 1 } });

    const claimers = await startClaimers(kinds);
    const winners = {};
    for (const runDir of [...fresh, ...expired]) {
      // All of them wait for this command, and it for all of them: a barrier before each run.
      const command = { op: 'claim', runDir, ttlMs: HOUR_MS };
      const leases = await Promise.all(claimers.map((claimer) => claimer.tell(command)));
      const won = leases.filter(Boolean);
      assert.equal(won.length, 1, `${runDir} has ${won.length} winners`);
      const [lease] = won;
      const old = expired.includes(runDir);
      assert.equal(lease.fence, old ? 8 : 1);
      assert.deepEqual(namesOf(runDir), old ? ['7.json', '8.json'] : ['1.json']);
      // The name carries the body of the one who won it.
      const { holder, expiresAt } = bodyOf(runDir, lease.fence);
      assert.deepEqual({ holder, expiresAt }, { holder: lease.holder, expiresAt: lease.expiresAt });
      winners[holder] = (winners[holder] ?? 0) + 1;
    }

    const record = await stopClaimers(claimers);
    assert.equal(record.length, 2 * RUNS * kinds.length);
    const { violations, told } = judge(record);
    assert.deepEqual(violations, []);
    assert.equal(told, 2 * RUNS);
    t.diagnostic(`runs by worker: ${JSON.stringify(winners)}, overlapping: ${overlaps(record)}`);
  });

  // Guards the fences across reclaims, renewals, releases and pruning at the highest rate that
  // leases of one millisecond allow.
  test(`${company} hammer one run with leases of a millisecond`, async (t) => {
    const runDir = makeRun();
    const claimers = await startClaimers(kinds);
    const until = Date.now() + HAMMER_MS;
    await Promise.all(claimers.map((claimer) => claimer.tell({ op: 'hammer', runDir, until })));
    const record = await stopClaimers(claimers);

    const { violations, told, outrun } = judge(record);
    assert.deepEqual(violations, []);
    assert.ok(told > 0);
    assert.equal(kinds.includes('peer') || outrun === 0, true);
    const highest = record.reduce((most, { lease }) => Math.max(most, lease?.fence ?? 0), 0);
    const current = await addon.currentFence(runDir);
    assert.ok(current >= highest, `the counter is at ${current}, but ${highest} was told`);
    const left = readdirSync(claimsOf(runDir));
    assert.ok(left.length <= 34 + outrun, `${left.length} files are left: ${left}`);
    assert.deepEqual(
      left.filter((name) => name.startsWith('.tmp-')),
      [],
    );
    t.diagnostic(`${told} leases told, ${outrun} of them to a peer that was outrun`);
  });
}

// Guards the order of publishing: a whole body first, then the name. Looked at the moment it
// appears, a name that is created and then written has an empty body nearly every time.
test('no first look at a holding sees less than its whole body', async (t) => {
  const runDir = makeRun({});
  const state = new Int32Array(new SharedArrayBuffer(8));
  const workerData = { task: 'look', claims: claimsOf(runDir), state };
  const watcher = new Worker(workerFile('thread.mjs'), { workerData });
  const seen = new Promise((resolve, reject) => {
    watcher.on('message', resolve).on('error', reject);
  });
  Atomics.wait(state, 1, 0);
  for (let turn = 0; turn < 2000; turn += 1) {
    const options = { holder: 'a', ttlMs: HOUR_MS };
    const lease = await (turn % 2 ? addon.acquireClaim : addon.acquireClaimSync)(runDir, options);
    Atomics.store(state, 0, lease.fence);
  }
  Atomics.store(state, 1, 2);
  const { looks, damaged } = await seen;
  assert.deepEqual(damaged, []);
  assert.ok(looks > 0, 'the watcher saw none of them');
  t.diagnostic(`${looks} first looks`);
});

/** In how many runs at least two workers were at it at the same time. */
function overlaps(record) {
  const runs = new Map();
  for (const { run, begun, ended } of record) {
    runs.set(run, [...(runs.get(run) ?? []), { begun, ended }]);
  }
  const overlap = (calls) =>
    calls.some((a) => calls.some((b) => a !== b && a.begun < b.begun && b.begun < a.ended));
  return [...runs.values()].filter(overlap).length;
}
