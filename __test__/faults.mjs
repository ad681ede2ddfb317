// Calls that a process of its own makes, with faults injected into its system calls.

import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { start, tempDir, workerFile } from './helpers.mjs';

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
// Faults

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
