// Projects that depend on the package, as somebody else would have them: installed from a registry,
// with no Rust in reach.

import { execFile } from 'node:child_process';
import {
  copyFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { binaryName, packageName } from '../targets.mjs';
import { root, run } from './cache.mjs';

const execute = promisify(execFile);

/** What is put beside an installed package to try it. */
const TRIAL = '__test__/consumer';
const VECTORS = 'tests/fixture/vectors/claims.jsonl';

/**
 * Installs the package into a new project below `work`; answers its folder.
 * @param {string} work
 * @param {string} registry
 * @param {{ target?: import('../targets.mjs').Target, scripts?: boolean }} how for which platform,
 *   or for this one; whether the scripts of packages may run
 */
export async function install(work, registry, { target, scripts = false }) {
  const consumer = mkdtempSync(path.join(work, 'consumer-'));
  writeFileSync(path.join(consumer, 'package.json'), '{ "private": true }\n');
  const platform = { os: target?.os, cpu: target?.cpu, libc: target?.libc };
  const options = Object.entries(platform).filter(([, value]) => value !== undefined);
  const args = ['install', '--no-audit', '--no-fund', 'fencelink'];
  args.push(...options.map(([name, value]) => `--${name}=${value}`));
  if (!scripts) args.push('--ignore-scripts');
  const env = {
    PATH: commands(work),
    HOME: work,
    npm_config_registry: registry,
    // Of its own, since what a package is called by its name and version changes here.
    npm_config_cache: `${consumer}-npm-cache`,
  };
  await execute('npm', args, { cwd: consumer, env });
  cpSync(path.join(root, TRIAL), consumer, { recursive: true });
  copyFileSync(path.join(root, VECTORS), path.join(consumer, path.basename(VECTORS)));
  return consumer;
}

/** A folder with the commands that an installation needs, and with no others. */
function commands(work) {
  const folder = path.join(work, 'bin');
  if (!mkdirSync(folder, { recursive: true })) return folder;
  const npm = run('sh', ['-c', 'command -v npm']).trim();
  for (const [name, place] of Object.entries({ node: process.execPath, npm, sh: '/bin/sh' })) {
    symlinkSync(place, path.join(folder, name));
  }
  return folder;
}

/** What is wrong with an installation for a target, or `null`: it has one binary, the right one. */
export function installFaults(consumer, target) {
  const all = readdirSync(consumer, { recursive: true }).map(String);
  const found = all.filter((name) => name.endsWith('.node'));
  const expected = path.join('node_modules', packageName(target), binaryName(target));
  if (found.length === 1 && found[0] === expected) return null;
  return `the binaries are ${found.join(', ') || 'none'}`;
}

/** A copy of a project, for a run of its own. */
export function copyOf(consumer, work) {
  const copy = mkdtempSync(path.join(work, 'run-'));
  cpSync(consumer, copy, { recursive: true });
  return copy;
}

/** What a trial left of itself; `null` when it did not come to that. */
export function reportIn(consumer) {
  try {
    return JSON.parse(readFileSync(path.join(consumer, 'report.json'), 'utf8'));
  } catch (error) {
    if (/** @type {NodeJS.ErrnoException} */ (error).code === 'ENOENT') return null;
    throw error;
  }
}

/** What `tsc --strict` says of the use of the package, or `null` when it has no objection. */
export function typeCheck(consumer) {
  const tsc = path.join(root, 'node_modules/typescript/bin/tsc');
  const settings = ['--strict', '--noEmit', '--module', 'nodenext', '--target', 'es2022'];
  try {
    run(process.execPath, [tsc, ...settings, 'use.mts', 'use.cts'], { cwd: consumer });
    return null;
  } catch (error) {
    return /** @type {Error} */ (error).message;
  }
}
