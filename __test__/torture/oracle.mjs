// An oracle among rivals. Several processes take one run from each other under leases of a few
// milliseconds and write its checkpoints, going on after they have lost it. The oracle takes the
// run too, lists the checkpoints, and lists them again later: what has appeared in between must
// not have been written under a fence below its own.

import { fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { workerFile } from '../helpers.mjs';
import * as peer from '../peer/claims.mjs';
import { makeStore } from '../store-helpers.mjs';
import { randomOf } from './random.mjs';

/** How the oracle takes the run, and what it may then rely on. */
const oracles = {
  addon: {
    take: ({ store, scope }, options) => store.claimRun(scope, options),
    mayAppear: ({ fence }, lease) => fence >= lease.fence,
  },
  // A worker without the addon does not seal: a write that was under way when its claim was
  // answered can still appear, and no other.
  peer: {
    take: ({ runDir }, options) => peer.acquireClaim(runDir, options),
    mayAppear: ({ fence, startedAt }, lease, takenAt) =>
      fence >= lease.fence || startedAt < takenAt,
  },
};

/**
 * Lets rivals contend for a run, and watches.
 * @param rivals the kind of each: `addon` takes and writes, `peer` takes without the addon
 * @param oracle `addon` or `peer`
 * @param seconds for how long, at least: it goes on until there was something to see
 * @returns what the rivals did, what the oracle saw, and `violations`
 */
export async function contest({ rivals, oracle, seconds, seed }) {
  const run = makeStore();
  const { take, mayAppear } = oracles[oracle];
  const random = randomOf(seed);
  const workers = await Promise.all(
    rivals.map((kind, index) => startRival(run, kind, index, seed)),
  );

  const seen = { rounds: 0, appeared: 0, late: 0 };
  const violations = [];
  const until = Date.now() + seconds * 1000;
  const sawEnough = () => Object.entries(seen).every(([key, count]) => key === 'late' || count > 0);
  while (Date.now() < until || !sawEnough()) {
    for (const { child } of workers) {
      if (child.exitCode !== null) throw new Error('a rival ended before it was told to');
    }
    const lease = await take(run, { holder: 'oracle', ttlMs: random(1, 20) });
    const takenAt = Number(process.hrtime.bigint());
    if (!lease) {
      await pause(0);
      continue;
    }
    const before = new Set((await run.store.listCheckpoints(run.scope)).map(({ write }) => write));
    await pause(random(0, 30));
    const after = await run.store.listCheckpoints(run.scope);
    seen.rounds += 1;
    for (const checkpoint of after) {
      if (before.has(checkpoint.write)) continue;
      seen.appeared += 1;
      if (checkpoint.fence < lease.fence) seen.late += 1;
      if (!mayAppear(checkpoint, lease, takenAt)) {
        const { write, fence, startedAt } = checkpoint;
        violations.push({ write, fence, oracle: lease.fence, startedAt, takenAt });
      }
    }
  }
  const did = await Promise.all(workers.map(stopRival));
  return { did, seen, violations, ...run };
}

async function startRival({ config, scope, runDir }, kind, index, seed) {
  const name = `${kind}-${index}`;
  const args = JSON.stringify({ kind, name, seed: seed + index, config, scope, runDir });
  const child = fork(workerFile('rival.mjs'), [args]);
  await once(child, 'message');
  return { child, kind };
}

async function stopRival({ child, kind }) {
  child.send('stop');
  const [did] = await once(child, 'message');
  const [code] = await once(child, 'exit');
  if (code !== 0) throw new Error(`a rival ended with ${code}`);
  return { kind, ...did };
}

/** Who contends, who watches, and what that guards. */
export const contests = {
  'four workers of the addon': { rivals: ['addon', 'addon', 'addon', 'addon'], oracle: 'addon' },
  'takers without the addon among them': {
    rivals: ['addon', 'addon', 'peer', 'peer'],
    oracle: 'addon',
  },
  'a taker without the addon that watches': {
    rivals: ['addon', 'addon', 'addon', 'peer'],
    oracle: 'peer',
  },
};

/** The sum of what all rivals did. */
export const sumOf = (did, key) => did.reduce((sum, each) => sum + each[key], 0);
