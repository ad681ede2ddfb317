// Cursors: places in a listing that a later page starts from.

import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { addon } from './helpers.mjs';
import { filesOf, idsOf, layTree, letNamesBeKept, scope, storeOver } from './listing-helpers.mjs';
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
  // shifts nor repeats the rest.
  test('stay where they are when runs come and go', async () => {
    const { baseDir, store } = storeOver(filesOf('run_b', 'run_d', 'run_f', 'run_h'));
    letNamesBeKept(baseDir);
    const first = await store.listDurableRuns(scope, { limit: 2 });
    assert.deepEqual(idsOf(first.entries), ['run_b', 'run_d']);
    rmSync(join(baseDir, 'run_d'), { recursive: true });
    rmSync(join(baseDir, 'run_f'), { recursive: true });
    layTree(filesOf('run_a', 'run_c', 'run_e', 'run_g'), baseDir);
    const { entries } = await store.listDurableRuns(scope, { cursor: first.cursor });
    assert.deepEqual(idsOf(entries), ['run_e', 'run_g', 'run_h']);
  });
});

describe('names that are kept from page to page', () => {
  const next = (store, cursor) => store.listDurableRuns(scope, { limit: 1, cursor });
  const idsAfter = async (store, cursor) => idsOf((await next(store, cursor)).entries);

  // Guards what a walk may miss: sub-runs that were made within a second, and not for longer. A new
  // walk misses nothing.
  test('are used for a second, and by their own walk', async () => {
    const { baseDir, store } = storeOver(filesOf('run_a', 'run_c'));
    letNamesBeKept(baseDir);
    const { cursor } = await next(store);
    // It leaves the directory at the top as it was.
    layTree(filesOf('run_c/children/run_b'), baseDir);
    const { entries } = await store.listDurableRuns(scope);
    assert.deepEqual(idsOf(entries), ['run_a', 'run_c/run_b', 'run_c']);
    await pause(1_100);
    assert.deepEqual(await idsAfter(store, cursor), ['run_c/run_b']);
    layTree(filesOf('run_c/children/run_aa'), baseDir);
    await pause(1_100);
    assert.deepEqual(await idsAfter(store, cursor), ['run_c/run_aa']);
  });

  // Guards each tree against the names of another, by a cursor that was issued for that one.
  test('are those of one tree', async () => {
    const trees = [filesOf('run_a', 'run_c', 'run_d'), filesOf('run_a', 'run_b', 'run_x')];
    const [one, other] = trees.map((files) => storeOver(files));
    for (const { baseDir } of [one, other]) letNamesBeKept(baseDir);
    const { cursor } = await next(one.store);
    assert.deepEqual(await idsAfter(other.store, cursor), ['run_b']);
    assert.deepEqual(await idsAfter(one.store, cursor), ['run_c']);
  });

  // Guards a caller that goes back: names that were read from a later place on do not do.
  test('are those after the place from which they were read', async () => {
    const { baseDir, store } = storeOver(filesOf('run_a', 'run_b', 'run_c', 'run_d'));
    const first = await next(store);
    const second = await next(store, first.cursor);
    // By now those of the first page are not used any more.
    await pause(1_100);
    letNamesBeKept(baseDir);
    assert.deepEqual(await idsAfter(store, second.cursor), ['run_c']);
    assert.deepEqual(await idsAfter(store, first.cursor), ['run_b']);
    const both = [next(store, second.cursor), next(store, second.cursor)];
    for (const { entries } of await Promise.all(both)) assert.deepEqual(idsOf(entries), ['run_c']);
  });
});
