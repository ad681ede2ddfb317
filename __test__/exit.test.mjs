// The end of a process in the middle of calls: it exits as it meant to, nothing crashes, and the
// next claim needs nobody's help.

import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { addon, HOUR_MS, namesOf, runNode, tempDir, workerFile } from './helpers.mjs';

/** Several processes, one after another, that end in this way at different points. */
async function endings(how, count) {
  const directory = tempDir();
  const ended = [];
  for (let index = 0; index < count; index += 1) {
    const settings = JSON.stringify({ how, directory, turns: index % 8 });
    const end = await runNode([workerFile('exit.mjs'), settings]);
    assert.notEqual(end.signal, 'SIGKILL', 'it never ended by itself');
    ended.push(end);
  }
  return { directory, ended };
}

/** Whatever the processes left behind, the next taker gets each run, at the next fence. */
async function assertClaimable(directory) {
  for (const name of readdirSync(directory)) {
    const runDir = join(directory, name);
    const before = await addon.currentFence(runDir);
    const now = Date.now() + HOUR_MS;
    const lease = await addon.acquireClaim(runDir, { holder: 'next', ttlMs: HOUR_MS, now });
    assert.deepEqual(lease, { holder: 'next', fence: before + 1, expiresAt: now + HOUR_MS });
    const litter = namesOf(runDir).filter((left) => !/^\d+\.json$/.test(left));
    // A process that ends between creating and unlinking a named scratch file leaves one.
    assert.ok(litter.length <= 8, `${litter.length} files are left: ${litter}`);
  }
}

const exited = ({ code, signal }) => ({ code, signal });

// Guards the end of the addon's threads: an exit must neither wait for them nor run into them.
test('process.exit with 100 calls in flight, many times', async () => {
  const { directory, ended } = await endings('exit', 40);
  for (const end of ended) assert.deepEqual(exited(end), { code: 7, signal: null }, end.stderr);
  await assertClaimable(directory);
});

test('an uncaught exception with 100 calls in flight', async () => {
  const { directory, ended } = await endings('throw', 8);
  for (const end of ended) {
    assert.deepEqual(exited(end), { code: 1, signal: null }, end.stderr);
    assert.match(end.stderr, /thrown with calls in flight/);
  }
  await assertClaimable(directory);
});

test('an unhandled rejection with 100 calls in flight', async () => {
  const { directory, ended } = await endings('reject', 8);
  for (const end of ended) {
    assert.deepEqual(exited(end), { code: 1, signal: null }, end.stderr);
    assert.match(end.stderr, /rejected with calls in flight/);
  }
  await assertClaimable(directory);
});

// Guards the hold on the event loop from both sides: a process whose calls nobody awaits ends by
// itself once they are answered, and one that awaits them gets them all.
test('a natural end waits for the calls in flight, and then comes', async () => {
  const abandoned = await endings('abandon', 6);
  for (const end of abandoned.ended) {
    assert.deepEqual({ ...exited(end), stderr: end.stderr }, { code: 0, signal: null, stderr: '' });
  }
  assert.equal(readdirSync(abandoned.directory).length, 10, 'all the calls were carried out');
  const awaited = await endings('await', 6);
  for (const end of awaited.ended) {
    assert.deepEqual(exited(end), { code: 0, signal: null });
    assert.equal(end.stdout, '100 answered');
  }
  await assertClaimable(abandoned.directory);
  await assertClaimable(awaited.directory);
});

// Guards the Sync forms for what they are there for: an exit handler can only do synchronous work.
test('an exit handler gives its run back', async () => {
  const runDir = join(tempDir(), 'run_1');
  const script = `
    const { acquireClaimSync, releaseClaimSync } = require(${JSON.stringify(workerFile('../../index.js'))});
    const runDir = ${JSON.stringify(runDir)};
    const lease = acquireClaimSync(runDir, { holder: 'a', ttlMs: ${HOUR_MS} });
    process.on('exit', () => releaseClaimSync(runDir, lease.fence));
    process.exit(3);
  `;
  const end = await runNode(['--eval', script]);
  assert.deepEqual(exited(end), { code: 3, signal: null }, end.stderr);
  assert.deepEqual(await addon.readClaim(runDir), { holder: '', fence: 2, expiresAt: 0 });
});
