// A process that ends in the middle of 100 calls, in the way that its argument names.

import { writeSync } from 'node:fs';
import { join } from 'node:path';
import addon from '../../index.js';

const { how, directory, turns } = JSON.parse(process.argv[2]);

const calls = Array.from({ length: 100 }, (_, index) => {
  const runDir = join(directory, `run_${index % 10}`);
  return addon.acquireClaim(runDir, { holder: 'leaver', ttlMs: 1 });
});

const ways = {
  exit: () => process.exit(7),
  throw: () => {
    throw new Error('thrown with calls in flight');
  },
  reject: () => Promise.reject(new Error('rejected with calls in flight')),
  abandon: () => undefined,
  await: async () => {
    const answers = await Promise.allSettled(calls);
    writeSync(1, `${answers.filter(({ status }) => status === 'fulfilled').length} answered`);
  },
};

// At another point of the calls each time.
for (let turn = 0; turn < turns; turn += 1) await new Promise(setImmediate);
await ways[how]();
