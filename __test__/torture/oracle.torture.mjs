// Checkpoints that are written while the run changes hands many times a second, watched by an
// oracle. `FENCELINK_SECONDS` says for how long each contest lasts, `FENCELINK_SEED` what the
// rivals do.

import { testContests } from './oracle-tests.mjs';

const seconds = Number(process.env.FENCELINK_SECONDS ?? 60);
const seed = Number(process.env.FENCELINK_SEED ?? Date.now() % 1_000_000);

testContests({ seconds, seed });
