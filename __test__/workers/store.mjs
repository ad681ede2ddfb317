// Calls methods of a store as its argument says, and prints what each came to. Says when it is
// ready, and waits for a line before it calls: so much time has whoever wants to attach to it.

import { readSync, writevSync } from 'node:fs';
import addon from '../../index.js';

const { config, attribution, calls, uid, umask } = JSON.parse(process.argv[2]);

if (umask !== undefined) process.umask(umask);
const store = new addon.DiskCheckpointStore(config, attribution);
// Loads the addon, and starts a thread of its pool.
await addon.currentFence('.');
if (uid !== undefined) {
  process.setgroups([]);
  process.setgid(uid);
  process.setuid(uid);
}

print('ready');
readSync(0, Buffer.alloc(16));

const outcomes = [];
for (const [method, ...args] of calls) {
  try {
    outcomes.push({ value: (await store[method](...args)) ?? null });
  } catch (error) {
    const { name, code, message, details, retryable, cause } = error;
    const copy = { name, code, message, details, retryable, cause: cause && { code: cause.code } };
    outcomes.push({ error: copy });
  }
}
print(JSON.stringify(outcomes));

/** In two parts, which makes it another system call than a checkpoint is written with. */
function print(text) {
  writevSync(1, [Buffer.from(text), Buffer.from('\n')]);
}
