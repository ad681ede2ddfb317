// The binary: which one is loaded, and what is said when none can be. Each case is that of a project
// which has the package as it is published; nothing of it is known to the loader beforehand.

import assert from 'node:assert/strict';
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { packageRoot, tempDir } from './helpers.mjs';
import {
  addPlatform,
  binary,
  fileName,
  firstCall,
  key,
  packageName,
  project,
  version,
} from './package-helpers.mjs';

const require = createRequire(import.meta.url);
const { PLATFORMS } = require('../lib/load.js');

const onLinux = { skip: process.platform !== 'linux' && 'this is about ELF files' };

/** Checks what all refusals of the loader have in common; returns the lines of the message. */
function linesOf({ isOurs, name, code, retryable, message, stack, details }) {
  assert.deepEqual(
    { isOurs, name, code, retryable },
    { isOurs: true, name: 'NamzuError', code: 'capability_unavailable', retryable: false },
  );
  assert.equal(typeof details.platform, 'string');
  assert.match(stack, /call\.cjs/, 'it shows who called');
  const lines = message.split('\n');
  assert.equal(lines.length, 2, message);
  assert.ok(lines[0].startsWith(`fencelink ${version} has no binary: `), message);
  return lines;
}

/** A file to take a binary's place. */
const put = (content) => (file) => writeFileSync(file, content);

test('the binary of the platform package is loaded', async () => {
  const dir = project();
  addPlatform(dir);
  const { value } = await firstCall(dir);
  assert.equal(value.fence, 1);
});

// Guards the clone: a binary that was just built counts, whatever is installed.
test('a binary beside package.json goes before the package', async () => {
  const dir = project();
  addPlatform(dir, key, { put: put('not loaded') });
  copyFileSync(binary, join(dir, 'node_modules/fencelink', fileName));
  const { value } = await firstCall(dir);
  assert.equal(value.fence, 1);
});

test('a missing package is named, and so is the machine', async () => {
  const error = await firstCall(project());
  const [first, advice] = linesOf(error);
  assert.ok(first.includes(`the package ${packageName} is not installed; this is ${key}`), first);
  const { glibcVersionRuntime } = process.report.getReport().header;
  if (process.platform === 'linux') {
    const libc = glibcVersionRuntime ? `glibc ${glibcVersionRuntime}` : 'musl';
    assert.ok(first.endsWith(`, with ${libc}.`), first);
  }
  assert.match(advice, /^It is an optional dependency: install without `--omit=optional`\./);
  assert.deepEqual(error.details, { platform: key, package: packageName });
  assert.equal(error.said.code, 'MODULE_NOT_FOUND');
  assert.ok(error.said.message.includes(packageName));
});

// Guards whoever packed a clone: nothing was left out, and to install that again does not help.
test('a copy that was packed from the sources says that it is one', async () => {
  const dir = project();
  copyFileSync(join(packageRoot, 'package.json'), join(dir, 'node_modules/fencelink/package.json'));
  const [first, advice] = linesOf(await firstCall(dir));
  assert.ok(first.includes(`this copy was packed from the sources`), first);
  assert.match(advice, /^Install a release; or build a clone with `npm run build`/);
});

// Guards those whose lock file or node_modules was made elsewhere: it says what is there instead.
test('packages of other platforms are named beside the missing one', async () => {
  const dir = project();
  const others = PLATFORMS.filter((platform) => platform !== key).slice(0, 2);
  for (const other of others) addPlatform(dir, other, { put: put('for another machine') });
  const [first, advice] = linesOf(await firstCall(dir));
  const [a, b] = others;
  const there = `is not installed, but @fencelink/${a} and @fencelink/${b}; this is ${key}`;
  assert.ok(first.includes(`the package ${packageName} ${there}`), first);
  assert.match(advice, /remove the lock file too, since one made on another platform can lack/);
});

test('a package of another version is refused, by its package.json', async () => {
  const dir = project();
  const file = addPlatform(dir, key, { of: '0.0.9' });
  const error = await firstCall(dir);
  const [first, advice] = linesOf(error);
  assert.ok(first.endsWith(`: ${file} is of version 0.0.9, and only ${version} fits.`), first);
  assert.ok(
    advice.startsWith(`The versions of fencelink and ${packageName} must be the same.`),
    advice,
  );
  const { path, found, supported } = error.details;
  assert.deepEqual({ path, found, supported }, { path: file, found: '0.0.9', supported: version });
});

// Guards a binary whose package tells another version than it has itself, and an old build.
test('a binary of another version is refused, by what it exports', async () => {
  const dir = project();
  const manifest = join(dir, 'node_modules/fencelink/package.json');
  const next = readFileSync(manifest, 'utf8').replace(
    `"version": "${version}"`,
    '"version": "9.9.9"',
  );
  writeFileSync(manifest, next);
  const file = addPlatform(dir, key, { of: '9.9.9' });
  const refusal = (path) =>
    `fencelink 9.9.9 has no binary: ${path} is of version ${version}, and only 9.9.9 fits.`;
  const ofPackage = await firstCall(dir);
  assert.equal(ofPackage.message.split('\n')[0], refusal(file));
  assert.equal(ofPackage.code, 'capability_unavailable');
  const built = join(dir, 'node_modules/fencelink', fileName);
  copyFileSync(binary, built);
  const { message } = await firstCall(dir);
  assert.equal(
    message,
    `${refusal(built)}\nThis is a clone of the sources: run \`npm run build\` in it.`,
  );
});

// Guards the text of the dynamic linker, which is the only thing that knows; and the cause itself.
test('a file that is no binary is refused with what the system says of it', async () => {
  const dir = project();
  const file = addPlatform(dir, key, { put: put(`not a binary${' '.repeat(5000)}`) });
  const error = await firstCall(dir);
  const [first, advice] = linesOf(error);
  assert.ok(first.includes(`${file} cannot be loaded: `), first);
  assert.equal(error.said.code, 'ERR_DLOPEN_FAILED');
  const said = error.said.message.split('\n')[0].replace(`${file}: `, '');
  assert.ok(first.includes(`cannot be loaded: ${said}; this is ${key}`), first);
  if (process.platform === 'linux') assert.match(first, /invalid ELF header|Exec format error/);
  assert.match(advice, /^Remove node_modules, and install again on this machine/);
  assert.equal(error.details.code, 'ERR_DLOPEN_FAILED');
  assert.equal(error.details.path, file);
});

// Guards the process: the system kills one that loads a file whose end is missing.
test('a binary that was cut short is refused, and kills nobody', onLinux, async () => {
  const whole = readFileSync(binary);
  for (const size of [4096, whole.length >> 1, whole.length - 1]) {
    const dir = project();
    const file = addPlatform(dir, key, { put: put(whole.subarray(0, size)) });
    const [first] = linesOf(await firstCall(dir));
    const why = `it was cut short, and has ${size} bytes of ${whole.length}`;
    assert.ok(first.includes(`${file} cannot be loaded: ${why}; this is ${key}`), first);
  }
  const dir = project();
  addPlatform(dir, key, { put: put(whole.subarray(0, 10)) });
  const error = await firstCall(dir);
  assert.equal(error.said.code, 'ERR_DLOPEN_FAILED', 'what is shorter still, the system refuses');
  linesOf(error);
});

// A file has its size before its bytes: so it is left by a machine that lost its power.
test('a binary whose end was never written is refused, and kills nobody', onLinux, async () => {
  const dir = project();
  const file = addPlatform(dir, key, { put: put(readFileSync(binary).fill(0, 500_000)) });
  const [first] = linesOf(await firstCall(dir));
  const why = 'it ends in zeros, and was never written whole';
  assert.ok(first.includes(`${file} cannot be loaded: ${why}; this is ${key}`), first);
});

// Guards the cause: a package that is there is not said to be missing, whatever is wrong with it.
test('a package whose package.json cannot be read is refused as such', async () => {
  const dir = project();
  const file = addPlatform(dir);
  const manifest = join(dirname(file), 'package.json');
  const noRights = `
    const fs = require('node:fs');
    const { readFileSync } = fs;
    fs.readFileSync = (file, ...rest) => {
      if (file !== ${JSON.stringify(manifest)}) return readFileSync(file, ...rest);
      throw Object.assign(new Error('EACCES: permission denied'), { code: 'EACCES' });
    };`;
  for (const [content, before, why] of [
    ['{', '', /JSON/],
    ['null', '', /null/],
    ['{ "exports": {} }', '', /exports/],
    [readFileSync(manifest), noRights, /EACCES: permission denied/],
  ]) {
    writeFileSync(manifest, content);
    const [first] = linesOf(await firstCall(dir, { before }));
    assert.ok(first.includes(`: ${packageName} cannot be loaded: `), first);
    assert.match(first, why);
  }
});

// Guards the truth: of such a file the system says that it does not exist.
test('a binary for another architecture is refused as what it is', onLinux, async () => {
  const [other, machine] = process.arch === 'x64' ? ['arm64', 183] : ['x64', 62];
  const changed = readFileSync(binary);
  changed.writeUInt16LE(machine, 18);
  const dir = project();
  const file = addPlatform(dir, key, { put: put(changed) });
  const [first] = linesOf(await firstCall(dir));
  assert.ok(first.includes(`${file} cannot be loaded: it is made for ${other}; this is`), first);
});

test('a package without its file is refused', async () => {
  const dir = project();
  addPlatform(dir, key, { put: () => {} });
  const error = await firstCall(dir);
  const [first] = linesOf(error);
  assert.match(first, /cannot be loaded: Cannot find module/);
  assert.equal(error.said.code, 'MODULE_NOT_FOUND');
});

// Guards the refusal where even the look at the file fails.
test('a file that cannot be read is refused', async () => {
  const dir = project();
  const file = addPlatform(dir, key, { put: (place) => mkdirSync(place) });
  const [first] = linesOf(await firstCall(dir));
  assert.ok(first.includes(`${file} cannot be loaded: `), first);
});

test('a process that may load no addons is told so', async () => {
  const dir = project();
  addPlatform(dir);
  const error = await firstCall(dir, { options: ['--no-addons'] });
  const [first, advice] = linesOf(error);
  assert.ok(first.includes(`this process may not load addons: ${error.said.message}`), first);
  assert.equal(
    advice,
    'Start Node.js without `--no-addons`, and under `--permission` with `--allow-addons`.',
  );
  assert.equal(error.said.code, 'ERR_DLOPEN_DISABLED');
  assert.equal(error.details.code, 'ERR_DLOPEN_DISABLED');
});

// Guards what docs/bundlers.md says: the rights to read the two packages, and none to run directories.
test('under the permission model it takes addons and the right to read the packages', async () => {
  const dir = project();
  addPlatform(dir);
  const flag = process.allowedNodeEnvironmentFlags.has('--permission')
    ? '--permission'
    : '--experimental-permission';
  const rights = (...places) => places.map((place) => `--allow-fs-read=${join(dir, place)}`);
  const few = [flag, ...rights('call.cjs', 'node_modules/fencelink/')];
  const enough = [...few, ...rights('node_modules/@fencelink/')];
  const { value } = await firstCall(dir, { options: [...enough, '--allow-addons'] });
  assert.equal(value.fence, 1);
  const [disabled] = linesOf(await firstCall(dir, { options: enough }));
  assert.match(disabled, /this process may not load addons/);
  const [unseen] = linesOf(await firstCall(dir, { options: [...few, '--allow-addons'] }));
  assert.match(unseen, /cannot be loaded: Access to this API has been restricted/);
});

test('a platform without a package is told which ones have one', async () => {
  for (const [platform, arch, called] of [
    ['freebsd', 'x64', 'freebsd-x64'],
    ['linux', 'riscv64', 'linux-riscv64-(gnu|musl)'],
    ['win32', 'ia32', 'win32-ia32-msvc'],
  ]) {
    const before = `for (const [name, value] of Object.entries(${JSON.stringify({ platform, arch })}))
      Object.defineProperty(process, name, { value });`;
    const [first, advice] = linesOf(await firstCall(project(), { before }));
    assert.match(first, new RegExp(`there is no package for this platform, ${called}`));
    const all = `There are packages for ${PLATFORMS.join(', ')}. Elsewhere, build it from its sources.`;
    assert.equal(advice, all);
  }
});

test('a clone that was not built is told how to build', async () => {
  const dir = project();
  const home = join(dir, 'node_modules/fencelink');
  mkdirSync(join(home, 'src/binding'), { recursive: true });
  const [first, advice] = linesOf(await firstCall(dir));
  assert.ok(first.endsWith(`: it was not built: there is no ${fileName} in ${home}.`), first);
  assert.equal(advice, 'This is a clone of the sources: run `npm run build` in it.');
  // It is by this directory that one is known.
  assert.ok(readFileSync(join(packageRoot, 'src/binding/mod.rs')).length > 0);
});

test('in a renderer of Electron the advice is to leave it', async () => {
  const dir = project();
  addPlatform(dir);
  const before = `process.type = 'renderer';`;
  const [, advice] = linesOf(await firstCall(dir, { before, options: ['--no-addons'] }));
  assert.match(
    advice,
    / Electron lets few of its renderers load addons: call fencelink in the main process\.$/,
  );
});

// Guards the host's `instanceof`, which holds for this refusal as for each other one.
test('the refusal is of the class that the host asked for, at each call anew', async () => {
  const before = `
    class HostError extends Error {
      name = 'NamzuError';
      constructor(init) {
        super(init.message, { cause: init.cause });
        Object.assign(this, { code: init.code, details: init.details, retryable: init.retryable });
      }
    }
    const { adoptErrorClass, readClaim } = require('fencelink');
    adoptErrorClass(HostError);
    const again = () => readClaim('x').catch((error) => error);
    const judge = async () => {
      const [a, b] = [await again(), await again()];
      return [a instanceof HostError, b instanceof HostError, a !== b, a.message === b.message];
    };
    require('fencelink').judge = judge;`;
  const { value } = await firstCall(project(), { before, call: 'judge()' });
  assert.deepEqual(value, [true, true, true, true]);
});

// Guards those who import the package for its types and for what needs no binary.
test('without a binary the package is imported, and what needs none works', async () => {
  const dir = project();
  const call = `singleOpenWriter().then(async ({ state }) => {
    const { DiskCheckpointStore, NamzuError, adoptErrorClass, assertContiguousListingScope, claimRun,
      fencedOut, listDurableRuns, registerInvariants, releaseRun, toClaimSummary } = fencelink;
    const store = {
      claimRun: async () => null,
      releaseRun: async () => {},
      listDurableRuns: async () => ({ entries: [] }),
    };
    const scope = { tenantId: 't', projectId: 'p', sessionId: 's', runId: 'run_1' };
    new DiskCheckpointStore({ baseDir: 'queue' });
    registerInvariants({ register() {} });
    adoptErrorClass(NamzuError);
    assertContiguousListingScope(scope, 'caller');
    return [
      state,
      fencedOut(scope, 1, 2).code,
      toClaimSummary({ holder: 'a', fence: 1, expiresAt: 5 }, 5).expired,
      await claimRun(store, scope, { holder: 'a', ttlMs: 1 }),
      await releaseRun(store, scope, 1),
      (await listDurableRuns(store, scope)).entries.length,
    ];
  })`;
  const { value } = await firstCall(dir, { call });
  assert.deepEqual(value, ['unknown', 'storage_error', true, null, null, 0]);
  // Their rules are in the binary: see docs/decisions/0040.
  for (const needs of [
    'summarizePark([], 0)',
    'toDurableRunEntry({}, [], 0)',
    'paginateDurableRuns([])',
    `readClaimSync('run_1')`,
  ]) {
    linesOf(await firstCall(dir, { call: needs }));
  }
});

// ------------------------------------------------------------------------------------------------
// Which C library

/** The key that a Linux process of this program and this report would have. */
async function keyOf({ program, header }) {
  const dir = tempDir();
  const file = join(dir, 'program');
  if (program !== undefined) writeFileSync(file, program);
  const report = header ? `{ getReport: () => (${JSON.stringify({ header })}) }` : 'undefined';
  const before = `
    Object.defineProperty(process, 'platform', { value: 'linux' });
    Object.defineProperty(process, 'execPath', { value: ${JSON.stringify(file)} });
    Object.defineProperty(process, 'report', { value: ${report} });
    const { platformKey } = require(${JSON.stringify(join(packageRoot, 'lib/platform.js'))});
    require('fencelink').judge = () => platformKey();`;
  const { value } = await firstCall(project(), { before, call: 'judge()' });
  return value;
}

const elf = (loader) =>
  Buffer.concat([Buffer.from('\x7fELF'), Buffer.alloc(600), Buffer.from(loader)]);

// Guards the refusal: Deno throws where a program has no right to the report.
test('a machine that may not be reported on is still named', async () => {
  const before = `
    process.report.getReport = () => {
      throw new Error('Requires sys access');
    };`;
  const [first] = linesOf(await firstCall(project(), { before }));
  assert.ok(first.includes(`${packageName} is not installed; this is ${key}`), first);
});

test('the C library is that of the running program', async () => {
  const gnu = `linux-${process.arch}-gnu`;
  const musl = `linux-${process.arch}-musl`;
  const glibc = { glibcVersionRuntime: '2.36' };
  const byProgram = [
    ['/lib64/ld-linux-x86-64.so.2', gnu],
    ['/lib/ld-linux-aarch64.so.1', gnu],
    ['/nix/store/abc-glibc-2.40/lib/ld-linux-x86-64.so.2', gnu],
    ['/lib/ld-musl-x86_64.so.1', musl],
    ['/lib/ld-musl-aarch64.so.1', musl],
  ];
  for (const [loader, expected] of byProgram) {
    assert.equal(await keyOf({ program: elf(loader) }), expected, loader);
  }
  // Where the program says nothing, or may not be read, the report does.
  assert.equal(await keyOf({ program: '#!/bin/sh', header: glibc }), gnu);
  assert.equal(await keyOf({ program: '#!/bin/sh', header: {} }), musl);
  assert.equal(await keyOf({ header: {} }), musl);
  // And where neither does, it is what most machines have.
  assert.equal(await keyOf({}), gnu);
});

// Guards programs with many connections: with the network in it, a report waits for name servers.
test('the report is made without the network, and is left as it was', () => {
  const { report, execPath } = process;
  const seen = [];
  const own = {
    excludeNetwork: false,
    getReport() {
      seen.push(this.excludeNetwork);
      return { header: { glibcVersionRuntime: '2.36' } };
    },
  };
  try {
    Object.defineProperty(process, 'report', { value: own, configurable: true });
    Object.defineProperty(process, 'execPath', { value: '/', configurable: true });
    require('../lib/platform.js').describePlatform();
  } finally {
    Object.defineProperty(process, 'report', { value: report, configurable: true });
    Object.defineProperty(process, 'execPath', { value: execPath, configurable: true });
  }
  if (process.platform !== 'linux') return;
  assert.ok(seen.length > 0);
  assert.deepEqual([...new Set(seen)], [true]);
  assert.equal(own.excludeNetwork, false);
});
