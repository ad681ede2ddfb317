// Looks at a binary before it goes out: is it for the platform whose name it carries, does it need
// nothing that the oldest system of that platform lacks, can Node.js find its way in, is it small.

import { existsSync, statSync } from 'node:fs';
import path from 'node:path';
import { binaryName } from '../targets.mjs';
import { ENTRY, OLDEST_MACOS } from './build.mjs';
import { root, run } from './cache.mjs';
import { toolsPython } from './tools.mjs';

const MOST_BYTES = 1_200_000;
const GLIBC = [2, 17];

/** By the system: the format, the names of the processors, and the libraries that it always has. */
const SYSTEMS = {
  linux: {
    format: 'ELF',
    x64: 'X86_64',
    arm64: 'AARCH64',
    libraries: /^(lib(c|m|dl|pthread|rt)\.so\.\d|ld-linux-.*\.so\.\d|libc\.so)$/,
  },
  win32: {
    format: 'PE',
    x64: 'AMD64',
    arm64: 'ARM64',
    libraries: /^(api-ms-win-.*|kernel32|ntdll|bcrypt|bcryptprimitives|ws2_32|userenv)\.dll$/i,
  },
  darwin: {
    format: 'MachO',
    x64: 'X86_64',
    arm64: 'ARM64',
    libraries: /^\/usr\/lib\/lib(System\.B|iconv\.2|charset\.1)\.dylib$/,
    // What the linker adds; it cannot be told not to.
    added: /^_?_(is(Platform|OS)VersionAtLeast|mh_dylib_header|dso_handle)$/,
  },
};

/**
 * What is wrong with a binary, in sentences, and its size.
 * @param {import('../targets.mjs').Target} target
 * @param {string} folder where the binaries are
 */
export function checkBinary(target, folder) {
  const file = path.join(folder, binaryName(target));
  if (!existsSync(file)) return { size: 0, faults: [`${file} is missing`] };
  const size = statSync(file).size;
  const inspect = path.join(root, 'scripts/prebuild/inspect.py');
  const found = JSON.parse(run(toolsPython(), [inspect, file]));
  return { size, faults: faultsOf(target, size, found) };
}

/** The same of what inspect.py found; it reads nothing. */
export function faultsOf(target, size, found) {
  const system = SYSTEMS[target.os];
  const faults = [];
  const expect = (holds, sentence) => holds || faults.push(sentence);
  expect(size <= MOST_BYTES, `it has ${size} bytes, and may have ${MOST_BYTES}`);
  expect(found.format === system.format, `its format is ${found.format}, not ${system.format}`);
  if (found.format !== system.format) return faults;

  const machine = system[target.cpu];
  expect(found.machine === machine, `it is for ${found.machine}, not for ${machine}`);
  const exports = found.exports.map((name) => (target.os === 'darwin' ? name.slice(1) : name));
  expect(exports.includes(ENTRY), `it does not export ${ENTRY}`);
  const further = exports.filter((name) => name !== ENTRY && !system.added?.test(name));
  expect(
    further.length === 0,
    `it exports ${further.length} further names: ${further.slice(0, 5)}`,
  );
  for (const library of found.libraries) {
    expect(system.libraries.test(library), `it needs ${library}`);
  }
  if (target.os === 'linux') faults.push(...linuxFaults(target, found));
  if (target.os === 'darwin') {
    const { oldest } = found;
    expect(oldest.startsWith(OLDEST_MACOS), `it is for macOS ${oldest}, not for ${OLDEST_MACOS}`);
    expect(
      target.cpu !== 'arm64' || found.signed,
      'its signature does not fit, so it would not be loaded',
    );
  }
  return faults;
}

function linuxFaults({ libc }, { versions, libraries }) {
  const musl = libraries.includes('libc.so');
  if (libc === 'musl') return musl && versions.length === 0 ? [] : ['it is not for musl'];
  if (musl) return ['it is for musl'];
  const isNewer = (version) => {
    const [major, minor] = version.replace('GLIBC_', '').split('.').map(Number);
    return !(major < GLIBC[0] || (major === GLIBC[0] && minor <= GLIBC[1]));
  };
  return versions.filter(isNewer).map((version) => `it needs ${version}`);
}
