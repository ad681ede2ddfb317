// One of several that want the same runs: a worker thread, told by `workerData`, or a process, told
// by its argument.

import { existsSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { isMainThread, parentPort, workerData } from 'node:worker_threads';

const { acquireClaim, acquireClaimSync, readClaim, releaseClaim } = createRequire(import.meta.url)(
  'fencelink',
);
const HOUR_MS = 60 * 60 * 1000;

const tasks = {
  /** One attempt at each run, all threads starting on each at the same time. */
  async race({ runDirs, name, threads, gate }) {
    const attempts = { name, runDirs, meet: () => meetThreads(gate, threads) };
    parentPort.postMessage(await attempt(attempts));
  },

  /** Calls without end; this thread is terminated in the middle of them. */
  async endless({ runDir, name }) {
    const call = (turn) => acquireClaim(`${runDir}_${turn % 4}`, { holder: name, ttlMs: HOUR_MS });
    const calls = Array.from({ length: 20 }, (_, turn) => call(turn));
    parentPort.postMessage('calling');
    for (let turn = 0; ; turn += 1) {
      // A release of a fence below the first says nothing.
      calls.push(call(turn), readClaim(runDir), releaseClaim(runDir, 0));
      for (let count = 0; count < 3; count += 1) await calls.shift();
    }
  },

  /** One call, and the end. */
  async once({ runDir, name }) {
    parentPort.postMessage(await acquireClaim(runDir, { holder: name, ttlMs: HOUR_MS }));
  },
};

async function attempt({ name, runDirs, meet }) {
  const leases = [];
  for (const [index, runDir] of runDirs.entries()) {
    meet(index);
    const options = { holder: name, ttlMs: HOUR_MS };
    // Every other run by the call that does not leave the thread.
    const lease = index % 2 ? acquireClaimSync(runDir, options) : acquireClaim(runDir, options);
    leases.push(await lease);
  }
  return leases;
}

/** Waits until all threads are here. `gate`: how many have come, and how often all had come. */
function meetThreads(gate, threads) {
  const round = Atomics.load(gate, 1);
  if (Atomics.add(gate, 0, 1) + 1 === threads) {
    Atomics.store(gate, 0, 0);
    Atomics.add(gate, 1, 1);
    Atomics.notify(gate, 1);
  } else {
    Atomics.wait(gate, 1, round);
  }
}

/** Waits until the files of all processes say that they are here. */
function meetProcesses({ directory, name, names }, index) {
  const sign = (one) => join(directory, `at-${index}-${one}`);
  const nothing = new Int32Array(new SharedArrayBuffer(4));
  writeFileSync(sign(name), '');
  while (!names.every((one) => existsSync(sign(one)))) Atomics.wait(nothing, 0, 0, 1);
}

if (isMainThread) {
  const order = JSON.parse(process.argv[2]);
  const leases = await attempt({ ...order, meet: (index) => meetProcesses(order, index) });
  writeFileSync(join(order.directory, `${order.name}.json`), JSON.stringify(leases));
} else {
  await tasks[workerData.task](workerData);
}
