// What the tests of the store share: runs, checkpoints, and processes that write under strace.

import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { threadsOf } from './faults.mjs';
import { addon, start, tempDir, workerFile } from './helpers.mjs';

const ids = { tenantId: 'tnt_1', projectId: 'prj_1', sessionId: 'ses_1' };

/** The scope of a run. */
export const scopeOf = (runId = 'run_1', parentRunId = undefined) =>
  parentRunId === undefined ? { ...ids, runId } : { ...ids, runId, parentRunId };

/** A store of its own directory, and the places in it. */
export function makeStore(options = {}, baseDir = tempDir()) {
  const config = { baseDir, ...options };
  const runDir = join(baseDir, 'run_1');
  return {
    config,
    store: new addon.DiskCheckpointStore(config),
    scope: scopeOf(),
    runDir,
    checkpoints: join(runDir, 'checkpoints'),
    claims: join(runDir, 'claims'),
  };
}

/** A checkpoint that has all it needs. */
export function makeCheckpoint(id = 'cp_1', more = {}) {
  return {
    id,
    runId: 'run_1',
    iteration: 1,
    createdAt: 1_764_430_255_123,
    messages: [{ role: 'user', content: 'go on' }],
    tokenUsage: { promptTokens: 1, completionTokens: 2, totalTokens: 3 },
    costInfo: { totalCost: 0.25 },
    guardState: { iterationCount: 1, elapsedMs: 5 },
    ...more,
  };
}

/** What a directory holds: file name to content; empty when it is not there. */
export function contentsOf(directory) {
  if (!existsSync(directory)) return {};
  const names = readdirSync(directory).sort();
  return Object.fromEntries(
    names.map((name) => [name, readFileSync(join(directory, name), 'utf8')]),
  );
}

/** That a claims directory holds nothing but holdings. */
export function assertHoldingsOnly(claims) {
  for (const name of readdirSync(claims)) assert.match(name, /^\d+\.json$/);
}

/** A refusal as hosts match it; all that is given is compared, and the message has all `mentions`. */
export function assertRefusal(error, { mentions = [], ...expected }) {
  assert.ok(error, 'nothing was refused');
  const found = {};
  for (const key of Object.keys(expected)) found[key] = error[key];
  assert.deepEqual(found, expected, error.message);
  for (const mention of mentions) {
    assert.ok(error.message.includes(mention), `"${error.message}" lacks "${mention}"`);
  }
  assert.doesNotMatch(error.message, /\.tmp-/, 'a scratch name helps nobody');
}

/** That a call is refused so. */
export async function assertRefuses(call, expected) {
  let refused;
  try {
    await call();
  } catch (error) {
    refused = error;
  }
  assertRefusal(refused, { name: 'NamzuError', retryable: false, ...expected });
  return refused;
}

// ---------------------------------------------------------------------------------------------
// Processes

/**
 * Starts a process that makes calls of a store, `[method, ...args]`, one after another, once `go`
 * is called. `outcomes` resolves to what each came to.
 * @param options `uid`: the user to become; `umask`; `attribution`: the store's
 */
export async function startStoreCalls(config, calls, options = {}) {
  const args = JSON.stringify({ config, calls, ...options });
  const started = start(process.execPath, [workerFile('store.mjs'), args]);
  while (!started.written.stdout.includes('ready\n')) {
    assert.equal(started.child.exitCode, null, started.written.stderr);
    await pause(5);
  }
  return {
    pid: started.child.pid,
    go: () => started.child.stdin.end('go\n'),
    outcomes: started.done.then(({ code, signal, stdout, stderr }) => {
      assert.equal(code, 0, `ended with ${signal ?? code}: ${stderr}`);
      return JSON.parse(stdout.trim().split('\n').at(-1));
    }),
  };
}

/** Makes calls of a store in a process of its own. */
export async function callStoreThere(config, calls, options) {
  const started = await startStoreCalls(config, calls, options);
  started.go();
  return await started.outcomes;
}

/** The calls that a store makes of the file system. */
export const FILE_CALLS = [
  ...['openat', 'mkdir', 'mkdirat', 'getdents64', 'lseek', 'newfstatat', 'fstat', 'statx'],
  ...['read', 'pread64', 'write', 'pwrite64', 'fsync', 'fdatasync', 'close', 'fstatfs'],
  ...['link', 'linkat', 'unlink', 'unlinkat', 'rename', 'renameat', 'renameat2'],
];

/**
 * Makes calls of a store in a process of its own, under strace from the first call on and not
 * before: what Node.js does at its start is left alone.
 * @param inject what to inject, as strace has it: `linkat:error=EIO`. Counts (`when=`) are by
 *   thread and by system call.
 * @returns `pid`, `go`, `outcomes`, and `log()`: the calls of the addon's thread so far
 */
export async function startTracedStoreCalls(config, calls, { inject = [], ...options } = {}) {
  const started = await startStoreCalls(config, calls, options);
  const log = join(tempDir(), 'trace');
  const strace = start('strace', [
    ...['-y', '-s', '0', '-o', log, '-p', threadOf(started.pid)],
    ...['-e', `trace=${FILE_CALLS}`],
    ...inject.flatMap((fault) => ['-e', `inject=${fault}`]),
  ]);
  while (!strace.written.stderr.includes('attached')) {
    assert.equal(strace.child.exitCode, null, strace.written.stderr);
    await pause(5);
  }
  return {
    ...started,
    outcomes: Promise.all([started.outcomes, strace.done]).then(([outcomes]) => outcomes),
    log: () =>
      readFileSync(log, 'utf8')
        .split('\n')
        .filter((line) => /^\w+\(/.test(line)),
  };
}

/** The addon's own thread, which has made a call and waits for the next. */
function threadOf(pid) {
  const nameOf = (id) => readFileSync(`/proc/${pid}/task/${id}/comm`, 'utf8').trim();
  const threads = readdirSync(`/proc/${pid}/task`).filter((id) => nameOf(id) === 'fencelink');
  assert.equal(threads.length, 1, `the addon has ${threads.length} threads`);
  return threads[0];
}

/** The name of the system call in a line of a log. */
export const callIn = (line) => line.slice(0, line.indexOf('('));

/**
 * Waits until a thread of a traced process, other than its first, is held up by its tracer: it is
 * stopped, and has not run at all between two looks. Resolves to a function that tells whether it
 * still is held up there.
 */
export async function heldUpIn(pid) {
  for (;;) {
    const stopped = stoppedThreads(pid);
    await pause(100);
    const still = stoppedThreads(pid);
    const held = Object.keys(stopped).find((id) => stopped[id] === still[id]);
    if (held) return () => stoppedThreads(pid)[held] === stopped[held];
    if (!existsSync(`/proc/${pid}/task`)) throw new Error('the process ended, never held up');
  }
}

/** Threads that their tracer has stopped, with how often each was switched to so far. */
function stoppedThreads(pid) {
  const stopped = {};
  for (const id of threadsOf(pid)) {
    let status = '';
    try {
      if (id !== String(pid)) status = readFileSync(`/proc/${pid}/task/${id}/status`, 'utf8');
    } catch {}
    if (/^State:\s+t /m.test(status)) stopped[id] = status.match(/ctxt_switches:\s+\d+/g).join();
  }
  return stopped;
}
