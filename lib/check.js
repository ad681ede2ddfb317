'use strict';

/**
 * What is asked of arguments. Each check refuses before the disk is touched, and names the
 * argument, what was expected and what came.
 */

const { basename } = require('node:path');
const { refuse } = require('../errors.js');

/** What a value is, for a message: short, and safe for any value. */
function describe(value) {
  if (typeof value === 'string') {
    const shown = value.length > 60 ? `${value.slice(0, 60)}…` : value;
    return `the string ${JSON.stringify(shown)}`;
  }
  if (typeof value === 'bigint') return `the bigint ${value}n`;
  if (typeof value === 'number' || typeof value === 'boolean')
    return `the ${typeof value} ${value}`;
  if (value === null || value === undefined) return String(value);
  return Array.isArray(value) ? 'an array' : `a value of type ${typeof value}`;
}

function bad(argument, expected, value, details) {
  return refuse('invalid_config', `${argument} must be ${expected}, but is ${describe(value)}.`, {
    details: { argument, ...details },
  });
}

function checkOptions(options, argument = 'options') {
  if (typeof options !== 'object' || options === null || Array.isArray(options)) {
    throw bad(argument, 'an object', options);
  }
}

function checkRunDir(runDir) {
  if (typeof runDir !== 'string' || runDir === '') {
    throw bad('runDir', 'a path that is not empty', runDir);
  }
  if (runDir.includes('\0') || !runDir.isWellFormed()) {
    throw bad('runDir', 'a path without NUL and lone surrogates', runDir);
  }
}

function checkHolder(holder) {
  if (typeof holder !== 'string' || holder === '') {
    throw bad('holder', 'a string that is not empty, which names one worker', holder);
  }
}

function checkTtl(ttlMs, runId) {
  if (!(Number.isFinite(ttlMs) && ttlMs > 0)) {
    throw refuse(
      'invalid_config',
      `ttlMs must be a positive number of milliseconds, but is ${describe(ttlMs)} (run ${runId}).`,
      { details: { runId, ttlMs } },
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

/** The run that a directory belongs to, for messages and details. */
function runIdOf(runDir) {
  return basename(runDir);
}

module.exports = {
  checkFence,
  checkHolder,
  checkNow,
  checkOptions,
  checkRunDir,
  checkTtl,
  runIdOf,
};
