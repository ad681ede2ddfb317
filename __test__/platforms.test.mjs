// The platforms that have a binary: everything that is said of them says what scripts/targets.mjs
// says, and a binary that is not as it should be is found out.

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { test } from 'node:test';
import { files } from '../scripts/platform-packages.mjs';
import { faultsOf } from '../scripts/prebuild/check.mjs';
import { rooms } from '../scripts/prebuild/rooms.mjs';
import { targets } from '../scripts/targets.mjs';
import { packageRoot } from './helpers.mjs';

const require = createRequire(import.meta.url);
const manifest = require('../package.json');
const { PLATFORMS } = require('../lib/load.js');

// Guards the packages and README's table against being edited by hand, or forgotten when the version
// or the list changes.
test('the packages in npm/ and the table in README are made from the list', () => {
  const made = files();
  for (const [file, text] of made) {
    const written = readFileSync(join(packageRoot, file), 'utf8');
    assert.equal(written, text, `${file}: run \`node scripts/platform-packages.mjs\``);
  }
  assert.match(made.get('README.md'), /\| Linux x64, glibc \|/);
  const folders = targets.map(({ key }) => key).sort();
  assert.deepEqual(readdirSync(join(packageRoot, 'npm')).sort(), folders);
});

// Guards installations: a package whose version differs from the main one's is refused when it is
// loaded, and one without its constraints is installed everywhere.
test('the package of a platform has the version of the main one, and says for what it is', () => {
  for (const { key, os, cpu, libc } of targets) {
    const of = require(`../npm/${key}/package.json`);
    assert.equal(of.name, `@fencelink/${key}`);
    assert.equal(of.version, manifest.version);
    assert.deepEqual([of.os, of.cpu, of.libc], [[os], [cpu], libc && [libc]]);
    assert.equal(of.license, manifest.license);
    assert.deepEqual(of.engines, manifest.engines);
    assert.equal(of.main, `fencelink.${key}.node`);
    assert.ok(of.files.includes(of.main));
  }
});

// Guards the loader, which asks for packages by name.
test('the loader, the build and the list know the same platforms', () => {
  assert.deepEqual([...PLATFORMS].sort(), targets.map(({ key }) => key).sort());
  assert.deepEqual([...manifest.napi.targets].sort(), targets.map(({ triple }) => triple).sort());
});

// Guards the word "run" in README: there must be a place here to run it in.
test('each runtime that the list claims has a room', () => {
  const claimed = targets.flatMap(({ runs }) => runs);
  assert.ok(claimed.flatMap(({ runtimes }) => runtimes).length >= 12);
  for (const { room, runtimes } of claimed) {
    assert.ok(rooms[room], `there is no room ${room}`);
    assert.ok(runtimes.length > 0, room);
  }
});

// Guards `npm run build`: npm takes a script called prebuild for what must run before it.
test('npm runs no script that was not asked for', () => {
  assert.ok(manifest.scripts.prebuild);
  assert.match(readFileSync(join(packageRoot, '.npmrc'), 'utf8'), /^ignore-scripts=true$/m);
});

const target = (key) => targets.find((one) => one.key === key);
const exports = ['napi_register_module_v1'];
const GNU = { format: 'ELF', machine: 'X86_64', exports, versions: ['GLIBC_2.17'] };
const good = {
  'linux-x64-gnu': { ...GNU, libraries: ['libc.so.6', 'ld-linux-x86-64.so.2'] },
  'linux-arm64-musl': { ...GNU, machine: 'AARCH64', versions: [], libraries: ['libc.so'] },
  'win32-x64-msvc': { format: 'PE', machine: 'AMD64', exports, libraries: ['KERNEL32.dll'] },
  'darwin-arm64': {
    format: 'MachO',
    machine: 'ARM64',
    exports: ['_napi_register_module_v1'],
    libraries: ['/usr/lib/libSystem.B.dylib'],
    oldest: '11.0.0',
    signed: true,
  },
};

test('a binary that is as it should be has no faults', () => {
  for (const [key, found] of Object.entries(good)) {
    assert.deepEqual(faultsOf(target(key), 1_000_000, found), [], key);
  }
});

// Guards what goes out: each of these would load for nobody, or only where it was built.
for (const [why, key, size, changes, fault] of [
  ['too large', 'linux-x64-gnu', 1_200_001, {}, /1200001 bytes/],
  ['of another format', 'linux-x64-gnu', 1, { format: 'PE' }, /its format is PE/],
  ['for another processor', 'linux-x64-gnu', 1, { machine: 'AARCH64' }, /it is for AARCH64/],
  ['no addon', 'win32-x64-msvc', 1, { exports: [] }, /does not export napi_register/],
  ['open to all', 'win32-x64-msvc', 1, { exports: [...exports, 'x'] }, /1 further names: x/],
  ['for a newer glibc', 'linux-x64-gnu', 1, { versions: ['GLIBC_2.18'] }, /needs GLIBC_2.18/],
  ['with odd symbols', 'linux-x64-gnu', 1, { versions: ['GCC_3.0'] }, /needs GCC_3.0/],
  ['in need of a library', 'linux-x64-gnu', 1, { libraries: ['libz.so.1'] }, /needs libz/],
  ['for musl', 'linux-x64-gnu', 1, { versions: [], libraries: ['libc.so'] }, /it is for musl/],
  ['for glibc', 'linux-arm64-musl', 1, { libraries: ['libc.so.6'] }, /it is not for musl/],
  ['for a newer macOS', 'darwin-arm64', 1, { oldest: '15.0.0' }, /for macOS 15/],
  ['badly signed', 'darwin-arm64', 1, { signed: false }, /its signature does not fit/],
]) {
  test(`a binary that is ${why} is found out`, () => {
    const faults = faultsOf(target(key), size, { ...good[key], ...changes });
    assert.equal(faults.length, 1, String(faults));
    assert.match(faults[0], fault);
  });
}
