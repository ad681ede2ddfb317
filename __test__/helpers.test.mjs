// The helpers over any store, with stores of other kinds; and the input of the store's own.

import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { test } from 'node:test';
import { addon, HOUR_MS } from './helpers.mjs';
import { assertRefuses, makeCheckpoint, makeStore, scopeOf } from './store-helpers.mjs';

const scope = scopeOf();
const asked = { holder: 'a', ttlMs: HOUR_MS };

/** A store of another kind, that writes down what it is asked. */
class OtherStore {
  calls = [];
  answer = null;
  claimRun(...args) {
    return this.#call('claimRun', args);
  }
  releaseRun(...args) {
    return this.#call('releaseRun', args);
  }
  listDurableRuns(...args) {
    return this.#call('listDurableRuns', args);
  }
  async #call(name, args) {
    this.calls.push([name, ...args]);
    return this.answer;
  }
}

// Guards the difference between "held by another" and "this store cannot keep others away".
test('a store that lacks a method is refused', async () => {
  const calls = {
    claimRun: (store) => addon.claimRun(store, scope, asked),
    releaseRun: (store) => addon.releaseRun(store, scope, 1),
    listDurableRuns: (store) => addon.listDurableRuns(store, { tenantId: 't' }),
  };
  for (const [name, call] of Object.entries(calls)) {
    for (const store of [{}, { [name]: true }, null, undefined, class Store {}]) {
      await assertRefuses(() => call(store), {
        code: 'capability_unavailable',
        mentions: [`does not implement \`${name}\``],
      });
    }
  }
});

// Guards what is passed on: the store's own answer and its own error, and nothing made up.
test('the helpers call the store', async () => {
  const store = new OtherStore();
  const page = { entries: [] };
  assert.equal(await addon.claimRun(store, scope, asked), null);
  store.answer = { holder: 'a', fence: 1, expiresAt: 2 };
  assert.equal(await addon.claimRun(store, scope, asked), store.answer);
  assert.equal(await addon.releaseRun(store, scope, 7), undefined);
  store.answer = page;
  const listing = { tenantId: 't', projectId: 'p' };
  assert.equal(await addon.listDurableRuns(store, listing, { limit: 5 }), page);
  assert.equal(await addon.listDurableRuns(store, listing), page);
  assert.deepEqual(store.calls, [
    ['claimRun', scope, asked],
    ['claimRun', scope, asked],
    ['releaseRun', scope, 7],
    ['listDurableRuns', listing, { limit: 5 }],
    ['listDurableRuns', listing, undefined],
  ]);
  const own = new Error('their own');
  const failing = { claimRun: () => Promise.reject(own) };
  await assert.rejects(addon.claimRun(failing, scope, asked), (error) => error === own);

  const disk = makeStore();
  const lease = await addon.claimRun(disk.store, disk.scope, asked);
  assert.equal(lease.fence, 1);
  assert.equal(await addon.claimRun(disk.store, disk.scope, { ...asked, holder: 'b' }), null);
  await addon.releaseRun(disk.store, disk.scope, 1);
  assert.equal(await addon.currentFence(disk.runDir), 2);
});

// Guards leases that are over when they are given, or never end, in any store.
test('a bad ttlMs is refused before the store is asked', async () => {
  const disk = makeStore();
  for (const ttlMs of [0, -1, Number.NaN, Infinity, -Infinity, '5', null, undefined, 5n]) {
    const expected = {
      code: 'invalid_config',
      details: { runId: 'run_1', ttlMs },
      mentions: ['positive number of milliseconds', 'run_1'],
    };
    const store = new OtherStore();
    await assertRefuses(() => addon.claimRun(store, scope, { holder: 'a', ttlMs }), expected);
    assert.deepEqual(store.calls, []);
    await assertRefuses(() => disk.store.claimRun(scope, { holder: 'a', ttlMs }), expected);
  }
  assert.deepEqual(readdirSync(disk.config.baseDir), []);
});

/** Guards what hosts match of a write that was overtaken, whichever store refuses it. */
test('fencedOut', () => {
  const error = addon.fencedOut(scopeOf('run_7'), 3, 5);
  assert.ok(error instanceof addon.NamzuError);
  const { name, code, retryable, details } = error;
  assert.deepEqual(
    { name, code, retryable, details },
    {
      name: 'NamzuError',
      code: 'storage_error',
      retryable: false,
      details: { runId: 'run_7', presentedFence: 3, currentFence: 5 },
    },
  );
  assert.match(error.message, /run_7.*no longer holds it/);
});

/** Guards the very instant of a lease's end, at which the run is free. */
test('toClaimSummary', () => {
  const lease = { holder: 'a', fence: 4, expiresAt: 100.5, nonce: 'x' };
  for (const [now, expired] of [
    [100, false],
    [100.5, true],
    [101, true],
    [-Infinity, false],
  ]) {
    const summary = addon.toClaimSummary(lease, now);
    assert.deepEqual(summary, { holder: 'a', fence: 4, expiresAt: 100.5, expired });
  }
});

/** Guards listings against a scope that seems narrow and is wide. */
test('assertContiguousListingScope', async () => {
  for (const good of [
    { tenantId: 't' },
    { tenantId: 't', projectId: 'p' },
    { tenantId: 't', projectId: 'p', sessionId: 's' },
    { tenantId: 't', projectId: undefined, sessionId: undefined },
  ]) {
    assert.equal(addon.assertContiguousListingScope(good, 'a caller'), undefined);
  }
  const gap = { tenantId: 't', sessionId: 's' };
  const expected = {
    code: 'invalid_config',
    mentions: ['contiguous prefix', 'without `projectId`'],
  };
  await assertRefuses(() => addon.assertContiguousListingScope(gap, 'a caller'), {
    ...expected,
    mentions: [...expected.mentions, 'a caller'],
  });
  const store = new OtherStore();
  await assertRefuses(() => addon.listDurableRuns(store, gap), expected);
  assert.deepEqual(store.calls, []);
  await assertRefuses(() => addon.assertContiguousListingScope(null, 'a caller'), {
    code: 'invalid_config',
  });
});

// Guards all files outside of the run: what would leave its directory never reaches the disk.
test('ids that are no component of a path are refused', async () => {
  const { store, config } = makeStore();
  const bad = ['', '.', '..', '../x', 'a/b', '/', 'a\\b', 'a\0', '\0', '\ud800', 'x\udc00'];
  const noStrings = [undefined, null, 5, {}, ['cp_1'], new String('cp_1')];
  const calls = {
    'scope.runId': (id) => [{ ...scope, runId: id }, makeCheckpoint(), 'cp_1'],
    'scope.parentRunId': (id) => [{ ...scope, parentRunId: id }, makeCheckpoint(), 'cp_1'],
    'checkpoint.id': (id) => [scope, { ...makeCheckpoint(), id }, undefined],
    id: (id) => [scope, undefined, id],
  };
  for (const [argument, argumentsOf] of Object.entries(calls)) {
    for (const id of [...bad, ...noStrings]) {
      if (id === undefined && argument === 'scope.parentRunId') continue;
      const [inScope, checkpoint, read] = argumentsOf(id);
      const refused = [];
      if (checkpoint) refused.push(() => store.writeCheckpoint(inScope, checkpoint));
      if (argument !== 'checkpoint.id') {
        refused.push(() => store.readCheckpoint(inScope, read));
        refused.push(() => store.deleteCheckpoint(inScope, read));
      }
      if (argument.startsWith('scope')) {
        refused.push(() => store.listCheckpoints(inScope));
        refused.push(() => store.claimRun(inScope, asked));
        refused.push(() => store.releaseRun(inScope, 1));
        refused.push(() => addon.claimRun(store, inScope, asked));
      }
      for (const call of refused) {
        const expected = { code: 'invalid_config', details: { argument }, mentions: [argument] };
        await assertRefuses(call, expected);
      }
    }
  }
  assert.deepEqual(readdirSync(config.baseDir), []);
});

// Guards the other input, each before the disk is touched.
test('bad input is refused, naming the argument', async () => {
  const { store, config } = makeStore();
  const Store = addon.DiskCheckpointStore;
  const attribution = { tenantId: 't', projectId: 'p', sessionId: 's' };
  for (const [argument, call] of [
    ['scope', () => store.writeCheckpoint(undefined, makeCheckpoint())],
    ['scope', () => store.readCheckpoint('run_1', 'cp_1')],
    ['checkpoint', () => store.writeCheckpoint(scope)],
    ['checkpoint', () => store.writeCheckpoint(scope, null)],
    ['checkpoint', () => store.writeCheckpoint(scope, [makeCheckpoint()])],
    ['checkpoint', () => store.writeCheckpoint(scope, '{}')],
    ['fence', () => store.writeCheckpoint(scope, makeCheckpoint(), -1)],
    ['fence', () => store.writeCheckpoint(scope, makeCheckpoint(), 1.5)],
    ['fence', () => store.writeCheckpoint(scope, makeCheckpoint(), 2 ** 53)],
    ['fence', () => store.writeCheckpoint(scope, makeCheckpoint(), '1')],
    ['fence', () => store.writeCheckpoint(scope, makeCheckpoint(), null)],
    ['fence', () => store.releaseRun(scope, Number.NaN)],
    ['options', () => store.claimRun(scope)],
    ['holder', () => store.claimRun(scope, { holder: '', ttlMs: 1 })],
    ['now', () => store.claimRun(scope, { ...asked, now: null })],
    ['now + ttlMs', () => store.claimRun(scope, { holder: 'a', ttlMs: 1e308, now: 1e308 })],
    ['config', () => new Store()],
    ['config.baseDir', () => new Store({})],
    ['config.baseDir', () => new Store({ baseDir: '' })],
    ['config.baseDir', () => new Store({ baseDir: 'a\0b' })],
    ['config.durability', () => new Store({ baseDir: '.', durability: true })],
    ['attribution', () => new Store({ baseDir: '.' }, null)],
    ['attribution.projectId', () => new Store({ baseDir: '.' }, { ...attribution, projectId: 1 })],
  ]) {
    const expected = { code: 'invalid_config', details: { argument }, mentions: [argument] };
    await assertRefuses(async () => await call(), expected);
  }
  assert.deepEqual(readdirSync(config.baseDir), []);
});

// Guards the disk from checkpoints that no reader would accept, and tells why.
test('a checkpoint that would not read back is refused before anything is written', async () => {
  const { store, config } = makeStore();
  const circular = makeCheckpoint();
  circular.messages.push(circular);
  let deep = {};
  for (let depth = 0; depth < 1_000_000; depth += 1) deep = { deep };
  const base = makeCheckpoint();
  const budget = { code: 'invalid_config', mentions: ['malformed budget state', 'cp_1'] };
  const unusable = { code: 'invalid_config', mentions: ['not a usable checkpoint', 'cp_1'] };
  const noJson = { code: 'invalid_config', details: { argument: 'checkpoint' } };
  for (const [checkpoint, expected, cause] of [
    [{ ...base, costInfo: { totalCost: Number.NaN } }, budget],
    [{ ...base, costInfo: undefined }, budget],
    [{ ...base, guardState: { iterationCount: 1, elapsedMs: Infinity } }, budget],
    [{ ...base, tokenUsage: { promptTokens: 1, completionTokens: 1 } }, budget],
    [{ ...base, iteration: Number.NaN }, unusable],
    [{ ...base, createdAt: new Date() }, unusable],
    [{ ...base, messages: 'none' }, unusable],
    [{ ...base, messages: undefined }, unusable],
    [{ ...base, pending: {} }, unusable],
    [{ ...base, pending: 'question' }, unusable],
    [{ ...base, pending: { request: { type: 'question' }, parkedAt: 'now' } }, unusable],
    [{ id: 'cp_1', toJSON: () => ({ id: 'cp_1' }) }, unusable],
    [circular, noJson, TypeError],
    [{ ...base, big: 1n }, noJson, TypeError],
    [{ ...base, toJSON: () => undefined }, noJson, TypeError],
    [{ ...base, x: { toJSON: () => assert.fail('their own') } }, noJson, assert.AssertionError],
    [{ ...base, deep }, noJson, RangeError],
  ]) {
    for (const fence of [undefined, 1]) {
      const refused = await assertRefuses(
        () => store.writeCheckpoint(scope, checkpoint, fence),
        expected,
      );
      if (cause) assert.ok(refused.cause instanceof cause);
    }
  }
  assert.deepEqual(readdirSync(config.baseDir), []);
});
