import fencelink = require('fencelink');

const request: fencelink.ClaimRunOptions = { holder: 'worker-1', ttlMs: 30_000 };
const lease: fencelink.RunLease | null = fencelink.acquireClaimSync('queue/run_1', request);
export const fence: number = lease?.fence ?? 0;
// @ts-expect-error: a lease without its length.
export const refused = fencelink.acquireClaim('queue/run_1', { holder: 'worker-1' });
