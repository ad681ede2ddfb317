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

/** The error of a refusal. */
function refuse(code, message, { details, retryable = false, cause } = {}) {
  return new ErrorClass({ code, message, details, retryable, cause });
}

/** The error of a refusal that came across from the addon as a record. */
function refusal(record) {
  const { refused, message, retryable, path, errno, syscall, fence } = record;
  const details = {};
  if (path !== undefined) details.path = path;
  if (errno !== undefined) details.code = errno;
  if (fence !== undefined) details.fence = fence;
  let cause;
  if (errno !== undefined) {
    cause = Object.assign(new Error(`${errno}: ${syscall} failed`), { code: errno, syscall, path });
  }
  return refuse(refused, message, {
    details: path === undefined ? undefined : details,
    retryable,
    cause,
  });
}

module.exports = { NamzuError, adoptErrorClass, refuse, refusal };
