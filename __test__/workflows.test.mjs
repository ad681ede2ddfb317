// The workflows, which cannot run here: that each step is a script which can, that nothing in them
// changes by itself, and that they know of each platform. Their syntax is a matter of the lint.

import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { test } from 'node:test';
import { parse } from 'yaml';
import { packageRoot } from './helpers.mjs';

const require = createRequire(import.meta.url);
const { PLATFORMS } = require('../lib/load.js');
const { scripts } = require('../package.json');

const folder = join(packageRoot, '.github/workflows');
const workflows = Object.fromEntries(
  readdirSync(folder).map((name) => [name, parse(readFileSync(join(folder, name), 'utf8'))]),
);
const jobs = Object.entries(workflows).flatMap(([name, workflow]) =>
  Object.entries(workflow.jobs).map(([id, job]) => ({ id: `${name}: ${id}`, ...job })),
);
const steps = jobs.flatMap(({ id, steps = [] }) => steps.map((step) => ({ id, ...step })));

/** Programs of the machine that a step may call by themselves: they set it up, or tell of it. */
const PROGRAMS = ['apt-get', 'gh', 'git', 'rustup', 'sudo'];

// Guards the steps: one that runs nowhere else is found to be wrong on the day of a release.
test('each step is a script of the project', () => {
  for (const { id, run } of steps) {
    if (run === undefined) continue;
    const command = run.replace(/^docker run .*? node:\S+ /, '');
    const [program, first, second] = command.split(' ');
    const shown = `${id}: ${run}`;
    if (PROGRAMS.includes(program) || command.startsWith('npm ci ')) continue;
    if (program === 'npm') assert.ok(first === 'run' && scripts[second], shown);
    else
      assert.ok(['node', 'bash'].includes(program) && existsSync(join(packageRoot, first)), shown);
  }
  assert.ok(steps.some(({ run }) => run === 'bash .ci/run'));
});

// Guards what is built: a tag that moves can bring another action.
test('actions are named by a version', () => {
  for (const { id, uses } of [...steps, ...jobs]) {
    if (uses === undefined || uses.startsWith('./')) continue;
    assert.match(uses, /@v\d+\.\d+\.\d+$/, id);
  }
});

test('each platform is built and run on a machine of its own', () => {
  const { include } = workflows['ci.yml'].jobs.platform.strategy.matrix;
  assert.deepEqual(include.map(({ key }) => key).sort(), [...PLATFORMS].sort());
  const systems = { linux: /^ubuntu-/, win32: /^windows-/, darwin: /^macos-/ };
  const arm = /-arm$|^macos-\d+$/;
  for (const { key, runner, triple } of include) {
    const [os, cpu] = key.split('-');
    assert.match(runner, systems[os], key);
    assert.equal(arm.test(runner), cpu === 'arm64', key);
    assert.ok(triple.startsWith(cpu === 'arm64' ? 'aarch64-' : 'x86_64-'), key);
    assert.ok(
      key
        .split('-')
        .slice(2)
        .every((abi) => triple.endsWith(abi)),
      key,
    );
  }
});

// Guards the order: nothing is published that was not checked, and by nobody with more rights.
test('a release is published last, after all that is checked', () => {
  const { ci, publish } = workflows['release.yml'].jobs;
  assert.equal(ci.uses, './.github/workflows/ci.yml');
  assert.equal(publish.needs, 'ci');
  assert.equal(publish.permissions['id-token'], 'write');
  const commands = publish.steps.map(({ run = '' }) => run.split(' ')[1]).filter(Boolean);
  const check = commands.indexOf('scripts/release/check.mjs');
  assert.ok(check >= 0 && check < commands.indexOf('scripts/release/publish.mjs'));
  for (const workflow of Object.values(workflows)) {
    assert.deepEqual(workflow.permissions, { contents: 'read' });
  }
  assert.equal(workflows['ci.yml'].jobs.packages.needs, 'platform');
});

// Guards what is at hand on this machine and not on those: git reads no clone of another user's, which
// a container's is; only root traces a process that runs; and Debian's Python makes no environments.
test('each machine is set up for what runs on it', () => {
  const { check, platform, packages } = workflows['ci.yml'].jobs;
  const assertBefore = ({ steps }, setup, use) => {
    const at = (command) => steps.findIndex(({ run }) => run?.includes(command));
    assert.ok(at(setup) >= 0 && at(setup) < at(use), setup);
  };
  assert.ok(check.container && packages.container);
  assertBefore(check, 'git config --global --add safe.directory', '.ci/run');
  assertBefore(platform, 'apt-get update -qq && sudo apt-get install', 'try-binary.mjs');
  assertBefore(platform, 'sysctl -q kernel.yama.ptrace_scope=0', 'try-binary.mjs');
  assertBefore(packages, 'apt-get install -y -qq --no-install-recommends python3-venv', 'prebuild');
});

// Guards the newest release: on its page, one that comes before it would take its place.
test('what comes before a release is called so', () => {
  const { publish } = workflows['release.yml'].jobs;
  const page = publish.steps.find(({ run }) => run?.startsWith('gh release create'));
  assert.match(page.run, /--prerelease=\$\{\{ contains\(github\.ref_name, '-'\) \}\}/);
});

test('no job goes on for ever', () => {
  for (const job of jobs) assert.ok(job.uses || job['timeout-minutes'] <= 60, job.id);
});
