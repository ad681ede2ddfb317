// Listings, the next run and the rules of both with a host's own types, with no cast.

import * as fencelink from 'fencelink';
import type * as host from './host-store.js';

declare const scope: host.CheckpointRunScope;
declare const listingScope: host.CheckpointListingScope;
declare const checkpoints: host.IterationCheckpoint[];
declare const entries: host.DurableRunEntry[];

// Named or by what is wanted of them, rows are the host's; else they are the package's own.
const park: host.ParkSummary | undefined = fencelink.summarizePark(checkpoints, 1);
const entry: host.DurableRunEntry | null = fencelink.toDurableRunEntry(scope, checkpoints, 1);
const page: host.DurableRunPage = fencelink.paginateDurableRuns(entries, { limit: 1 });
const ownPark: fencelink.ParkSummary | undefined = fencelink.summarizePark(checkpoints, 1);
const ownEntry: fencelink.DurableRunEntry | null = fencelink.toDurableRunEntry(
  scope,
  [{ id: 'cp_1', createdAt: 1, pending: null }],
  1,
);
const state: fencelink.ParkState | undefined = ownPark?.state;

const store = new fencelink.DiskCheckpointStore<host.IterationCheckpoint, host.DurableRunEntry>({
  baseDir: '/runs',
});
const listed = await store.listDurableRuns(listingScope, { damaged: 'report' });
const named: string[] | undefined = listed.damaged?.map(({ runId, file }) => `${runId} ${file}`);
const next = await store.claimNext(listingScope, { holder: 'w', ttlMs: 1, park: ['resolved'] });
if (next) {
  const taken: host.DurableRunEntry = next.entry;
  await store.releaseRun(taken, next.lease.fence);
}
// @ts-expect-error: a claim has a holder
await store.claimNext(listingScope, { ttlMs: 1 });
// @ts-expect-error: not a state of a park
await store.claimNext(listingScope, { holder: 'w', ttlMs: 1, park: ['done'] });
// @ts-expect-error: not what becomes of damage
await store.listDurableRuns(listingScope, { damaged: 'skip' });
// @ts-expect-error: not a row
fencelink.paginateDurableRuns([{ runId: 'run_1' }]);

export { entry, named, ownEntry, page, park, state };
