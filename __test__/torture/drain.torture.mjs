// Many processes that drain one queue by `claimNext`: more of them, and more runs, than in
// `npm test`. `FENCELINK_PROCESSES` and `FENCELINK_RUNS` say how many.

import { testDrains } from './drain-tests.mjs';

const processes = Number(process.env.FENCELINK_PROCESSES ?? 20);
const runs = Number(process.env.FENCELINK_RUNS ?? 2_000);

testDrains({ processes, lanes: 1, runs });
