'use strict';

/**
 * The checkpoint store on disk. What crosses to the addon and back is text: only `JSON.parse` and
 * `JSON.stringify` give exactly what they give. All else, and what a usable checkpoint is, is
 * decided in the addon, on its own threads.
 */

const { accept, addon, ask, call, turn } = require('./native.js');
const check = require('./check.js');
const listing = require('./listing.js');
const { fencedOut, refuse } = require('../errors.js');

/** The schema that checkpoints are written in. */
const SCHEMA_VERSION = 1;

/** How much text, in characters, is taken over or parsed before others have a turn. */
const A_TURN = 1 << 20;

class DiskCheckpointStore {
  #baseDir;
  #power;
  #attribution;

  constructor(config, attribution) {
    check.checkOptions(config, 'config');
    const { baseDir, durability } = config;
    if (![undefined, 'process', 'power'].includes(durability)) {
      throw check.bad('config.durability', "'process' or 'power'", durability);
    }
    this.#baseDir = check.checkPath(baseDir, 'config.baseDir');
    this.#power = durability === 'power';
    this.#attribution = checkAttribution(attribution);
  }

  async writeCheckpoint(scope, checkpoint, fence) {
    const run = this.#run(scope);
    if (fence !== undefined) check.checkFence(fence);
    const { id, text } = stringify(checkpoint);
    const answer = await ask('writeCheckpoint', run, id, fence, ...(await handedOver(text)));
    if (answer !== null && Object.hasOwn(answer, 'presented')) {
      throw fencedOut(run, answer.presented, answer.current);
    }
    accept(answer);
  }

  async readCheckpoint(scope, id) {
    const run = this.#run(scope);
    check.checkId(id, 'id');
    const texts = await call('readCheckpoint', run, id);
    return texts === null ? null : (await parseAll(texts))[0];
  }

  async listCheckpoints(scope) {
    return await parseAll(await call('listCheckpoints', this.#run(scope)));
  }

  async deleteCheckpoint(scope, id) {
    const run = this.#run(scope);
    check.checkId(id, 'id');
    await call('deleteCheckpoint', run, id);
  }

  async claimRun(scope, options) {
    const run = this.#run(scope);
    return await call('claimRun', run, ...check.checkClaim(options, run.runId));
  }

  async releaseRun(scope, fence) {
    const run = this.#run(scope);
    check.checkFence(fence);
    await call('releaseRun', run, fence);
  }

  async listDurableRuns(scope, options) {
    return await listing.listRuns(this.#runs(), scope, options);
  }

  async claimNext(scope, options) {
    return await listing.claimNext(this.#runs(), scope, options);
  }

  /** All runs of the store, as listings take them. */
  #runs() {
    return { baseDir: this.#baseDir, power: this.#power, attribution: this.#attribution };
  }

  /** The run of a scope, as the addon takes it. */
  #run(scope) {
    return { baseDir: this.#baseDir, ...check.checkRunScope(scope), power: this.#power };
  }
}

function checkAttribution(attribution) {
  if (attribution === undefined) return undefined;
  check.checkOptions(attribution, 'attribution');
  const { tenantId, projectId, sessionId } = attribution;
  for (const [name, value] of Object.entries({ tenantId, projectId, sessionId })) {
    if (typeof value !== 'string') throw check.bad(`attribution.${name}`, 'a string', value);
  }
  return { tenantId, projectId, sessionId };
}

/** A checkpoint's id, and the text of its file: its JSON, with the schema as the last member. */
function stringify(checkpoint) {
  check.checkOptions(checkpoint, 'checkpoint');
  const members = asJson(() => membersOf(checkpoint));
  check.checkId(members.id, 'checkpoint.id');
  members.schemaVersion = SCHEMA_VERSION;
  return { id: members.id, text: asJson(() => JSON.stringify(members, null, 2)) };
}

/** A copy of what `JSON.stringify` would write of a checkpoint, without the schema. */
function membersOf(checkpoint) {
  const plain = typeof checkpoint.toJSON === 'function' ? checkpoint.toJSON('') : checkpoint;
  const { schemaVersion: _, ...members } = plain;
  // It has had its turn; a second one would undo what is added here.
  if (typeof members.toJSON === 'function') delete members.toJSON;
  return members;
}

/** What a step throws that runs the host's own code, or meets a cycle or a BigInt, is a refusal. */
function asJson(step) {
  try {
    return step();
  } catch (cause) {
    const message = `checkpoint cannot be written as JSON: ${whyOf(cause)}`;
    throw refuse('invalid_config', message, { details: { argument: 'checkpoint' }, cause });
  }
}

/** What was thrown, as text; the host can throw what has none. */
function whyOf(cause) {
  try {
    return String(cause?.message ?? cause);
  } catch {
    return 'what it threw has no text';
  }
}

/** A text as the addon takes it: all but its end, where it is long, is handed over beforehand. */
async function handedOver(text) {
  if (text.length <= A_TURN) return [text];
  const draft = new (addon().Draft)();
  let from = 0;
  while (text.length - from > A_TURN) {
    await turn();
    const to = from + A_TURN - (isFirstHalf(text.charCodeAt(from + A_TURN - 1)) ? 1 : 0);
    draft.push(text.slice(from, to));
    from = to;
  }
  return [text.slice(from), draft];
}

/** Whether a character needs the next one to mean anything. */
const isFirstHalf = (code) => code >= 0xd800 && code <= 0xdbff;

/** The texts of the addon, parsed. */
async function parseAll(texts) {
  const parsed = [];
  let sinceATurn = 0;
  for (let text = texts.next(); text !== null; text = texts.next()) {
    sinceATurn += text.length;
    if (sinceATurn > A_TURN) {
      await turn();
      sinceATurn = text.length;
    }
    parsed.push(JSON.parse(text));
  }
  return parsed;
}

module.exports = { DiskCheckpointStore };
