// Terminates many worker threads in the middle of their calls, a few at a time, and then takes a
// run in one more thread. With `loadFirst` this thread has the addon too, and makes calls meanwhile.

import { createRequire } from 'node:module';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';

const { directory, threads, atOnce, loadFirst } = JSON.parse(process.argv[2]);
const addon = loadFirst ? createRequire(import.meta.url)('../../index.js') : undefined;
const file = new URL('thread.mjs', import.meta.url);

let next = 0;
let ended = false;
const own = loadFirst ? keepCalling() : undefined;
await Promise.all(Array.from({ length: atOnce }, terminateSome));
ended = true;
const renewals = await own;

const runDir = join(directory, 'run_last');
const last = new Worker(file, { workerData: { task: 'once', runDir, name: 'last' } });
const lease = await new Promise((resolve, reject) => {
  last.on('message', resolve).on('error', reject);
});
console.log(JSON.stringify({ terminated: next, lease, renewals }));

async function terminateSome() {
  while (next < threads) {
    const name = `thread-${next}`;
    next += 1;
    const runDir = join(directory, `run_${next % 10}`);
    const worker = new Worker(file, { workerData: { task: 'endless', runDir, name } });
    await new Promise((resolve, reject) => {
      worker.on('message', resolve).on('error', reject);
    });
    // At another point of the calls in each thread.
    for (let wait = next % 5; wait > 0; wait -= 1) await new Promise(setImmediate);
    await worker.terminate();
  }
}

async function keepCalling() {
  let count = 0;
  for (; !ended; count += 1) {
    await addon.acquireClaim(join(directory, 'run_own'), { holder: 'main', ttlMs: 3_600_000 });
  }
  return count;
}
