// Listings when the system refuses: what is told of, what refuses the page, and how much is read.

import assert from 'node:assert/strict';
import { readFileSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { noFaults } from './faults.mjs';
import { start, tempDir, workerFile } from './helpers.mjs';
import { attribution, filesOf, idsOf, layTree, scope } from './listing-helpers.mjs';
import { makeCheckpoint } from './store-helpers.mjs';

/** Lists in a process of its own, once for each of the options, under strace. */
async function listUnder(baseDir, { fault = [], paths = [] }, ...all) {
  const log = join(tempDir(), 'trace');
  const calls = all.map((options) => ['listDurableRuns', scope, options]);
  const worker = JSON.stringify({ config: { baseDir }, attribution, calls });
  const { child, done } = start('strace', [
    ...['-f', '-qq', '-o', log, '-e', 'trace=openat,getdents64,read'],
    ...paths.flatMap((path) => ['-P', path]),
    ...fault.flatMap((one) => ['-e', `inject=${one}`]),
    ...[process.execPath, workerFile('store.mjs'), worker],
  ]);
  child.stdin.end('go\n');
  const { code, stdout, stderr } = await done;
  assert.equal(code, 0, stderr);
  const outcomes = JSON.parse(stdout.trim().split('\n').at(-1));
  return { outcomes, log: readFileSync(log, 'utf8').split('\n') };
}

/** Three runs, the second of which has all that a run can have. */
function threeRuns() {
  return layTree({
    ...filesOf('run_a', 'run_b', 'run_c', 'run_b/children/run_bb'),
    'run_b/checkpoints/cp_own.json': makeCheckpoint('cp_own'),
    'run_b/claims/1.json': { holder: 'w', expiresAt: 5 },
  });
}

// Guards whoever lists against whoever deletes what is done: a directory that was deleted while it is
// open answers so. What is gone is no fault, and refuses nothing.
test('a run that is deleted while it is looked at is not there', { skip: noFaults }, async () => {
  const baseDir = threeRuns();
  const fault = ['getdents64:error=ENOENT'];
  const gone = [join(baseDir, 'run_b/checkpoints')];
  const { outcomes } = await listUnder(baseDir, { fault, paths: gone }, {}, { damaged: 'report' });
  for (const { value, error } of outcomes) {
    assert.deepEqual(
      idsOf(value?.entries ?? []),
      ['run_a', 'run_b/run_bb', 'run_c'],
      error?.message,
    );
    assert.deepEqual(value.damaged ?? [], []);
  }
  const claims = [join(baseDir, 'run_b/claims')];
  const [{ value }] = (await listUnder(baseDir, { fault, paths: claims }, { claimed: false }))
    .outcomes;
  assert.ok(idsOf(value.entries).includes('run_b'));
});

describe('what may not be read', { skip: noFaults }, () => {
  const places = {
    'a checkpoint': { at: () => 'cp_own.json', file: 'cp_own.json', dir: 'run_b/checkpoints' },
    'the checkpoints': { at: 'run_b/checkpoints', file: 'checkpoints', dir: 'run_b/checkpoints' },
    'the claims': { at: 'run_b/claims', file: 'claims', dir: 'run_b/claims' },
    'the sub-runs': { at: 'run_b/children', file: 'children', dir: 'run_b/children' },
  };
  for (const [what, { at, file, dir }] of Object.entries(places)) {
    // Guards against a run that is silently absent, which a queue would never work on.
    test(`${what} of a run: it refuses the page, or is told of`, async () => {
      const baseDir = threeRuns();
      const path = typeof at === 'function' ? at() : join(baseDir, at);
      const { outcomes } = await listUnder(
        baseDir,
        { fault: ['openat:error=EACCES'], paths: [path] },
        {},
        { damaged: 'report' },
        { damaged: 'report', orderBy: 'createdAt' },
      );
      const [{ error }, ...reports] = outcomes;
      assert.equal(error.code, 'storage_error');
      assert.equal(error.retryable, false);
      assert.equal(error.details.code, 'EACCES');
      assert.equal(error.details.path, join(baseDir, dir));
      for (const { value } of reports) {
        const others = what === 'the sub-runs' ? ['run_a', 'run_b', 'run_c'] : null;
        assert.deepEqual(idsOf(value.entries), others ?? ['run_a', 'run_b/run_bb', 'run_c']);
        assert.equal(value.damaged.length, 1);
        const [{ runId, file: named, reason }] = value.damaged;
        assert.deepEqual([runId, named], ['run_b', file]);
        assert.match(reason, /EACCES/);
      }
    });
  }

  // Guards a listing with `report` against an empty answer when the system runs out of something.
  test('for want of descriptors: it refuses in any case, and can be tried again', async () => {
    const fault = ['openat:error=EMFILE'];
    const choices = [{}, { damaged: 'report' }, { damaged: 'report', orderBy: 'createdAt' }];
    for (const path of ['run_b/claims', 'run_b/children', 'run_b/checkpoints']) {
      const baseDir = threeRuns();
      const paths = [join(baseDir, path)];
      const { outcomes } = await listUnder(baseDir, { fault, paths }, ...choices);
      for (const { error } of outcomes) {
        assert.deepEqual([error?.code, error?.retryable], ['storage_error', true], path);
        assert.equal(error.details.code, 'EMFILE');
      }
    }
  });

  test('of the tree: it refuses, and is not an empty listing', async () => {
    const baseDir = threeRuns();
    for (const fault of ['openat:error=EACCES', 'getdents64:error=EIO']) {
      const faults = { fault: [fault], paths: [baseDir] };
      const { outcomes } = await listUnder(baseDir, faults, { damaged: 'report' });
      assert.equal(outcomes[0].error?.code, 'storage_error', fault);
      assert.equal(outcomes[0].error.details.path, baseDir);
    }
  });
});

// Guards the price of a page: of a tree whose runs are many, it opens the files of its own rows and
// of one more; and what is held costs one body.
test('a page reads what it holds, and no more', { skip: noFaults }, async () => {
  const runs = Array.from({ length: 300 }, (_, number) => `run_${1_000 + number}`);
  const files = filesOf(...runs);
  for (const run of runs.slice(0, 20)) {
    files[`${run}/claims/1.json`] = { holder: 'w', expiresAt: 8.64e15 };
  }
  const baseDir = layTree(files);
  const opened = async (options) => {
    const { outcomes, log } = await listUnder(baseDir, {}, options);
    assert.ifError(outcomes[0].error);
    assert.equal(outcomes[0].value.entries.length, 5);
    const names = log.map((line) => /openat\(\d+, "(cp_1|1)\.json"/.exec(line)?.[1]);
    const count = (name) => names.filter((one) => one === name).length;
    return { checkpoints: count('cp_1'), holdings: count('1') };
  };
  assert.deepEqual(await opened({ limit: 5 }), { checkpoints: 6, holdings: 6 });
  // Twenty that are held come first; by then, threads may have begun on some that follow.
  const free = await opened({ limit: 5, claimed: false });
  assert.equal(free.holdings, 20);
  assert.ok(free.checkpoints >= 6 && free.checkpoints < 20, `${free.checkpoints} opened`);
});

// Guards the price of a walk: its names are read once, and not for each of its pages. Where the top
// directory changes all the time, they are.
test('a walk looks into each run once', { skip: noFaults }, async () => {
  const runs = Array.from({ length: 200 }, (_, number) => `run_${1_000 + number}`);
  const baseDir = layTree(filesOf(...runs));
  const log = join(tempDir(), 'trace');
  const worker = JSON.stringify({ baseDir, attribution, scope, limit: 20 });
  const looks = async () => {
    const command = [process.execPath, workerFile('walk.mjs'), worker];
    const options = ['-f', '-qq', '-o', log, '-e', 'trace=openat'];
    const { code, stdout, stderr } = await start('strace', [...options, ...command]).done;
    assert.equal(code, 0, stderr);
    assert.equal(stdout.trim(), '200 runs on 10 pages');
    return readFileSync(log, 'utf8').match(/\/children", /g).length;
  };
  utimesSync(baseDir, 1_000, 1_000);
  const once = await looks();
  // A slow machine may need more than a second for some of the pages, and then looks again.
  assert.ok(once >= 200 && once < 2_000, `${once} looks`);
  utimesSync(baseDir, new Date(), new Date(Date.now() + 60_000));
  assert.equal(await looks(), 2_000);
});
