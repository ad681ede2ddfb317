// The judge of the record must see what it is there to see: a judge that lets a double holding
// pass proves nothing about the workers.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { judge } from './claimers.mjs';

const told = (holder, fence, begun, ended, expiresAt, more = {}) => ({
  kind: 'acquire',
  run: 'r',
  holder,
  begun,
  ended,
  told: ended,
  lease: { holder, fence, expiresAt },
  ...more,
});
const released = (holder, fence, at) => ({
  kind: 'release',
  run: 'r',
  holder,
  fence,
  released: at,
});
const violations = (...record) => judge(record).violations;

test('a proper history has no violations', () => {
  const record = [
    told('a', 1, 0, 10, 20),
    told('b', 2, 21, 22, 40),
    released('b', 2, 25),
    { ...told('c', 0, 23, 24, 0), lease: null },
    told('c', 4, 26, 30, 40),
    told('c', 5, 31, 32, 50),
    released('c', 5, 33),
    told('f', 7, 34, 35, 36),
    // Told late, of a lease that had ended before: no harm.
    told('d', 8, 51, 80, 60),
    told('e', 9, 61, 70, 75),
  ];
  assert.deepEqual(violations(...record), []);
});

test('two holders at once are seen', () => {
  assert.equal(violations(told('a', 1, 0, 10, 30), told('b', 2, 11, 20, 40)).length, 1);
  // Given back only after somebody else was told.
  const late = [told('a', 1, 0, 10, 30), released('a', 1, 25), told('b', 3, 11, 20, 40)];
  assert.equal(violations(...late).length, 1);
  // A renewal by the holder in between hides nothing.
  const renewed = [told('a', 1, 0, 1, 50), told('a', 2, 2, 3, 60), told('b', 3, 4, 5, 60)];
  assert.equal(violations(...renewed).length, 1);
  // Nor does one told to a third worker.
  const three = [told('a', 1, 0, 1, 50), told('b', 2, 2, 3, 60), told('c', 3, 4, 5, 60)];
  assert.equal(violations(...three).length, 3);
});

test('one fence twice is seen', () => {
  assert.match(violations(told('a', 1, 0, 10, 11), told('b', 1, 5, 20, 21)).join(), /fence 1 to/);
});

test('a counter that goes back is seen', () => {
  const seen = violations(told('a', 5, 0, 10, 11), told('b', 4, 20, 30, 31));
  assert.match(seen.join(), /fence 4 .* but 5 was told before/);
});

test('a plain-JavaScript peer is excused only where it was outrun', () => {
  const run = Array.from({ length: 40 }, (_, i) => told('a', i + 1, i + 1, i + 1.5, i + 1.6));
  const peer = told('b', 1, 0, 60, 90, { peer: true });
  assert.deepEqual(judge([...run, peer]).violations, []);
  assert.equal(judge([...run, peer]).outrun, 1);
  assert.notDeepEqual(judge([...run, { ...peer, peer: false }]).violations, []);
  assert.notDeepEqual(judge([...run.slice(0, 20), peer]).violations, []);
  // Its call began after the others had returned: then it must not be told an old fence.
  assert.notDeepEqual(judge([...run, { ...peer, begun: 50 }]).violations, []);
});
