// One worker of the demo, written as a user of the package would write it: claim a run, work while
// renewing, write the result, release; whenever somebody else has a run, go on to another.
//
// As a process it drains the queue itself, or starts threads that do.

import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { isMainThread, Worker } from 'node:worker_threads';
import { isDone, listRuns, openRecord, runDir, writeResult } from './queue.mjs';

const { values } = parseArgs({
  options: {
    dir: { type: 'string', default: '' },
    name: { type: 'string', default: '' },
    claims: { type: 'string', default: 'fencelink' },
    threads: { type: 'string', default: '0' },
    ttl: { type: 'string', default: '' },
    work: { type: 'string', default: '' },
  },
});
const { dir, name: holder } = values;
const ttlMs = Number(values.ttl);
const STEPS = 5;
const stepMs = Number(values.work) / STEPS;

if (isMainThread && Number(values.threads) > 0) startThreads(Number(values.threads));
else await drain();

function startThreads(count) {
  for (let i = 1; i <= count; i += 1) {
    const argv = [...process.argv.slice(2), '--name', `${holder}.${i}`];
    new Worker(new URL(import.meta.url), { argv });
  }
}

async function drain() {
  const { acquireClaim, currentFence, releaseClaim } = await import(values.claims);
  const record = openRecord(dir, holder);

  for (let open = listRuns(dir); open.length > 0; open = open.filter((run) => !isDone(dir, run))) {
    // All that is left is held by others: look again when a lease may have ended.
    if (!(await takeFirst(open))) await sleep(ttlMs / 20);
  }
  record('finished');

  /** Holds the first run that can be had, and does it; false when there was none. */
  async function takeFirst(open) {
    for (const run of open) if (await take(run)) return true;
    return false;
  }

  /** One try at a run; true when this worker held it. */
  async function take(run) {
    if (isDone(dir, run)) return false;
    const lease = await acquireClaim(runDir(dir, run), { holder, ttlMs });
    if (lease === null) {
      record('busy', { run });
      return false;
    }
    record('claimed', { run, ...lease });
    // Somebody may have finished it between the look and the claim.
    const fence = isDone(dir, run) ? lease.fence : await work(run, lease);
    if (fence !== null) {
      record('releasing', { run, fence });
      await releaseClaim(runDir(dir, run), fence);
    }
    return true;
  }

  /** Does the run; resolves to the fence it is held at in the end, or to `null` if it was lost. */
  async function work(run, lease) {
    let { fence } = lease;
    for (let step = 0; step < STEPS; step += 1) {
      await sleep(stepMs);
      const renewed = await renew(run, fence);
      if (renewed === null) return null;
      fence = renewed;
    }
    record('writing', { run, fence });
    const current = await currentFence(runDir(dir, run));
    if (current !== fence) {
      record('lost', { run, fence, current });
      return null;
    }
    writeResult(dir, run, { run, worker: holder, fence });
    record('done', { run, fence });
    return fence;
  }

  /** A renewal is a claim by the present holder, and mints the next fence. */
  async function renew(run, fence) {
    const renewed = await acquireClaim(runDir(dir, run), { holder, ttlMs });
    if (renewed?.fence === fence + 1) {
      record('renewed', { run, ...renewed });
      return renewed.fence;
    }
    record('lost', { run, fence, current: await currentFence(runDir(dir, run)) });
    if (renewed !== null) {
      // Somebody had the run in between, and it is free again: a new claim, not a renewal.
      record('claimed', { run, ...renewed });
      record('releasing', { run, fence: renewed.fence });
      await releaseClaim(runDir(dir, run), renewed.fence);
    }
    return null;
  }
}
