// Builds the binary of every platform, looks at each, and leaves them in prebuilt/. What it needs
// for platforms other than this one it fetches into the user's cache folder, and keeps there.

import { build, stage } from './prebuild/build.mjs';
import { say } from './prebuild/cache.mjs';
import { checkBinary } from './prebuild/check.mjs';
import { command } from './prebuild/command.mjs';

const HELP = `Builds the binaries of the platforms into prebuilt/, and looks at each.

  npm run prebuild [-- OPTION] [KEY…]

  --check  builds nothing; looks at what is in prebuilt/
  --help   this text

KEYs are platforms: linux-x64-gnu, …; all of them unless some are named. To build them all it takes
Debian 12 on x86-64, Python 3 with venv, and the registries of Rust, Debian and Python; about 2 GB in
the user's cache folder.`;

const { values, targets } = command('npm run prebuild', HELP, { check: { type: 'boolean' } });
if (!values.check) build(targets);

let failed = false;
for (const target of targets) {
  const { size, faults } = checkBinary(target, stage);
  say(`${target.key}: ${size} bytes${faults.length === 0 ? ', as it should be' : ''}`);
  for (const fault of faults) say(`  ${fault}`);
  failed ||= faults.length > 0;
}
process.exit(failed ? 1 : 0);
