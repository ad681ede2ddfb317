// Walks through a listing as its argument says, and prints how far it came.

import addon from '../../index.js';

const { baseDir, attribution, scope, limit } = JSON.parse(process.argv[2]);
const store = new addon.DiskCheckpointStore({ baseDir }, attribution);
let [runs, pages, cursor] = [0, 0, undefined];
do {
  const page = await store.listDurableRuns(scope, { limit, cursor });
  runs += page.entries.length;
  pages += 1;
  cursor = page.cursor;
} while (cursor !== undefined);
console.log(`${runs} runs on ${pages} pages`);
