// A system that has no thread to give, and one that has only a few.

import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { noFaults } from './faults.mjs';
import { HOUR_MS, makeRun, packageRoot, start, tempDir } from './helpers.mjs';

const CLONES = 'clone,clone3';

/** Runs a script under strace; resolves to what it printed, and the threads that were started. */
async function run(script, inject) {
  const log = join(tempDir(), 'trace');
  const faults = inject ? ['-e', `inject=${inject}`] : [];
  const strace = ['-f', '-qq', '-o', log, '-e', `trace=${CLONES}`, ...faults];
  const { code, stdout, stderr } = await start('strace', [
    ...strace,
    process.execPath,
    '-e',
    script,
  ]).done;
  assert.equal(code, 0, stderr);
  const started = readFileSync(log, 'utf8').match(/clone3?\(/g) ?? [];
  return { printed: stdout === '' ? undefined : JSON.parse(stdout), started: started.length };
}

/** How many threads Node.js starts for a script that makes no call of the addon. */
const ofNode = async () =>
  (await run(`require(${JSON.stringify(packageRoot)}).currentFenceSync('/nowhere')`)).started;

// Guards the promise of every call to settle: tokio keeps what it cannot start, and would take a
// run much later, for a caller that has long gone on.
test('a call that gets no thread is refused, and never made', { skip: noFaults }, async () => {
  const runDir = makeRun();
  const { printed } = await run(
    `const { acquireClaim } = require(${JSON.stringify(packageRoot)});
    acquireClaim(${JSON.stringify(runDir)}, { holder: 'a', ttlMs: ${HOUR_MS} }).then(
      (lease) => console.log(JSON.stringify({ lease })),
      ({ code, retryable, message }) => console.log(JSON.stringify({ code, retryable, message })),
    )`,
    `${CLONES}:error=EAGAIN:when=${(await ofNode()) + 1}+`,
  );
  assert.match(printed.message, /no thread could be had/);
  assert.deepEqual([printed.code, printed.retryable], ['unknown', true]);
  assert.equal(existsSync(runDir), false, 'nothing was done');
});

// Guards calls that find all threads busy and get no further one: the first thread to be done must
// take them, before any later call.
test('calls share the one thread that there is', { skip: noFaults }, async () => {
  const runDirs = Array.from({ length: 20 }, () => makeRun());
  const { printed } = await run(
    `const { acquireClaim } = require(${JSON.stringify(packageRoot)});
    const request = { holder: 'a', ttlMs: ${HOUR_MS} };
    const settled = [];
    const runDirs = ${JSON.stringify(runDirs)};
    Promise.all(runDirs.map((runDir, index) =>
      acquireClaim(runDir, request).then(({ fence }) => settled.push([index, fence])),
    )).then(() => console.log(JSON.stringify(settled)))`,
    `${CLONES}:error=EAGAIN:when=${(await ofNode()) + 2}+`,
  );
  assert.deepEqual(
    printed,
    runDirs.map((_, index) => [index, 1]),
  );
});
