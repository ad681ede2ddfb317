'use strict';

/**
 * Which binary fits this machine, and whether one can be loaded at all. A platform's key is part of
 * the names of its package and of the file in it: `@fencelink/linux-x64-gnu` has
 * `fencelink.linux-x64-gnu.node`.
 */

const { closeSync, existsSync, fstatSync, openSync, readSync } = require('node:fs');

/** The key of this machine, whether there is a package for it or not. */
function platformKey() {
  const { platform, arch } = process;
  if (platform === 'linux') return `linux-${arch}-${libc() === 'musl' ? 'musl' : 'gnu'}`;
  return platform === 'win32' ? `win32-${arch}-msvc` : `${platform}-${arch}`;
}

/** This machine, for a message. */
function describePlatform() {
  const key = platformKey();
  if (process.platform !== 'linux') return key;
  const version = reported()?.glibcVersionRuntime;
  return `${key}, with ${libc()}${version ? ` ${version}` : ''}`;
}

/**
 * The C library that this process runs with: the one whose loader its program names, since a machine
 * can have both. The report of Node.js tells it too, but not in each runtime.
 */
function libc() {
  const loader = /\/ld-(linux|musl)-/.exec(startOfProgram())?.[1];
  if (loader) return loader === 'musl' ? 'musl' : 'glibc';
  const header = reported();
  return header && !header.glibcVersionRuntime ? 'musl' : 'glibc';
}

/** The first bytes of this program, where an ELF file names its loader. */
function startOfProgram() {
  try {
    return look(process.execPath).start.toString('latin1');
  } catch {
    // It may not be read: the report is asked then.
    return '';
  }
}

function look(path) {
  const file = openSync(path, 'r');
  try {
    const { size } = fstatSync(file);
    const start = Buffer.alloc(4096);
    readSync(file, start, 0, start.length, 0);
    const end = Buffer.alloc(64);
    readSync(file, end, 0, end.length, Math.max(0, size - end.length));
    return { start, end, size };
  } finally {
    closeSync(file);
  }
}

/** What the report of Node.js says of this process. */
function reported() {
  const report = /** @type {any} */ (process.report);
  if (typeof report?.getReport !== 'function') return undefined;
  const { excludeNetwork } = report;
  // With it, a report looks up the name of each peer, and waits for the answers.
  report.excludeNetwork = true;
  try {
    return report.getReport().header;
  } catch {
    // Deno gives it with a right of its own. It only helps to tell.
    return undefined;
  } finally {
    report.excludeNetwork = excludeNetwork;
  }
}

/** Architectures by the numbers that ELF has for them. */
const ELF_MACHINES = { 62: 'x64', 183: 'arm64' };

/**
 * What is wrong with a binary that Linux would not tell: the process that loads one which was cut
 * short is killed, and of one for another architecture it says that there is no such file.
 */
function flawOf(path) {
  if (process.platform !== 'linux' || !existsSync(path)) return undefined;
  const { start, end, size } = look(path);
  const isElf = start.readUInt32BE(0) === 0x7f454c46;
  const machine = ELF_MACHINES[start.readUInt16LE(18)];
  if (!isElf || machine === undefined) return undefined;
  if (machine !== process.arch) return `it is made for ${machine}`;
  // The table of sections ends the file.
  const whole = Number(start.readBigUInt64LE(40)) + start.readUInt16LE(58) * start.readUInt16LE(60);
  if (size < whole) return `it was cut short, and has ${size} bytes of ${whole}`;
  return end.every((byte) => byte === 0)
    ? 'it ends in zeros, and was never written whole'
    : undefined;
}

module.exports = { describePlatform, flawOf, platformKey };
