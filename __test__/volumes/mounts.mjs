// Volumes that are made for a test and gone after it: image files, mounts, and servers, undone in the
// reverse order of their making, whatever happened in between.

import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { workerFile } from '../helpers.mjs';

/** Whether a program is there. */
const has = (command) => spawnSync('which', [command]).status === 0;

/** Installs the packages of the programs that are missing. */
export function install(needed) {
  const packages = Object.entries(needed)
    .filter(([command]) => !has(command))
    .map(([, name]) => name);
  if (packages.length === 0) return;
  const options = ['install', '-y', '-qq', '--no-install-recommends'];
  spawnSync('apt-get', ['update', '-qq'], { stdio: 'inherit' });
  spawnSync('apt-get', [...options, ...packages], { stdio: 'inherit' });
}

/** What was made, and how to undo it. A process that is told to end undoes all. */
export class Mounts {
  #undo = [];
  /** A directory on the disk of this machine. */
  directory = mkdtempSync(join(tmpdir(), `fencelink-volumes-${process.pid}-`));

  constructor() {
    undoDead();
    this.#undo.push(() => rmSync(this.directory, { recursive: true, force: true }));
    process.on('exit', () => this.undo());
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => process.exit(1));
  }

  /** A new directory. */
  place(name) {
    const path = join(this.directory, name);
    mkdirSync(path, { recursive: true });
    return path;
  }

  /** An image file of so many megabytes, none of which it takes yet. */
  image(name, megabytes) {
    const path = join(this.directory, `${name}.img`);
    run('truncate', '-s', `${megabytes}M`, path);
    return path;
  }

  /** A block device of an image file. */
  device(image) {
    const device = run('losetup', '--find', '--show', image).trim();
    this.#undo.push(() => run('losetup', '--detach', device));
    return device;
  }

  /** Mounts by a command that gets the place as its last argument, and resolves to the place. */
  mount(name, command, ...args) {
    const path = this.place(name);
    run(command, ...args, path);
    this.#undo.push(() => unmount(path));
    return path;
  }

  /** A server that speaks SFTP to whoever connects; resolves to its port. */
  async sftp() {
    const stdio = ['pipe', 'pipe', 'inherit'];
    const server = spawn(process.execPath, [workerFile('sftp.mjs')], { stdio });
    this.#undo.push(() => server.kill());
    const [line] = await once(server.stdout, 'data');
    server.unref();
    return Number(line);
  }

  /** Undoes all that was made so far, last first; returns what could not be. */
  undo() {
    const failures = [];
    for (const undo of this.#undo.splice(0).reverse()) {
      try {
        undo();
      } catch (error) {
        failures.push(error.message);
      }
    }
    return failures;
  }
}

/** Runs a program to its end; throws what it wrote when it failed. */
export function run(command, ...args) {
  try {
    return execFileSync(command, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
  } catch (error) {
    const said = `${error.stderr ?? ''}${error.stdout ?? ''}`.trim().split('\n').at(-1);
    throw new Error(`${command}: ${said || error.message}`);
  }
}

/** Unmounts what a process has left that was killed, and could not. */
function undoDead() {
  const start = join(tmpdir(), 'fencelink-volumes-');
  const left = readFileSync('/proc/mounts', 'utf8')
    .split('\n')
    .map((line) => line.split(' ')[1])
    .filter((path) => path?.startsWith(start))
    .filter((path) => !existsSync(`/proc/${path.slice(start.length).split('-')[0]}`));
  for (const path of left.reverse()) unmount(path);
}

function unmount(path) {
  if (spawnSync('umount', [path]).status === 0) return;
  // Busy: gone from the tree now, and for good when its last file is closed.
  run('umount', '-l', path);
}
