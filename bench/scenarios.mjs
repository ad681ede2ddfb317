// What is measured of claims, on each volume.

import { pbkdf2 } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { CALLS, REQUEST } from './contestants.mjs';
import { inRounds } from './measure.mjs';

/** @typedef {import('./contestants.mjs').Contestant} Contestant */

const AT_ONCE = 100;
/** As long as pruning keeps them: a run that was renewed often has these on disk. */
export const KEPT_HOLDINGS = 33;
const FENCE_CHECK_HOLDINGS = [KEPT_HOLDINGS, 1_000, 10_000];
const HELD_UNTIL_MS = 3_600_000;

/**
 * Every scenario: its title, and how it is measured in `dir`, a new directory.
 * @returns {{ title: string, measure: (all: Contestant[], dir: string, rounds: number) => ReturnType<typeof inRounds> }[]}
 */
export function scenarios() {
  return [
    {
      title: 'first claim',
      measure: (all, dir, rounds) =>
        inRounds(all, rounds, (who, round) => who.first(folder(dir, who.name), 50, round * 50)),
    },
    { title: 'renewal', measure: (all, dir, rounds) => measureRenewals(all, dir, rounds) },
    {
      title: 'held by another',
      measure: (all, dir, rounds) => {
        const run = runWithHoldings(dir, KEPT_HOLDINGS);
        return inRounds(all, rounds, (who) => who.held(run, 100));
      },
    },
    ...FENCE_CHECK_HOLDINGS.map((holdings) => ({
      title: `fence check, ${holdings.toLocaleString('en')} holdings`,
      measure: (all, dir, rounds) => {
        const run = runWithHoldings(dir, holdings);
        return inRounds(all, rounds, (who) => who.fence(run, holdings > 1_000 ? 5 : 50));
      },
    })),
    {
      title: `${AT_ONCE} first claims at once`,
      measure: (all, dir, rounds) =>
        inRounds(all, rounds, (who, round) =>
          who.together(folder(dir, who.name), AT_ONCE, round * AT_ONCE),
        ),
    },
    {
      title: 'renewal, two worker threads',
      measure: async (all, dir, rounds) => {
        for (const who of all)
          for (const run of ['0', '1']) await warm(path.join(dir, who.name, run));
        return inRounds(all, rounds, async (who) => {
          const [ms] = await who.threads(path.join(dir, who.name), 100);
          return [ms / 200];
        });
      },
    },
    {
      title: 'first claim, pool full',
      measure: (all, dir, rounds) => measureFullPool(all, dir, Math.min(rounds, 3)),
    },
    {
      title: 'event-loop delay, p99',
      measure: (all, dir, rounds) => measureDelay(all, dir, rounds),
    },
  ];
}

function folder(...parts) {
  const dir = path.join(...parts);
  mkdirSync(dir, { recursive: true });
  return dir;
}

/** A run that was renewed so often that each further renewal prunes a holding. */
async function warm(runDir) {
  for (let i = 0; i <= KEPT_HOLDINGS; i += 1) await CALLS.sync.acquire(runDir, REQUEST);
}

async function measureRenewals(all, dir, rounds) {
  for (const who of all) await warm(path.join(dir, who.name));
  return inRounds(all, rounds, (who) => who.renew(path.join(dir, who.name), 100));
}

/** A run with that many holdings, the last of them live. */
export function runWithHoldings(dir, holdings) {
  const claims = folder(dir, `run-${holdings}`, 'claims');
  const body = JSON.stringify({ holder: 'holder', expiresAt: Date.now() + HELD_UNTIL_MS });
  for (let fence = 1; fence <= holdings; fence += 1) {
    writeFileSync(path.join(claims, `${fence}.json`), body);
  }
  return path.dirname(claims);
}

/** First claims, in JavaScript only, while four pbkdf2 jobs fill libuv's pool. */
async function measureFullPool(all, dir, rounds) {
  const scripts = all.filter(({ name }) => name !== 'floor');
  return inRounds(scripts, rounds, (who, round) =>
    withFullPool(() => who.first(folder(dir, who.name), who.name === 'peer' ? 1 : 20, round * 20)),
  );
}

/** Keeps four jobs in the pool, which has four threads unless told otherwise. */
async function withFullPool(work) {
  let over = false;
  const job = () =>
    pbkdf2('password', 'salt', 100_000, 64, 'sha512', () => {
      if (!over) job();
    });
  for (let i = 0; i < 4; i += 1) job();
  await sleep(20);
  try {
    return await work();
  } finally {
    over = true;
    // Jobs under way still end in the pool; the next turn must not meet them.
    await sleep(300);
  }
}

/** How late the event loop's timer of 1 ms is, while 32 claims are always in flight. */
async function measureDelay(all, dir, rounds) {
  const scripts = all.filter(({ name }) => name !== 'floor');
  return inRounds(scripts, rounds, async (who, round) => {
    const histogram = monitorEventLoopDelay({ resolution: 1 });
    histogram.enable();
    for (let batch = 0; batch < 20; batch += 1) {
      await who.together(folder(dir, who.name, `${round}-${batch}`), 32, 0);
      await sleep(1);
    }
    histogram.disable();
    return [histogram.percentile(99) / 1e6];
  });
}
