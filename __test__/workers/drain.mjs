// One of several workers that drain a queue by `claimNext`. It writes down every run that it was
// given before it works on it, so that the record does not depend on how this process ends.

import { openSync, writeSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import addon from '../../index.js';

const settings = JSON.parse(process.argv[2]);
const { config, attribution, holder, lanes, outcome, recordFile } = settings;
const store = new addon.DiskCheckpointStore(config, attribution);
const record = openSync(recordFile, 'w');
const write = (entry) => writeSync(record, `${JSON.stringify(entry)}\n`);
const scope = { tenantId: attribution.tenantId };

process.once('message', async () => {
  // Lanes of one worker claim under one name.
  await Promise.all(Array.from({ length: lanes }, (_, lane) => drain(lane)));
  process.disconnect();
});
await addon.currentFence('.');
process.send('ready');

async function drain(lane) {
  const options = { holder, ttlMs: 3_600_000, park: ['resolved'] };
  for (;;) {
    const next = await store.claimNext(scope, options);
    if (next === null) return;
    const { entry, lease } = next;
    write({ holder, lane, run: entry.runId, parent: entry.parentRunId, lease, entry });
    if (outcome) await work(entry, lease);
  }
}

/** Writes the checkpoint by which a run matches no more, and gives it back. */
async function work(entry, { fence }) {
  await pause(Math.random() * 3);
  await store.writeCheckpoint(entry, outcome, fence);
  await store.releaseRun(entry, fence);
}
