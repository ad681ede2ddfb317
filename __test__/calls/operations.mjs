// The operations that faults are injected into: how the run of each is made, what it may come to, and
// what must hold of the disk after it, whatever happened.

import assert from 'node:assert/strict';
import { utimesSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { bodyOf, HOUR_MS, holdings, putClaims, snapshot } from '../helpers.mjs';
import { attribution } from '../listing-helpers.mjs';
import { contentsOf, makeCheckpoint, makeStore } from '../store-helpers.mjs';

/** The highest fence of the runs that have been claimed before. */
const TOP = 36;
const DAY_MS = 24 * HOUR_MS;
const asked = { holder: 'a', ttlMs: HOUR_MS };
const old = makeCheckpoint('cp_1', { iteration: 1 });
const fresh = makeCheckpoint('cp_1', { iteration: 2, note: 'x'.repeat(100) });
const textOf = (checkpoint) => JSON.stringify({ ...checkpoint, schemaVersion: 1 }, null, 2);

/** A run whose lease at {@link TOP} is this, with one holding more than is kept, and litter. */
async function makeRun(lease, options) {
  const run = makeStore(options);
  await run.store.writeCheckpoint(run.scope, old);
  const body = (name) => (name === `${TOP}.json` ? lease : { holder: 'gone', expiresAt: 1 });
  putClaims(
    run.runDir,
    Object.fromEntries(holdings(TOP - 32, TOP).map((name) => [name, body(name)])),
  );
  putClaims(run.runDir, { '.tmp-w3-x': 'staged by somebody', '.tmp-9-9-x': 'left by somebody' });
  age(join(run.claims, '.tmp-9-9-x'));
  return run;
}

const dead = { holder: 'gone', expiresAt: 1 };
const live = (holder) => ({ holder, expiresAt: Date.now() + HOUR_MS });

/** Makes a file older than what is left alone. */
function age(file) {
  const then = new Date(Date.now() - HOUR_MS);
  utimesSync(file, then, then);
}

const on = (run, method, ...args) => ({ config: run.config, attribution, method, args });
const fencesIn = (claims) =>
  Object.keys(contentsOf(claims))
    .filter((name) => /^\d{1,15}\.json$/.test(name))
    .map((name) => Number.parseInt(name, 10));
const topOf = (run) => Math.max(0, ...fencesIn(run.claims));

// ---------------------------------------------------------------------------------------------
// What there is on disk after an operation

/** What became of a fence that was to be taken: after `before`, by `holder`. */
function claimed(run, before) {
  const top = topOf(run);
  if (top === before) return 'nothing done';
  const { holder, expiresAt } = bodyOf(run.runDir, top);
  if (holder === '' && expiresAt === 0) return 'given back';
  assert.deepEqual([holder, top <= before + 2], ['a', true], `fence ${top} of ${holder}`);
  return 'claimed';
}

function written(run) {
  const { 'cp_1.json': text } = contentsOf(run.checkpoints);
  if (text === textOf(fresh)) return 'written';
  assert.equal(text, run.first ? undefined : textOf(old), 'a checkpoint is neither old nor new');
  return 'nothing done';
}

const deleted = (run) => ('cp_1.json' in contentsOf(run.checkpoints) ? written(run) : 'deleted');

function unchanged(run) {
  assert.deepEqual(snapshot(run.runDir), run.shot, 'a read has changed something');
  return 'nothing done';
}

// ---------------------------------------------------------------------------------------------
// What must hold in the end

/**
 * The next taker gets the run at once when all leases have ended, at the next fence; every holding is
 * whole; nothing is left but holdings within the window, and where a volume has no nameless files,
 * or a name could not be removed, one scratch file, which goes when it is old.
 */
async function assertNextClaim(run, { scratch = 0 } = {}) {
  for (const fence of fencesIn(run.claims)) {
    const { holder, expiresAt } = bodyOf(run.runDir, fence);
    assert.ok(typeof holder === 'string' && Number.isFinite(expiresAt), `${fence} is damaged`);
  }
  const before = topOf(run);
  const next = { holder: 'next', ttlMs: DAY_MS, now: Date.now() + DAY_MS };
  let lease = await run.store.claimRun(run.scope, next);
  assert.equal(lease?.fence, before + 1, 'the next claim');
  const others = () => Object.keys(contentsOf(run.claims)).filter((name) => /^\.tmp/.test(name));
  assert.ok(others().length <= scratch, `${others()} is left`);
  for (const name of others()) age(join(run.claims, name));
  lease = await run.store.claimRun(run.scope, next);
  assert.deepEqual(others(), []);
  const kept = fencesIn(run.claims).sort((a, b) => a - b);
  assert.ok(kept[0] >= lease.fence - 32 && kept.at(-1) === lease.fence, `${kept} are kept`);
  await assertNextWrite(run, lease.fence);
}

/** A write under an older fence is refused, one under the newest is seen, and no scratch grows old. */
async function assertNextWrite(run, fence) {
  const late = run.store.writeCheckpoint(run.scope, old, fence - 1);
  await assert.rejects(late, /no longer holds it/);
  const names = () => Object.keys(contentsOf(run.checkpoints));
  for (const name of names()) if (name.startsWith('.tmp-')) age(join(run.checkpoints, name));
  const last = makeCheckpoint('cp_1', { iteration: 3 });
  await run.store.writeCheckpoint(run.scope, last, fence);
  assert.equal((await run.store.readCheckpoint(run.scope, 'cp_1')).iteration, 3);
  await run.store.writeCheckpoint(run.scope, last);
  for (const name of names()) assert.match(name, /^cp_\d\.json$/);
}

// ---------------------------------------------------------------------------------------------
// What an operation may come to that was held up while another took the run. `taken` is the lease of
// the other, and `seen` what it saw of the checkpoints when it had it.

/** It lost, or it was told a lower fence, of a lease that had ended by the clock of the other. */
function claimOvertaken({ outcome, taken }) {
  const { value, error } = outcome;
  assert.equal(error, undefined, error?.message);
  if (value === null) return 'null';
  assert.ok(value.fence < taken.fence, `both have fence ${taken.fence}`);
  return 'claimed before';
}

function releaseOvertaken({ run, outcome, taken }) {
  assert.deepEqual(outcome, { value: null });
  assert.equal(topOf(run), taken.fence);
  return taken.fence === TOP + 1 ? 'nothing done' : 'given back before';
}

/** What the other saw is what there is: the write was visible before, or it is refused. */
function writeOvertaken({ run, outcome, seen }) {
  assert.deepEqual(contentsOf(run.checkpoints), seen, 'a stale write appears');
  if (seen['cp_1.json'] === textOf(fresh)) {
    assert.deepEqual(outcome, { value: null });
    return 'written before';
  }
  assert.match(outcome.error?.message, /no longer holds it/);
  return 'refused';
}

/** It asks for no fence. */
const unfencedOvertaken = (effect) => (result) => {
  assert.deepEqual(result.outcome, { value: null });
  assert.equal(effect(result.run), effect === written ? 'written' : 'deleted');
  return 'done';
};

/** The answer of before, or that of after. */
const readOvertaken =
  (answer) =>
  ({ run, outcome, taken }) => {
    assert.equal(outcome.error, undefined, outcome.error?.message);
    if (isDeepStrictEqual(outcome.value, answer(run))) return 'the old answer';
    assert.deepEqual(outcome.value, answer(run, taken));
    return 'the new answer';
  };

// ---------------------------------------------------------------------------------------------
// The operations

/**
 * Each has `make`, of a run; `call`, of it; `effect`, what there is to see of it; `answered`, what it
 * may answer when it is not refused, given the effect; `refused`, the effects that may stand beside a
 * refusal; `overtaken`, as above; and `writes`, how many writes of a file it makes at most before it
 * gives up. Where it may be told that nothing is there, `absent` is whether it answers so.
 */
const claim = {
  call: (run) => on(run, 'claimRun', run.scope, asked),
  effect: (run) => claimed(run, run.before),
  answered(run, lease, effect) {
    assert.equal(effect, 'claimed', `answered ${JSON.stringify(lease)}`);
    const { holder, expiresAt } = bodyOf(run.runDir, topOf(run));
    assert.deepEqual(lease, { holder, fence: topOf(run), expiresAt });
  },
  refused: ['nothing done', 'given back', 'claimed'],
  overtaken: claimOvertaken,
  writes: 2,
};

const write = {
  call: (run) => on(run, 'writeCheckpoint', run.scope, fresh, ...(run.fence ? [run.fence] : [])),
  effect: written,
  answered: (_run, value, effect) => assert.deepEqual([value, effect], [null, 'written']),
  refused: ['nothing done'],
  overtaken: writeOvertaken,
  writes: 1,
};

/** What a read answers of what is not there, as a whole or in part. */
function absent(value) {
  if (Array.isArray(value)) return value.length === 0;
  if (!value || value.holder === '') return true;
  return value.entries?.every(({ claim }) => !claim || claim.holder === '') ?? false;
}

const read = (method, args, answer) => ({
  async make() {
    const run = await makeRun(live('b'));
    return Object.assign(run, { shot: snapshot(run.runDir) });
  },
  call: (run) => on(run, method, ...args(run)),
  effect: unchanged,
  answered: (run, value) => assert.deepEqual(value, answer(run)),
  overtaken: readOvertaken(answer),
  absent,
  refused: ['nothing done'],
  writes: 0,
});

const withBefore = (run) => Object.assign(run, { before: topOf(run) });
const leaseOf = (run, taken = { ...bodyOf(run.runDir, TOP), fence: TOP }) => taken;

export const operations = {
  'a first claim': { ...claim, make: async () => withBefore(makeStore()) },
  'a claim': { ...claim, make: async () => withBefore(await makeRun(dead)) },
  'a claim, durable': {
    ...claim,
    make: async () => withBefore(await makeRun(dead, { durability: 'power' })),
  },
  'a first claim, durable': {
    ...claim,
    make: async () => withBefore(makeStore({ durability: 'power' })),
  },
  'a renewal': {
    ...claim,
    make: async () => withBefore(await makeRun(live('a'))),
    // The holder goes on under the lease that it knows: nobody may be let in before that ends.
    async alsoRefused(run) {
      const { expiresAt } = bodyOf(run.runDir, TOP);
      const other = { holder: 'b', ttlMs: 1, now: expiresAt - 1 };
      assert.equal(await run.store.claimRun(run.scope, other), null, 'two hold the run');
    },
    refused: ['nothing done', 'claimed'],
  },
  'a claim of a run that another holds': {
    ...claim,
    make: async () => withBefore(await makeRun(live('b'))),
    answered: (_run, lease, effect) => assert.deepEqual([lease, effect], [null, 'nothing done']),
    refused: ['nothing done'],
  },
  'a release': {
    make: async () => withBefore(await makeRun(live('a'))),
    call: (run) => on(run, 'releaseRun', run.scope, TOP),
    effect: (run) => claimed(run, TOP),
    answered: (_run, value, effect) => assert.deepEqual([value, effect], [null, 'given back']),
    refused: ['nothing done', 'given back'],
    overtaken: releaseOvertaken,
    absent: (_value, effect) => effect === 'nothing done',
    writes: 2,
  },
  'a fenced write': {
    ...write,
    make: async () => Object.assign(await makeRun(live('a')), { fence: TOP }),
  },
  'the first fenced write of a run': {
    ...write,
    make: async () => {
      const run = makeStore();
      putClaims(run.runDir, { '1.json': live('a') });
      return Object.assign(run, { fence: 1, first: true });
    },
  },
  'a fenced write, durable': {
    ...write,
    make: async () => {
      const run = await makeRun(live('a'), { durability: 'power' });
      return Object.assign(run, { fence: TOP });
    },
    refused: ['nothing done', 'written'],
  },
  'a write without a fence': {
    ...write,
    make: async () => await makeRun(live('a')),
    overtaken: unfencedOvertaken(written),
  },
  'a deletion': {
    make: async () => await makeRun(live('a')),
    call: (run) => on(run, 'deleteCheckpoint', run.scope, 'cp_1'),
    effect: deleted,
    absent: (_value, effect) => effect === 'nothing done',
    overtaken: unfencedOvertaken(deleted),
    answered: (_run, value, effect) => assert.deepEqual([value, effect], [null, 'deleted']),
    refused: ['nothing done'],
    writes: 0,
  },
  'a read of the claim': read('readClaim', (run) => [run.runDir], leaseOf),
  'a read of the fence': read(
    'currentFence',
    (run) => [run.runDir],
    (run, taken) => leaseOf(run, taken).fence,
  ),
  'a read of a checkpoint': read(
    'readCheckpoint',
    (run) => [run.scope, 'cp_1'],
    () => JSON.parse(textOf(old)),
  ),
  'a read of all checkpoints': read(
    'listCheckpoints',
    (run) => [run.scope],
    () => [JSON.parse(textOf(old))],
  ),
  'a listing': read(
    'listDurableRuns',
    () => [{ tenantId: attribution.tenantId }],
    (run, taken) => ({
      entries: [
        {
          ...attribution,
          runId: 'run_1',
          checkpointCount: 1,
          latestCheckpointId: 'cp_1',
          latestCheckpointAt: old.createdAt,
          claim: { ...leaseOf(run, taken), expired: false },
        },
      ],
    }),
  ),
};

export { assertNextClaim, TOP };
