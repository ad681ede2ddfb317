// The package's types and the host's, each in the place of the other, with no cast. From an ES
// module, by the package's own name.

import * as fencelink from 'fencelink';
import type * as sdk from './sdk.js';
import { assertType, HostError, InvariantRegistry } from './sdk.js';

// The module as a whole stands in for the host's own: one changed import line.
const asHostModule: sdk.ClaimModule = fencelink;
declare const host: sdk.ClaimModule;
const acquire: typeof fencelink.acquireClaim = host.acquireClaim;
const acquireSync: typeof fencelink.acquireClaimSync = host.acquireClaimSync;
const release: typeof fencelink.releaseClaim = host.releaseClaim;
const releaseSync: typeof fencelink.releaseClaimSync = host.releaseClaimSync;
const read: typeof fencelink.readClaim = host.readClaim;
const readSync: typeof fencelink.readClaimSync = host.readClaimSync;
const current: typeof fencelink.currentFence = host.currentFence;
const currentSync: typeof fencelink.currentFenceSync = host.currentFenceSync;

// Each shape, both ways.
declare const ours: {
  lease: fencelink.RunLease;
  summary: fencelink.LeaseSummary;
  options: fencelink.ClaimRunOptions;
  fence: fencelink.FencingToken;
  verdict: fencelink.InvariantVerdict;
};
declare const theirs: {
  lease: sdk.RunLease;
  summary: sdk.LeaseSummary;
  options: sdk.ClaimRunOptions;
  fence: sdk.FencingToken;
  verdict: sdk.Verdict;
};
const toTheirs: typeof theirs = ours;
const toOurs: typeof ours = theirs;

// The same keys, the same optional ones, the same `readonly`.
assertType<sdk.Same<keyof fencelink.RunLease, keyof sdk.RunLease>>();
assertType<
  sdk.Same<
    Pick<fencelink.RunLease, keyof fencelink.RunLease>,
    Pick<sdk.RunLease, keyof sdk.RunLease>
  >
>();
assertType<
  sdk.Same<
    Pick<fencelink.LeaseSummary, keyof fencelink.LeaseSummary>,
    Pick<sdk.LeaseSummary, keyof sdk.LeaseSummary>
  >
>();
assertType<
  sdk.Same<
    Pick<fencelink.ClaimRunOptions, keyof fencelink.ClaimRunOptions>,
    Pick<sdk.ClaimRunOptions, keyof sdk.ClaimRunOptions>
  >
>();

// Older names are the same types.
assertType<sdk.Same<fencelink.ClaimFence, fencelink.FencingToken>>();
assertType<sdk.Same<fencelink.RunClaim, fencelink.RunLease>>();
assertType<sdk.Same<fencelink.ClaimSummary, fencelink.LeaseSummary>>();
assertType<sdk.Same<fencelink.FencingToken, number>>();

// Branded ids go in as they are, and nothing comes out branded that was not.
declare const runDir: sdk.RunDirectory;
declare const worker: sdk.WorkerId;
const lease = await fencelink.acquireClaim(runDir, { holder: worker, ttlMs: 1000 });
assertType<sdk.Same<typeof lease, fencelink.RunLease | null>>();
// @ts-expect-error A lease may be `null`, and that has to be looked at.
lease.fence;
if (lease === null) throw new Error('somebody else has it');
// @ts-expect-error A holder is any worker's name.
const holder: sdk.WorkerId = lease.holder;
await fencelink.releaseClaim(runDir, lease.fence);

// What is refused at run time is refused here, as far as types can.
// @ts-expect-error `ttlMs` is missing.
fencelink.acquireClaim(runDir, { holder: 'a' });
// @ts-expect-error `holder` is missing.
fencelink.acquireClaim(runDir, { ttlMs: 1 });
// @ts-expect-error There is no such option.
fencelink.acquireClaim(runDir, { holder: 'a', ttlMs: 1, ttl: 1 });
// @ts-expect-error A fence is a number.
fencelink.releaseClaim(runDir, '1');
// @ts-expect-error `now` is a number.
fencelink.acquireClaimSync(runDir, { holder: 'a', ttlMs: 1, now: new Date() });
// @ts-expect-error A lease is not for changing.
lease.fence = 2;

// Invariants, on the host's registry and as the host's check.
fencelink.registerInvariants(new InvariantRegistry());
fencelink.registerInvariants({ register: (module: string, name: string) => `${module}/${name}` });
const check: sdk.OpenWriterCheck = fencelink.singleOpenWriter;
const verdict = await fencelink.singleOpenWriter();
if (verdict.state === 'violated') verdict.detail satisfies string;
if (verdict.state === 'unknown') verdict.reason satisfies string;

// The host's class of errors, and errors of either class by their parts.
fencelink.adoptErrorClass(HostError);
const error = new fencelink.NamzuError({ code: 'storage_error', message: 'm', retryable: true });
const parts: { name: string; message: string; code: sdk.ErrorCode; retryable: boolean } = error;
error satisfies Error;
// @ts-expect-error There is no such kind of refusal.
new fencelink.NamzuError({ code: 'no_such_code', message: 'm' });
// @ts-expect-error A class that makes no errors.
fencelink.adoptErrorClass(Date);

export const used = [
  ...[asHostModule, acquire, acquireSync, release, releaseSync, read, readSync, current],
  ...[currentSync, toTheirs, toOurs, holder, check, parts],
];
