// Who is measured: bare system calls, the package's synchronous and asynchronous calls, and the
// protocol in plain JavaScript. Each does the same jobs; a job resolves to the milliseconds that
// each of its operations took.

import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import * as fencelink from 'fencelink';

const PEER = new URL('../__test__/peer/claims.mjs', import.meta.url).href;
const peer = await import(PEER);

const root = fileURLToPath(new URL('..', import.meta.url));
const HOLDER = 'bench';
const OTHER = 'somebody else';
const HOUR_MS = 3_600_000;

/**
 * The four calls of a claim module, by one name for each form.
 * @typedef {object} Calls
 * @property {(runDir: string, options: { holder: string, ttlMs: number }) => any} acquire
 * @property {(runDir: string) => any} fence
 */

/** @type {Record<string, Calls>} */
export const CALLS = {
  sync: { acquire: fencelink.acquireClaimSync, fence: fencelink.currentFenceSync },
  async: { acquire: fencelink.acquireClaim, fence: fencelink.currentFence },
  peer: { acquire: peer.acquireClaim, fence: peer.currentFence },
};

/** What is asked of every claim here. */
export const REQUEST = { holder: HOLDER, ttlMs: HOUR_MS };

/** @typedef {NonNullable<Awaited<ReturnType<typeof startFloor>>> | ReturnType<typeof javascript>} Contestant */

/** @param {string} name a key of {@link CALLS} */
export function javascript(name) {
  const { acquire, fence } = CALLS[name];
  /** Times n operations; an answer of another kind than expected was no such operation. */
  const each = async (n, expected, operation) => {
    const times = [];
    for (let i = 0; i < n; i += 1) {
      const before = performance.now();
      let answer = operation(i);
      // Awaiting what is no promise would charge a synchronous call for a turn of the queue.
      if (name !== 'sync') answer = await answer;
      times.push(performance.now() - before);
      if (!expected(answer)) throw new Error(`${name} answered ${JSON.stringify(answer)}`);
    }
    return times;
  };
  const isOwn = (answer) => answer?.holder === HOLDER;
  const isFirst = (answer) => isOwn(answer) && answer.fence === 1;
  /** @type {Worker[]} */
  let workers = [];
  return {
    name,
    /** First claims of new runs, numbered from `from`. */
    first: (dir, n, from) =>
      each(n, isFirst, (i) => acquire(path.join(dir, `${from + i}`), REQUEST)),
    renew: (dir, n) => each(n, isOwn, () => acquire(dir, REQUEST)),
    held: (dir, n) =>
      each(
        n,
        (answer) => answer === null,
        () => acquire(dir, { ...REQUEST, holder: OTHER }),
      ),
    fence: (dir, n) =>
      each(
        n,
        (answer) => answer > 0,
        () => fence(dir),
      ),
    /** All of them started before any is waited for; one time, of all. */
    async together(dir, n, from) {
      const before = performance.now();
      const started = [];
      for (let i = 0; i < n; i += 1) started.push(acquire(path.join(dir, `${from + i}`), REQUEST));
      await Promise.all(started);
      return [performance.now() - before];
    },
    /** Renewals in two worker threads, each of its own run; one time, of all. */
    async threads(dir, n) {
      if (workers.length === 0) {
        workers = [0, 1].map((i) => {
          const workerData = { calls: name, runDir: path.join(dir, `${i}`) };
          return new Worker(new URL('./thread.mjs', import.meta.url), { workerData });
        });
        await Promise.all(workers.map((worker) => once(worker, 'message')));
      }
      const before = performance.now();
      await Promise.all(
        workers.map((worker) => {
          worker.postMessage(n);
          return once(worker, 'message');
        }),
      );
      return [performance.now() - before];
    },
    async stop() {
      await Promise.all(workers.map((worker) => worker.terminate()));
      workers = [];
    },
  };
}

/** Builds and starts bench/floor.rs; `null` where it cannot run. */
export async function startFloor() {
  if (process.platform !== 'linux') return null;
  const build = ['build', '--release', '--example', 'floor', '--no-default-features', '--quiet'];
  const { status } = spawnSync('cargo', build, { cwd: root, stdio: ['ignore', 2, 2] });
  if (status !== 0) throw new Error('bench/floor.rs does not build');
  const child = spawn(path.join(root, 'target/release/examples/floor'), {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const answers = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const ask = async (job, dir, n, number) => {
    child.stdin.write(`${job} ${dir} ${n} ${number}\n`);
    const { value, done } = await answers.next();
    if (done) throw new Error(`bench/floor.rs ended in the middle of: ${job} ${dir}`);
    return JSON.parse(value).map((ns) => ns / 1e6);
  };
  const fence = (dir) => fencelink.currentFenceSync(dir);
  return {
    name: 'floor',
    first: (dir, n, from) => ask('first', dir, n, from),
    renew: (dir, n) => ask('renew', dir, n, fence(dir)),
    held: (dir, n) => ask('held', dir, n, fence(dir)),
    fence: (dir, n) => ask('fence', dir, n, fence(dir)),
    async together(dir, n, from) {
      return [(await ask('first', dir, n, from)).reduce((sum, ms) => sum + ms)];
    },
    threads: (dir, n) => ask('threads', dir, n, fence(path.join(dir, '0'))),
    async stop() {
      child.stdin.end();
      await once(child, 'exit');
    },
  };
}
