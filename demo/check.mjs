// Judges a finished demo by what was written down, and takes nobody's word: each worker's record
// says which leases it was given, and for how long; no two workers' leases on one run may overlap,
// no fence may have been given twice, and nobody may have written after a higher fence was given.

/** Sums of fractional milliseconds at today's date are exact to less than this. */
const ROUNDING_MS = 0.001;

/**
 * @typedef {object} Holding One lease that a worker was given.
 * @property {string} worker
 * @property {string} run
 * @property {number} fence
 * @property {number} from when it was known to be held, epoch ms
 * @property {number} until when it ended: by its expiry, its release or its renewal, epoch ms
 * @property {'claimed' | 'renewed'} how
 * @property {boolean} released
 */

/**
 * Every lease in the records, by run, in the order of fences.
 * @param {Map<string, any[]>} records
 * @param {number} ttlMs
 * @returns {Map<string, Holding[]>}
 */
export function holdingsOf(records, ttlMs) {
  /** @type {Map<string, Holding[]>} */
  const byRun = new Map();
  for (const [worker, events] of records) {
    /** @type {Map<string, Holding>} */
    const open = new Map();
    for (const { at, event, run, fence, expiresAt } of events) {
      const held = open.get(run);
      if (held && ['claimed', 'renewed', 'releasing'].includes(event)) {
        held.until = Math.min(held.until, at);
        held.released = event === 'releasing';
      }
      if (event !== 'claimed' && event !== 'renewed') continue;
      // `at` is cut to whole milliseconds, and the claim's own clock is not: both are no later
      // than the answer, so the later of the two is nearer to it.
      const from = Math.max(at, expiresAt - ttlMs);
      const holding = { worker, run, fence, from, until: expiresAt, how: event, released: false };
      open.set(run, holding);
      byRun.set(run, [...(byRun.get(run) ?? []), holding]);
    }
  }
  for (const holdings of byRun.values()) holdings.sort((a, b) => a.fence - b.fence);
  return byRun;
}

/**
 * What must not be: leases of two workers that overlap, and fences that were given twice.
 * @param {Map<string, Holding[]>} byRun
 */
export function doubleHoldings(byRun) {
  const found = [];
  for (const [run, holdings] of byRun) {
    for (const [i, a] of holdings.entries()) {
      for (const b of holdings.slice(i + 1)) {
        if (a.fence === b.fence) {
          found.push(`${run}: fence ${a.fence} was given to ${a.worker} and to ${b.worker}`);
        }
        const overlapMs = Math.min(a.until, b.until) - Math.max(a.from, b.from);
        if (a.worker !== b.worker && overlapMs > ROUNDING_MS) {
          found.push(
            `${run}: ${a.worker} at fence ${a.fence} and ${b.worker} at fence ${b.fence} ` +
              `both held it for ${overlapMs.toFixed(1)} ms`,
          );
        }
      }
    }
  }
  return found;
}

/**
 * Results that were begun although a higher fence had been given to somebody else by then, and
 * runs that were done more than once.
 * @param {Map<string, any[]>} records
 * @param {Map<string, Holding[]>} byRun
 */
export function wrongResults(records, byRun) {
  const found = [];
  const doneBy = new Map();
  for (const [worker, events] of records) {
    const begun = new Map();
    for (const { at, event, run, fence } of events) {
      if (event === 'writing') begun.set(run, at);
      if (event !== 'done') continue;
      const later = byRun
        .get(run)
        ?.find(
          (other) => other.worker !== worker && other.fence > fence && other.from < begun.get(run),
        );
      if (later) {
        found.push(`${run}: ${worker} wrote at fence ${fence}; ${later.worker} had ${later.fence}`);
      }
      if (doneBy.has(run)) found.push(`${run}: done by ${doneBy.get(run)} and by ${worker}`);
      doneBy.set(run, worker);
    }
  }
  return found;
}

/**
 * Holdings on disk that no record tells of, or tells otherwise: a record that leaves something out
 * proves nothing. The worker that was killed may have died before it could write down its last.
 * @param {Map<string, Holding[]>} byRun
 * @param {Map<string, { fence: number, holder: string }[]>} onDisk by run; tombstones left out
 * @param {string} [killed]
 */
export function unrecorded(byRun, onDisk, killed) {
  const found = [];
  for (const [run, files] of onDisk) {
    for (const { fence, holder } of files) {
      const known = byRun.get(run)?.some((held) => held.fence === fence && held.worker === holder);
      if (!known && holder !== killed) {
        found.push(`${run}: ${holder} holds fence ${fence} on disk, and no record says so`);
      }
    }
  }
  return found;
}

/**
 * How often a run went from one worker to another: in all, and because a lease ended unreleased.
 * @param {Map<string, Holding[]>} byRun
 */
export function handovers(byRun) {
  const takeovers = [];
  for (const holdings of byRun.values()) {
    for (const [i, next] of holdings.entries()) {
      const before = holdings[i - 1];
      if (!before || before.worker === next.worker) continue;
      takeovers.push({ from: before.worker, to: next.worker, reclaim: !before.released });
    }
  }
  return { takeovers, reclaims: takeovers.filter(({ reclaim }) => reclaim) };
}
