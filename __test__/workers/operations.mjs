// Makes calls of a store, or of the claim module, one at a time, as it is told over its channel, and
// answers what each came to. All file-system calls of these are made by one thread of the addon.

import { stat } from 'node:fs/promises';
import addon from '../../index.js';

process.on('message', async ({ config, attribution, method, args }) => {
  process.send(await outcomeOf(config, attribution, method, args));
});
process.on('disconnect', () => process.exit(0));
// With this, all threads of Node.js itself are there, and the addon's come later.
await stat('.');
process.send('ready');

async function outcomeOf(config, attribution, method, args) {
  try {
    const store = new addon.DiskCheckpointStore(config, attribution);
    const call = store[method] ? store[method](...args) : addon[method](...args);
    return { value: (await call) ?? null };
  } catch (error) {
    const { name, code, message, details, retryable, cause } = error;
    return {
      error: { name, code, message, details, retryable, cause: cause && { code: cause.code } },
    };
  }
}
