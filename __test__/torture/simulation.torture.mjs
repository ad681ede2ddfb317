// The simulation of the core for longer than in `npm run test:simulation`. Each of the larger
// scenarios is searched for `FENCELINK_STATES` states, the scenarios that are searched whole
// and the wrong designs are as always, and there are at least `FENCELINK_SEEDS` random runs, for at
// least `FENCELINK_SECONDS`, from `FENCELINK_SEED` on.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));
const simulation = ['test', '--no-default-features', '--features', 'sim', '--test', 'simulation'];

test('no interleaving and no random run breaks a promise', () => {
  const env = {
    FENCELINK_STATES: '2000000',
    FENCELINK_SEEDS: '10000',
    FENCELINK_SECONDS: '60',
    FENCELINK_SEED: String(Date.now() % 1_000_000),
    ...process.env,
  };
  const run = spawnSync('cargo', [...simulation, '--', '--nocapture'], {
    cwd: root,
    env,
    stdio: 'inherit',
  });
  assert.ifError(run.error);
  assert.equal(run.status, 0, 'see above');
});
