// Runs the tests: `cargo test` of the core without Node.js, then every __test__/*.test.mjs with
// Node's own runner.
//
// The test files are listed here rather than by a pattern given to `node --test`, which Node.js 20
// takes for a file's name: a pattern that matches nothing must not pass for a green run.

import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArguments } from './arguments.mjs';

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const TESTS = '__test__';

const HELP = `Runs the tests: of the core and of the addon, unless one kind is asked for.

  node scripts/test.mjs [OPTION] [PART…]

  --rust     the core only
  --js       the addon only
  --packages what is published only, with package managers and bundlers: *.packages.mjs
  --torture  the long tests of the addon only: *.torture.mjs
  --volumes  on volumes that root mounts only: *.volumes.mjs
  --help     this text

With PARTs, only test files of the addon whose name has one of them.`;

const { values, positionals } = parseArguments('node scripts/test.mjs --help', {
  options: {
    help: { type: 'boolean' },
    rust: { type: 'boolean' },
    js: { type: 'boolean' },
    packages: { type: 'boolean' },
    torture: { type: 'boolean' },
    volumes: { type: 'boolean' },
  },
  allowPositionals: true,
});
if (values.help) {
  console.log(HELP);
  process.exit(0);
}
const ofTheirOwn = ['packages', 'torture', 'volumes'].find((name) => values[name]);
const ending = `.${ofTheirOwn ?? 'test'}.mjs`;
const both = !values.rust && !values.js && !ofTheirOwn;

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

const rustPassed = values.js || ofTheirOwn ? true : rustTests();
const jsPassed = values.rust ? true : jsTests();
if (both)
  console.log(
    `\ncore: ${rustPassed ? 'passed' : 'FAILED'}, addon: ${jsPassed ? 'passed' : 'FAILED'}`,
  );
process.exit(rustPassed && jsPassed ? 0 : 1);
