// A volume that hangs, and one that does not, in one process.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import test from 'node:test';
import { noFaults } from './faults.mjs';
import { claimsOf, HOUR_MS, makeRun, packageRoot, start, tempDir } from './helpers.mjs';

const STUCK_CALLS = 32;
const STUCK_MICROSECONDS = 60_000_000;

// Guards that a thread stuck in a system call is not waited for: with a bounded pool, or on
// libuv's, the claims on the healthy volume would settle only after stuck ones. The order of
// settling is judged, and no time.
test('calls stuck on one volume do not hold up those on another', { skip: noFaults }, async () => {
  const hung = makeRun({});
  const healthy = makeRun();
  const script = `
    const { acquireClaim } = require(${JSON.stringify(packageRoot)});
    const request = { holder: 'a', ttlMs: ${HOUR_MS} };
    let settled = 0;
    for (let i = 0; i < ${STUCK_CALLS}; i += 1) {
      acquireClaim(${JSON.stringify(hung)}, request).finally(() => { settled += 1 });
    }
    (async () => {
      const fences = [];
      for (let i = 0; i < 20; i += 1) {
        fences.push((await acquireClaim(${JSON.stringify(healthy)}, request)).fence);
      }
      console.log(JSON.stringify({ fences, settled }));
      process.kill(process.pid, 'SIGKILL');
    })();
  `;
  const log = join(tempDir(), 'trace');
  const stall = `inject=openat:delay_enter=${STUCK_MICROSECONDS}`;
  const strace = ['-f', '-qq', '-o', log, '-P', claimsOf(hung), '-e', 'trace=openat', '-e', stall];
  const { child, done } = start('strace', [...strace, process.execPath, '-e', script]);
  // It has said all by then; strace itself would see the delays through.
  child.stdout.once('data', () => child.kill('SIGKILL'));
  const { stdout, stderr } = await done;
  assert.notEqual(stdout, '', stderr);
  const { fences, settled } = JSON.parse(stdout);
  assert.deepEqual(
    fences,
    Array.from({ length: 20 }, (_, index) => index + 1),
  );
  assert.equal(settled, 0, 'a call on the hung volume settled before the healthy ones did');
});
