// Many workers that claim on command, and the judge of what they wrote down.

import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { killAtEnd, tempDir, workerFile } from './helpers.mjs';

/** One worker process that claims on command and writes down what it was told. */
export class Claimer {
  #child;
  #answer;

  /** @param kind `async`, `sync`: the addon in this form; `peer`: plain JavaScript */
  constructor(kind, name, recordFile) {
    this.kind = kind;
    this.recordFile = recordFile;
    const args = JSON.stringify({ kind, name, recordFile });
    this.#child = spawn(process.execPath, [workerFile('claimer.mjs'), args], {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    });
    killAtEnd(this.#child);
    this.#child.on('message', (message) => this.#answer.resolve(message));
    this.#child.on('exit', (code, signal) => {
      this.#answer.reject(new Error(`worker ${name} ended with ${signal ?? code}`));
    });
    this.ready = this.#expect();
  }

  #expect() {
    return new Promise((resolve, reject) => {
      this.#answer = { resolve, reject };
    });
  }

  /** Sends a command and waits for its answer; the worker is idle again then. */
  tell(command) {
    const answer = this.#expect();
    this.#child.send(command);
    return answer;
  }

  async stop() {
    await this.tell({ op: 'stop' });
    this.#child.disconnect();
  }
}

/** Starts workers of these kinds and waits until all of them have loaded what they need. */
export async function startClaimers(kinds) {
  const directory = tempDir();
  const claimers = kinds.map((kind, index) => {
    const name = `${kind}-${index}`;
    return new Claimer(kind, name, join(directory, name));
  });
  await Promise.all(claimers.map((claimer) => claimer.ready));
  return claimers;
}

/** Stops the workers, and returns all that they wrote down. */
export async function stopClaimers(claimers) {
  await Promise.all(claimers.map((claimer) => claimer.stop()));
  return claimers.flatMap(({ recordFile }) => readRecord(recordFile));
}

export const readRecord = (file) =>
  readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));

/** How far above a fence another must stand for pruning to have freed its name. */
const WINDOW = 32;

/**
 * Judges the record of many workers by what was promised, and by nothing that they assumed.
 *
 * An entry of kind `acquire` has `run`, `holder`, `peer`, the lease it was told (or `null`), and
 * when: `begun` and `ended` on the monotonic clock that all processes of a host share, `told` on
 * the wall clock. One of kind `release` has `run`, `holder`, `fence`, and `released` on the wall clock, from
 * before the call. A holder makes one call at a time.
 *
 * Promise 1: no two holders at any instant. A lease holds from when its holder was told until it
 * ends, its holder is told of the next one, or its holder begins to give it back. Promise 2: no fence twice, and each greater than all
 * that were returned before its call began.
 *
 * Plain-JavaScript peers have no second listing: one that is held up while the run moves on by
 * more than the window is told an old fence. That is theirs; such answers are counted in
 * `outrun`, and only the promise to the addon's callers is judged there.
 *
 * @returns `{ violations, told, outrun }`: sentences, how many leases were told, and how many of
 *   them to a peer that was outrun
 */
export function judge(record) {
  const verdict = { violations: [], told: 0, outrun: 0 };
  for (const [run, entries] of byRun(record)) {
    const told = entries.filter(({ kind, lease }) => kind === 'acquire' && lease);
    const releases = entries.filter(({ kind }) => kind === 'release');
    judgeOrder(run, told, verdict);
    const held = told.filter((entry) => !isOutrun(entry, told));
    judgeUniqueness(run, held, verdict);
    judgeHolders(run, held, releases, verdict);
    verdict.told += told.length;
    verdict.outrun += told.length - held.length;
  }
  return verdict;
}

function byRun(record) {
  const runs = new Map();
  for (const entry of record) {
    const entries = runs.get(entry.run);
    if (entries) entries.push(entry);
    else runs.set(entry.run, [entry]);
  }
  return runs;
}

function isOutrun({ peer, ended, lease }, told) {
  if (!peer) return false;
  return told.some((other) => other.lease.fence > lease.fence + WINDOW && other.begun < ended);
}

function judgeUniqueness(run, told, { violations }) {
  const byFence = new Map();
  for (const { holder, lease } of told) {
    const other = byFence.get(lease.fence);
    if (other) violations.push(`${run}: fence ${lease.fence} to ${other} and to ${holder}`);
    byFence.set(lease.fence, holder);
  }
}

function judgeOrder(run, told, { violations }) {
  const byEnd = [...told].sort((a, b) => a.ended - b.ended);
  const byBeginning = [...told].sort((a, b) => a.begun - b.begun);
  let highest = 0;
  let next = 0;
  for (const { begun, holder, lease } of byBeginning) {
    for (; next < byEnd.length && byEnd[next].ended < begun; next += 1) {
      highest = Math.max(highest, byEnd[next].lease.fence);
    }
    if (lease.fence <= highest) {
      violations.push(`${run}: fence ${lease.fence} to ${holder}, but ${highest} was told before`);
    }
  }
}

function judgeHolders(run, told, releases, { violations }) {
  const hold = ({ holder, fence }) => `${fence} ${holder}`;
  const released = new Map(releases.map((release) => [hold(release), release.released]));
  const renewed = new Map();
  const intervals = [...told]
    .sort((a, b) => b.ended - a.ended)
    .map(({ holder, lease, told: from }) => {
      const ends = [lease.expiresAt, released.get(hold(lease)), renewed.get(holder)];
      renewed.set(holder, from);
      const to = Math.min(...ends.filter((end) => end !== undefined));
      return { holder, fence: lease.fence, from, to };
    })
    .filter(({ from, to }) => from < to)
    .sort((a, b) => a.from - b.from);
  let live = [];
  for (const interval of intervals) {
    live = live.filter(({ to }) => to > interval.from);
    for (const other of live) {
      if (other.holder === interval.holder) continue;
      const [a, b] = [other, interval].map(({ holder, fence }) => `${holder} (fence ${fence})`);
      violations.push(`${run}: ${a} and ${b} held it at ${interval.from}`);
    }
    live.push(interval);
  }
}
