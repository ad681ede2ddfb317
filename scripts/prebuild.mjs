// Builds the binary of every platform, looks at each, and leaves them in prebuilt/:
//
//   npm run prebuild              all of them
//   npm run prebuild -- KEY…      those: linux-x64-gnu, … (scripts/targets.mjs)
//   npm run prebuild -- --check   builds nothing; looks at what is in prebuilt/
//
// What it needs for platforms other than this one it fetches into the user's cache folder and
// keeps there. For all of them from Linux it needs Debian 12 on x86-64, Python 3 with venv, and the
// registries of Rust, Debian and Python.

import { parseArgs } from 'node:util';
import { build, stage } from './prebuild/build.mjs';
import { say } from './prebuild/cache.mjs';
import { checkBinary } from './prebuild/check.mjs';
import { targetsOf } from './targets.mjs';

const { values, positionals } = parseArgs({
  options: { check: { type: 'boolean' } },
  allowPositionals: true,
});
const targets = targetsOf(positionals);
if (!values.check) build(targets);

let failed = false;
for (const target of targets) {
  const { size, faults } = checkBinary(target, stage);
  say(`${target.key}: ${size} bytes${faults.length === 0 ? ', as it should be' : ''}`);
  for (const fault of faults) say(`  ${fault}`);
  failed ||= faults.length > 0;
}
process.exit(failed ? 1 : 0);
