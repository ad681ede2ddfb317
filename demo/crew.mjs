// The demo's worker processes, and what is done to two of them.

import { spawn } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { isDone, readRecords } from './queue.mjs';

const WORKER = fileURLToPath(new URL('./worker.mjs', import.meta.url));
const PEER = new URL('../__test__/peer/claims.mjs', import.meta.url).href;
/** Long enough for a stopped process to have stopped with all its threads. */
const STOP_TAKES_MS = 25;

/**
 * @typedef {object} Member
 * @property {string} name
 * @property {string} kind for people
 * @property {import('node:child_process').ChildProcess} child
 * @property {string} fate for people: what became of it
 * @property {Promise<void>} ended
 */

/**
 * Starts four workers; w2 works with two threads. With `peer`, w1 and w3 know the protocol from
 * plain JavaScript; the others import the module `claims`.
 * @param {{ dir: string, ttlMs: number, workMs: number, peer: boolean, claims: string }} options
 * @returns {Member[]}
 */
export function startCrew({ dir, ttlMs, workMs, peer, claims: module }) {
  return ['w1', 'w2', 'w3', 'w4'].map((name) => {
    const threads = name === 'w2' ? 2 : 0;
    const plain = peer && (name === 'w1' || name === 'w3');
    const claims = plain ? PEER : module;
    const options = { dir, name, claims, threads, ttl: ttlMs, work: workMs };
    const args = Object.entries(options).flatMap(([key, value]) => [`--${key}`, `${value}`]);
    const child = spawn(process.execPath, [WORKER, ...args], {
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    const kind = `${threads > 0 ? 'thread' : 'process'}, ${plain ? 'JS' : 'addon'}`;
    const member = { name, kind, child, fate: 'works', ended: Promise.resolve() };
    member.ended = new Promise((resolve, reject) => {
      child.once('error', reject);
      child.once('exit', (code, signal) => {
        // One that was killed on purpose is no failure; one that failed after a stall is.
        if (code !== 0 && member.fate !== 'killed') member.fate = `failed (${signal ?? code})`;
        else if (member.fate === 'works') member.fate = 'finished';
        resolve();
      });
    });
    return member;
  });
}

/**
 * The run that a worker is in the middle of, by its record; `null` when it holds none, or is about
 * to write or to release.
 * @param {string} dir @param {string} worker
 */
function runInHand(dir, worker) {
  const last = readRecords(dir).get(worker)?.at(-1);
  return last?.event === 'claimed' || last?.event === 'renewed' ? last : null;
}

/**
 * Stops a process (SIGSTOP) at a moment when it holds a run, and leaves it stopped. Resolves to
 * that lease, or to `null` when the worker ended before.
 * @param {string} dir @param {Member} member
 * @returns {Promise<{ run: string, fence: number } | null>}
 */
async function stopWhileHolding(dir, { name, child }) {
  while (child.exitCode === null && child.signalCode === null) {
    child.kill('SIGSTOP');
    await sleep(STOP_TAKES_MS);
    const lease = runInHand(dir, name);
    if (lease) return lease;
    child.kill('SIGCONT');
    await sleep(STOP_TAKES_MS);
  }
  return null;
}

/**
 * Kills a worker while it holds a run. It never learns of it, and leaves its lease behind.
 * @param {string} dir @param {Member} member @param {(text: string) => void} tell
 */
export async function killWhileHolding(dir, member, tell) {
  const lease = await stopWhileHolding(dir, member);
  if (!lease) return;
  member.fate = 'killed';
  member.child.kill('SIGKILL');
  tell(`${member.name} was killed (SIGKILL) while it held ${lease.run} at fence ${lease.fence}`);
}

/**
 * Holds a worker up past its lease, until somebody else has taken its run, and lets it go on.
 * @param {string} dir @param {Member} member @param {(text: string) => void} tell
 */
export async function stallPastLease(dir, member, tell) {
  const before = Date.now();
  const lease = await stopWhileHolding(dir, member);
  if (!lease) return;
  const { run, fence } = lease;
  member.fate = 'stalled';
  tell(`${member.name} was stopped (SIGSTOP) while it held ${run} at fence ${fence}`);
  let taker;
  while (!taker) {
    await sleep(STOP_TAKES_MS);
    // Done without a higher fence is for the check to find, not to wait for.
    taker = takerAbove(dir, run, fence) ?? (isDone(dir, run) ? 'somebody' : undefined);
  }
  const ms = Date.now() - before;
  tell(`${member.name} goes on after ${ms} ms; ${taker} has taken ${run} in the meantime`);
  member.fate = `stalled ${(ms / 1000).toFixed(1)} s`;
  member.child.kill('SIGCONT');
}

/** Who has recorded a claim of `run` above `fence`. */
function takerAbove(dir, run, fence) {
  for (const [worker, events] of readRecords(dir)) {
    const took = (e) => e.event === 'claimed' && e.run === run && e.fence > fence;
    if (events.some(took)) return worker;
  }
  return undefined;
}
