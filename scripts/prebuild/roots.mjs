// Folders that hold as much of another system as a runtime needs: its libraries and, where the
// processor is another one, the program that stands in for it. To enter one takes root's rights.

import { copyFileSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import path from 'node:path';
import { kept, run } from './cache.mjs';
import { mirror, unpack } from './debian.mjs';

/** What is mounted on when a root is entered. */
const MOUNT_POINTS = ['proc', 'dev', 'tmp', 'runtime', 'consumer'];

/**
 * What starts a command with mounts and processes of its own, which are gone when it ends; it ends
 * with the process that started it.
 */
export const alone = [
  ...['setpriv', '--pdeathsig', 'KILL'],
  ...['unshare', '--mount', '--pid', '--fork', '--kill-child', '--mount-proc', '--'],
];

/** What is written goes to memory, unless it is to last. */
const ENTER = `
  set -e
  root=$1 runtime=$2 consumer=$3 lasting=$4
  shift 4
  mount -t tmpfs tmp "$root/tmp"
  if [ "$lasting" = no ]; then
    mkdir "$root/tmp/upper" "$root/tmp/work"
    layers="lowerdir=$root,upperdir=$root/tmp/upper,workdir=$root/tmp/work"
    mount -t overlay root -o "$layers" "$root"
    mount -t tmpfs tmp "$root/tmp"
  fi
  mount -t proc proc "$root/proc"
  mount --rbind /dev "$root/dev"
  mount --bind "$runtime" "$root/runtime"
  mount --bind "$consumer" "$root/consumer"
  exec env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/tmp chroot "$root" "$@"
`;

/**
 * The command that runs another one in a root, with two folders of this system bound into it at
 * /runtime and /consumer. The root stays as it is, whatever is written to it, unless that is to last.
 * @param {string} root
 * @param {{ runtime: string, consumer: string }} bound
 * @param {string[]} command
 */
export function inRoot(root, { runtime, consumer }, command, { lasting = false } = {}) {
  const places = [root, runtime, consumer, lasting ? 'yes' : 'no'];
  return [...alone, '/bin/sh', '-c', ENTER, 'sh', ...places, ...command];
}

function addMountPoints(root) {
  for (const name of MOUNT_POINTS) mkdirSync(path.join(root, name), { recursive: true });
}

/** The libraries of a release of Debian that Node.js needs. */
export function glibcRoot(name, architecture, release) {
  return kept(name, (partial) => {
    const libraries = ['libc6', 'libstdc++6', 'libgcc-s1', 'libatomic1'];
    unpack(
      partial,
      libraries.map((library) => `${library}:${architecture}/${release}`),
    );
    addMountPoints(partial);
    if (architecture === 'arm64') addEmulator(partial);
  });
}

/** The C library musl, of which Debian 13 has a recent one; Node.js brings its own C++ library. */
export function muslRoot(name, architecture) {
  return kept(name, (partial) => {
    unpack(partial, [`musl:${architecture}/trixie`]);
    const cpu = architecture === 'arm64' ? 'aarch64' : 'x86_64';
    const library = path.join(partial, `usr/lib/${cpu}-linux-musl/libc.so`);
    mkdirSync(path.join(partial, 'lib'), { recursive: true });
    copyFileSync(library, path.join(partial, `lib/ld-musl-${cpu}.so.1`));
    addMountPoints(partial);
    if (architecture === 'arm64') addEmulator(partial);
  });
}

const QEMU = 'qemu-aarch64-static';

/** What a command for the other processor begins with. */
export const emulator = [`/${QEMU}`];

function addEmulator(root) {
  const folder = kept('qemu', (partial) => {
    unpack(partial, ['qemu-user-static/bookworm']);
    renameSync(path.join(partial, 'usr/bin', QEMU), path.join(partial, QEMU));
    rmSync(path.join(partial, 'usr'), { recursive: true });
  });
  copyFileSync(path.join(folder, QEMU), path.join(root, QEMU));
}

/** In UTF-8, or the names of files could have no other letters. */
const WINE = `
  export LC_ALL=C.UTF-8 XDG_RUNTIME_DIR=/tmp
  export WINEPREFIX=/prefix WINEDEBUG=-all WINEDLLOVERRIDES=mscoree,mshtml=
`;

/** What a command for Windows begins with. */
export const wine = ['/bin/sh', '-c', `${WINE} exec /usr/lib/wine/wine64 "$@"`, 'wine'];

/** Debian 13 with its Wine 10, set up: the one of Debian 12 is too old for current Node.js. */
export function wineRoot() {
  return kept('wine', (partial) => {
    const tool = kept('debootstrap', (folder) => unpack(folder, ['debootstrap/bookworm']));
    const env = { ...process.env, DEBOOTSTRAP_DIR: path.join(tool, 'usr/share/debootstrap') };
    const what = ['--variant=minbase', '--include=wine64', 'trixie', partial, mirror()];
    run(path.join(tool, 'usr/sbin/debootstrap'), what, { env });
    for (const litter of ['var/cache/apt', 'var/lib/apt/lists']) {
      rmSync(path.join(partial, litter), { recursive: true });
    }
    addMountPoints(partial);
    setUp(partial, ['wineboot', '-i']);
    setUp(partial, ['winecfg', '/v', 'win10']);
  });
}

/** Runs a program of Wine that changes its settings, until they are on disk. */
function setUp(root, step) {
  const script = `${WINE} /usr/lib/wine/wine64 "$@" && /usr/lib/wine/wineserver64 -w`;
  const command = ['/bin/sh', '-c', script, 'wine', ...step];
  const bound = { runtime: root, consumer: root };
  const [program, ...args] = inRoot(root, bound, command, { lasting: true });
  run(program, args);
}
