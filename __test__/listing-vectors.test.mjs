// The observed answers of listings: the store must give the same ones, and so must the rules for
// rows that JavaScript keeps.

import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { test } from 'node:test';
import { addon, snapshot } from './helpers.mjs';
import { listingCases, pagesOf, storeOver } from './listing-helpers.mjs';
import { assertRefuses } from './store-helpers.mjs';

const cases = listingCases();

test('there are observed cases, and each option and refusal is among them', () => {
  const calls = cases.flatMap((one) => one.calls);
  assert.ok(calls.length >= 333, `only ${calls.length} calls`);
  const options = new Set(calls.flatMap((call) => Object.keys(call.options)));
  assert.deepEqual([...options].sort(), ['claimed', 'limit', 'now', 'orderBy', 'park']);
  assert.ok(calls.some(({ error }) => error));
});

// Guards the agreement with existing workers about rows, order, filters and pages; and that a
// listing, which many workers make all the time, writes nothing.
test('every observed listing is reproduced, and nothing is made on disk', async () => {
  for (const { name, attribution: own, files, calls } of cases) {
    const { baseDir, store } = storeOver(files, own);
    const before = snapshot(baseDir);
    for (const call of calls) {
      const list = (options) => store.listDurableRuns(call.scope, options);
      const told = `${name}: ${JSON.stringify(call.scope)} ${JSON.stringify(call.options)}`;
      if (call.error) {
        await assertRefuses(() => pagesOf(list, call.options), refusalOf(name));
      } else {
        const pages = await pagesOf(list, call.options);
        const entries = pages.map((page) => page.entries);
        assert.deepEqual(entries, call.pages, told);
      }
    }
    assert.deepEqual(snapshot(baseDir), before, name);
    rmSync(baseDir, { recursive: true });
  }
});

/** What is fixed about the refusals of the cases. */
function refusalOf(name) {
  if (!name.startsWith('checkpoint:')) {
    return { code: 'invalid_config', mentions: ['contiguous prefix', 'without `projectId`'] };
  }
  const file = name.includes('schema') ? {} : { mentions: ['cp_b.json'] };
  return { code: 'storage_error', ...(name.includes('schema ') && { name: /./ }), ...file };
}

// Guards that the rules are the same for rows that JavaScript keeps: the helpers must come to what
// the store comes to.
test('the pure helpers come to every observed listing too', () => {
  for (const { name, attribution: own, files, calls } of cases) {
    for (const { scope: of, options, pages } of calls) {
      const isOwn = Object.keys(of).every((key) => of[key] === own[key]);
      if (!pages || !isOwn) continue;
      const entries = entriesOf(files, own, options.now);
      const walked = [];
      let cursor;
      do {
        const page = addon.paginateDurableRuns(entries, { ...options, cursor });
        walked.push(page.entries);
        cursor = page.cursor;
      } while (cursor !== undefined);
      assert.deepEqual(walked, pages, `${name}: ${JSON.stringify(options)}`);
    }
  }
});

/** The rows of a case's files, by the helpers and plain JavaScript. */
function entriesOf(files, own, now) {
  const runs = new Map();
  const runOf = (path) => /^(?:(run_[^/]+)\/children\/)?(run_[^/]+)\//.exec(path);
  for (const [path, content] of Object.entries(files)) {
    const [at, parentRunId, runId] = runOf(path) ?? [];
    if (!at) continue;
    const run = runs.get(at) ?? { parentRunId, runId, checkpoints: [], holdings: [] };
    runs.set(at, run);
    const name = path.slice(at.length);
    if (/^checkpoints\/[^/]+\.json$/.test(name)) {
      run.checkpoints.push({ name, checkpoint: parsed(content) });
    }
    const fence = /^claims\/(\d+)\.json$/.exec(name)?.[1];
    if (fence) run.holdings.push({ fence: Number(fence), body: parsed(content) });
  }
  const entries = [];
  for (const { parentRunId, runId, checkpoints, holdings } of runs.values()) {
    // In the order in which Node.js lists a directory.
    const inOrder = checkpoints.sort((a, b) => (a.name < b.name ? -1 : 1));
    const ids = { ...own, runId, ...(parentRunId && { parentRunId }) };
    const entry = addon.toDurableRunEntry(
      ids,
      inOrder.map(({ checkpoint }) => checkpoint),
      now,
    );
    const [top] = holdings.sort((a, b) => b.fence - a.fence);
    const body = typeof top?.body?.holder === 'string' ? top.body : { holder: '', expiresAt: 0 };
    const claim = top && addon.toClaimSummary({ ...body, fence: top.fence }, now);
    if (entry) entries.push(claim ? { ...entry, claim } : entry);
  }
  return entries;
}

function parsed(content) {
  if (typeof content !== 'string') return content;
  try {
    return JSON.parse(content);
  } catch {
    return undefined;
  }
}
