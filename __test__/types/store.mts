// The store and the helpers with a host's own types, whose ids are branded strings: each in the
// place of the other, with no cast.

import * as fencelink from 'fencelink';
import type * as host from './host-store.js';

declare const attribution: host.Attribution;
declare const logger: host.Logger;
declare const scope: host.CheckpointRunScope;
declare const checkpoint: host.IterationCheckpoint;

// One changed import line: made where the host makes its own, with or without its type beside it.
const declared: host.CheckpointStore = new fencelink.DiskCheckpointStore(
  { baseDir: '/runs', logger, durability: 'power' },
  attribution,
);
const inferred = new fencelink.DiskCheckpointStore({ baseDir: '/runs' });
const passedOn: host.CheckpointStore = inferred;

// A store of the host's is one of ours, and the other way round.
const ours: fencelink.CheckpointStore = declared;
const theirs: host.CheckpointStore = ours;

// The host's values go in, and what comes out is taken for the host's.
await inferred.writeCheckpoint(scope, checkpoint, 1);
const read: host.IterationCheckpoint | null = await inferred.readCheckpoint(scope, checkpoint.id);
const all: host.IterationCheckpoint[] = await inferred.listCheckpoints(scope);
await inferred.deleteCheckpoint(scope, checkpoint.id);

// Named, the host's types are kept.
const named = new fencelink.DiskCheckpointStore<host.IterationCheckpoint>({ baseDir: '/runs' });
const ids: host.CheckpointId[] = (await named.listCheckpoints(scope)).map(({ id }) => id);
// @ts-expect-error: not a checkpoint of the host's
await named.writeCheckpoint(scope, { id: 'cp_1' });
// @ts-expect-error: not a durability
new fencelink.DiskCheckpointStore({ baseDir: '/runs', durability: 'always' });
// @ts-expect-error: a run has an id
await named.readCheckpoint({ tenantId: 't', projectId: 'p', sessionId: 's' }, 'cp_1');

// Each shape of ours takes the host's.
const ourScope: fencelink.CheckpointRunScope = scope;
const ourCheckpoint: fencelink.IterationCheckpoint = checkpoint;
declare const listingScope: host.CheckpointListingScope;
const ourListingScope: fencelink.CheckpointListingScope = listingScope;
declare const entry: host.DurableRunEntry;
const ourEntry: fencelink.DurableRunEntry = entry;
declare const page: host.DurableRunPage;
const ourPage: fencelink.DurableRunPage = page;
declare const options: host.ListDurableRunsOptions;
const ourOptions: fencelink.ListDurableRunsOptions = options;
declare const theirOptions: fencelink.ListDurableRunsOptions;
const hostOptions: host.ListDurableRunsOptions = theirOptions;

// The helpers over a store of the host's.
const lease: fencelink.RunLease | null = await fencelink.claimRun(declared, scope, {
  holder: 'worker',
  ttlMs: 1000,
});
if (lease) {
  await fencelink.releaseRun(declared, scope, lease.fence);
  const summary: fencelink.LeaseSummary = fencelink.toClaimSummary(lease, Date.now());
  void summary;
}
const listed: host.DurableRunPage = await fencelink.listDurableRuns<host.DurableRunEntry>(
  declared,
  listingScope,
  options,
);
fencelink.assertContiguousListingScope(listingScope, 'a caller');
const refusal: fencelink.NamzuError = fencelink.fencedOut(scope, 1, 2);

// An error by its name.
function versionOf(error: fencelink.NamzuError | fencelink.SchemaVersionError): number {
  return error.name === 'SchemaVersionError' && 'found' in error ? error.found : 1;
}

export {
  all,
  hostOptions,
  ids,
  listed,
  ourCheckpoint,
  ourEntry,
  ourListingScope,
  ourOptions,
  ourPage,
  ourScope,
  passedOn,
  read,
  refusal,
  theirs,
  versionOf,
};
