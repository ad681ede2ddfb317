// Rounds, medians and ratios. In every round each contestant has its turn, and the order rotates;
// a ratio is taken within each round, so that a machine that drifts does not favour anybody.

/** @param {number[]} values @param {number} share 0 to 1 */
export function quantile(values, share) {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
}

/** @param {number[]} values */
export function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const half = sorted.length / 2;
  if (sorted.length === 0) return Number.NaN;
  return Number.isInteger(half) ? (sorted[half - 1] + sorted[half]) / 2 : sorted[Math.floor(half)];
}

/**
 * Measures one scenario.
 * @param {{ name: string }[]} contestants
 * @param {number} rounds
 * @param {(contestant: any, round: number) => Promise<number[]>} turn resolves to times in ms
 * @returns {Promise<{ contestants: Record<string, { median: number, p99: number, n: number }>, ratios: Record<string, number> }>}
 */
export async function inRounds(contestants, rounds, turn) {
  /** @type {Record<string, number[][]>} */
  const times = Object.fromEntries(contestants.map(({ name }) => [name, []]));
  // The first round warms up, and is thrown away.
  for (let round = 0; round <= rounds; round += 1) {
    for (let i = 0; i < contestants.length; i += 1) {
      const contestant = contestants[(i + round) % contestants.length];
      const measured = await turn(contestant, round);
      if (round > 0) times[contestant.name].push(measured);
    }
  }
  const medians = Object.fromEntries(
    Object.entries(times).map(([name, perRound]) => [name, perRound.map(median)]),
  );
  const ratio = (a, b) => median(medians[a].map((value, round) => value / medians[b][round]));
  const pairs = [
    ['sync', 'floor'],
    ['async', 'floor'],
    ['peer', 'sync'],
    ['peer', 'async'],
    ['async', 'whole'],
  ].filter((pair) => pair.every((name) => name in times));
  return {
    contestants: Object.fromEntries(
      Object.entries(times).map(([name, perRound]) => {
        const all = perRound.flat();
        return [name, { median: median(all), p99: quantile(all, 0.99), n: all.length }];
      }),
    ),
    ratios: Object.fromEntries(pairs.map(([a, b]) => [`${a}/${b}`, ratio(a, b)])),
  };
}
