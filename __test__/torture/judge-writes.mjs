// Judges what many workers wrote down of checkpoints, by what was promised and nothing else.
//
// An entry of kind `acquire` is as `judge` in helpers.mjs has it. One of kind `write` has `run`, `id`
// of the checkpoint, `mark`, which no other write has, `fence`, whether it was `done`, and when, on the
// clock that all processes share: `begun`, `ended`. One of kind `look` has `run`, `begun`, `ended`, and
// `seen`: id to the `mark` and `fence` of what was there.

/**
 * Promise 3: once a claim returned a fence, no checkpoint fenced below it becomes visible. Claims of
 * peers do not seal, so they promise nothing. Promise 7: what a look finds is never older than a write
 * that was over when it began.
 * @returns sentences, one for each violation
 */
export function judgeWrites(record) {
  const violations = [];
  for (const run of new Set(record.flatMap(({ run }) => run ?? []))) {
    const entries = record.filter((entry) => entry.run === run);
    const of = (kind) => entries.filter((entry) => entry.kind === kind);
    const told = of('acquire').filter(({ lease, peer }) => lease && !peer);
    const before = highestBefore(told.map(({ ended, lease }) => [ended, lease.fence]));
    const writes = of('write').filter(({ done }) => done);
    const looks = of('look');
    const say = (text) => violations.push(`${run}: ${text}`);
    for (const { mark, fence, begun } of writes) {
      if (fence < before(begun)) say(`${mark} written at ${fence} after ${before(begun)} was told`);
    }
    for (const id of new Set(looks.flatMap(({ seen }) => Object.keys(seen)))) {
      judgeAppearances(id, looks, before, say);
      const own = writes.filter((write) => write.id === id);
      judgeOrder(id, looks, own, say);
    }
  }
  return violations;
}

/** The highest of the values whose time is before the one that is asked for; 0 for none. */
function highestBefore(pairs) {
  const sorted = pairs.sort(([a], [b]) => a - b);
  let highest = 0;
  const upTo = sorted.map(([, value]) => {
    highest = Math.max(highest, value);
    return highest;
  });
  return (time) => {
    let [low, high] = [0, sorted.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (sorted[middle][0] < time) low = middle + 1;
      else high = middle;
    }
    return low === 0 ? 0 : upTo[low - 1];
  };
}

/**
 * What a look sees and an earlier one did not has appeared since that one began, and so after every
 * claim that was told before.
 */
function judgeAppearances(id, looks, before, say) {
  const byEnd = [...looks].sort((a, b) => a.ended - b.ended);
  const byBegin = [...looks].sort((a, b) => a.begun - b.begun);
  // What was seen with the highest fences told before: two, so that one is not what a look finds.
  let highest = [];
  let next = 0;
  for (const { begun, seen } of byBegin) {
    for (; next < byEnd.length && byEnd[next].ended < begun; next += 1) {
      const one = { mark: byEnd[next].seen[id]?.mark, fence: before(byEnd[next].begun) };
      highest = withOne(highest, one);
    }
    const found = seen[id];
    const other = found && highest.find(({ mark }) => mark !== found.mark);
    if (other && found.fence < other.fence) {
      say(`${id}: ${found.mark} of ${found.fence} appears after ${other.fence} was told`);
    }
  }
}

/** The two of the highest fences, each of another mark. */
function withOne(highest, one) {
  const same = highest.find(({ mark }) => mark === one.mark);
  if (same && same.fence >= one.fence) return highest;
  const all = [...highest.filter((other) => other !== same), one];
  return all.sort((a, b) => b.fence - a.fence).slice(0, 2);
}

/** A look must not find less than the last write that was over when it began. */
function judgeOrder(id, looks, writes, say) {
  const ends = new Map(writes.map(({ mark, ended }) => [mark, ended]));
  const latest = highestBefore(writes.map(({ begun, ended }) => [ended, begun]));
  for (const { begun, seen } of looks) {
    const since = latest(begun);
    if (since === 0) continue;
    if (!seen[id]) say(`${id} is gone`);
    else if (ends.get(seen[id].mark) < since) say(`${id}: ${seen[id].mark} was overwritten before`);
  }
}
