'use strict';

/**
 * Listings of durable runs, and the next run to be taken. Which runs, in which order and where a
 * page ends is decided in the addon, for its own rows and for those that JavaScript keeps; arguments
 * are checked here, and rows are put together.
 */

const { call, callSync, turn } = require('./native.js');
const check = require('./check.js');
const { assertContiguousListingScope } = require('./helpers.js');
const { refuse } = require('../errors.js');

/** States of parks, by the numbers that they have in the addon. */
const PARK_STATES = ['outstanding', 'expired', 'resolved'];

const ORDERS = ['runId', 'createdAt'];

const DAMAGED = ['refuse', 'report'];

const oneOf = (names) => names.map((name) => `'${name}'`).join(' or ');

function checkOneOf(names, value, argument) {
  if (value !== undefined && !names.includes(value)) throw check.bad(argument, oneOf(names), value);
}

function checkNumber(value, argument, expected = 'a finite number') {
  if (!Number.isFinite(value)) throw check.bad(argument, expected, value);
}

/** What a listing and the next run of one have in common, as the addon takes it. */
function checkChoice({ orderBy, park = [], damaged }) {
  checkOneOf(ORDERS, orderBy, 'orderBy');
  if (!check.isArray(park)) throw check.bad('park', 'an array of states', park);
  for (const state of park) {
    if (!PARK_STATES.includes(state)) {
      throw check.bad('park', `an array of ${oneOf(PARK_STATES)}`, state);
    }
  }
  checkOneOf(DAMAGED, damaged, 'damaged');
  return {
    byCreation: orderBy === 'createdAt',
    parks: park.map((state) => PARK_STATES.indexOf(state)),
    report: damaged === 'report',
  };
}

function checkListing(options) {
  check.checkOptions(options);
  const { claimed, limit, cursor, now } = options;
  const choice = checkChoice(options);
  if (claimed !== undefined && typeof claimed !== 'boolean') {
    throw check.bad('claimed', 'true, false or absent', claimed);
  }
  if (limit !== undefined && (typeof limit !== 'number' || Number.isNaN(limit))) {
    throw check.bad('limit', 'a number of rows', limit);
  }
  if (cursor !== undefined && typeof cursor !== 'string') {
    throw check.bad('cursor', 'the cursor of a page', cursor);
  }
  if (now !== undefined) checkNumber(now, 'now', 'a finite number of milliseconds since the epoch');
  return { ...choice, claimed, limit, cursor };
}

function foreignCursor({ cursor, byCreation }) {
  const orderBy = ORDERS[Number(byCreation)];
  return refuse(
    'invalid_config',
    `the cursor is not a cursor this listing issued in the order \`${orderBy}\`. Go on with the ` +
      'one of the page before, unchanged and in the same order, or start without one.',
    { details: { cursor, orderBy } },
  );
}

/** The store's runs as the addon takes them, or `null` when the scope is of another store's. */
function runsOf({ baseDir, power, attribution }, scope, caller) {
  assertContiguousListingScope(scope, caller);
  if (attribution === undefined) {
    throw refuse(
      'invalid_config',
      `${caller}: the store was made without attribution, so it cannot tell whose runs it holds. ` +
        'Give its constructor `{ tenantId, projectId, sessionId }`.',
    );
  }
  if (scope.tenantId === undefined) throw check.bad('scope.tenantId', 'a string', undefined);
  const isOwn = Object.entries(attribution).every(([name, own]) => {
    const id = scope[name];
    if (id !== undefined && typeof id !== 'string')
      throw check.bad(`scope.${name}`, 'a string', id);
    return id === undefined || id === own;
  });
  return isOwn ? { baseDir, power, ...attribution } : null;
}

/**
 * A page of a store's runs.
 * @param store `{ baseDir, power, attribution }`
 */
async function listRuns(store, scope, options = {}) {
  const choice = checkListing(options);
  const runs = runsOf(store, scope, 'listDurableRuns');
  if (runs === null) return choice.report ? { entries: [], damaged: [] } : { entries: [] };
  const texts = await call('listRuns', runs, choice, options.now);
  if (texts === null) throw foreignCursor(choice);
  const head = JSON.parse(texts.next());
  const entries = [];
  for (let text = texts.next(); text !== null; text = texts.next()) {
    // Each piece takes a moment, and then others have their turn.
    if (entries.length > 0) await turn();
    entries.push(...JSON.parse(text));
  }
  return { entries, ...head };
}

/** The next of a store's runs, taken; the store as for `listRuns`. */
async function claimNext(store, scope, options) {
  const claim = check.checkClaim(options);
  const choice = checkChoice(options);
  const runs = runsOf(store, scope, 'claimNext');
  if (runs === null) return null;
  const texts = await call('claimNext', runs, choice, ...claim);
  return texts === null ? null : JSON.parse(texts.next());
}

// ---------------------------------------------------------------------------------------------
// The same rules for what JavaScript keeps

/** What the rules ask of one checkpoint; NaN is what is absent. */
function numbersOf(checkpoint, at) {
  const argument = `checkpoints[${at}]`;
  check.checkOptions(checkpoint, argument);
  const { id, createdAt, runCreatedAt, pending } = checkpoint;
  if (typeof id !== 'string') throw check.bad(`${argument}.id`, 'a string', id);
  checkNumber(createdAt, `${argument}.createdAt`);
  const made = [createdAt, Number.isFinite(runCreatedAt) ? runCreatedAt : Number.NaN];
  if (pending === undefined || pending === null) return [...made, Number.NaN, Number.NaN, 0];
  check.checkOptions(pending, `${argument}.pending`);
  const { request, parkedAt, deadlineAt, resolvedAt } = pending;
  if (typeof request?.type !== 'string') {
    throw check.bad(`${argument}.pending.request.type`, 'a string', request?.type);
  }
  checkNumber(parkedAt, `${argument}.pending.parkedAt`);
  const hasDeadline = ![undefined, null, Number.POSITIVE_INFINITY].includes(deadlineAt);
  if (hasDeadline) checkNumber(deadlineAt, `${argument}.pending.deadlineAt`);
  return [
    ...made,
    parkedAt,
    hasDeadline ? deadlineAt : Number.NaN,
    resolvedAt === undefined ? 0 : 1,
  ];
}

/** What the checkpoints of a run come to: indices and numbers. */
function judgeRun(checkpoints, now) {
  if (!check.isArray(checkpoints)) throw check.bad('checkpoints', 'an array', checkpoints);
  checkNumber(now, 'now', 'a finite number of milliseconds since the epoch');
  return callSync('judgeRun', Float64Array.from(Array.from(checkpoints, numbersOf).flat()), now);
}

function parkOf(checkpoints, { park, state }) {
  if (park === undefined) return undefined;
  const { id, pending } = checkpoints[park];
  const { request, parkedAt, deadlineAt, resolvedAt } = pending;
  return {
    state: PARK_STATES[state],
    checkpointId: id,
    requestType: request.type,
    parkedAt,
    ...(Number.isFinite(deadlineAt) && { deadlineAt }),
    ...(Number.isFinite(resolvedAt) && { resolvedAt }),
  };
}

function summarizePark(checkpoints, now) {
  return parkOf(checkpoints, judgeRun(checkpoints, now));
}

function toDurableRunEntry(scope, checkpoints, now) {
  check.checkOptions(scope, 'scope');
  const judged = judgeRun(checkpoints, now);
  if (judged.latest === undefined) return null;
  const { tenantId, projectId, sessionId, runId, parentRunId } = scope;
  const { id, createdAt } = checkpoints[judged.latest];
  const park = parkOf(checkpoints, judged);
  return {
    tenantId,
    projectId,
    sessionId,
    runId,
    ...(parentRunId !== undefined && { parentRunId }),
    ...(judged.runCreatedAt !== undefined && { runCreatedAt: judged.runCreatedAt }),
    checkpointCount: checkpoints.length,
    latestCheckpointId: id,
    latestCheckpointAt: createdAt,
    ...(park && { park }),
  };
}

function paginateDurableRuns(entries, options = {}) {
  if (!check.isArray(entries)) throw check.bad('entries', 'an array', entries);
  const choice = checkListing(options);
  for (const [at, entry] of entries.entries()) {
    check.checkOptions(entry, `entries[${at}]`);
    const { runId, parentRunId, runCreatedAt } = entry;
    if (typeof runId !== 'string') throw check.bad(`entries[${at}].runId`, 'a string', runId);
    if (parentRunId !== undefined && typeof parentRunId !== 'string') {
      throw check.bad(`entries[${at}].parentRunId`, 'a string or absent', parentRunId);
    }
    if (typeof (runCreatedAt ?? 0) !== 'number') {
      throw check.bad(`entries[${at}].runCreatedAt`, 'a number or absent', runCreatedAt);
    }
  }
  const rows = {
    runIds: entries.map(({ runId }) => runId),
    parentRunIds: entries.map(({ parentRunId }) => parentRunId),
    times: Float64Array.from(entries, ({ runCreatedAt }) => runCreatedAt ?? Number.NaN),
    states: Uint8Array.from(entries, ({ park }) => PARK_STATES.indexOf(park?.state)),
    claimed: Uint8Array.from(entries, ({ claim }) => (claim && !claim.expired ? 1 : 0)),
  };
  const page = callSync('paginate', rows, choice);
  if (page === null) throw foreignCursor(choice);
  const chosen = Array.from(page.rows, (at) => entries[at]);
  return page.cursor === undefined ? { entries: chosen } : { entries: chosen, cursor: page.cursor };
}

module.exports = { claimNext, listRuns, paginateDurableRuns, summarizePark, toDurableRunEntry };
