// Many processes that are stopped, killed and started anew, judged from what each wrote down.
// `FENCELINK_SECONDS` says for how long, `FENCELINK_PROCESSES` how many, `FENCELINK_SEED` what happens.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { storm } from './storm.mjs';

const seconds = Number(process.env.FENCELINK_SECONDS ?? 60);
const processes = Number(process.env.FENCELINK_PROCESSES ?? 8);
const seed = Number(process.env.FENCELINK_SEED ?? Date.now() % 1_000_000);
const kinds = Array.from(
  { length: processes },
  (_, n) => ['async', 'sync', 'async', 'peer'][n % 4],
);

test(`a storm over ${processes} processes`, async (t) => {
  const { violations, seeds, ...did } = await storm({ kinds, seconds, seed });
  t.diagnostic(`seeds ${seeds[0]} to ${seeds.at(-1)}, ${seconds} s: ${JSON.stringify(did)}`);
  assert.deepEqual(violations.slice(0, 5), []);
  assert.ok(did.told > 0 && did.writes > 0 && did.refused > 0 && did.looks > 0);
});
