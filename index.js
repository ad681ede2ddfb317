'use strict';

/**
 * fencelink: a lease with a fencing token on a run, kept in plain files. See `index.d.ts` for what
 * each function does.
 */

const claim = require('./lib/claim.js');
const helpers = require('./lib/helpers.js');
const listing = require('./lib/listing.js');
const { DiskCheckpointStore } = require('./lib/store.js');
const { NamzuError, adoptErrorClass, fencedOut } = require('./errors.js');

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
exports.DiskCheckpointStore = DiskCheckpointStore;
exports.claimRun = helpers.claimRun;
exports.releaseRun = helpers.releaseRun;
exports.listDurableRuns = helpers.listDurableRuns;
exports.fencedOut = fencedOut;
exports.toClaimSummary = helpers.toClaimSummary;
exports.assertContiguousListingScope = helpers.assertContiguousListingScope;
exports.summarizePark = listing.summarizePark;
exports.toDurableRunEntry = listing.toDurableRunEntry;
exports.paginateDurableRuns = listing.paginateDurableRuns;
