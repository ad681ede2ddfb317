// The addon in worker threads: they share its one copy in the process, and each may end at any
// moment.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { Worker } from 'node:worker_threads';
import { noFaults, outcomesOf, startCalls } from './faults.mjs';
import { bodyOf, makeRun, namesOf, packageRoot, runNode, tempDir, workerFile } from './helpers.mjs';

const RUNS = 100;
const noPipes = process.platform === 'win32' && 'pipes have no names in a directory here';
const THREADS = 4;

// Guards the scratch name's count and randomness: threads of one process have one pid.
test(`${THREADS} threads race for ${RUNS} runs, and each goes to one of them`, async () => {
  const directory = tempDir();
  const runDirs = Array.from({ length: RUNS }, (_, index) => join(directory, `run_${index}`));
  const gate = new Int32Array(new SharedArrayBuffer(8));
  const byThread = await Promise.all(
    Array.from({ length: THREADS }, (_, index) => {
      const name = `thread-${index}`;
      const workerData = { task: 'race', runDirs, name, threads: THREADS, gate };
      return answerOf(new Worker(workerFile('thread.mjs'), { workerData }));
    }),
  );
  for (const [index, runDir] of runDirs.entries()) {
    const won = byThread.map((leases) => leases[index]).filter(Boolean);
    assert.equal(won.length, 1, `run ${index} has ${won.length} winners`);
    assert.deepEqual(namesOf(runDir), ['1.json']);
    assert.equal(bodyOf(runDir, 1).holder, won[0].holder);
  }
});

function answerOf(worker) {
  return new Promise((resolve, reject) => {
    worker.on('message', resolve).on('error', reject);
  });
}

// Guards the life of a call: an answer for a thread that is gone must be dropped, not delivered.
// In a process of its own, where a crash shows as its exit.
for (const [situation, settings] of Object.entries({
  '200 threads that alone load the addon': { threads: 200, loadFirst: false },
  '60 threads beside a main thread that makes calls too': { threads: 60, loadFirst: true },
})) {
  test(`${situation} are terminated in the middle of calls`, async () => {
    const settled = { directory: tempDir(), atOnce: 4, ...settings };
    const ended = await runNode([workerFile('terminate.mjs'), JSON.stringify(settled)]);
    assert.deepEqual(
      { code: ended.code, signal: ended.signal },
      { code: 0, signal: null },
      ended.stderr,
    );
    const { terminated, lease, renewals } = JSON.parse(ended.stdout);
    assert.equal(terminated, settings.threads);
    assert.equal(lease.holder, 'last');
    assert.equal(lease.fence, 1);
    if (settings.loadFirst) assert.ok(renewals > 0);
  });
}

// Guards the hold on the event loop: without it a script that only awaits a claim ends before it
// is answered. The call is held up so that the loop would have had nothing else to wait for.
test('a call in flight keeps the process alive', { skip: noFaults }, async () => {
  const runDir = makeRun();
  const started = startCalls([['acquireClaim', runDir, { holder: 'a', ttlMs: 1000 }]], {
    inject: ['link,linkat:delay_enter=500000:when=1'],
  });
  const [{ value }] = outcomesOf(await started.done);
  assert.equal(value.fence, 1);
  assert.match(readFileSync(started.log, 'utf8'), /DELAYED/);
});

// Guards the addon's own threads: in libuv's pool a claim would wait for the host's file, crypto and
// name-service work. Here that work waits for the claim, so that nothing would ever end.
test('a claim does not wait for what fills the pool of the host', { skip: noPipes }, async () => {
  const directory = tempDir();
  const script = `
    const { constants, open, openSync } = require('node:fs');
    const { execFileSync } = require('node:child_process');
    const { acquireClaim } = require(${JSON.stringify(packageRoot)});
    const pipes = Array.from({ length: 4 }, (_, index) => 'pipe' + index);
    execFileSync('mkfifo', pipes);
    let opened = 0;
    // Each waits in its thread for somebody to open the other end.
    for (const pipe of pipes) open(pipe, 'r', () => { opened += 1 });
    acquireClaim('run_1', { holder: 'a', ttlMs: 1000 }).then(({ fence }) => {
      console.log(JSON.stringify({ fence, opened }));
      for (const pipe of pipes) openSync(pipe, constants.O_RDWR | constants.O_NONBLOCK);
    });
  `;
  const env = { ...process.env, UV_THREADPOOL_SIZE: '4' };
  const ended = await runNode(['--eval', script], { cwd: directory, env });
  assert.deepEqual({ code: ended.code, signal: ended.signal }, { code: 0, signal: null });
  assert.deepEqual(JSON.parse(ended.stdout), { fence: 1, opened: 0 });
});

// Guards the promise that importing costs nothing: no thread, no handler of a signal or an event.
for (const [how, load] of Object.entries({
  require: 'require(root)',
  import: 'await import(root + "/index.js")',
})) {
  test(`${how} starts no thread and installs no handler`, async () => {
    const script = `
      import { readdirSync, readFileSync } from 'node:fs';
      import { readFile } from 'node:fs/promises';
      import { createRequire } from 'node:module';
      const root = ${JSON.stringify(packageRoot)};
      const require = createRequire(root);
      // Node's own pool, which its loader of modules may or may not have started by now.
      await Promise.all(Array.from({ length: 8 }, () => readFile(root + '/package.json')));
      const linux = process.platform === 'linux';
      const look = () => ({
        threads: linux && readdirSync('/proc/self/task').length,
        signals: linux && readFileSync('/proc/self/status', 'utf8').match(/^Sig(Cgt|Ign|Blk).*/gm),
        listeners: process.eventNames().map((name) => [String(name), process.listenerCount(name)]),
      });
      const before = look();
      const addon = ${load};
      const after = look();
      (addon.default ?? addon).currentFenceSync(root);
      console.log(JSON.stringify({ before, after, called: look() }));
    `;
    const { code, stdout, stderr } = await runNode(['--input-type=module', '--eval', script]);
    assert.equal(code, 0, stderr);
    const { before, after, called } = JSON.parse(stdout);
    assert.deepEqual(after, before);
    // The addon's file itself is loaded by the first call at the latest, and a Sync call stays on
    // the caller's thread.
    assert.deepEqual(called, before);
  });
}
