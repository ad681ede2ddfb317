'use strict';

/**
 * Refusals as JavaScript errors. One place makes them, so that every refusal of the package has
 * the same shape and is an instance of the class that the host asked for.
 */

/** The error of a host that did not bring its own class. */
class NamzuError extends Error {
  constructor({ code, message, details, retryable = false, cause }) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
    if (details !== undefined) this.details = details;
    this.retryable = retryable;
  }
}
Object.defineProperty(NamzuError.prototype, 'name', {
  value: 'NamzuError',
  configurable: true,
  writable: true,
});

let ErrorClass = NamzuError;

function adoptErrorClass(Class) {
  if (typeof Class !== 'function' || !(Class.prototype instanceof Error)) {
    throw refuse('invalid_config', 'adoptErrorClass takes a class that extends Error.');
  }
  ErrorClass = Class;
}

/**
 * The error of a refusal.
 * @param {string} code
 * @param {string} message
 * @param {{ details?: object, retryable?: boolean, cause?: unknown }} more
 */
function refuse(code, message, { details, retryable = false, cause } = {}) {
  return new ErrorClass({ code, message, details, retryable, cause });
}

/** The error of a refusal that came across from the addon as a record. */
function refusal(record) {
  // Nothing that a program gave to all objects is taken for the record's own.
  const own = { __proto__: null, ...record };
  const { refused, message, retryable, path, file, errno, syscall, fence, reason } = own;
  const { found, supported } = own;
  const details = given({ path, file, code: errno, fence, reason, found, supported });
  let cause;
  if (errno !== undefined) {
    cause = Object.assign(new Error(`${errno}: ${syscall} failed`), { code: errno, syscall, path });
  }
  const error = refuse(refused, message, { details, retryable, cause });
  return found === undefined ? error : asSchemaVersionError(error, found, supported);
}

/** Those members that have a value; `undefined` when none has. */
function given(members) {
  const entries = Object.entries(members).filter(([, value]) => value !== undefined);
  return entries.length === 0 ? undefined : Object.fromEntries(entries);
}

/** Hosts know it by its name: it stays an instance of the class that they asked for. */
function asSchemaVersionError(error, found, supported) {
  const property = (value, enumerable) => ({
    value,
    enumerable,
    configurable: true,
    writable: true,
  });
  return Object.defineProperties(error, {
    name: property('SchemaVersionError', false),
    found: property(found, true),
    supported: property(supported, true),
  });
}

/** The refusal of a write under a fence that is below the run's current one. */
function fencedOut(scope, presented, current) {
  const { runId } = scope;
  return refuse(
    'storage_error',
    `run ${runId}: a checkpoint was presented under fence ${presented}, but the run's current ` +
      `fence is ${current}; its writer no longer holds it. If it has renewed since, write under ` +
      'the newest fence; otherwise stop working on the run. What was written before stands.',
    { details: { runId, presentedFence: presented, currentFence: current } },
  );
}

module.exports = { NamzuError, adoptErrorClass, fencedOut, refuse, refusal };
