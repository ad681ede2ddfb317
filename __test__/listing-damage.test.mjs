// Runs of a listing whose row cannot be told.

import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { describe, test } from 'node:test';
import { filesOf, idsOf, pagesOf, scope, storeOver } from './listing-helpers.mjs';
import { assertRefuses, makeCheckpoint } from './store-helpers.mjs';

const DAMAGED = '{"id":"cp_bad"}';
const LIVE = { holder: 'w', expiresAt: 8.64e15 };

describe('runs that cannot be judged', () => {
  const files = {
    ...filesOf('run_a', 'run_b', 'run_c', 'run_d', 'run_e'),
    'run_c/checkpoints/cp_2.json': DAMAGED,
    'run_d/children/run_bb/checkpoints/cp_3.json': 'not json',
  };

  // Guards both ends of the default: a page that ends before a damaged run is given out, and one
  // that would go beyond it is refused whole, with what to mend.
  test('refuse the page that would reach them, and no other', async () => {
    const { store } = storeOver(files);
    const first = await store.listDurableRuns(scope, { limit: 2 });
    assert.deepEqual(idsOf(first.entries), ['run_a', 'run_b']);
    assert.ok(first.cursor);
    for (const options of [{ limit: 3 }, {}, { limit: 2, cursor: first.cursor }]) {
      const refused = await assertRefuses(() => store.listDurableRuns(scope, options), {
        code: 'storage_error',
        mentions: ['cp_3.json', 'not a usable checkpoint'],
      });
      assert.equal(refused.details.file, 'cp_3.json');
      assert.match(refused.details.path, /run_bb.checkpoints$/);
      assert.match(refused.details.reason, /^not a usable checkpoint: not JSON/);
    }
    await assertRefuses(() => store.listDurableRuns(scope, { orderBy: 'createdAt', limit: 1 }), {
      code: 'storage_error',
    });
  });

  // Guards that one bad file stops nobody and is hidden from nobody: each is told of once in a
  // walk, by pages of any size.
  test('are left out and told of, once, when that is asked for', async () => {
    const { store } = storeOver(files);
    const named = [
      { runId: 'run_bb', parentRunId: 'run_d', file: 'cp_3.json', reason: /: not JSON at byte 1/ },
      { runId: 'run_c', file: 'cp_2.json', reason: /^not a usable checkpoint: `iteration`/ },
    ];
    for (const orderBy of ['runId', 'createdAt']) {
      for (const limit of [1, 2, 3, 4, 100]) {
        const list = (options) => store.listDurableRuns(scope, options);
        const pages = await pagesOf(list, { orderBy, limit, damaged: 'report' });
        assert.deepEqual(
          idsOf(pages.flatMap((page) => page.entries)),
          ['run_a', 'run_b', 'run_d', 'run_e'],
          `${orderBy}, ${limit} a page`,
        );
        const damaged = pages.flatMap((page) => page.damaged);
        assert.equal(damaged.length, 2, `${orderBy}, ${limit} a page`);
        for (const [index, { reason, ...ids }] of named.entries()) {
          assert.match(damaged[index].reason, reason);
          assert.deepEqual({ ...damaged[index], reason }, { ...ids, reason });
        }
      }
    }
    const healthy = storeOver(filesOf('run_a'));
    const page = await healthy.store.listDurableRuns(scope, { damaged: 'report' });
    assert.deepEqual(page.damaged, []);
    assert.ok(!('damaged' in (await healthy.store.listDurableRuns(scope))));
    const elsewhere = await healthy.store.listDurableRuns({ tenantId: 'x' }, { damaged: 'report' });
    assert.deepEqual(elsewhere, { entries: [], damaged: [] });
  });

  // Guards the price of a queue: most runs of it are held, and their checkpoints play no part.
  test('do not matter where the claim filter drops them', async () => {
    const { store } = storeOver({ ...files, 'run_c/claims/7.json': LIVE });
    const report = { claimed: false, damaged: 'report' };
    const { entries, damaged } = await store.listDurableRuns(scope, report);
    assert.deepEqual(idsOf(entries), ['run_a', 'run_b', 'run_d', 'run_e']);
    assert.deepEqual(idsOf(damaged), ['run_d/run_bb']);
    const held = await store.listDurableRuns(scope, { claimed: true, damaged: 'report' });
    assert.deepEqual([idsOf(held.entries), idsOf(held.damaged)], [[], ['run_c']]);
  });

  // Guards the row: a park that cannot be told must not read as none, or the run would be handed
  // to whoever asks for runs that wait for nobody.
  test('are also those whose park cannot be told', async () => {
    for (const pending of [{}, 'x', 5, { request: { type: 'q' } }, { request: 1, parkedAt: 1 }]) {
      const { store } = storeOver({
        'run_a/checkpoints/cp_1.json': makeCheckpoint('cp_1', { pending }),
      });
      await assertRefuses(() => store.listDurableRuns(scope), {
        code: 'storage_error',
        mentions: ['cp_1.json', 'not a usable checkpoint', '`pending'],
      });
    }
  });

  test('are told from those of another schema, which are not damaged but new', async () => {
    const { store } = storeOver({
      'run_a/checkpoints/cp_1.json': { ...makeCheckpoint(), schemaVersion: 2 },
    });
    const refused = await assertRefuses(() => store.listDurableRuns(scope), {
      name: 'SchemaVersionError',
      code: 'storage_error',
      found: 2,
      supported: 1,
    });
    assert.match(refused.message, /cp_1\.json.*\b2\b.*\b1\b/);
  });
});

// Guards the boundary of what a listing reads: a page of one among many opens no file of the others.
test('a page reads no further than it has to', async () => {
  const { baseDir, store } = storeOver({
    ...filesOf('run_a', 'run_b'),
    ...Object.fromEntries(
      Array.from({ length: 400 }, (_, number) => [
        `run_c${String(number).padStart(3, '0')}/checkpoints/cp_1.json`,
        DAMAGED,
      ]),
    ),
  });
  const { entries, cursor } = await store.listDurableRuns(scope, { limit: 2 });
  assert.deepEqual(idsOf(entries), ['run_a', 'run_b']);
  assert.ok(cursor);
  assert.equal(readdirSync(baseDir).length, 402);
});
