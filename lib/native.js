'use strict'

/**
 * The door to the addon. It is loaded at the first call that needs it, so that a program which
 * imports the package for its types or its pure helpers needs no binary.
 */

const { refusal } = require('../errors.js')

let binding

/** Calls a function of the addon; what it refuses is thrown. */
function callSync(name, ...args) {
  binding ??= require('../binding.js')
  return accept(binding[name](...args))
}

/** Calls a function of the addon that answers a promise. */
async function call(name, ...args) {
  return accept(await callSync(name, ...args))
}

function accept(answer) {
  if (answer !== null && answer.refused !== undefined) throw refusal(answer)
  return answer
}

module.exports = { call, callSync }
