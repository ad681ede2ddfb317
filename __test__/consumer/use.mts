import { acquireClaim, type ClaimRunOptions, DiskCheckpointStore, type RunLease } from 'fencelink';

const request: ClaimRunOptions = { holder: 'worker-1', ttlMs: 30_000 };
const lease: RunLease | null = await acquireClaim('queue/run_1', request);
export const fence: number = lease?.fence ?? 0;

const ids = { tenantId: 't', projectId: 'p', sessionId: 's' };
export const store = new DiskCheckpointStore({ baseDir: 'queue' }, ids);
// @ts-expect-error: a lease without its length.
export const refused = acquireClaim('queue/run_1', { holder: 'worker-1' });
