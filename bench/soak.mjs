// Many renewals of one run in one process, synchronous and asynchronous ones in turn: memory must
// be flat after warm-up, and the claims directory must stay small. Exit code 1 if not.

import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { parseArguments } from '../scripts/arguments.mjs';
import { CALLS, REQUEST } from './contestants.mjs';

const HELP = `Renews one run many times in one process, and watches memory and files.

  npm run soak [-- OPTIONS]

  --renewals N   how many (1000000)
  --calls NAMES  of sync, async, peer: these in turn (sync,async)
  --dir DIR      where (/dev/shm if there is one, else the temporary directory)
  --json         print the numbers as JSON
  --help         this text`;

/** The share of the renewals after which memory has to be flat. */
const WARM_UP = 0.2;
const SAMPLES = 100;
/** More than this for a million renewals is a leak: 4 bytes each. */
const LIMIT_BYTES_PER_MILLION = 4 * 1024 * 1024;
/** What the allocators move in a run of any length; a short soak can tell no less. */
const NOISE_BYTES = 4 * 1024 * 1024;
/** The 33 that pruning keeps, and one more while a taker has not pruned yet. */
const MOST_HOLDINGS = 34;

const { values } = parseArguments('npm run soak -- --help', {
  options: {
    renewals: { type: 'string', default: '1000000' },
    calls: { type: 'string', default: 'sync,async' },
    dir: { type: 'string', default: '' },
    json: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});
if (values.help) {
  console.log(HELP);
  process.exit(0);
}
const renewals = Number(values.renewals);
const calls = values.calls.split(',').map((name) => CALLS[name]);
if (
  !Number.isInteger(renewals) ||
  renewals < SAMPLES ||
  calls.includes(/** @type {any} */ (undefined))
) {
  console.error(
    `--renewals takes a whole number from ${SAMPLES}, --calls names of sync, async, peer`,
  );
  process.exit(2);
}
process.exit((await soak()) ? 0 : 1);

async function soak() {
  const base = values.dir || (process.platform === 'linux' ? '/dev/shm' : tmpdir());
  const dir = mkdtempSync(path.join(base, 'fencelink-soak-'));
  const startedAt = performance.now();
  const samples = [];
  let most = 0;
  for (let sample = 0; sample < SAMPLES; sample += 1) {
    await renew(dir, Math.round(renewals / SAMPLES));
    samples.push(await memory());
    most = Math.max(most, readdirSync(path.join(dir, 'claims')).length);
  }
  const left = readdirSync(path.join(dir, 'claims'));
  rmSync(dir, { recursive: true });
  const seconds = (performance.now() - startedAt) / 1000;
  const scratch = left.filter((name) => name.startsWith('.tmp-'));
  const numbers = {
    renewals: Math.round(renewals / SAMPLES) * SAMPLES,
    seconds,
    microsecondsEach: (seconds * 1e6) / renewals,
    rss: growth(samples.map(({ rss }) => rss)),
    heap: growth(samples.map(({ heap }) => heap)),
    mostFiles: most,
    holdingsLeft: left.length - scratch.length,
    scratchLeft: scratch.length,
  };
  const limit = Math.max(NOISE_BYTES, (LIMIT_BYTES_PER_MILLION * renewals) / 1e6);
  const wrong = [
    numbers.rss.grownBytes > limit && `resident memory grew by ${mib(numbers.rss.grownBytes)}`,
    numbers.heap.grownBytes > limit && `the heap grew by ${mib(numbers.heap.grownBytes)}`,
    numbers.holdingsLeft > MOST_HOLDINGS && `${numbers.holdingsLeft} holdings are left`,
    numbers.scratchLeft > 0 && `${numbers.scratchLeft} scratch files are left`,
  ].filter(Boolean);
  if (values.json) console.log(JSON.stringify({ ...numbers, wrong }));
  else print(numbers);
  for (const text of wrong) console.error(`WRONG: ${text}`);
  return wrong.length === 0;
}

async function renew(dir, n) {
  for (let i = 0; i < n; i += 1) {
    const lease = await calls[i % calls.length].acquire(dir, REQUEST);
    if (lease === null) throw new Error('a renewal answered null, and nobody else is here');
  }
}

/** Resident memory and live heap, in bytes, after a collection where one can be asked for. */
async function memory() {
  await turn();
  globalThis.gc?.();
  const { rss, heapUsed, external } = process.memoryUsage();
  return { rss, heap: heapUsed + external };
}

/**
 * The line of least squares through the samples after warm-up: its rise from end to end, which one
 * odd sample does not move much.
 * @param {number[]} samples in bytes
 */
function growth(samples) {
  const flat = samples.slice(Math.round(samples.length * WARM_UP));
  const middle = (flat.length - 1) / 2;
  const mean = flat.reduce((sum, value) => sum + value, 0) / flat.length;
  let above = 0;
  let below = 0;
  for (const [i, value] of flat.entries()) {
    above += (i - middle) * (value - mean);
    below += (i - middle) ** 2;
  }
  return { meanBytes: mean, grownBytes: (above / below) * (flat.length - 1) };
}

function mib(bytes) {
  return `${(bytes / 1024 / 1024).toFixed(2)} MiB`;
}

function print(numbers) {
  const { rss, heap } = numbers;
  console.log(
    [
      `${numbers.renewals.toLocaleString('en')} renewals (${values.calls}) in ${numbers.seconds.toFixed(1)} s, ` +
        `${numbers.microsecondsEach.toFixed(1)} µs each`,
      `resident memory ${mib(rss.meanBytes)}, grown by ${mib(rss.grownBytes)} after warm-up`,
      `heap            ${mib(heap.meanBytes)}, grown by ${mib(heap.grownBytes)} after warm-up`,
      `files in claims ${numbers.mostFiles} at most; ${numbers.holdingsLeft} holdings and ${numbers.scratchLeft} scratch files at the end`,
    ].join('\n'),
  );
}
