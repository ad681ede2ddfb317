// A storm: many processes over a few runs, which are stopped, let go on, killed and started anew at
// random, some with clocks that are wrong, some without the addon. What each of them wrote down is
// judged afterwards.

import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { judge } from '../claimers.mjs';
import { addon, HOUR_MS, tempDir, workerFile } from '../helpers.mjs';
import { judgeWrites } from './judge-writes.mjs';
import { randomOf } from './random.mjs';

/** How far clocks are wrong at most. */
const SKEW_MS = 30;

/**
 * A storm of so many seconds, in rounds of new runs, each judged at its end.
 * @param round how many seconds one takes at most
 * @param kinds of the processes: `async`, `sync`: the addon; `peer`: plain JavaScript; `renamed`,
 *   `unsealed`: wrong on purpose
 * @returns what was done, and `violations`, each with the seed of its round
 */
export async function storm({ kinds, seconds, seed, round: most = 15 }) {
  const sum = { seeds: [], stops: 0, kills: 0, told: 0, writes: 0, refused: 0, looks: 0 };
  Object.assign(sum, { outrun: 0, passing: 0, violations: [] });
  const until = Date.now() + seconds * 1000;
  for (let round = seed; sum.seeds.length === 0 || Date.now() < until; round += 1) {
    const left = Math.max(1, (until - Date.now()) / 1000);
    const did = await oneRound(kinds, Math.min(most, left), round);
    sum.seeds.push(round);
    for (const [key, value] of Object.entries(did)) {
      if (key === 'violations')
        sum.violations.push(...value.map((text) => `seed ${round}: ${text}`));
      else sum[key] += value;
    }
    if (sum.violations.length > 0) break;
  }
  return sum;
}

async function oneRound(kinds, seconds, seed) {
  const random = randomOf(seed);
  const baseDir = tempDir();
  const runs = ['run_0', 'run_1', 'run_2'];
  const crew = kinds.map((kind, number) => {
    const offset = random(0, 2) === 0 ? random(-SKEW_MS, SKEW_MS) : 0;
    const name = `${kind}-${number}`;
    return { kind, number, name, life: 0, seed, offset, baseDir, runs };
  });
  const workers = await Promise.all(crew.map(start));
  const did = { stops: 0, kills: 0 };
  try {
    await disturb(workers, crew, random, Date.now() + seconds * 1000, did);
    await Promise.all(workers.map(stop));
  } finally {
    for (const worker of workers) worker.kill('SIGKILL');
  }
  const record = crew.flatMap(entriesOf);
  const others = crew.filter(({ kind }) => kind !== 'async' && kind !== 'sync');
  const killed = others.reduce((sum, { life }) => sum + life, 0);
  for (const run of runs) await assertSettled(join(baseDir, run), killed);
  return { ...did, ...verdictOf(record) };
}

async function start(member) {
  const recordFile = recordOf(member, member.life);
  // Another seed for each member, and in each of its lives.
  const seed = member.seed + 1000 * member.number + 50 * member.life;
  const settings = { ...member, seed, recordFile };
  const worker = fork(workerFile('storm.mjs'), [JSON.stringify(settings)]);
  await once(worker, 'message');
  return worker;
}

async function stop(worker) {
  const ended = once(worker, 'exit');
  worker.send('stop');
  const [code, signal] = await ended;
  assert.equal(code, 0, `a worker ended with ${signal ?? code}`);
}

/** Stops workers for a while, most for a moment and some for long, and kills one now and then. */
async function disturb(workers, crew, random, until, did) {
  while (Date.now() < until) {
    const number = random(0, workers.length - 1);
    const worker = workers[number];
    if (worker.exitCode !== null) throw new Error(`${crew[number].name} ended by itself`);
    if (random(0, 40) === 0) {
      const ended = once(worker, 'exit');
      worker.kill('SIGKILL');
      await ended;
      crew[number].life += 1;
      workers[number] = await start(crew[number]);
      did.kills += 1;
      continue;
    }
    worker.kill('SIGSTOP');
    await pause(random(0, 9) === 0 ? random(50, 300) : random(0, 15));
    worker.kill('SIGCONT');
    did.stops += 1;
    await pause(random(0, 5));
  }
}

const recordOf = ({ baseDir, number }, life) => join(baseDir, `record-${number}-${life}`);

/** What a worker wrote down in all its lives; the last line before it was killed may be cut. */
function entriesOf(member) {
  const lives = Array.from({ length: member.life + 1 }, (_, life) => recordOf(member, life));
  return lives.flatMap((file) => {
    const lines = readFileSync(file, 'utf8').split('\n');
    return lines.slice(0, -1).map((line) => JSON.parse(line));
  });
}

/** The verdict on a record, and what it holds. */
export function verdictOf(record) {
  const count = (kind, more = () => true) =>
    record.filter((entry) => entry.kind === kind && more(entry)).length;
  // A lease may be taken over when it ends by the clock that is most ahead.
  const shared = record.map((entry) => {
    if (!entry.lease) return entry;
    return { ...entry, lease: { ...entry.lease, expiresAt: entry.lease.expiresAt - SKEW_MS } };
  });
  const { violations, told, outrun } = judge(shared.filter(({ kind }) => kind !== 'error'));
  const errors = record.filter(({ kind, retryable }) => kind === 'error' && !retryable);
  return {
    told,
    outrun,
    writes: count('write', ({ done }) => done),
    refused: count('write', ({ done }) => !done),
    looks: count('look'),
    passing: count('error') - errors.length,
    violations: [
      ...violations,
      ...judgeWrites(record),
      ...errors.map(({ holder, message }) => `an error to ${holder}: ${message}`),
    ],
  };
}

/** The next claim succeeds at once, and leaves nothing but holdings and the scratch of workers without the addon that were killed. */
async function assertSettled(runDir, killed) {
  const now = Date.now() + HOUR_MS;
  const current = await addon.currentFence(runDir);
  const lease = await addon.acquireClaim(runDir, { holder: 'next', ttlMs: 1, now });
  assert.equal(lease?.fence, current + 1, 'the next claim');
  const names = readdirSync(join(runDir, 'claims')).filter((name) => !/^\d+\.json$/.test(name));
  assert.ok(names.length <= killed, `${names} is left`);
}
