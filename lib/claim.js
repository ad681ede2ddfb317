'use strict';

/**
 * The claim module: a lease with a fencing token on the run in a directory. Arguments are checked
 * here; the protocol is in the addon.
 */

const { call, callSync } = require('./native.js');
const check = require('./check.js');
const { refuse } = require('../errors.js');

/** The directory of a run, checked, and the same wherever the process goes meanwhile. */
const directory = (runDir) => check.checkPath(runDir, 'runDir');

function acquisition(runDir, options) {
  const run = directory(runDir);
  return [run, ...check.checkClaim(options, check.runIdOf(run))];
}

async function acquireClaim(runDir, options) {
  return await call('acquire', ...acquisition(runDir, options));
}

function acquireClaimSync(runDir, options) {
  return callSync('acquire', ...acquisition(runDir, options));
}

function released(runDir, fence) {
  const run = directory(runDir);
  check.checkFence(fence);
  return [run, fence];
}

async function releaseClaim(runDir, fence) {
  await call('release', ...released(runDir, fence));
}

function releaseClaimSync(runDir, fence) {
  callSync('release', ...released(runDir, fence));
}

async function readClaim(runDir) {
  return await call('read', directory(runDir));
}

function readClaimSync(runDir) {
  return callSync('read', directory(runDir));
}

async function currentFence(runDir) {
  return await call('currentFence', directory(runDir));
}

function currentFenceSync(runDir) {
  return callSync('currentFence', directory(runDir));
}

async function singleOpenWriter(context) {
  if (context === undefined) {
    return { state: 'unknown', reason: 'no run directory and no presented fence were given' };
  }
  check.checkOptions(context, 'context');
  const { runDir, presentedFence } = context;
  check.checkFence(presentedFence, 'presentedFence');
  const lease = await readClaim(runDir);
  const current = lease === null ? 0 : lease.fence;
  if (current === presentedFence) return { state: 'holds' };
  const who = lease?.holder ? `held by ${JSON.stringify(lease.holder)}` : 'held by nobody';
  const detail =
    `run ${check.runIdOf(runDir)}: fence ${presentedFence} was presented, ` +
    `but the current fence is ${current}, ${who}`;
  return { state: 'violated', detail };
}

function registerInvariants(registry) {
  if (check.isRevoked(registry) || typeof registry?.register !== 'function') {
    throw refuse('invalid_config', 'registry must have a method `register(module, name, check)`.');
  }
  registry.register('store.run', 'single-open-writer', singleOpenWriter);
}

module.exports = {
  acquireClaim,
  acquireClaimSync,
  currentFence,
  currentFenceSync,
  readClaim,
  readClaimSync,
  registerInvariants,
  releaseClaim,
  releaseClaimSync,
  singleOpenWriter,
};
