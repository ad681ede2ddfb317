// One of many workers that take a few runs from each other and write their checkpoints, on and on, also
// after they have lost a run. It appends what it does to a record of its own: a release before it is
// made, all else once it is over. It can be stopped and killed at any moment.

import { openSync, renameSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import addon from '../../index.js';
import * as peer from '../peer/claims.mjs';
import * as broken from '../torture/broken.mjs';
import { randomOf } from '../torture/random.mjs';

const { kind, name, life, seed, offset, baseDir, runs, recordFile } = JSON.parse(process.argv[2]);
const random = randomOf(seed);
const record = openSync(recordFile, 'a');
const write = (entry) => writeSync(record, `${JSON.stringify(entry)}\n`);
const clock = () => Number(process.hrtime.bigint());
const store = new addon.DiskCheckpointStore({ baseDir });
const scopeOf = (runId) => ({ tenantId: 't', projectId: 'p', sessionId: 's', runId });
const { acquire, release } = claims();
/** The same at each claim, so that a renewal never ends before what it renews. */
const ttlMs = random(5, 40);
/** Leases that were told, however long ago: it goes on to write under them. */
const known = [];
let writes = 0;
let stopped = false;

process.once('message', () => {
  stopped = true;
});
process.once('disconnect', () => process.exit());
process.send('ready');
while (!stopped) {
  await turn();
  await new Promise(setImmediate);
}
process.disconnect();

async function turn() {
  const run = runs[random(0, runs.length - 1)];
  const lease = await claim(run);
  if (!lease) return;
  known[run] = lease.fence;
  if (kind === 'peer' || kind === 'renamed') {
    if (random(0, 3) === 0) await giveBack(run, lease.fence);
    return;
  }
  await look(run);
  for (let count = random(0, 6); count > 0; count -= 1) {
    // Now and then a lease renews while a write is under way, and now and then it is long over.
    const renewed = random(0, 9) === 0 && claim(run);
    const at = random(0, 5) === 0 ? runs[random(0, runs.length - 1)] : run;
    if (known[at]) await checkpoint(at, known[at]);
    const again = await renewed;
    if (again) known[run] = again.fence;
  }
  await look(run);
  if (random(0, 3) === 0) await giveBack(run, known[run]);
}

async function claim(run) {
  const now = Date.now() + offset;
  const begun = clock();
  const told = (lease) => {
    const when = { begun, ended: clock(), told: Math.max(now - offset, Date.now()) };
    write({ kind: 'acquire', run, holder: name, peer: kind === 'peer', ...when, lease });
    return lease;
  };
  return await recorded(() => acquire(run, { holder: name, ttlMs, now }), told);
}

async function giveBack(run, fence) {
  write({ kind: 'release', run, holder: name, fence, released: Date.now() });
  await recorded(
    () => release(run, fence),
    () => {},
  );
}

async function checkpoint(run, fence) {
  writes += 1;
  const id = `cp_${random(0, 3)}`;
  const mark = `${name}.${life}/${writes}`;
  const begun = clock();
  const told = (done) =>
    write({ kind: 'write', run, id, mark, fence, begun, ended: clock(), done: done !== false });
  const put = kind === 'unsealed' ? writeUnsealed : (...all) => store.writeCheckpoint(...all);
  await recorded(() => put(scopeOf(run), makeCheckpoint(id, mark, fence), fence), told);
}

function makeCheckpoint(id, mark, fence) {
  return {
    id,
    iteration: writes,
    createdAt: fence,
    messages: [],
    tokenUsage: { promptTokens: 1, completionTokens: 1, totalTokens: 2 },
    costInfo: { totalCost: 0 },
    guardState: { iterationCount: 1, elapsedMs: 1 },
    fence,
    mark,
    filler: 'x'.repeat(random(0, 9_000)),
  };
}

async function look(run) {
  const begun = clock();
  await recorded(
    () => store.listCheckpoints(scopeOf(run)),
    (found) => {
      const seen = Object.fromEntries(found.map(({ id, mark, fence }) => [id, { mark, fence }]));
      write({ kind: 'look', run, begun, ended: clock(), seen });
    },
  );
}

/** Makes a call and writes down what it came to; `done` gets `false` for a write that is refused. */
async function recorded(call, done) {
  let value;
  try {
    value = await call();
  } catch (error) {
    if (error.message.includes('no longer holds it')) return done(false);
    const { code, message, retryable = false } = error;
    write({ kind: 'error', holder: name, peer: kind === 'peer', code, message, retryable });
    return null;
  }
  return done(value);
}

/** Wrong on purpose: it looks, waits, and writes where everybody sees it. */
async function writeUnsealed({ runId }, content, fence) {
  const runDir = join(baseDir, runId);
  const current = await addon.currentFence(runDir);
  if (fence < current) throw new Error('no longer holds it');
  await pause(1);
  const file = join(runDir, 'checkpoints', `${content.id}.json`);
  writeFileSync(`${file}.tmp`, JSON.stringify({ ...content, schemaVersion: 1 }));
  renameSync(`${file}.tmp`, file);
}

function claims() {
  const dir = (run) => join(baseDir, run);
  if (kind === 'peer' || kind === 'renamed') {
    const { acquireClaim, releaseClaim } = kind === 'peer' ? peer : broken;
    return {
      acquire: (run, options) => acquireClaim(dir(run), options),
      release: (run, fence) => releaseClaim(dir(run), fence),
    };
  }
  if (kind === 'sync') {
    return {
      acquire: async (run, options) => addon.acquireClaimSync(dir(run), options),
      release: async (run, fence) => addon.releaseClaimSync(dir(run), fence),
    };
  }
  return {
    acquire: (run, options) => store.claimRun(scopeOf(run), options),
    release: (run, fence) => store.releaseRun(scopeOf(run), fence),
  };
}
