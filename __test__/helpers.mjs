// What the tests share: directories of their own, and child processes.

import { spawn } from 'node:child_process';
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

/** Kills a child of the test file's at its end, when it has not ended by itself. */
export function killAtEnd(child) {
  started.push(child);
}

/** Starts a program; `done` resolves when it has ended, with how it ended and what it wrote. */
export function start(command, args, options = {}) {
  const child = spawn(command, args, {
    stdio: ['pipe', 'pipe', 'pipe'],
    timeout: ENDLESS_MS,
    killSignal: 'SIGKILL',
    ...options,
  });
  killAtEnd(child);
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
