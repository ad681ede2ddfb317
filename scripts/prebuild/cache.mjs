// The folder that the tools and the runtimes are kept in, the same for all clones, and how something
// gets there.

import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

/** The folder that package.json is in. */
export const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../..');

const userCache = process.env.XDG_CACHE_HOME || path.join(homedir(), '.cache');
export const cache = path.join(userCache, 'fencelink');

/** One line about what happens. */
export const say = (text) => console.log(`fencelink: ${text}`);

/**
 * The folder `name` in the cache, made by `make` if it is not there. It is made under another name
 * and renamed when it is done, so one of this name is whole. Versions belong in the name.
 * @param {string} name
 * @param {(folder: string) => void} make
 */
export function kept(name, make) {
  const folder = path.join(cache, name);
  if (existsSync(folder)) return folder;
  const begun = Date.now();
  const partial = `${folder}.${process.pid}.partial`;
  rmSync(partial, { recursive: true, force: true });
  mkdirSync(partial, { recursive: true });
  try {
    make(partial);
    // Another process may have been as fast.
    if (!existsSync(folder)) renameSync(partial, folder);
  } finally {
    rmSync(partial, { recursive: true, force: true });
  }
  say(`made ${folder} in ${seconds(begun)}`);
  return folder;
}

export const seconds = (begun) => `${Math.round((Date.now() - begun) / 1000)} s`;

/**
 * Runs a program to its end and answers what it printed; throws, with what it printed, when it
 * fails.
 * @param {string} command
 * @param {string[]} args
 * @param {import('node:child_process').SpawnSyncOptions} [options]
 */
export function run(command, args, options = {}) {
  const settled = { encoding: /** @type {const} */ ('utf8'), maxBuffer: 1 << 28, ...options };
  const { error, status, signal, stdout, stderr } = spawnSync(command, args, settled);
  if (error) throw new Error(`${command} could not be started: ${error.message}`);
  if (status !== 0) {
    const printed = `${stdout ?? ''}${stderr ?? ''}`.trim().slice(-4000);
    const called = [command, ...args].join(' ').slice(0, 200);
    throw new Error(`${called}: ${signal ?? `exit code ${status}`}\n${printed}`);
  }
  return String(stdout ?? '');
}
