// Reads or writes one large checkpoint, and prints how much more memory that took at its peak, in
// bytes.

import { readFileSync, writeFileSync } from 'node:fs';
import addon from '../../index.js';

const { config, scope, id, op } = JSON.parse(process.argv[2]);
const store = new addon.DiskCheckpointStore(config);

let checkpoint = op === 'write' ? await store.readCheckpoint(scope, id) : undefined;
await addon.currentFence('.');
for (let round = 0; round < 3; round += 1) globalThis.gc();

const before = memory('VmRSS');
// From here on the peak is counted anew.
writeFileSync('/proc/self/clear_refs', '5');
if (op === 'write') await store.writeCheckpoint(scope, checkpoint);
else checkpoint = await store.readCheckpoint(scope, id);
console.log(JSON.stringify({ grown: memory('VmHWM') - before, id: checkpoint.id }));

function memory(name) {
  const status = readFileSync('/proc/self/status', 'utf8');
  return Number(new RegExp(`${name}:\\s+(\\d+) kB`).exec(status)[1]) * 1024;
}
