// The contests as tests, for as long as they are asked to last.

import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { test } from 'node:test';
import { contest, contests, sumOf } from './oracle.mjs';

/** One test for each contest, of so many seconds, from this seed on. */
export function testContests({ seconds, seed }) {
  for (const [title, contenders] of Object.entries(contests)) {
    // Guards the seal: without it a write that looked at the fences before a claim is seen after
    // it. Where the oracle itself is a taker without the addon it guards the look at the fences.
    test(`an oracle and ${title}`, async (t) => {
      const ended = await contest({ ...contenders, seconds, seed });
      const { did, seen, violations, claims, checkpoints } = ended;
      const [held, written, refused] = ['held', 'written', 'refused'].map((key) => sumOf(did, key));
      t.diagnostic(
        `seed ${seed}, ${seconds} s: taken ${held} times, ${written} written, ${refused} refused; ` +
          `the oracle looked ${seen.rounds} times, saw ${seen.appeared} appear, ${seen.late} late`,
      );
      assert.deepEqual(violations, []);
      assert.ok(held > 0 && written > 0 && refused > 0, 'nothing was contended for');
      // Nothing is left of all this but holdings and checkpoints.
      for (const name of readdirSync(claims)) assert.match(name, /^(\d+\.json|other-\d+)$/);
      for (const name of readdirSync(checkpoints)) assert.match(name, /^cp_\d\.json$/);
    });
  }
}
