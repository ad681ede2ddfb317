// The platforms that have a binary, in one list: what each is called, how its binary is built, and
// on what it is run before it goes out. README's table and the packages in npm/ say what this list
// says (scripts/platform-packages.mjs), and `npm run prebuild:test` runs exactly what it claims.

/** Node.js versions that a platform is run on: every line that the package supports. */
const NODES = ['node 20', 'node 22', 'node 24', 'node 26'];

/**
 * @typedef {object} Run Runtimes in a place where they can run here; see prebuild/rooms.mjs.
 * @property {string} room
 * @property {string} where the room, as README names it
 * @property {string[]} runtimes
 *
 * @typedef {object} Target
 * @property {string} key what the package and the binary are called after
 * @property {string} name
 * @property {NodeJS.Platform} os
 * @property {string} cpu
 * @property {'glibc' | 'musl'} [libc]
 * @property {string} triple what rustc calls it, when it is built on a machine of its own kind
 * @property {string} [cross] what rustc calls it when it is built here, where that differs
 * @property {string} floor the oldest system that the binary is made for
 * @property {Run[]} runs
 */

/** @type {Target[]} */
export const targets = [
  {
    key: 'linux-x64-gnu',
    name: 'Linux x64, glibc',
    os: 'linux',
    cpu: 'x64',
    libc: 'glibc',
    triple: 'x86_64-unknown-linux-gnu',
    floor: 'glibc 2.17',
    runs: [
      { room: 'host', where: 'Debian 12', runtimes: [...NODES, 'bun', 'deno'] },
      { room: 'glibc-2.31', where: 'glibc 2.31', runtimes: NODES },
    ],
  },
  {
    key: 'linux-arm64-gnu',
    name: 'Linux arm64, glibc',
    os: 'linux',
    cpu: 'arm64',
    libc: 'glibc',
    triple: 'aarch64-unknown-linux-gnu',
    floor: 'glibc 2.17',
    runs: [{ room: 'arm64-gnu', where: 'QEMU, glibc 2.36', runtimes: NODES }],
  },
  {
    key: 'linux-x64-musl',
    name: 'Linux x64, musl',
    os: 'linux',
    cpu: 'x64',
    libc: 'musl',
    triple: 'x86_64-unknown-linux-musl',
    floor: 'musl 1.2',
    runs: [{ room: 'x64-musl', where: 'musl 1.2.5', runtimes: ['node 22', 'node 24'] }],
  },
  {
    key: 'linux-arm64-musl',
    name: 'Linux arm64, musl',
    os: 'linux',
    cpu: 'arm64',
    libc: 'musl',
    triple: 'aarch64-unknown-linux-musl',
    floor: 'musl 1.2',
    runs: [{ room: 'arm64-musl', where: 'QEMU, musl 1.2.5', runtimes: ['node 22', 'node 24'] }],
  },
  {
    key: 'win32-x64-msvc',
    name: 'Windows x64',
    os: 'win32',
    cpu: 'x64',
    triple: 'x86_64-pc-windows-msvc',
    cross: 'x86_64-pc-windows-gnullvm',
    floor: 'Windows 10',
    runs: [{ room: 'wine', where: 'Wine 10', runtimes: NODES }],
  },
  {
    key: 'win32-arm64-msvc',
    name: 'Windows arm64',
    os: 'win32',
    cpu: 'arm64',
    triple: 'aarch64-pc-windows-msvc',
    cross: 'aarch64-pc-windows-gnullvm',
    floor: 'Windows 10',
    runs: [],
  },
  {
    key: 'darwin-arm64',
    name: 'macOS arm64',
    os: 'darwin',
    cpu: 'arm64',
    triple: 'aarch64-apple-darwin',
    floor: 'macOS 11',
    runs: [],
  },
  {
    key: 'darwin-x64',
    name: 'macOS x64',
    os: 'darwin',
    cpu: 'x64',
    triple: 'x86_64-apple-darwin',
    floor: 'macOS 11',
    runs: [],
  },
];

/** The name of a target's package. */
export const packageName = ({ key }) => `@fencelink/${key}`;

/** The name of a target's binary, in its package and everywhere. */
export const binaryName = ({ key }) => `fencelink.${key}.node`;
