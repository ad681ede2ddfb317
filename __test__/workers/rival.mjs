// One of several workers that take one run from each other and write its checkpoints, on and on,
// also after they have lost it: what is told to them is all that stops them. Ends when it is told
// to, and says what it did.

import addon from '../../index.js';
import * as peer from '../peer/claims.mjs';
import { randomOf } from '../torture/random.mjs';

const { kind, name, seed, config, scope, runDir } = JSON.parse(process.argv[2]);
const random = randomOf(seed);
const store = new addon.DiskCheckpointStore(config);
const did = { held: 0, written: 0, refused: 0 };
let writes = 0;
let stopped = false;

process.once('message', () => {
  stopped = true;
});
process.once('disconnect', () => {
  stopped = true;
});
process.send('ready');

const turn = kind === 'peer' ? takeOnly : takeAndWrite;
while (!stopped) {
  await turn();
  await new Promise(setImmediate);
}
if (process.connected) {
  process.send(did);
  process.disconnect();
}

/** A worker that follows the protocol without the addon, and so does not seal. */
async function takeOnly() {
  const lease = await peer.acquireClaim(runDir, { holder: name, ttlMs: random(1, 4) });
  if (!lease) return;
  did.held += 1;
  if (random(0, 3) === 0) await peer.releaseClaim(runDir, lease.fence);
}

async function takeAndWrite() {
  const lease = await store.claimRun(scope, { holder: name, ttlMs: random(1, 4) });
  if (!lease) return;
  did.held += 1;
  for (let count = random(1, 40); count > 0 && !stopped; count -= 1) {
    // Now and then it renews its lease while a write is under way, which loses that write.
    const renewed = random(0, 20) === 0 && store.claimRun(scope, { holder: name, ttlMs: 2 });
    const goesOn = await write(lease.fence);
    await renewed;
    if (!goesOn) return;
  }
  if (random(0, 5) === 0) await store.releaseRun(scope, lease.fence);
}

/** Whether the write was taken. */
async function write(fence) {
  writes += 1;
  const checkpoint = {
    id: `cp_${random(0, 5)}`,
    iteration: writes,
    createdAt: fence,
    messages: [],
    tokenUsage: { promptTokens: 1, completionTokens: 1, totalTokens: 2 },
    costInfo: { totalCost: 0 },
    guardState: { iterationCount: 1, elapsedMs: 1 },
    fence,
    write: `${name}/${writes}`,
    // The clock that all processes of the machine share.
    startedAt: Number(process.hrtime.bigint()),
    filler: 'x'.repeat(random(0, 20_000)),
  };
  try {
    await store.writeCheckpoint(scope, checkpoint, fence);
    did.written += 1;
    return true;
  } catch (error) {
    if (!error.message.includes('no longer holds it')) throw error;
    did.refused += 1;
    return false;
  }
}
