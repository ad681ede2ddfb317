// Arguments and surroundings that no careful program has: what is refused stays a refusal, and what
// is answered stays an answer.

import assert from 'node:assert/strict';
import { basename } from 'node:path';
import { test } from 'node:test';
import { addon, makeRun, outcome, packageRoot, runNode, tempDir } from './helpers.mjs';
import { makeCheckpoint, makeStore, scopeOf } from './store-helpers.mjs';

const asked = { holder: 'a', ttlMs: 1000 };

function revoked(target = {}) {
  const { proxy, revoke } = Proxy.revocable(target, {});
  revoke();
  return proxy;
}

// Guards the promise: to ask whether such a value is an array throws, and a raw TypeError names no
// argument.
test('a proxy that was revoked is refused by the name of the argument', async () => {
  const { store, scope } = makeStore();
  const listed = new addon.DiskCheckpointStore({ baseDir: tempDir() }, scope);
  const other = { claimRun() {}, releaseRun() {}, listDurableRuns() {} };
  const calls = {
    runDir: () => addon.acquireClaim(revoked(), asked),
    options: () => addon.acquireClaim(makeRun(), revoked()),
    holder: () => addon.acquireClaim(makeRun(), { ...asked, holder: revoked([]) }),
    ttlMs: () => addon.acquireClaim(makeRun(), { ...asked, ttlMs: revoked(() => 1) }),
    fence: () => addon.releaseClaim(makeRun(), revoked()),
    context: () => addon.singleOpenWriter(revoked()),
    registry: async () => addon.registerInvariants(revoked()),
    config: async () => new addon.DiskCheckpointStore(revoked()),
    attribution: async () => new addon.DiskCheckpointStore({ baseDir: 'x' }, revoked()),
    scope: () => store.readCheckpoint(revoked(), 'cp_1'),
    'scope.runId': () => store.readCheckpoint({ ...scope, runId: revoked() }, 'cp_1'),
    checkpoint: () => store.writeCheckpoint(scope, revoked()),
    'options ': () => listed.listDurableRuns(scope, revoked()),
    park: () => listed.claimNext(scope, { ...asked, park: revoked([]) }),
    store: () => addon.claimRun(revoked(), scope, asked),
    'store ': () => addon.listDurableRuns(revoked(), scope),
    'scope ': () => addon.releaseRun(other, revoked(), 1),
    checkpoints: async () => addon.summarizePark(revoked([]), 0),
    'checkpoints[0]': async () => addon.summarizePark([revoked()], 0),
    entries: async () => addon.paginateDurableRuns(revoked([])),
    'entries[0]': async () => addon.paginateDurableRuns([revoked()]),
  };
  for (const [name, call] of Object.entries(calls)) {
    const { error } = await outcome(call);
    assert.equal(error?.name, 'NamzuError', `${name}: ${error}`);
    assert.equal(error.code, 'invalid_config', name);
    assert.ok(error.message.startsWith(`${name.trim()} must `), error.message);
  }
  const { error } = await outcome(calls.options);
  assert.equal(error.message, 'options must be an object, but is a revoked proxy.');
  // One that still answers is as good as what it stands for.
  const proxied = new Proxy(asked, {});
  assert.equal((await addon.acquireClaim(makeRun(), proxied)).fence, 1);
  await store.writeCheckpoint(new Proxy(scopeOf(), {}), new Proxy(makeCheckpoint(), {}));
});

// Guards logs, and the thread: to write out a number of a million digits takes it a while.
test('what came is cut short in a message', async () => {
  const huge = 10n ** 100_000n;
  for (const [came, said] of [
    [huge, 'a bigint of over 60 digits'],
    [-huge, 'a bigint of over 60 digits'],
    [12n, 'the bigint 12n'],
    ['a'.repeat(100_000), `the string "${'a'.repeat(60)}…"`],
  ]) {
    const { error } = await outcome(() => addon.acquireClaim(makeRun(), { ...asked, ttlMs: came }));
    assert.ok(error.message.includes(`but is ${said}`), error.message.slice(0, 200));
    assert.ok(error.message.length < 250);
  }
  const runDir = `/tmp/${'r'.repeat(100_000)}`;
  const { error } = await outcome(() => addon.acquireClaim(runDir, { ...asked, ttlMs: 0 }));
  assert.ok(error.message.includes(`(run ${'r'.repeat(60)}…)`), error.message.slice(0, 200));
  assert.equal(error.details.runId, basename(runDir), 'in full where a program reads it');
});

// Guards answers against a member that somebody gave to all objects.
test('what all objects were given is not taken for a part of an answer', async () => {
  const script = `
    const addon = require(${JSON.stringify(packageRoot)});
    const run = process.argv[1];
    const ids = { tenantId: 't', projectId: 'p', sessionId: 's' };
    const scope = { ...ids, runId: 'run_1' };
    const options = { holder: 'a', ttlMs: 60000 };
    const given = { refused: 'unknown', presented: 1, found: 7, supported: 8, reason: 'given' };
    Object.assign(Object.prototype, given);
    (async () => {
      const lease = await addon.acquireClaim(run, options);
      const renewed = addon.acquireClaimSync(run, options);
      const store = new addon.DiskCheckpointStore({ baseDir: run + '-store' }, ids);
      await store.writeCheckpoint(scope, JSON.parse(process.argv[2]));
      const page = await store.listDurableRuns(ids);
      const read = await store.readCheckpoint(scope, 'cp_1');
      require('node:fs').writeFileSync(run + '/claims/x', '');
      require('node:fs').writeFileSync(run + '-store/run_2', '');
      const errors = [
        await addon.readClaim(run + '/claims/x').catch((error) => error),
        await store.writeCheckpoint({ ...ids, runId: 'run_2' }, read).catch((error) => error),
      ].map(({ name, code, details }) => [name, code, Object.keys(details).join()]);
      const told = JSON.stringify([
        lease.fence, renewed.fence, page.entries.length, read.id, ...errors,
      ]);
      for (const name of Object.keys(given)) delete Object.prototype[name];
      console.log(told);
    })();`;
  const checkpoint = JSON.stringify(makeCheckpoint());
  const { code, stdout, stderr } = await runNode(['--eval', script, makeRun(), checkpoint]);
  assert.equal(code, 0, stderr);
  const [fence, renewed, rows, id, ...errors] = JSON.parse(stdout);
  assert.deepEqual([fence, renewed, rows, id], [1, 2, 1, 'cp_1']);
  assert.deepEqual(errors, [
    ['NamzuError', 'storage_error', 'path,code'],
    ['NamzuError', 'storage_error', 'path,code'],
  ]);
});

// Guards the answer that comes while the call is still being made, and a call that cannot be made.
test('an answer finds its caller however early it comes', async () => {
  const script = `
    class Calls {
      constructor(settle) { this.settle = settle; }
      settled() {}
      read(ticket) { this.settle(ticket, { holder: 'early', fence: 1, expiresAt: 0 }); }
      currentFence() { throw new RangeError('not to be called'); }
    }
    require(${JSON.stringify(`${packageRoot}lib/load.js`)}).load = () => ({ Calls });
    const { readClaim, currentFence } = require(${JSON.stringify(packageRoot)});
    (async () => {
      const { holder } = await readClaim('x');
      console.log(holder, await currentFence('x').catch((error) => error.message));
    })();`;
  const { code, stdout, stderr } = await runNode(['--eval', script]);
  assert.equal(code, 0, stderr);
  assert.equal(stdout, 'early not to be called\n');
});
