// Processes that are killed at random instants, wherever they are in a claim, a write or a release. Each
// time: nothing is damaged, the next claim needs nobody's help and leaves no scratch.
// `FENCELINK_KILLS` says how many there are (500 unless told), `FENCELINK_SEED` when.

import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'node:test';
import { assertNextClaim } from '../calls/operations.mjs';
import { addon, workerFile } from '../helpers.mjs';
import { contentsOf, makeCheckpoint, makeStore } from '../store-helpers.mjs';
import { randomOf } from './random.mjs';

const kills = Number(process.env.FENCELINK_KILLS ?? 500);
const seed = Number(process.env.FENCELINK_SEED ?? Date.now() % 1_000_000);
const AT_ONCE = 3;

test(`${kills} processes are killed at random instants`, async (t) => {
  const found = { holdings: 0, staged: 0, scratch: 0, fences: 0 };
  let next = 0;
  async function killSome() {
    while (next < kills) {
      next += 1;
      await killOne(seed + next, found);
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, killSome));
  t.diagnostic(`seed ${seed}: ${kills} killed, ${JSON.stringify(found)} left by them in all`);
  assert.ok(found.fences > kills, 'they did nothing');
});

async function killOne(seed, found) {
  const random = randomOf(seed);
  const run = makeStore(random(0, 3) === 0 ? { durability: 'power' } : {});
  const settings = { config: run.config, scope: run.scope, checkpoint: makeCheckpoint() };
  const worker = fork(workerFile('kill.mjs'), [JSON.stringify({ ...settings, holder: 'a', seed })]);
  await once(worker, 'message');
  const ended = once(worker, 'exit');
  // To the microsecond: a timer would favour some places.
  const until = process.hrtime.bigint() + BigInt(random(0, 20_000)) * 1000n;
  while (process.hrtime.bigint() < until);
  worker.kill('SIGKILL');
  assert.deepEqual(await ended, [null, 'SIGKILL']);

  const names = Object.keys(contentsOf(run.claims));
  const staged = names.filter((name) => name.startsWith('.tmp-w'));
  const scratch = Object.keys(contentsOf(run.checkpoints)).filter((name) =>
    name.startsWith('.tmp-'),
  );
  assert.ok(staged.length <= 1 && scratch.length <= 1, `${names}, ${scratch} are left`);
  found.holdings += names.length - staged.length;
  found.staged += staged.length;
  found.scratch += scratch.length;
  found.fences += await addon.currentFence(run.runDir);
  // Whole, each of them, or the read is refused.
  await run.store.listCheckpoints(run.scope);
  await assertNextClaim(run);
}
