// Claims, renews, writes and gives back one run, on and on, until it is killed.

import addon from '../../index.js';
import { randomOf } from '../torture/random.mjs';

const { config, scope, checkpoint, holder, seed } = JSON.parse(process.argv[2]);
const random = randomOf(seed);
const store = new addon.DiskCheckpointStore(config);
process.send('ready');
for (let turn = 0; ; turn += 1) {
  // As if its clock were right each time: whoever was killed holds the run no more.
  const options = { holder, ttlMs: 1, now: Date.now() + turn };
  const { fence } = await store.claimRun(scope, options);
  const content = { ...checkpoint, iteration: turn, filler: 'x'.repeat(random(0, 20_000)) };
  await store.writeCheckpoint(scope, content, fence);
  if (random(0, 2) === 0) await store.writeCheckpoint(scope, { ...content, id: 'cp_2' });
  if (random(0, 2) === 0) await store.releaseRun(scope, fence);
}
