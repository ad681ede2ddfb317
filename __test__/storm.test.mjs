// Many processes that are stopped, killed and started anew: a short run of what
// `npm run test:torture` runs for longer; and proof that its checker finds what it is there to find.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { judgeWrites } from './torture/judge-writes.mjs';
import { storm } from './torture/storm.mjs';

// Guards P1, P2, P3 and P7 among processes that stop and die anywhere, with clocks that are wrong.
test('a storm', async (t) => {
  const kinds = ['async', 'sync', 'async', 'peer'];
  const { violations, seeds, ...did } = await storm({ kinds, seconds: 5, seed: 1 });
  t.diagnostic(`seeds ${seeds}: ${JSON.stringify(did)}`);
  assert.deepEqual(violations.slice(0, 5), []);
  assert.ok(did.told > 0 && did.writes > 0 && did.looks > 0 && did.stops > 0);
});

const wrong = {
  'a claim that is published by rename': {
    kinds: ['async', 'renamed', 'renamed'],
    says: /held it|to renamed|was told before/,
  },
  'a write that is not staged': {
    kinds: ['async', 'unsealed', 'unsealed'],
    says: /appears after|written at/,
  },
};
for (const [what, { kinds, says }] of Object.entries(wrong)) {
  // Guards the checker: one that lets these pass proves nothing about the others.
  test(`a storm catches ${what}`, async (t) => {
    const { violations, seeds } = await storm({ kinds, seconds: 30, seed: 1, round: 3 });
    t.diagnostic(`${violations.length} violations from seed ${seeds.at(-1)}: ${violations[0]}`);
    assert.ok(
      violations.some((text) => says.test(text)),
      violations.slice(0, 5).join('\n'),
    );
  });
}

const told = (fence, ended) => ({ kind: 'acquire', run: 'r', ended, lease: { fence } });
const wrote = (mark, fence, begun, ended, more) => ({
  ...{ kind: 'write', run: 'r', id: 'cp', mark, fence, begun, ended, done: true },
  ...more,
});
const saw = (mark, fence, begun, ended) => ({
  ...{ kind: 'look', run: 'r', begun, ended },
  seen: mark ? { cp: { mark, fence } } : {},
});

test('a proper record of writes has no violations', () => {
  const record = [
    told(1, 1),
    wrote('a', 1, 2, 3),
    saw('a', 1, 4, 5),
    // Under way when 2 was told, and visible before the look under it.
    wrote('b', 1, 6, 12),
    told(2, 10),
    saw('b', 1, 11, 13),
    wrote('c', 1, 14, 15, { done: false }),
    saw('b', 1, 16, 17),
    wrote('d', 2, 18, 19),
    saw('d', 2, 20, 21),
  ];
  assert.deepEqual(judgeWrites(record), []);
});

test('a stale write that appears is seen', () => {
  const late = [told(1, 1), told(2, 3), saw(undefined, 0, 4, 5), saw('a', 1, 6, 7)];
  assert.match(judgeWrites(late).join(), /a of 1 appears after 2 was told/);
  const third = [told(3, 3), saw('x', 3, 4, 5), saw('y', 4, 6, 7), saw('x', 2, 8, 9)];
  assert.match(judgeWrites(third).join(), /x of 2 appears after 3 was told/);
  // The claim was told after the look had begun: it may have appeared before.
  assert.deepEqual(judgeWrites([told(2, 5), saw(undefined, 0, 4, 5), saw('a', 1, 6, 7)]), []);
  // A peer does not seal.
  const peer = [{ ...told(2, 3), peer: true }, saw(undefined, 0, 4, 5), saw('a', 1, 6, 7)];
  assert.deepEqual(judgeWrites(peer), []);
});

test('a stale write that is told to be done is seen', () => {
  assert.match(judgeWrites([told(2, 3), wrote('a', 1, 4, 5)]).join(), /a written at 1 after 2/);
});

test('a write that is lost is seen', () => {
  const lost = [wrote('a', 1, 1, 2), wrote('b', 1, 3, 4), saw('a', 1, 5, 6)];
  assert.match(judgeWrites(lost).join(), /a was overwritten before/);
  const gone = [wrote('a', 1, 1, 2), saw('a', 1, 3, 4), saw(undefined, 0, 5, 6)];
  assert.match(judgeWrites(gone).join(), /cp is gone/);
});
