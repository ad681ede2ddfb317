'use strict';

/**
 * The door to the addon. It is loaded at the first call that needs it, so that a program which
 * imports the package for its types or its pure helpers needs no binary.
 */

const { scheduler } = require('node:timers/promises');
const { refusal } = require('../errors.js');
const { context, load } = require('./load.js');

let binding;

/** Calls of this thread that are under way. */
let calls;

/**
 * Who waits for each, by ticket, and the tickets that are free. A map, which takes new room as names
 * come and go, made V8 keep a page more for each 80,000 calls.
 */
const waiting = [];
const free = [];

function addon() {
  binding ??= load();
  return binding;
}

/**
 * Lets the event loop turn once. Tests replace `setImmediate` by one that stands still, in
 * `node:timers` too and before they load this; this function they leave alone.
 */
const turn = scheduler.yield.bind(scheduler);

/**
 * The event loop turns once before whoever waits goes on: several answers can be there at once,
 * and a loop of calls that finds each of its answers there already would keep timers waiting.
 */
function settle(ticket, answer) {
  const resolve = waiting[ticket];
  leave(ticket);
  calls.settled();
  turn().then(() => resolve(answer));
}

function leave(ticket) {
  waiting[ticket] = undefined;
  free.push(ticket);
}

/** Calls a function of the addon on this thread; what it refuses is thrown. */
function callSync(name, ...args) {
  return accept(addon()[`${name}Sync`](...args));
}

/** Calls a function of the addon on a thread of its own; what it refuses is thrown. */
async function call(name, ...args) {
  return accept(await ask(name, ...args));
}

/** As `call`; resolves to what the addon answers, a refusal's record included. */
function ask(name, ...args) {
  if (calls === undefined) {
    const { Calls } = addon();
    calls = context.runInAsyncScope(() => new Calls(settle));
  }
  const ticket = free.pop() ?? waiting.length;
  return new Promise((resolve) => {
    waiting[ticket] = resolve;
    try {
      calls[name](ticket, ...args);
    } catch (error) {
      leave(ticket);
      throw error;
    }
  });
}

function accept(answer) {
  if (answer !== null && Object.hasOwn(answer, 'refused')) throw refusal(answer);
  return answer;
}

module.exports = { accept, addon, ask, call, callSync, turn };
