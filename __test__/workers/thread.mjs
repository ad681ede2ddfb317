// A worker thread that loads the addon by itself. What it does is in `workerData.task`.

import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { parentPort, workerData } from 'node:worker_threads';

const { acquireClaim, acquireClaimSync, readClaim, releaseClaim } = createRequire(import.meta.url)(
  '../../index.js',
);

const tasks = {
  /** One attempt at each run, all threads starting on each at the same time. */
  async race({ runDirs, name, threads, gate }) {
    const leases = [];
    for (const [index, runDir] of runDirs.entries()) {
      meet(gate, threads);
      const options = { holder: name, ttlMs: 3_600_000 };
      // Every other run by the call that does not leave the thread.
      const lease = index % 2 ? acquireClaimSync(runDir, options) : acquireClaim(runDir, options);
      leases.push(await lease);
    }
    parentPort.postMessage(leases);
  },

  /** Calls without end; this thread is terminated in the middle of them. */
  async endless({ runDir, name }) {
    const call = (turn) =>
      acquireClaim(`${runDir}_${turn % 4}`, { holder: name, ttlMs: 3_600_000 });
    const calls = Array.from({ length: 20 }, (_, turn) => call(turn));
    parentPort.postMessage('calling');
    for (let turn = 0; ; turn += 1) {
      calls.push(
        call(turn),
        readClaim(runDir),
        releaseClaim(runDir, turn).catch(() => {}),
      );
      await calls.shift();
      await calls.shift();
      await calls.shift();
    }
  },

  /**
   * Reads each holding the moment its name appears. `state`: the fence that was told last; and
   * whether this thread looks (1), and has looked enough (2).
   */
  async look({ claims, state }) {
    const damaged = [];
    let looks = 0;
    Atomics.store(state, 1, 1);
    Atomics.notify(state, 1);
    for (let fence = 1; Atomics.load(state, 1) === 1; ) {
      let body;
      try {
        body = readFileSync(join(claims, `${fence}.json`), 'utf8');
      } catch {
        // Not there yet, or overtaken.
        fence = Math.max(fence, Atomics.load(state, 0));
        continue;
      }
      looks += 1;
      if (!body.endsWith('}')) damaged.push({ fence, body });
      fence += 1;
    }
    parentPort.postMessage({ looks, damaged });
  },

  /** One call, and the end. */
  async once({ runDir, name }) {
    parentPort.postMessage(await acquireClaim(runDir, { holder: name, ttlMs: 3_600_000 }));
  },
};

await tasks[workerData.task](workerData);

/** Waits until all threads are here. `gate`: how many have come, and how often all had come. */
function meet(gate, threads) {
  const round = Atomics.load(gate, 1);
  if (Atomics.add(gate, 0, 1) + 1 === threads) {
    Atomics.store(gate, 0, 0);
    Atomics.add(gate, 1, 1);
    Atomics.notify(gate, 1);
  } else {
    Atomics.wait(gate, 1, round);
  }
}
