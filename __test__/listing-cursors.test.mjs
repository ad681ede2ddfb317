// Cursors: places in a listing that a later page starts from.

import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { addon } from './helpers.mjs';
import { filesOf, idsOf, layTree, scope, storeOver } from './listing-helpers.mjs';
import { assertRefuses } from './store-helpers.mjs';

describe('cursors', () => {
  // Guards against a walk that silently starts anywhere.
  test('that this listing did not issue are refused', async () => {
    const { store } = storeOver(filesOf('run_a', 'run_b', 'run_c'));
    const { cursor } = await store.listDurableRuns(scope, { limit: 1 });
    const byCreation = await store.listDurableRuns(scope, { limit: 1, orderBy: 'createdAt' });
    const foreign = [
      ['', 'runId'],
      ['run_a', 'runId'],
      [`${cursor}=`, 'runId'],
      [cursor.slice(0, -2), 'runId'],
      [byCreation.cursor, 'runId'],
      [cursor, 'createdAt'],
      [Buffer.from('["run_a"]').toString('base64url'), 'runId'],
      ['\ud800', 'runId'],
    ];
    for (const [text, orderBy] of foreign) {
      const refused = await assertRefuses(
        () => store.listDurableRuns(scope, { cursor: text, orderBy }),
        { code: 'invalid_config', mentions: ['not a cursor this listing issued'] },
      );
      assert.deepEqual(refused.details, { cursor: text, orderBy });
      await assertRefuses(async () => addon.paginateDurableRuns([], { cursor: text, orderBy }), {
        code: 'invalid_config',
        mentions: ['not a cursor this listing issued'],
      });
    }
    const { cursor: usual } = await store.listDurableRuns(scope, { limit: 1 });
    await assertRefuses(() => store.listDurableRuns(scope, { cursor: 5 }), {
      code: 'invalid_config',
    });
    assert.match(usual, /^[\w-]+$/);
  });

  // Guards that a cursor is a place and not a count: what comes and goes between two pages neither
  // shifts nor repeats the rest, at once and after a while.
  test('stay where they are when runs come and go', async () => {
    const { baseDir, store } = storeOver(filesOf('run_b', 'run_d', 'run_f', 'run_h'));
    // Long enough for the tree's names to be kept.
    await new Promise((resume) => setTimeout(resume, 80));
    const first = await store.listDurableRuns(scope, { limit: 2 });
    assert.deepEqual(idsOf(first.entries), ['run_b', 'run_d']);
    rmSync(join(baseDir, 'run_d'), { recursive: true });
    rmSync(join(baseDir, 'run_f'), { recursive: true });
    layTree(filesOf('run_a', 'run_c', 'run_e', 'run_g'), baseDir);
    const rest = { cursor: first.cursor };
    const expected = ['run_e', 'run_g', 'run_h'];
    assert.deepEqual(idsOf((await store.listDurableRuns(scope, rest)).entries), expected);
    layTree(filesOf('run_h/children/run_ee'), baseDir);
    await new Promise((resume) => setTimeout(resume, 1_100));
    const later = await store.listDurableRuns(scope, rest);
    assert.deepEqual(idsOf(later.entries), ['run_e', 'run_h/run_ee', 'run_g', 'run_h']);
  });

  // Guards the names that are kept from page to page: they are those of one walk in one tree, from
  // where it had come to.
  test('of several walks and trees do not mix', async () => {
    const trees = [filesOf('run_a', 'run_b', 'run_c', 'run_d'), filesOf('run_b', 'run_c', 'run_x')];
    const stores = trees.map((files) => storeOver(files).store);
    await new Promise((resume) => setTimeout(resume, 80));
    const next = async (store, cursor) => store.listDurableRuns(scope, { limit: 1, cursor });
    const [a1, b1] = [await next(stores[0]), await next(stores[1])];
    const a2 = await next(stores[0], a1.cursor);
    const a3 = await next(stores[0], a2.cursor);
    assert.deepEqual(idsOf([a1, a2, a3].flatMap(({ entries }) => entries)), [
      'run_a',
      'run_b',
      'run_c',
    ]);
    // Back to an earlier place, and with a cursor of the other tree.
    assert.deepEqual(idsOf((await next(stores[0], a1.cursor)).entries), ['run_b']);
    assert.deepEqual(idsOf((await next(stores[1], a2.cursor)).entries), ['run_c']);
    assert.deepEqual(idsOf((await next(stores[0], b1.cursor)).entries), ['run_c']);
    const ends = await Promise.all([next(stores[0], a3.cursor), next(stores[0], a3.cursor)]);
    assert.deepEqual(
      ends.map(({ entries }) => idsOf(entries)),
      [['run_d'], ['run_d']],
    );
  });
});
