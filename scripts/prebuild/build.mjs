// Builds the binaries. What is for another system is linked by zig, which has the libraries of all
// of them; so is what is for Linux, since only zig links for a glibc older than the one at hand. The
// standard library of a target comes with the toolchain (`rustup target add …`); of those that are
// not there Debian's compiler builds it from source.

import { copyFileSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';
import { binaryName } from '../targets.mjs';
import { cache, root, run, say, seconds } from './cache.mjs';
import { aptEnvironment } from './debian.mjs';
import { toolsFolder } from './tools.mjs';

/** @typedef {import('../targets.mjs').Target} Target */

/** Where the binaries are left. */
export const stage = path.join(root, 'prebuilt');

/** What Node.js looks for in an addon; the only name that a binary exports. */
export const ENTRY = 'napi_register_module_v1';

export const OLDEST_MACOS = '11.0';

/**
 * @typedef {object} Way By which compiler and linker a target is built here, and as what.
 * @property {'native' | 'zig' | 'zig and Debian'} kind
 * @property {string} triple
 */

/** @param {Target} target @returns {Way} */
export function wayOf(target) {
  if (target.os === process.platform && target.os !== 'linux') {
    return { kind: 'native', triple: target.triple };
  }
  const triple = target.cross ?? target.triple;
  // For macOS it takes a flag that only Debian's compiler is told.
  const installed = existsSync(path.join(rustlib(), triple, 'lib')) && target.os !== 'darwin';
  return { kind: installed ? 'zig' : 'zig and Debian', triple };
}

/** Where the toolchain at hand has what it has for each platform. */
function rustlib() {
  return path.join(run('rustc', ['--print', 'sysroot'], { cwd: root }).trim(), 'lib/rustlib');
}

/**
 * Builds these targets, and leaves their binaries in {@link stage}.
 * @param {Target[]} targets
 */
export function build(targets) {
  const wanted = targets.map((target) => ({ target, ...wayOf(target) }));
  mkdirSync(stage, { recursive: true });
  for (const kind of ['native', 'zig', 'zig and Debian']) {
    const together = wanted.filter((one) => one.kind === kind);
    if (together.length > 0) buildTogether(kind, together);
  }
}

/** One call of cargo for all targets of a way, so that it has work for every processor. */
function buildTogether(kind, wanted) {
  const begun = Date.now();
  const args = ['--release', '--lib'];
  for (const { target, triple } of wanted) {
    args.push('--target', target.libc === 'glibc' ? `${triple}.2.17` : triple);
    args.push('--config', `target.${triple}.rustflags=${JSON.stringify(flagsFor(target, kind))}`);
  }
  say(`building with ${kind}: ${wanted.map(({ target }) => target.key).join(', ')}`);
  const directory = path.join(root, 'target/prebuild', kind.replaceAll(' ', '-'));
  cargo(kind, directory, args, { stdio: ['ignore', 'inherit', 'inherit'] });
  for (const { target, triple } of wanted) {
    const built = path.join(directory, triple, 'release', libraryName(target));
    copyFileSync(built, path.join(stage, binaryName(target)));
  }
  say(`built with ${kind} in ${seconds(begun)}`);
}

/**
 * Builds with cargo in one of the ways; answers what it printed.
 * @param {Way['kind']} kind
 * @param {string} directory
 * @param {string[]} args
 * @param {import('node:child_process').SpawnSyncOptions} [options]
 */
export function cargo(kind, directory, args, options) {
  const env = { ...process.env };
  env.CARGO_TARGET_DIR = directory;
  // They would take the place of the flags of each target.
  for (const name of ['RUSTFLAGS', 'CARGO_ENCODED_RUSTFLAGS']) delete env[name];
  env.MACOSX_DEPLOYMENT_TARGET = OLDEST_MACOS;
  const all = [kind === 'native' ? 'build' : 'zigbuild', '--locked', ...args];
  if (kind !== 'native') addZig(env, directory);
  if (kind === 'zig and Debian') {
    addDebian(env);
    all.push('-Zbuild-std=std,panic_unwind');
  }
  return run('cargo', all, { cwd: root, env, ...options });
}

function libraryName({ os }) {
  if (os === 'win32') return 'fencelink.dll';
  return `libfencelink.${os === 'darwin' ? 'dylib' : 'so'}`;
}

function flagsFor(target, kind) {
  const zig = kind !== 'native';
  const cargoHome = process.env.CARGO_HOME || path.join(homedir(), '.cargo');
  // Messages of a panic name source files: as they are called in the project, and not here.
  const flags = [`${cache}/debian-rust`, `${cargoHome}/registry/src`, root].map(
    (folder, index) => `--remap-path-prefix=${folder}=${['rust', 'crates', '.'][index]}`,
  );
  if (target.libc === 'musl') flags.push('-Ctarget-feature=-crt-static');
  if (target.os === 'win32' && zig) {
    // Without a list of exports every function of the crate is one, and nothing is left out.
    flags.push(`-Clink-arg=${path.join(root, 'scripts/prebuild/exports.def')}`, '-Clink-arg=-s');
  } else if (target.os === 'win32') {
    // The library of Microsoft's compiler is not part of Windows.
    flags.push('-Ctarget-feature=+crt-static');
  }
  if (target.os === 'darwin') {
    flags.push(`-Clink-arg=-Wl,-install_name,@rpath/${binaryName(target)}`);
    // By zig, all that is visible is exported.
    if (zig) flags.push('-Zdefault-visibility=hidden', '-Clink-arg=-Wl,-dead_strip_dylibs');
  }
  return flags;
}

function addZig(env, directory) {
  env.PATH = `${toolsFolder()}${path.delimiter}${env.PATH}`;
  // For Windows, napi asks for an import library of Node.js. The addon finds its functions when it
  // is loaded, so an empty one will do.
  const libraries = path.join(directory, 'libnode');
  mkdirSync(libraries, { recursive: true });
  writeFileSync(path.join(libraries, 'libnode.dll'), '');
  writeFileSync(path.join(libraries, 'libnode.a'), '!<arch>\n');
  env.LIBNODE_PATH = libraries;
}

function addDebian(env) {
  const script = path.join(root, 'scripts/debian-rust.sh');
  run(script, [cache], { env: aptEnvironment(), stdio: ['ignore', 'inherit', 'inherit'] });
  const debian = path.join(cache, 'debian-rust/usr');
  env.RUSTC = path.join(debian, 'bin/rustc');
  env.LD_LIBRARY_PATH = path.join(debian, 'lib/x86_64-linux-gnu');
  // It has nothing that strips binaries of macOS; the toolchain at hand has.
  env.PATH += `:${path.join(rustlib(), 'x86_64-unknown-linux-gnu/bin')}`;
  // What unlocks -Zbuild-std is for a compiler's own build, which this is.
  env.RUSTC_BOOTSTRAP = '1';
}
