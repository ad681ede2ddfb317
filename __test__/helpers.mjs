// What the tests share: directories, child processes, faults injected into system calls, and the
// judge of what many workers wrote down.

import { spawn, spawnSync } from 'node:child_process';
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

export const packageRoot = fileURLToPath(new URL('..', import.meta.url));
export const addon = createRequire(import.meta.url)('..');

/** The four functions by one name for both forms: `forms.async.acquire`, `forms.sync.acquire`. */
export const forms = {
  async: {
    acquire: addon.acquireClaim,
    release: addon.releaseClaim,
    read: addon.readClaim,
    currentFence: addon.currentFence,
  },
  sync: {
    acquire: addon.acquireClaimSync,
    release: addon.releaseClaimSync,
    read: addon.readClaimSync,
    currentFence: addon.currentFenceSync,
  },
};

/** A long lease, for when a claim's end is not what a test is about. */
export const HOUR_MS = 60 * 60 * 1000;

const made = [];
const started = [];
after(() => {
  // A test that failed may have left some.
  for (const child of started) child.kill('SIGKILL');
  for (const directory of made) rmSync(directory, { recursive: true, force: true });
});

/** A directory of the test file's own, on memory where the system has it; removed at the end. */
export function tempDir() {
  const base = existsSync('/dev/shm') ? '/dev/shm' : tmpdir();
  const directory = mkdtempSync(join(base, `fencelink-test-${process.pid}-`));
  made.push(directory);
  return directory;
}

/**
 * A run directory with these holdings: file name to content, where an object is written as JSON.
 * Without holdings the run was never claimed, and has no directory.
 */
export function makeRun(holdings) {
  const runDir = join(tempDir(), 'run_1');
  if (holdings) putClaims(runDir, holdings);
  return runDir;
}

export function putClaims(runDir, holdings) {
  const claims = claimsOf(runDir);
  mkdirSync(claims, { recursive: true });
  for (const [name, content] of Object.entries(holdings)) {
    const plain = typeof content === 'string' || Buffer.isBuffer(content);
    writeFileSync(join(claims, name), plain ? content : JSON.stringify(content));
  }
}

export const claimsOf = (runDir) => join(runDir, 'claims');

/** The names in a run's claims directory, in order of their numbers. */
export function namesOf(runDir) {
  const byNumber = new Intl.Collator('en', { numeric: true });
  return readdirSync(claimsOf(runDir)).sort(byNumber.compare);
}

export const bodyOf = (runDir, fence) =>
  JSON.parse(readFileSync(join(claimsOf(runDir), `${fence}.json`), 'utf8'));

/** The names `<from>.json` to `<to>.json`. */
export const holdings = (from, to) =>
  Array.from({ length: to - from + 1 }, (_, index) => `${from + index}.json`);

/** All that a directory holds, deep: to be compared before and after. */
export function snapshot(directory) {
  return readdirSync(directory, { recursive: true })
    .sort()
    .map((name) => {
      const path = join(directory, name);
      const stat = lstatSync(path);
      const content = stat.isFile() ? readFileSync(path, 'base64') : null;
      return { name, inode: stat.ino, modified: stat.mtimeMs, content };
    });
}

/** What a call came to: `{ value }` or `{ error }`, never a rejection. */
export async function outcome(call) {
  try {
    return { value: await call() };
  } catch (error) {
    return { error };
  }
}

// ---------------------------------------------------------------------------------------------
// Child processes

export const workerFile = (name) => fileURLToPath(new URL(`workers/${name}`, import.meta.url));

/** Starts a program; `done` resolves when it has ended, with how it ended and what it wrote. */
export function start(command, args, options = {}) {
  const child = spawn(command, args, {
    stdio: ['pipe', 'pipe', 'pipe'],
    timeout: ENDLESS_MS,
    killSignal: 'SIGKILL',
    ...options,
  });
  started.push(child);
  const written = { stdout: '', stderr: '' };
  for (const stream of ['stdout', 'stderr']) {
    child[stream].setEncoding('utf8').on('data', (text) => {
      written[stream] += text;
    });
  }
  const done = new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code, signal) => resolve({ code, signal, ...written }));
  });
  return { child, done, written };
}

/** How long a process may take before it counts as one that never ends. */
const ENDLESS_MS = 60_000;

/** Runs Node.js to its end. */
export const runNode = (args, options) => start(process.execPath, args, options).done;

/**
 * Starts a process that makes calls of the addon one after another.
 * @param calls lists of a function's name and its arguments
 * @param options `uid`: the user to become once the addon is loaded; `umask`; `descriptors`: the
 *   limit on open files; `openAll`: have none left during the calls; `wait`: make the calls only
 *   when told; `inject`, `trace`, `paths`: see `straceArgs`
 */
export function startCalls(calls, options = {}) {
  const { inject, trace, paths, descriptors, ...settings } = options;
  const node = [process.execPath, workerFile('call.mjs'), JSON.stringify({ calls, ...settings })];
  if (descriptors) {
    const limited = `ulimit -n ${descriptors} && exec "$@"`;
    return start('/bin/sh', ['-c', limited, 'sh', ...node]);
  }
  if (!inject && !trace) return start(node[0], node.slice(1));
  const log = join(tempDir(), 'trace');
  const strace = ['-f', ...straceArgs({ inject, trace, paths, log }), ...node];
  const delayed = inject?.filter((fault) => fault.includes(':delay_')) ?? [];
  return { ...start('strace', strace), log, delayed: delayed.flatMap(callsIn) };
}

/**
 * Makes calls in a process of its own; resolves to what each came to, as `{ value }` or
 * `{ error }` with the error's fields copied. Options as `startCalls` has them.
 */
export async function callThere(calls, options) {
  return outcomesOf(await startCalls(calls, options).done);
}

/** What the calls of a process that has ended came to. */
export function outcomesOf({ code, signal, stdout, stderr }) {
  if (code !== 0) throw new Error(`the calls ended with ${signal ?? code}: ${stderr}${stdout}`);
  return JSON.parse(stdout.trim().split('\n').at(-1));
}

// ---------------------------------------------------------------------------------------------
// Faults in system calls

/**
 * The arguments of strace(1) that write a log and inject faults.
 * @param inject what to inject, as strace has it: `linkat:error=EIO`. Counts (`when=`) are by
 *   thread and by system call.
 * @param trace further calls to write down
 * @param paths only calls that concern these; a name that a call is given relative to an open
 *   directory is matched as it is written
 */
function straceArgs({ inject = [], trace = [], paths = [], log }) {
  const calls = [...trace, ...inject.flatMap(callsIn)];
  return [
    ...['-qq', '-o', log],
    ...paths.flatMap((path) => ['-P', path]),
    ...['-e', `trace=${calls.join(',')}`],
    ...inject.flatMap((fault) => ['-e', `inject=${fault}`]),
  ];
}

/** The system calls that a fault is about. */
const callsIn = (fault) => fault.split(':')[0].split(',');

/**
 * Why faults cannot be injected here, or `false`. Only Linux has strace; there a machine without
 * it is told so by every test that needs it, and where `CI` is set that is a failure.
 */
export const noFaults = whyNoFaults();

function whyNoFaults() {
  if (process.platform !== 'linux') return 'system calls are intercepted on Linux only';
  const probe = spawnSync('strace', ['-f', '-qq', '-o', '/dev/null', process.execPath, '-e', '0']);
  if (probe.status === 0) return false;
  const why = `strace is needed, and must be allowed to trace: ${probe.error ?? probe.stderr}`;
  if (process.env.CI) throw new Error(why);
  return why;
}

/**
 * Makes Sync calls in a process of its own with faults in that process's main thread, injected
 * from the first call on and not before: what Node.js does at its start is left alone. Resolves
 * to how the process ended, and `steps`: the system calls of `trace` that it made, as log lines.
 */
export async function callUnderAttachedFaults(calls, { trace = [], inject = [] }) {
  const waiting = startCalls(calls, { wait: true });
  try {
    const log = join(tempDir(), 'trace');
    const answers = () => written.stdout.split('\n').length - 1;
    const { child, written, done } = waiting;
    await until(() => answers() === 1, waiting);
    const args = straceArgs({ inject, trace: [...trace, 'read'], log });
    const strace = start('strace', ['-p', String(child.pid), ...args]);
    // Attached when a call that the process was asked to make is in the log.
    for (let asked = 2; !/read\(0, "ask\\n"/.test(readIfThere(log) ?? ''); asked += 1) {
      child.stdin.write('ask\n');
      await until(() => answers() === asked, waiting);
      if (strace.child.exitCode) throw new Error(`strace: ${strace.written.stderr}`);
    }
    child.stdin.write('go\n');
    const [ended] = await Promise.all([done, strace.done]);
    const lines = readFileSync(log, 'utf8').split('\n');
    const first = lines.findIndex((line) => line.includes('read(0, "go\\n"'));
    const steps = lines.slice(first + 1).filter((line) => trace.includes(callIn(line)));
    return { ...ended, steps };
  } finally {
    waiting.child.kill('SIGKILL');
  }
}

/** The name of the system call in a line of a log. */
export const callIn = (line) => line.slice(0, line.indexOf('('));

/**
 * Waits until a process that `startCalls` started is held up in a delayed system call: the log
 * shows that a thread has come to it, its tracer has stopped the thread, and it has not run at all
 * between two looks. Resolves to a function that tells whether it still is held up there, or to
 * `null` when the process ended before any look found it so.
 */
export async function heldUp({ child, log, delayed }) {
  for (;;) {
    const stopped = stoppedThreads(child.pid);
    await pause(150);
    const still = stoppedThreads(child.pid);
    const lines = (readIfThere(log) ?? '').split('\n');
    const there = (id) =>
      lines.some((line) =>
        delayed.some((call) => line.startsWith(`${id} `) && line.includes(` ${call}(`)),
      );
    const held = Object.keys(stopped).find((id) => stopped[id] === still[id] && there(id));
    if (held) return () => stoppedThreads(child.pid)[held] === stopped[held];
    if (child.exitCode !== null) return null;
  }
}

/** The process that strace runs; `undefined` when it is gone. */
export function tracee(straceChild) {
  const children = readIfThere(`/proc/${straceChild.pid}/task/${straceChild.pid}/children`);
  return children?.trim().split(' ')[0] || undefined;
}

/** Threads that their tracer has stopped, with how often each was switched to so far. */
function stoppedThreads(stracePid) {
  const pid = tracee({ pid: stracePid });
  const stopped = {};
  for (const id of pid ? threadsOf(pid) : []) {
    const status = readIfThere(`/proc/${pid}/task/${id}/status`) ?? '';
    if (!/^State:\s+t /m.test(status)) continue;
    stopped[id] = status.match(/ctxt_switches:\s+\d+/g).join();
  }
  return stopped;
}

/** The threads of a process; none when it is gone. */
export function threadsOf(pid) {
  try {
    return readdirSync(`/proc/${pid}/task`);
  } catch (error) {
    if (['ENOENT', 'ESRCH'].includes(error.code)) return [];
    throw error;
  }
}

async function until(condition, { child, written }) {
  while (!condition()) {
    if (child.exitCode !== null || child.signalCode !== null) {
      throw new Error(`the process ended too early: ${written.stderr}`);
    }
    await pause(5);
  }
}

function readIfThere(path) {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}

// ---------------------------------------------------------------------------------------------
// The record of many workers

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
    started.push(this.#child);
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
