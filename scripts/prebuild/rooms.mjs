// The places in which a runtime can run here: this system, and the roots of others (roots.mjs),
// entered with chroot(8). Each run there has mounts and processes of its own, so that whatever it
// mounts and starts is gone with it, however it ends.

import { spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import path from 'node:path';
import { alone, emulator, glibcRoot, inRoot, muslRoot, wine, wineRoot } from './roots.mjs';

/**
 * What a run asks for.
 * @typedef {object} Errand
 * @property {string} consumer the folder that the script is in
 * @property {{ folder: string, program: string, args: string[] }} runtime see runtimes.mjs
 * @property {string[]} script the script's name in that folder, and its arguments; or nothing
 * @property {string} output the file that takes what is printed
 * @property {number} timeoutMs
 *
 * @typedef {object} Room
 * @property {boolean} spawns whether a process can start another of its own kind
 * @property {number} dying how many threads are ended in the middle of calls
 * @property {(errand: Errand) => Promise<string | null>} run resolves to how the run failed, in
 *   words, or to `null`
 */

/** @type {Record<string, Room>} */
export const rooms = {
  host: { spawns: true, dying: 200, run: onHost },
  'glibc-2.31': {
    spawns: true,
    dying: 200,
    run: inside(() => glibcRoot('glibc-2.31', 'amd64', 'bullseye')),
  },
  'arm64-gnu': {
    spawns: false,
    dying: 20,
    run: inside(() => glibcRoot('arm64-gnu', 'arm64', 'bookworm'), emulator),
  },
  'x64-musl': { spawns: true, dying: 200, run: inside(() => muslRoot('x64-musl', 'amd64')) },
  'arm64-musl': {
    spawns: false,
    dying: 20,
    run: inside(() => muslRoot('arm64-musl', 'arm64'), emulator),
  },
  wine: { spawns: true, dying: 50, run: inside(wineRoot, wine) },
};

/** @param {Errand} errand */
function onHost({ consumer, runtime, script: [file, ...rest], output, timeoutMs }) {
  const program = path.join(runtime.folder, runtime.program);
  const command = [...alone, program, ...runtime.args, path.join(consumer, file), ...rest];
  return finished(command, output, timeoutMs);
}

/** @param {() => string} rootOf the root, made if need be @param {string[]} starter */
function inside(rootOf, starter = []) {
  /** @param {Errand} errand */
  return ({ consumer, runtime, script: [file, ...rest], output, timeoutMs }) => {
    const command = [...starter, `/runtime/${runtime.program}`, ...runtime.args];
    if (file) command.push(`/consumer/${file}`, ...rest);
    const bound = { runtime: runtime.folder, consumer };
    return finished(inRoot(rootOf(), bound, command), output, timeoutMs);
  };
}

const running = new Set();
process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

/**
 * Resolves to how a command failed, in words, or to `null`.
 * @param {string[]} command
 * @param {string} output
 * @param {number} timeoutMs
 * @returns {Promise<string | null>}
 */
function finished(command, output, timeoutMs) {
  const descriptor = openSync(output, 'a');
  const stdio = /** @type {any} */ (['ignore', descriptor, descriptor]);
  const child = spawn(command[0], command.slice(1), {
    stdio,
    timeout: timeoutMs,
    killSignal: 'SIGKILL',
  });
  closeSync(descriptor);
  running.add(child);
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('exit', (code, signal) => {
      running.delete(child);
      if (signal === 'SIGKILL') resolve(`no end within ${timeoutMs / 1000} s`);
      else resolve(code === 0 ? null : `it ended with ${signal ?? `exit code ${code}`}`);
    });
  });
}
