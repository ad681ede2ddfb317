// Runs the tests: `cargo test` of the core without Node.js, then every __test__/*.test.mjs with
// Node's own runner.
//
//   node scripts/test.mjs                 both
//   node scripts/test.mjs --rust          the core only
//   node scripts/test.mjs --js [PART…]    the addon only; with PARTs, the files whose name has one
//   node scripts/test.mjs --torture [PART…]  the long tests of the addon: __test__/*.torture.mjs
//   node scripts/test.mjs --volumes [PART…]  on volumes that root mounts: __test__/*.volumes.mjs
//
// The test files are listed here rather than by a pattern given to `node --test`, which Node.js 20
// takes for a file's name: a pattern that matches nothing must not pass for a green run.

import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const TESTS = '__test__';

const { values, positionals } = parseArgs({
  options: {
    rust: { type: 'boolean' },
    js: { type: 'boolean' },
    torture: { type: 'boolean' },
    volumes: { type: 'boolean' },
  },
  allowPositionals: true,
});
const kind = ['torture', 'volumes'].find((name) => values[name]) ?? 'test';
const ending = `.${kind}.mjs`;
const both = !values.rust && !values.js && kind === 'test';

/** Runs a program with this terminal as its own; true when it succeeded. */
function run(command, ...args) {
  console.log(`\n$ ${path.basename(command)} ${args.join(' ')}`);
  const { error, status } = spawnSync(command, args, { cwd: root, stdio: 'inherit' });
  if (error) console.error(`${command} could not be started: ${error.message}`);
  return status === 0;
}

function rustTests() {
  const nextest = spawnSync('cargo', ['nextest', '--version'], { cwd: root }).status === 0;
  if (!nextest) return run('cargo', 'test', '--no-default-features');
  // nextest does not run the examples in documentation comments.
  return (
    run('cargo', 'nextest', 'run', '--no-default-features') &&
    run('cargo', 'test', '--no-default-features', '--doc')
  );
}

/** Every test file below `__test__`, at any depth, in order of name. */
function testFiles() {
  return readdirSync(path.join(root, TESTS), { recursive: true })
    .map((name) => path.join(TESTS, String(name)))
    .filter((name) => name.endsWith(ending))
    .filter((name) => positionals.length === 0 || positionals.some((part) => name.includes(part)))
    .sort();
}

function jsTests() {
  const files = testFiles();
  if (files.length === 0) {
    console.error(`no test file found in ${TESTS}/ ${positionals.join(' ')}`);
    return false;
  }
  return run(process.execPath, '--test', ...files);
}

const rustPassed = both || values.rust ? rustTests() : true;
const jsPassed = values.rust ? true : jsTests();
if (both)
  console.log(
    `\ncore: ${rustPassed ? 'passed' : 'FAILED'}, addon: ${jsPassed ? 'passed' : 'FAILED'}`,
  );
process.exit(rustPassed && jsPassed ? 0 : 1);
