// A writer that is held up while another takes the run: once the other has its lease, the run's
// checkpoints never change by what was written under a lower fence. Nothing here depends on how
// fast anything is: whether the writer was held up for as long as the other needed is looked at,
// and a stall that ended too early is made anew, longer.

import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { noFaults, tracee } from './faults.mjs';
import { start, workerFile } from './helpers.mjs';
import {
  assertHoldingsOnly,
  assertRefusal,
  callIn,
  contentsOf,
  heldUpIn,
  makeCheckpoint,
  makeStore,
  startTracedStoreCalls,
} from './store-helpers.mjs';

const STALLS_MS = [4_000, 16_000, 64_000];
const HOUR_MS = 60 * 60 * 1000;
const options = { skip: noFaults, concurrency: true };
const later = () => Date.now() + 2 * HOUR_MS;

const before = makeCheckpoint('cp_1', { iteration: 1 });
const stale = makeCheckpoint('cp_1', { iteration: 2, note: 'written under fence 1' });

/** Ways in which a run gets a higher fence than the writer's. */
const takers = {
  'another takes the run': {
    take: async ({ store, scope }) =>
      (await store.claimRun(scope, { holder: 'quick', ttlMs: HOUR_MS, now: later() })).fence,
    fence: 2,
  },
  'the same holder renews its lease': {
    take: async ({ store, scope }) =>
      (await store.claimRun(scope, { holder: 'slow', ttlMs: HOUR_MS })).fence,
    fence: 2,
  },
  'the run is given back': {
    take: async ({ store, scope }) => {
      await store.releaseRun(scope, 1);
      return 2;
    },
    fence: 2,
  },
};

/** A run held at fence 1, with a checkpoint unless it is to be the first one. */
async function heldRun({ first = false, durability } = {}) {
  const run = makeStore({ durability });
  await run.store.claimRun(run.scope, { holder: 'slow', ttlMs: HOUR_MS });
  if (first) return run;
  await run.store.writeCheckpoint(run.scope, before, 1);
  return run;
}

const writeOf = ({ scope }) => ['writeCheckpoint', scope, stale, 1];

/**
 * What must hold of a write that was held up while `take` ran: it was visible before `take`
 * returned, or it is refused; and what was there when `take` returned is what there is in the end.
 */
function judge(run, { seen, fence, outcome, where }) {
  assert.deepEqual(contentsOf(run.checkpoints), seen, `${where}: the checkpoints have changed`);
  assertHoldingsOnly(run.claims);
  const visible = JSON.parse(seen['cp_1.json'] ?? '{}').note !== undefined;
  if (visible) {
    assert.deepEqual(outcome, { value: null }, where);
  } else {
    assertRefusal(outcome.error, {
      name: 'NamzuError',
      code: 'storage_error',
      retryable: false,
      details: { runId: 'run_1', presentedFence: 1, currentFence: fence },
      mentions: ['no longer holds it'],
    });
  }
  return visible;
}

/** Holds a write up at one system call, takes the run meanwhile, and judges. */
async function stall(t, make, taker, { name, count }) {
  for (const milliseconds of STALLS_MS) {
    const run = await make();
    const inject = [`${name}:delay_enter=${milliseconds * 1000}:when=${count}`];
    const writer = await startTracedStoreCalls(run.config, [writeOf(run)], { inject });
    writer.go();
    const isHeldUp = await heldUpIn(writer.pid);
    const fence = await taker.take(run);
    assert.equal(fence, taker.fence);
    const seen = contentsOf(run.checkpoints);
    const longEnough = isHeldUp();
    const [outcome] = await writer.outcomes;
    if (longEnough) return judge(run, { seen, fence, outcome, where: `${name} ${count}` });
    t.diagnostic(`held up for ${milliseconds} ms, which was not long enough here: once more`);
  }
  throw new Error('the other worker never was done in time: nothing was shown, neither way');
}

/** The same as somebody would try it by hand: the whole process under strace, from its start. */
async function stallFromTheStart(t) {
  for (const milliseconds of STALLS_MS) {
    const run = await heldRun();
    const args = JSON.stringify({ config: run.config, calls: [writeOf(run)] });
    const { child, done, written } = start('strace', [
      ...['-f', '-qq', '-o', '/dev/null', '-e', 'trace=rename,renameat,renameat2', '-e'],
      `inject=rename,renameat,renameat2:delay_enter=${milliseconds * 1000}:when=1`,
      ...[process.execPath, workerFile('store.mjs'), args],
    ]);
    child.stdin.end('go\n');
    while (!written.stdout.includes('ready')) await pause(5);
    const isHeldUp = await heldUpIn(tracee(child));
    const fence = await takers['another takes the run'].take(run);
    const seen = contentsOf(run.checkpoints);
    const longEnough = isHeldUp();
    const { stdout } = await done;
    const [outcome] = JSON.parse(stdout.trim().split('\n').at(-1));
    if (!longEnough) {
      t.diagnostic(`held up for ${milliseconds} ms, which was not long enough here: once more`);
      continue;
    }
    return judge(run, { seen, fence, outcome, where: 'rename' });
  }
  throw new Error('the other worker never was done in time: nothing was shown, neither way');
}

/** The system calls of a write in order: each by its name and which one of that name it is. */
async function stepsOf(make) {
  const run = await make();
  const writer = await startTracedStoreCalls(run.config, [writeOf(run)]);
  writer.go();
  assert.deepEqual(await writer.outcomes, [{ value: null }]);
  const counts = {};
  return writer.log().flatMap((line) => {
    const name = callIn(line);
    counts[name] = (counts[name] ?? 0) + 1;
    return line.includes(run.runDir) ? [{ name, count: counts[name], line }] : [];
  });
}

/** Runs jobs, many at a time but not all: each of them mostly waits, and starts two processes. */
function makePool(atOnce) {
  const waiting = [];
  let free = atOnce;
  return async (job) => {
    if (free === 0) await new Promise((resume) => waiting.push(resume));
    else free -= 1;
    try {
      return await job();
    } finally {
      if (waiting.length > 0) waiting.shift()();
      else free += 1;
    }
  };
}

const pooled = makePool(24);

const places = {
  'replaces a checkpoint': () => heldRun(),
  'is the first of its run': () => heldRun({ first: true }),
  'replaces a checkpoint for good': () => heldRun({ durability: 'power' }),
};

test('a write that is held up at any of its system calls', options, async (t) => {
  const cases = [];
  for (const [place, make] of Object.entries(places)) {
    // Guards the order of a fenced write, staged, looked, renamed, against the order of a claim,
    // linked, listed, sealed: wherever the write is held up, one of the two sees the other.
    const run = async (t) => {
      const steps = await stepsOf(make);
      assert.ok(steps.length >= 8, JSON.stringify(steps));
      const rename = steps.findIndex(({ name }) => name.startsWith('rename'));
      const taker = takers['another takes the run'];
      const stalls = steps.map((step) => pooled(() => stall(t, make, taker, step)));
      // Up to the rename nothing is visible, and after it all is: the stalls were where they seem.
      const wanted = steps.map((_, index) => index > rename);
      assert.deepEqual(await Promise.all(stalls), wanted, JSON.stringify(steps));
      t.diagnostic(`held up at each of ${steps.length} system calls`);
    };
    cases.push(t.test(`and ${place}`, { concurrency: true }, run));
  }

  for (const [how, taker] of Object.entries(takers)) {
    // Guards the contracted refusal where the staged file is gone: `ENOENT` would tell the writer
    // nothing, and a renewal of its own seals its write too.
    const run = async (t) => {
      const step = { name: 'renameat', count: 1 };
      assert.equal(await pooled(() => stall(t, () => heldRun(), taker, step)), false);
    };
    cases.push(t.test(`its rename, while ${how}`, { concurrency: true }, run));
  }
  const byHand = async (t) => {
    assert.equal(await pooled(() => stallFromTheStart(t)), false);
  };
  cases.push(t.test('its rename, traced from its start', { concurrency: true }, byHand));
  await Promise.all(cases);
});

// Guards what the seal must leave alone: writes at the taker's own fence and above it, those of
// no fence, and whatever else lies there.
test('a taker seals what is below its fence and nothing else', async () => {
  const { store, scope, claims } = makeStore();
  mkdirSync(claims, { recursive: true });
  const names = [
    '.tmp-w0-a',
    '.tmp-w1-a',
    '.tmp-w2-a',
    '.tmp-w3-a',
    '.tmp-w-a',
    '.tmp-1-0-a',
    'w1',
  ];
  for (const name of names) writeFileSync(`${claims}/${name}`, '');
  writeFileSync(`${claims}/1.json`, '{"holder":"","expiresAt":0}');
  assert.equal((await store.claimRun(scope, { holder: 'a', ttlMs: HOUR_MS })).fence, 2);
  const left = ['.tmp-w2-a', '.tmp-w3-a', '.tmp-w-a', '.tmp-1-0-a', 'w1', '1.json', '2.json'];
  assert.deepEqual(Object.keys(contentsOf(claims)), left.sort());
});
