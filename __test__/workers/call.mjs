// Calls functions of the addon as its argument says, and prints what each came to.

import { closeSync, openSync, readSync, writevSync } from 'node:fs';
import addon from '../../index.js';

const { calls, uid, umask, openAll, wait } = JSON.parse(process.argv[2]);

if (umask !== undefined) process.umask(umask);

if (uid !== undefined) {
  // Loads the addon while its file can still be read.
  addon.currentFenceSync('.');
  process.setgroups([]);
  process.setgid(uid);
  process.setuid(uid);
}

const open = [];
if (openAll) {
  // The first call may load code and start a thread; both would need a descriptor.
  await addon.currentFence('.');
  try {
    for (;;) open.push(openSync('/dev/null'));
  } catch {}
}

if (wait) {
  // Until the test sends a line that says so, each line is answered with one.
  addon.currentFenceSync('.');
  const line = Buffer.alloc(16);
  for (let text = 'ready'; text !== 'go'; ) {
    print(text);
    text = line.toString('utf8', 0, readSync(0, line)).trim();
  }
}

const outcomes = [];
for (const [name, ...args] of calls) {
  try {
    outcomes.push({ value: (await addon[name](...args)) ?? null });
  } catch (error) {
    outcomes.push({ error: copy(error) });
  }
}
for (const descriptor of open) closeSync(descriptor);
print(JSON.stringify(outcomes));

/** In two parts, which makes it another system call than a claim writes with. */
function print(text) {
  writevSync(1, [Buffer.from(text), Buffer.from('\n')]);
}

function copy(error) {
  const { name, code, message, details, retryable, cause } = error;
  return { name, code, message, details, retryable, cause: cause && { code: cause.code } };
}
