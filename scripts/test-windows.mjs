// Runs the tests of the core as Windows programs, under Wine: what the core asks of a file system is
// asked of Windows' one, link by link (tests/conformance), and what only Windows has
// (src/platform/windows/tests.rs).
//
//   npm run test:windows
//   npm run test:windows -- NAME   only tests whose name has it
//
// It needs what `npm run prebuild:test` needs, and takes the same tools from the same cache folder.

import { copyFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { cargo, wayOf } from './prebuild/build.mjs';
import { root, say } from './prebuild/cache.mjs';
import { rooms } from './prebuild/rooms.mjs';
import { targets } from './targets.mjs';

/** It asks Node.js how JavaScript reads numbers, and there is none in there. */
const ELSEWHERE = ['json_differential'];

const MOST_MS = 8 * 60 * 1000;

const [target] = targets.filter(({ key }) => key === 'win32-x64-msvc');
const { kind, triple } = wayOf(target);
const work = mkdtempSync(path.join(tmpdir(), 'fencelink-windows-'));
process.on('exit', () => rmSync(work, { recursive: true, force: true, maxRetries: 5 }));
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => process.exit(1));

say(`building the tests for ${triple}`);
const what = ['--no-default-features', '--tests', '--profile', 'test', '--target', triple];
const directory = path.join(root, 'target/windows');
const printed = cargo(kind, directory, [...what, '--message-format', 'json'], {
  stdio: ['ignore', 'pipe', 'inherit'],
});
const artifacts = printed
  .split('\n')
  .filter(Boolean)
  .map((line) => JSON.parse(line));
const programs = artifacts.filter(({ executable, target: built }) => {
  return executable && !ELSEWHERE.includes(built.name);
});
if (programs.length === 0) throw new Error('cargo built no tests');

let failed = false;
for (const { executable, target: built } of programs) {
  console.log(`\n${built.name}`);
  copyFileSync(executable, path.join(work, 'test.exe'));
  const output = path.join(work, `${built.name}.txt`);
  const runtime = { folder: work, program: 'test.exe', args: process.argv.slice(2) };
  const end = await rooms.wine.run({
    consumer: work,
    runtime,
    script: [],
    output,
    timeoutMs: MOST_MS,
  });
  console.log(readFileSync(output, 'utf8').trim());
  if (end !== null) say(`${built.name}: ${end}`);
  failed ||= end !== null;
}
process.exitCode = failed ? 1 : 0;
