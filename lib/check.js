'use strict';

/**
 * What is asked of arguments. Each check refuses before the disk is touched, and names the
 * argument, what was expected and what came.
 */

const { basename, resolve } = require('node:path');
const { isProxy } = require('node:util').types;
const { refuse } = require('../errors.js');

/** The start of a text that may have any length. */
const cut = (text) => (text.length > 60 ? `${text.slice(0, 60)}…` : text);

/** From here on, writing out a bigint takes long. */
const HUGE = 10n ** 60n;

/** What a value is, for a message: short, and safe for any value. */
function describe(value) {
  if (typeof value === 'string') return `the string ${JSON.stringify(cut(value))}`;
  if (typeof value === 'bigint') {
    return -HUGE < value && value < HUGE ? `the bigint ${value}n` : 'a bigint of over 60 digits';
  }
  if (typeof value === 'number' || typeof value === 'boolean')
    return `the ${typeof value} ${value}`;
  if (value === null || value === undefined) return String(value);
  if (isRevoked(value)) return 'a revoked proxy';
  return Array.isArray(value) ? 'an array' : `a value of type ${typeof value}`;
}

/** Whether a value throws whatever it is asked. */
function isRevoked(value) {
  if (!isProxy(value)) return false;
  try {
    Array.isArray(value);
    return false;
  } catch {
    return true;
  }
}

const isArray = (value) => !isRevoked(value) && Array.isArray(value);

function bad(argument, expected, value, details) {
  return refuse('invalid_config', `${argument} must be ${expected}, but is ${describe(value)}.`, {
    details: { argument, ...details },
  });
}

function checkOptions(options, argument = 'options') {
  const isObject = typeof options === 'object' && options !== null;
  if (!isObject || isRevoked(options) || Array.isArray(options)) {
    throw bad(argument, 'an object', options);
  }
}

/**
 * The directory that a path names now: when the call gets to it, the process may have another
 * working directory. Its parts are put together as other workers do it, by `node:path`.
 */
function checkPath(path, argument) {
  if (typeof path !== 'string' || path === '') {
    throw bad(argument, 'a path that is not empty', path);
  }
  if (path.includes('\0') || !path.isWellFormed()) {
    throw bad(argument, 'a path without NUL and lone surrogates', path);
  }
  return resolve(path);
}

/** With more, its claim's body could be over the size from which a body counts as damaged. */
const LONGEST_HOLDER = 100_000;

function checkHolder(holder) {
  if (typeof holder !== 'string' || holder === '' || holder.length > LONGEST_HOLDER) {
    throw bad('holder', 'a string of 1 to 100,000 characters, which names one worker', holder);
  }
}

function checkTtl(ttlMs, runId) {
  if (!(Number.isFinite(ttlMs) && ttlMs > 0)) {
    const run = runId === undefined ? '' : ` (run ${cut(runId)})`;
    throw refuse(
      'invalid_config',
      `ttlMs must be a positive number of milliseconds, but is ${describe(ttlMs)}${run}.`,
      { details: runId === undefined ? { ttlMs } : { runId, ttlMs } },
    );
  }
}

function checkNow(now, ttlMs) {
  if (now === undefined) return;
  if (!Number.isFinite(now)) {
    throw bad('now', 'a finite number of milliseconds since the epoch', now);
  }
  if (!Number.isFinite(now + ttlMs)) {
    throw bad('now + ttlMs', 'a finite number of milliseconds', now + ttlMs);
  }
}

function checkFence(fence, argument = 'fence') {
  if (!(Number.isSafeInteger(fence) && fence >= 0)) {
    throw bad(argument, 'a non-negative safe integer', fence);
  }
}

/** What would make an id more than one component of a path, or end it. */
const NOT_IN_IDS = ['/', '\\', '\0'];

/** An id is part of a path as it is: nothing is encoded, so what cannot stand there is refused. */
function checkId(id, argument) {
  if (typeof id !== 'string') throw bad(argument, 'a string', id);
  if (id === '' || id === '.' || id === '..' || NOT_IN_IDS.some((char) => id.includes(char))) {
    throw bad(argument, 'one component of a path, without slashes and NUL', id);
  }
  if (!id.isWellFormed()) throw bad(argument, 'a string without lone surrogates', id);
  if (process.platform === 'win32' && !windowsCanName(id)) {
    throw bad(argument, 'a name that Windows can have', id);
  }
}

/** Characters that Windows has in no name, names of devices, and ends that some programs drop. */
function windowsCanName(id) {
  const device = /^(con|prn|aux|nul|(com|lpt)[\d¹²³])(\.|$)/i;
  return !(/[<>:"|?*]|[. ]$/.test(id) || device.test(id) || [...id].some((char) => char < ' '));
}

/** The ids of the run that a scope is of. What else a scope says names no file. */
function checkRunScope(scope) {
  checkOptions(scope, 'scope');
  const { runId, parentRunId } = scope;
  checkId(runId, 'scope.runId');
  if (parentRunId !== undefined) checkId(parentRunId, 'scope.parentRunId');
  return { runId, parentRunId };
}

/** All that a claim needs to know; `runId` where the run is known. */
function checkClaim(options, runId) {
  checkOptions(options);
  const { holder, ttlMs, now } = options;
  checkHolder(holder);
  checkTtl(ttlMs, runId);
  checkNow(now, ttlMs);
  return [holder, ttlMs, now];
}

/** The run that a directory belongs to, for messages and details. */
function runIdOf(runDir) {
  return basename(runDir);
}

module.exports = {
  bad,
  checkClaim,
  checkFence,
  checkId,
  checkOptions,
  checkPath,
  checkRunScope,
  isArray,
  isRevoked,
  runIdOf,
};
