// A worker thread of the bench: renews its run as often as it is told, and says when it is done.

import { parentPort, workerData } from 'node:worker_threads';
import { CALLS, REQUEST } from './contestants.mjs';

const { acquire } = CALLS[workerData.calls];

parentPort?.on('message', async (n) => {
  for (let i = 0; i < n; i += 1) {
    const answer = acquire(workerData.runDir, REQUEST);
    if (workerData.calls !== 'sync') await answer;
  }
  parentPort?.postMessage('done');
});
parentPort?.postMessage('ready');
