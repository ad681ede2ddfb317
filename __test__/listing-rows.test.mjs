// The rules of listings for checkpoints and rows that JavaScript keeps.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { addon } from './helpers.mjs';
import { attribution, idsOf, parked } from './listing-helpers.mjs';
import { assertRefuses } from './store-helpers.mjs';

describe('pure helpers', () => {
  const at = (id, createdAt, more) => ({ id, createdAt, ...more });

  test('summarizePark tells the wait that counts', () => {
    const summary = (...checkpoints) => addon.summarizePark(checkpoints, 100);
    assert.equal(summary(), undefined);
    assert.equal(summary(at('a', 1), at('b', 2, { pending: null })), undefined);
    const outstanding = at('a', 1, parked(1, { deadlineAt: null }));
    const expired = at('b', 2, parked(50, { deadlineAt: 100 }));
    const resolved = at('c', 3, parked(90, { deadlineAt: 95, resolvedAt: 99 }));
    assert.deepEqual(summary(resolved, expired, outstanding), {
      state: 'outstanding',
      checkpointId: 'a',
      requestType: 'question',
      parkedAt: 1,
    });
    assert.deepEqual(summary(resolved, expired), {
      state: 'expired',
      checkpointId: 'b',
      requestType: 'question',
      parkedAt: 50,
      deadlineAt: 100,
    });
    assert.deepEqual(summary(resolved), {
      state: 'resolved',
      checkpointId: 'c',
      requestType: 'question',
      parkedAt: 90,
      deadlineAt: 95,
      resolvedAt: 99,
    });
    const never = { deadlineAt: Number.POSITIVE_INFINITY };
    assert.equal(summary(at('d', 1, parked(1, never))).state, 'outstanding');
    assert.equal(summary(at('d', 1, parked(1)), at('e', 2, parked(1))).checkpointId, 'd');
  });

  test('toDurableRunEntry makes a row, and none without checkpoints', () => {
    const run = { ...attribution, runId: 'run_1', more: 'is left out' };
    assert.equal(addon.toDurableRunEntry(run, [], 100), null);
    const checkpoints = [
      at('a', 5, { runCreatedAt: 3 }),
      at('b', 7),
      at('c', 7, { runCreatedAt: 2, ...parked(1) }),
    ];
    assert.deepEqual(addon.toDurableRunEntry({ ...run, parentRunId: 'run_p' }, checkpoints, 100), {
      ...attribution,
      runId: 'run_1',
      parentRunId: 'run_p',
      runCreatedAt: 2,
      checkpointCount: 3,
      latestCheckpointId: 'b',
      latestCheckpointAt: 7,
      park: { state: 'outstanding', checkpointId: 'c', requestType: 'question', parkedAt: 1 },
    });
    const bare = addon.toDurableRunEntry(run, [at('a', 5)], 100);
    assert.deepEqual(Object.keys(bare), [
      ...['tenantId', 'projectId', 'sessionId', 'runId'],
      ...['checkpointCount', 'latestCheckpointId', 'latestCheckpointAt'],
    ]);
  });

  // Guards the rows that a host keeps: they come back as they are, and not as copies.
  test('paginateDurableRuns gives back the rows themselves', () => {
    const park = { state: 'expired' };
    const rows = [
      { runId: 'run_c', claim: { expired: false } },
      { runId: 'run_a', claim: { expired: true }, park },
      { runId: 'run_b', big: 1n, park },
      { runId: 'run_a', parentRunId: 'run_b' },
    ];
    const page = (options) => addon.paginateDurableRuns(rows, options);
    const { entries, cursor } = page({ limit: 2 });
    assert.ok(entries[0] === rows[1] && entries[1] === rows[3]);
    assert.deepEqual(idsOf(page({ cursor }).entries), ['run_b', 'run_c']);
    assert.deepEqual(idsOf(page({ claimed: true }).entries), ['run_c']);
    assert.deepEqual(idsOf(page({ claimed: false }).entries), ['run_a', 'run_b/run_a', 'run_b']);
    assert.deepEqual(idsOf(page({ park: ['expired'] }).entries), ['run_a', 'run_b']);
    assert.deepEqual(page({ park: ['resolved'] }), { entries: [] });
  });

  test('what is no checkpoint and no row is refused', async () => {
    const refuses = (call) => assertRefuses(async () => call(), { code: 'invalid_config' });
    for (const bad of [
      null,
      [],
      {},
      at(5, 1),
      at('a', Number.NaN),
      at('a', '1'),
      at('a', 1, { pending: 'x' }),
      at('a', 1, { pending: { parkedAt: 1 } }),
      at('a', 1, parked('1')),
      at('a', 1, parked(1, { deadlineAt: Number.NaN })),
    ]) {
      await refuses(() => addon.summarizePark([bad], 1));
      await refuses(() => addon.toDurableRunEntry({ ...attribution, runId: 'r' }, [bad], 1));
    }
    // A hole is not passed over: the places of those behind it would not be theirs.
    // biome-ignore lint/suspicious/noSparseArray: it is what is tried
    await refuses(() => addon.toDurableRunEntry(attribution, [, at('a', 1), at('b', 2)], 1));
    await refuses(() => addon.summarizePark([], Number.NaN));
    await refuses(() => addon.summarizePark({}, 1));
    await refuses(() => addon.toDurableRunEntry(null, [], 1));
    for (const bad of [{}, [null], [{}], [{ runId: 5 }], [{ runId: 'a', parentRunId: null }]]) {
      await refuses(() => addon.paginateDurableRuns(bad));
    }
    for (const runCreatedAt of [1n, Symbol('1'), '1', {}, Object.create(null)]) {
      await refuses(() => addon.paginateDurableRuns([{ runId: 'a', runCreatedAt }]));
    }
    const absent = [null, undefined, Number.NaN].map((runCreatedAt) => ({
      runId: 'a',
      runCreatedAt,
    }));
    assert.deepEqual(addon.paginateDurableRuns(absent), { entries: absent });
  });
});
