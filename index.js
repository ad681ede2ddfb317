'use strict';

/**
 * fencelink: a lease with a fencing token on a run, kept in plain files. See `index.d.ts` for what
 * each function does.
 */

const claim = require('./lib/claim.js');
const { NamzuError, adoptErrorClass } = require('./errors.js');

// One assignment a name, so that `import { acquireClaim } from 'fencelink'` finds each of them.
exports.acquireClaim = claim.acquireClaim;
exports.acquireClaimSync = claim.acquireClaimSync;
exports.releaseClaim = claim.releaseClaim;
exports.releaseClaimSync = claim.releaseClaimSync;
exports.readClaim = claim.readClaim;
exports.readClaimSync = claim.readClaimSync;
exports.currentFence = claim.currentFence;
exports.currentFenceSync = claim.currentFenceSync;
exports.singleOpenWriter = claim.singleOpenWriter;
exports.registerInvariants = claim.registerInvariants;
exports.adoptErrorClass = adoptErrorClass;
exports.NamzuError = NamzuError;
