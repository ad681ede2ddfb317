// The event loop of a thread that makes calls: it goes on turning, and no call takes it for long.

import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { mock, test } from 'node:test';
import {
  addon,
  claimsOf,
  HOUR_MS,
  makeRun,
  noFaults,
  packageRoot,
  start,
  tempDir,
} from './helpers.mjs';
import { makeCheckpoint, makeStore } from './store-helpers.mjs';

const { acquireClaim, DiskCheckpointStore } = addon;
const request = { holder: 'a', ttlMs: HOUR_MS };

// Guards the turn between an answer and whoever waits for it: answers that are there already are
// handed over up to a thousand at a time, and timers would wait for all of them.
test('the event loop turns between calls that are made one after another', async () => {
  const runDir = makeRun();
  for (let count = 1; count <= 300; count += 1) {
    let turned = false;
    setImmediate(() => {
      turned = true;
    });
    const lease = await acquireClaim(runDir, request);
    assert.equal(lease.fence, count);
    assert.ok(turned, `the event loop did not turn during call ${count}`);
  }
});

// Guards that bound: the thread stays awake for quick answers, and goes back to its event loop
// when an answer takes its time. What the call would have published shows that it is not done.
test('a call returns before its answer is there', { skip: noFaults }, async () => {
  const held = makeRun({});
  const script = `
    const { existsSync } = require('node:fs');
    const { acquireClaim } = require(${JSON.stringify(packageRoot)});
    const request = ${JSON.stringify(request)};
    (async () => {
      for (let count = 0; count < 200; count += 1) await acquireClaim('quick', request);
      console.log('ready');
      process.stdin.once('data', async () => {
        const call = acquireClaim(${JSON.stringify(held)}, request);
        const published = existsSync(${JSON.stringify(join(claimsOf(held), '1.json'))});
        console.log(JSON.stringify({ published, fence: (await call).fence }));
        process.exit();
      });
    })();
  `;
  const { child, done } = start(process.execPath, ['-e', script], { cwd: tempDir() });
  await new Promise((resolve) => child.stdout.once('data', resolve));
  const log = join(tempDir(), 'trace');
  const stall = ['-e', 'trace=openat', '-e', 'inject=openat:delay_enter=300000'];
  const attach = ['-f', '-p', String(child.pid), '-o', log, '-P', claimsOf(held), ...stall];
  const strace = start('strace', attach);
  // It says so when it is attached.
  await new Promise((resolve) => strace.child.stderr.once('data', resolve));
  child.stdin.write('go\n');
  const { stdout, stderr } = await done;
  await strace.done;
  assert.deepEqual(JSON.parse(stdout.split('\n')[1] || stderr), { published: false, fence: 1 });
  assert.ok(existsSync(log));
});

// Guards the timer function that is kept from before a test of the host replaced it: a call turns the
// event loop for its answer, for a long text, and between the pieces of a long page.
test('calls are answered while the host has put the time to a stop', async () => {
  const runDir = makeRun();
  const { config, scope } = makeStore();
  const store = new DiskCheckpointStore(config, scope);
  const long = makeCheckpoint('cp_1', { messages: ['x'.repeat(3_000_000)] });
  const runIds = Array.from({ length: 400 }, (_, at) => `run_${at}`);
  mock.timers.enable();
  try {
    assert.equal((await acquireClaim(runDir, request)).fence, 1);
    await store.writeCheckpoint(scope, long);
    await store.writeCheckpoint(scope, { ...long, id: 'cp_2' });
    assert.equal((await store.listCheckpoints(scope)).length, 2);
    for (const runId of runIds) await store.writeCheckpoint({ ...scope, runId }, makeCheckpoint());
    const { entries } = await store.listDurableRuns(scope, { limit: 400 });
    assert.equal(entries.length, 400);
  } finally {
    mock.timers.reset();
  }
});
