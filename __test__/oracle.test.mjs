// Checkpoints that are written while the run changes hands many times a second, watched by an
// oracle: a short run of what `npm run test:torture` runs for longer.

import { testContests } from './torture/oracle-tests.mjs';

testContests({ seconds: 5, seed: 1 });
