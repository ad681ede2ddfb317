'use strict';

/** Helpers over any checkpoint store, not only the one of this package. */

const check = require('./check.js');
const { refuse } = require('../errors.js');

/**
 * Refuses a store that lacks a method. To go on as if it had answered `null` or nothing would let
 * two workers have one run.
 */
function checkMethod(store, method) {
  if (check.isRevoked(store)) throw check.bad('store', 'a checkpoint store', store);
  if (typeof store?.[method] === 'function') return;
  const name = store?.constructor?.name;
  throw refuse(
    'capability_unavailable',
    `the store${name ? ` (${name})` : ''} does not implement \`${method}\`; use one that does` +
      (method === 'listDurableRuns' ? '.' : ', or keep to a single worker and do not claim.'),
  );
}

async function claimRun(store, scope, options) {
  checkMethod(store, 'claimRun');
  const { runId } = check.checkRunScope(scope);
  check.checkClaim(options, runId);
  return await store.claimRun(scope, options);
}

async function releaseRun(store, scope, fence) {
  checkMethod(store, 'releaseRun');
  check.checkRunScope(scope);
  check.checkFence(fence);
  await store.releaseRun(scope, fence);
}

async function listDurableRuns(store, scope, options) {
  checkMethod(store, 'listDurableRuns');
  assertContiguousListingScope(scope, 'listDurableRuns');
  return await store.listDurableRuns(scope, options);
}

/** Refuses a scope that leaves out a level and names one below it. */
function assertContiguousListingScope(scope, caller) {
  check.checkOptions(scope, 'scope');
  const { projectId, sessionId } = scope;
  if (sessionId !== undefined && projectId === undefined) {
    throw refuse(
      'invalid_config',
      `${caller}: the scope must be a contiguous prefix of tenant, project and session, but names ` +
        'a `sessionId` without `projectId`. Give both, or neither.',
      { details: { argument: 'scope' } },
    );
  }
}

/** A lease as a listing shows it; at the very instant of its end it has ended. */
function toClaimSummary(lease, now) {
  const { holder, fence, expiresAt } = lease;
  return { holder, fence, expiresAt, expired: !(now < expiresAt) };
}

module.exports = {
  assertContiguousListingScope,
  claimRun,
  listDurableRuns,
  releaseRun,
  toClaimSummary,
};
