// An oracle among rivals. Several processes take one run from each other under leases of a few
// milliseconds and write its checkpoints, going on after they have lost it. The oracle stops some
// of them, wherever they are, takes the run, lists the checkpoints, lets the others go on, and lists
// again later: what has appeared in between must not have been written under a fence below its own.

import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
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
  lengthenListings(run.claims);
  const { take, mayAppear } = oracles[oracle];
  const random = randomOf(seed);
  const workers = await Promise.all(
    rivals.map((kind, index) => startRival(run, kind, index, seed)),
  );

  const seen = { rounds: 0, appeared: 0, late: 0 };
  const violations = [];
  const until = Date.now() + seconds * 1000;

  /** One claim, with a look before and after. */
  async function look() {
    const stopped = workers.filter(() => random(0, 1) === 1);
    signal(stopped, 'SIGSTOP');
    const lease = await takeSoon(() => take(run, { holder: 'oracle', ttlMs: random(1, 20) }));
    const takenAt = Number(process.hrtime.bigint());
    const before = new Set((await run.store.listCheckpoints(run.scope)).map(({ write }) => write));
    signal(stopped, 'SIGCONT');
    if (!lease) return;
    await pause(random(0, 15));
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

  try {
    while (Date.now() < until || seen.rounds === 0 || seen.appeared === 0) {
      const ended = workers.find(({ child }) => child.exitCode !== null);
      if (ended) throw new Error(`a rival ended with ${ended.child.exitCode}`);
      await look();
    }
    const did = await Promise.all(workers.map(stopRival));
    return { did, seen, violations, ...run };
  } finally {
    for (const { child } of workers) child.kill('SIGKILL');
  }
}

/**
 * Puts names into a claims directory that mean nothing. Its listing then takes most of a write's
 * time, and a rival that is stopped is most often stopped in it: when it goes on, it acts on what
 * it saw before.
 */
function lengthenListings(claims) {
  mkdirSync(claims, { recursive: true });
  for (let count = 0; count < 700; count += 1) writeFileSync(join(claims, `other-${count}`), '');
}

/** The lease, unless others keep it: as often as it takes for those that were stopped to lose it. */
async function takeSoon(take) {
  for (let count = 0; count < 20; count += 1) {
    const lease = await take();
    if (lease) return lease;
    await pause(1);
  }
  return null;
}

/** Windows has no such signals: there nobody is stopped. */
function signal(workers, name) {
  if (process.platform === 'win32') return;
  for (const { child } of workers) child.kill(name);
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
