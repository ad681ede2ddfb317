// Tests a binary of prebuilt/ in place of one that is built here.

import { spawnSync } from 'node:child_process';
import { copyFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArguments } from './arguments.mjs';

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));

const HELP = `Tests the binary of a platform, on that platform: takes it from prebuilt/, in place of one that
is built here, and runs the tests of the addon.

  node scripts/try-binary.mjs KEY [OPTIONS]

  --bare  only tests that need no npm packages: nothing is installed
  --help  this text

KEY is the platform: linux-x64-gnu, …`;

/** Parts of the names of tests that need Node.js, the binary, and nothing else. */
const BARE = ['claim-next', 'errors', 'hostile', 'listing', 'race', 'store', 'strange', 'threads'];

const { values, positionals } = parseArguments('node scripts/try-binary.mjs --help', {
  options: {
    bare: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
  allowPositionals: true,
});
if (values.help) {
  console.log(HELP);
  process.exit(0);
}
const [key] = positionals;
if (positionals.length !== 1) {
  console.error('Give one platform. See: node scripts/try-binary.mjs --help');
  process.exit(2);
}
const binary = `fencelink.${key}.node`;
copyFileSync(path.join(root, 'prebuilt', binary), path.join(root, binary));
if (!values.bare) run('npm', 'ci', '--no-audit', '--no-fund', '--loglevel=error');
run(process.execPath, 'scripts/test.mjs', '--js', ...(values.bare ? BARE : []));

function run(command, ...args) {
  const shell = process.platform === 'win32' && command === 'npm';
  const { error, status } = spawnSync(command, args, { cwd: root, stdio: 'inherit', shell });
  if (error) console.error(`${command} could not be started: ${error.message}`);
  if (status !== 0) process.exit(1);
}
