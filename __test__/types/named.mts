// The package's names one by one, as most programs import them.

import {
  acquireClaim,
  acquireClaimSync,
  adoptErrorClass,
  type ClaimFence,
  type ClaimRunOptions,
  type ClaimSummary,
  currentFence,
  currentFenceSync,
  type FencingToken,
  type LeaseSummary,
  NamzuError,
  type RunClaim,
  type RunLease,
  readClaim,
  readClaimSync,
  registerInvariants,
  releaseClaim,
  releaseClaimSync,
  singleOpenWriter,
} from 'fencelink';

const options: ClaimRunOptions = { holder: 'a', ttlMs: 1 };
const lease: RunLease | null = await acquireClaim('run', options);
const older: RunClaim | null = acquireClaimSync('run', options);
const fences: (FencingToken | ClaimFence)[] = [await currentFence('run'), currentFenceSync('run')];
const summary: LeaseSummary = { holder: '', fence: 1, expiresAt: 0, expired: true };
const olderSummary: ClaimSummary = summary;

export const used = [
  ...[lease, older, fences, olderSummary, adoptErrorClass, NamzuError, readClaim, readClaimSync],
  ...[registerInvariants, releaseClaim, releaseClaimSync, singleOpenWriter],
];
