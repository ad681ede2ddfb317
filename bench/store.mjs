// What is measured of the checkpoint store and its listing, on tmpfs: the package's calls beside
// plain JavaScript, and a listing in pages beside the same in one.

import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { DiskCheckpointStore } from 'fencelink';
import { inRounds } from './measure.mjs';
import { KEPT_HOLDINGS, runWithHoldings } from './scenarios.mjs';

const PEER = new URL('../__test__/peer/', import.meta.url);
const { writeCheckpoint } = await import(new URL('store.mjs', PEER).href);
const { listDurableRuns } = await import(new URL('listing.mjs', PEER).href);

const IDS = { tenantId: 'tenant', projectId: 'project', sessionId: 'session' };
const CHECKPOINTS = 3;
const CHECKPOINT_BYTES = 11_000;
const FEW = 1_000;
const MANY = 10_000;
const PAGE = 100;
const WRITES = 100;
const HOUR_MS = 3_600_000;
/** Plain JavaScript takes seconds for a listing of all. */
const SLOW_ROUNDS = 3;

/** Every scenario, as those in scenarios.mjs; runs are laid out when the first one needs them. */
export function storeScenarios() {
  const trees = new Map();
  const treeOf = (dir, runs) => {
    if (!trees.has(runs)) trees.set(runs, layRuns(dir, runs));
    return trees.get(runs);
  };
  const few = FEW.toLocaleString('en');
  const many = MANY.toLocaleString('en');
  const list = (title, runs, options, expected, most) => ({
    title,
    measure: (_all, dir, rounds) => {
      const baseDir = treeOf(dir, runs);
      return inRounds(contestants(baseDir), Math.min(rounds, most), async (who) => [
        await timed(() => listed(who, options, expected)),
      ]);
    },
  });
  return [
    ...[1, KEPT_HOLDINGS].map((holdings) => ({
      title: `fenced write of 11 kB, ${holdings} holding${holdings > 1 ? 's' : ''}`,
      measure: (_all, dir, rounds) => measureWrites(dir, rounds, holdings),
    })),
    list(`first page of free ones of ${few} runs`, FEW, { claimed: false }, PAGE, 10),
    list(`all free ones of ${few} runs`, FEW, { claimed: false, limit: FEW }, FEW / 2, 10),
    list(`first page of ${many} runs`, MANY, { limit: PAGE }, PAGE, SLOW_ROUNDS),
    {
      title: `${many} runs in pages of ${PAGE}`,
      measure: (_all, dir, rounds) => measureWalk(treeOf(dir, MANY), rounds),
    },
    {
      title: `event-loop delay, p99, listing ${many} runs`,
      measure: (_all, dir, rounds) => measureDelay(treeOf(dir, MANY), rounds),
    },
  ];
}

function contestants(baseDir) {
  const store = new DiskCheckpointStore({ baseDir }, IDS);
  return [
    {
      name: 'async',
      write: (runId, checkpoint, fence) =>
        store.writeCheckpoint({ ...IDS, runId }, checkpoint, fence),
      list: (options) => store.listDurableRuns(IDS, options),
    },
    {
      name: 'peer',
      write: (runId, checkpoint, fence) =>
        writeCheckpoint(path.join(baseDir, runId), checkpoint, fence),
      list: (options) => listDurableRuns(baseDir, IDS, options),
    },
  ];
}

/** Runs of some checkpoints, every other one held. */
function layRuns(dir, runs) {
  const baseDir = path.join(dir, 'runs');
  const live = JSON.stringify({ holder: 'holder', expiresAt: Date.now() + HOUR_MS });
  for (let run = 0; run < runs; run += 1) {
    const runDir = path.join(baseDir, `run_${String(run).padStart(6, '0')}`);
    mkdirSync(path.join(runDir, 'checkpoints'), { recursive: true });
    for (let at = 1; at <= CHECKPOINTS; at += 1) {
      const file = path.join(runDir, 'checkpoints', `cp_${at}.json`);
      const members = { ...makeCheckpoint(`cp_${at}`), schemaVersion: 1 };
      writeFileSync(file, JSON.stringify(members, null, 2));
    }
    if (run % 2 === 0) continue;
    mkdirSync(path.join(runDir, 'claims'));
    writeFileSync(path.join(runDir, 'claims', '1.json'), live);
  }
  return baseDir;
}

/** A checkpoint of about 11 kB, most of which is messages, as an agent's is. */
function makeCheckpoint(id) {
  const now = Date.now();
  const content = 'It says "no such file", so:\n  look where it was, and then go on. '.repeat(6);
  const message = { role: 'assistant', content, at: now };
  const size = JSON.stringify([message], null, 2).length;
  return {
    id,
    iteration: 1,
    createdAt: now,
    runCreatedAt: now,
    messages: Array.from({ length: Math.round(CHECKPOINT_BYTES / size) }, () => message),
    tokenUsage: { promptTokens: 1000, completionTokens: 200, totalTokens: 1200 },
    costInfo: { totalCost: 0.25 },
    guardState: { iterationCount: 1, elapsedMs: 5000 },
    pending: { request: { type: 'question' }, parkedAt: now },
  };
}

async function timed(work) {
  const before = performance.now();
  await work();
  return performance.now() - before;
}

/** A page; one of another size than expected was no such listing. */
async function listed(who, options, expected) {
  const page = await who.list(options);
  assert.equal(page.entries.length, expected, `rows that ${who.name} lists`);
  return page;
}

/** New checkpoints of a held run, under its fence. */
async function measureWrites(dir, rounds, holdings) {
  const checkpoint = makeCheckpoint('');
  const all = ['async', 'peer'].map((name, at) => {
    const runDir = runWithHoldings(path.join(dir, name), holdings);
    const runId = path.basename(runDir);
    const { write } = contestants(path.dirname(runDir))[at];
    return { name, write: (id) => write(runId, { ...checkpoint, id }, holdings) };
  });
  return inRounds(all, rounds, async (who, round) => {
    const times = [];
    for (let i = 0; i < WRITES; i += 1) {
      times.push(await timed(() => who.write(`cp_${round}_${i}`)));
    }
    return times;
  });
}

/** All runs, page by page, beside one page that holds them all. */
async function measureWalk(baseDir, rounds) {
  const [{ list }] = contestants(baseDir);
  return inRounds([{ name: 'async' }, { name: 'whole' }], rounds, async ({ name }) => [
    await timed(async () => {
      const who = { name, list };
      if (name === 'whole') return await listed(who, { limit: MANY }, MANY);
      let cursor;
      let pages = 0;
      do {
        ({ cursor } = await listed(who, { limit: PAGE, cursor }, PAGE));
        pages += 1;
        assert.ok(pages <= MANY / PAGE, 'the walk goes on after the last run');
      } while (cursor !== undefined);
      assert.equal(pages, MANY / PAGE, 'pages of the walk');
    }),
  ]);
}

/** How late the event loop's timer of 1 ms is, while all runs are listed. */
async function measureDelay(baseDir, rounds) {
  return inRounds(contestants(baseDir), Math.min(rounds, SLOW_ROUNDS), async (who) => {
    const histogram = monitorEventLoopDelay({ resolution: 1 });
    histogram.enable();
    // Plain JavaScript takes so long that it gives enough samples at once.
    for (let i = 0; i < (who.name === 'peer' ? 1 : 10); i += 1) {
      await listed(who, { limit: MANY }, MANY);
      // What a listing holds up at its end counts too.
      await sleep(1);
    }
    histogram.disable();
    return [histogram.percentile(99) / 1e6];
  });
}
