// The event loop of a thread that makes calls: it goes on turning, and no call takes it for long.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { noFaults } from './faults.mjs';
import {
  addon,
  claimsOf,
  HOUR_MS,
  makeRun,
  packageRoot,
  runNode,
  start,
  tempDir,
} from './helpers.mjs';
import { makeCheckpoint } from './store-helpers.mjs';

const { acquireClaim } = addon;
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

// Guards the bound on staying awake: a thread does so for quick answers, and goes back to its event
// loop when one takes its time. What the call would have published shows that it is not done.
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
  assert.match(readFileSync(log, 'utf8'), /DELAYED/);
});

// Guards the turns of the event loop from the time that tests of a host put to a stop: also when
// they did it before they loaded the package. The texts are long enough for turns between pieces.
for (const loaded of ['before', 'after']) {
  test(`calls of a package loaded ${loaded} time was put to a stop are answered`, async () => {
    const script = `
      const { mock } = require('node:test');
      const load = () => require(${JSON.stringify(packageRoot)});
      if (${JSON.stringify(loaded)} === 'before') load();
      mock.timers.enable();
      const { DiskCheckpointStore } = load();
      const owner = { tenantId: 't', projectId: 'p', sessionId: 's' };
      const store = new DiskCheckpointStore({ baseDir: process.cwd() }, owner);
      const checkpoint = ${JSON.stringify(makeCheckpoint('c'.repeat(240)))};
      const scopeOf = (row) => ({ ...owner, runId: 'run_' + row + 'r'.repeat(240) });
      (async () => {
        for (let row = 0; row < 100; row += 1) await store.writeCheckpoint(scopeOf(row), checkpoint);
        console.log((await store.listDurableRuns(owner)).entries.length);
        const messages = ['m'.repeat(3_000_000)];
        await store.writeCheckpoint(scopeOf(0), { ...checkpoint, id: 'large', messages });
        console.log((await store.listCheckpoints(scopeOf(0))).length);
      })();
    `;
    const { stdout, stderr } = await runNode(['-e', script], { cwd: tempDir() });
    assert.equal(stdout, '100\n2\n', stderr);
  });
}

// Guards memory, and what is in it: the door to the addon lives as long as the thread, and so would
// the context that it is made in.
test('what the first caller keeps in its asynchronous context is let go', async () => {
  const script = `
    const { AsyncLocalStorage } = require('node:async_hooks');
    const { acquireClaim } = require(${JSON.stringify(packageRoot)});
    const storage = new AsyncLocalStorage();
    const request = ${JSON.stringify(request)};
    const call = async () => {
      const { fence } = await acquireClaim('run_1', request);
      return { fence, kept: storage.getStore() !== undefined };
    };
    (async () => {
      const store = {};
      const caller = new WeakRef(store);
      const told = await storage.run(store, call);
      return { caller, told };
    })().then(async ({ caller, told }) => {
      for (let turn = 0; turn < 100 && caller.deref(); turn += 1) {
        await new Promise(setImmediate);
        gc();
      }
      console.log(JSON.stringify({ ...told, free: caller.deref() === undefined }));
    });
  `;
  const { stdout, stderr } = await runNode(['--expose-gc', '-e', script], { cwd: tempDir() });
  assert.equal(stdout, '{"fence":1,"kept":true,"free":true}\n', stderr);
});
