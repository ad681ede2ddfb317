// Every check that reads the sources and runs nothing of them: formatting, lints, types. All of
// them run, so that one pass shows everything there is to mend.

import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const bin = path.join('node_modules', '.bin');

const CHECKS = [
  [path.join(bin, 'biome'), 'ci', `--colors=${process.stdout.isTTY ? 'force' : 'off'}`],
  [path.join(bin, 'tsc'), '--project', 'tsconfig.json'],
  ['node', 'scripts/lint-workflows.mjs'],
  ['cargo', 'fmt', '--check'],
  // The crate is two: the addon, and the plain protocol that has neither Node.js nor napi.
  ['cargo', 'clippy', '--all-targets', '--', '-D', 'warnings'],
  ['cargo', 'clippy', '--all-targets', '--no-default-features', '--', '-D', 'warnings'],
  [
    'cargo',
    'clippy',
    '--all-targets',
    '--no-default-features',
    '--features',
    'sim',
    '--',
    '-D',
    'warnings',
  ],
];

const failed = CHECKS.filter(([command, ...args]) => {
  console.log(`\n$ ${path.basename(command)} ${args.join(' ')}`);
  // npm's commands are scripts for a shell on Windows.
  const shell = process.platform === 'win32' && command.startsWith(bin);
  const { error, status } = spawnSync(command, args, { cwd: root, stdio: 'inherit', shell });
  if (error) console.error(`${command} could not be started: ${error.message}`);
  return status !== 0;
});

if (failed.length > 0) {
  console.error(`\nfailed: ${failed.map((check) => check.slice(0, 4).join(' ')).join('; ')}`);
}
process.exit(failed.length > 0 ? 1 : 0);
