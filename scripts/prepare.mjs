// Does what is missing before a script runs, and says in a line what and why: the npm packages,
// when node_modules is not what package-lock.json says, and the addon, when it is not built or
// older than what it is built from. Needs nothing but Node.js, so that it runs on a fresh clone.
//
//   node scripts/prepare.mjs            packages and addon, each if needed
//   node scripts/prepare.mjs --packages packages only
//   node scripts/prepare.mjs --build    packages if needed; the addon in any case

import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, statSync, utimesSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { platformKey } from '../lib/platform.js';

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const OLDEST_NODE = 20;
/** What the addon is built from: a change in any of these makes it stale. */
const ADDON_SOURCES = ['src', 'build.rs', 'Cargo.toml', 'Cargo.lock'];

/** One line about what happens and why. Standard output belongs to what runs after this. */
function say(text) {
  console.error(`fencelink: ${text}`);
}

function fail(text) {
  console.error(`fencelink: ${text}`);
  process.exit(1);
}

/** Runs a program in the project's root; ends this process when it fails. */
function run(command, args) {
  const stdio = /** @type {const} */ (['inherit', 2, 2]);
  const { error, status, signal } = spawnSync(command, args, { cwd: root, stdio: [...stdio] });
  if (error) fail(`${command} could not be started: ${error.message}`);
  if (status !== 0)
    fail(`${command} ${args.join(' ')} failed (${signal ?? `exit code ${status}`})`);
}

/** Runs npm: the one that runs this script where there is one, which also works on Windows. */
function npm(...args) {
  const cli = process.env.npm_execpath;
  if (cli?.endsWith('.js')) return run(process.execPath, [cli, ...args]);
  return run('npm', args);
}

/** The packages of a lock file, without the entry that is the project itself. */
function lockedPackages(file) {
  const { packages } = JSON.parse(readFileSync(path.join(root, file), 'utf8'));
  return new Map(Object.entries(packages).filter(([place]) => place !== ''));
}

/** Why node_modules is not what package-lock.json says, or `null` when it is. */
function packagesReason() {
  const installedLock = 'node_modules/.package-lock.json';
  if (!existsSync(path.join(root, installedLock))) return 'node_modules is missing';
  const wanted = lockedPackages('package-lock.json');
  const installed = lockedPackages(installedLock);
  for (const [place, { version, optional }] of wanted) {
    const found = installed.get(place);
    // An optional package is one of several platforms' binaries: most are rightly absent.
    if (!found && !optional) return `${place} is missing`;
    if (found && found.version !== version) {
      return `${place} is ${found.version} and the lock file says ${version}`;
    }
    if (found && !existsSync(path.join(root, place))) return `${place} is missing`;
  }
  for (const place of installed.keys()) {
    if (!wanted.has(place)) return `${place} is not in the lock file`;
  }
  return null;
}

/** The file name that the napi CLI gives to the addon of this platform. */
function addonName() {
  return `fencelink.${platformKey()}.node`;
}

/** The newest file at or below `place`, with its modification time in milliseconds. */
function newest(place) {
  const absolute = path.join(root, place);
  if (!existsSync(absolute)) return { place, time: 0 };
  const stat = statSync(absolute);
  if (!stat.isDirectory()) return { place, time: stat.mtimeMs };
  return readdirSync(absolute)
    .map((name) => newest(path.join(place, name)))
    .reduce((a, b) => (b.time > a.time ? b : a), { place, time: 0 });
}

/** Why the addon has to be built, or `null` when it is newer than all its sources. */
function addonReason() {
  const addon = addonName();
  if (!existsSync(path.join(root, addon))) return `${addon} is missing`;
  const source = ADDON_SOURCES.map(newest).reduce((a, b) => (b.time > a.time ? b : a));
  const built = statSync(path.join(root, addon)).mtimeMs;
  return source.time > built ? `${addon} is older than ${source.place}` : null;
}

function installPackages() {
  const reason = packagesReason();
  if (!reason) return;
  say(`installing npm packages: ${reason}`);
  npm('ci', '--include=dev', '--no-audit', '--no-fund', '--loglevel=error');
}

function buildAddon(reason) {
  const cargo = spawnSync('cargo', ['--version'], { cwd: root, encoding: 'utf8' });
  if (cargo.status !== 0) {
    fail(
      'the addon is built from Rust, and `cargo` was not found: install Rust (https://rustup.rs)',
    );
  }
  say(`building the addon, which takes about a minute: ${reason}`);
  const cli = path.join(root, 'node_modules/@napi-rs/cli/dist/cli.js');
  const startedAt = new Date();
  run(process.execPath, [
    ...[cli, 'build', '--platform', '--release'],
    ...['--no-js', '--dts', 'binding.d.ts'],
  ]);
  const addon = path.join(root, addonName());
  if (!existsSync(addon)) fail(`the build left no ${addonName()}`);
  // What was edited during the build is not in it.
  utimesSync(addon, startedAt, startedAt);
}

if (Number(process.versions.node.split('.')[0]) < OLDEST_NODE) {
  fail(`Node.js ${OLDEST_NODE} or later is needed; this is ${process.version}`);
}
installPackages();
if (process.argv.includes('--build')) buildAddon('asked for');
else if (!process.argv.includes('--packages')) {
  const reason = addonReason();
  if (reason) buildAddon(reason);
}
