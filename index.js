'use strict';

/**
 * fencelink: a lease with a fencing token on a run, kept in plain files. See `index.d.ts` for what
 * each function does.
 */

const { NamzuError, adoptErrorClass, fencedOut } = require('./errors.js');
const { paginateDurableRuns, summarizePark, toDurableRunEntry } = require('./lib/listing.js');
const { DiskCheckpointStore } = require('./lib/store.js');

// A form in which `import { acquireClaim } from 'fencelink'` finds each name without running it.
module.exports = {
  NamzuError,
  adoptErrorClass,
  fencedOut,
  DiskCheckpointStore,
  paginateDurableRuns,
  summarizePark,
  toDurableRunEntry,
  ...require('./lib/claim.js'),
  ...require('./lib/helpers.js'),
};
