// Many workers, one queue, each run taken by one at a time: while one worker is killed, and another
// stalls past its lease and learns that it lost. What happened is then checked from the records.

import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { parseArguments } from '../scripts/arguments.mjs';
import { doubleHoldings, handovers, holdingsOf, unrecorded, wrongResults } from './check.mjs';
import { killWhileHolding, stallPastLease, startCrew } from './crew.mjs';
import { progress } from './progress.mjs';
import { createQueue, isDone, listRuns, readRecords, readResults, runDir } from './queue.mjs';
import { summaryTable, workerTable } from './report.mjs';

const HELP = `Drains a queue of runs with four worker processes, one of which works with two threads.
A third of the way one process is killed, halfway another is held up past its lease.

  npm run demo [-- OPTIONS]

  --peer       two of the four workers are plain JavaScript, without the addon
  --runs N     runs in the queue (300)
  --work MS    time that one run takes (150)
  --ttl MS     length of a lease (1500)
  --claims M   a module to use in place of the addon: try a broken one, and see it caught
  --keep       keep the directory, and say where it is
  --help       this text

Exit code 0: every run was done, once, and no run was ever held by two workers at a time.`;

/** A demo that takes so much longer than its work does is stuck. */
const SPARE_MS = 180_000;
const LOOK_EVERY_MS = 50;
/** Of a module that gets everything wrong, so many faults are enough. */
const MOST_FAULTS_SHOWN = 20;
/** The exit code of a program that was interrupted. */
const INTERRUPTED = 130;

const options = parseOptions();
const dir = mkdtempSync(path.join(tmpdir(), 'fencelink-demo-'));
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(INTERRUPTED));
// Whoever read the output has gone.
for (const out of [process.stdout, process.stderr]) {
  out.on('error', () => process.exit(INTERRUPTED));
}
process.once('exit', (code) => {
  if (!options.keep && code !== 1) rmSync(dir, { recursive: true, force: true, maxRetries: 9 });
});
const ok = await demo();
if (options.keep || !ok) console.log(`The claims and records are in ${dir}`);
process.exit(ok ? 0 : 1);

function parseOptions() {
  const { values } = parseArguments('npm run demo -- --help', {
    options: {
      peer: { type: 'boolean', default: false },
      runs: { type: 'string', default: '300' },
      work: { type: 'string', default: '150' },
      ttl: { type: 'string', default: '1500' },
      claims: { type: 'string', default: 'fencelink' },
      keep: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) {
    console.log(HELP);
    process.exit(0);
  }
  const number = (name) => {
    const value = Number(values[name]);
    if (Number.isInteger(value) && value > 0) return value;
    console.error(`--${name} takes a whole number above 0, and got ${values[name]}`);
    process.exit(2);
  };
  const [runs, workMs, ttlMs] = ['runs', 'work', 'ttl'].map(number);
  if (ttlMs < workMs / 2) {
    console.error(
      `--ttl ${ttlMs} is too short for --work ${workMs}: leases must outlast half of it`,
    );
    process.exit(2);
  }
  // A path is one from here, and not from the worker's file.
  const isPath = /^\.{0,2}[/\\]/.test(values.claims) || path.isAbsolute(values.claims);
  const claims = isPath ? pathToFileURL(path.resolve(values.claims)).href : values.claims;
  return { ...values, runs, workMs, ttlMs, claims };
}

async function demo() {
  const { runs, ttlMs, peer } = options;
  createQueue(dir, runs);
  console.log(
    `${runs} runs, 4 worker processes${peer ? ', two of them plain JavaScript' : ''}, ` +
      `leases of ${ttlMs} ms\n`,
  );
  const startedAt = performance.now();
  const crew = startCrew({ dir, ...options });
  const endCrew = () => {
    for (const { child } of crew) child.kill('SIGKILL');
  };
  // Nobody else would end a worker that is stopped; and before the directory goes, all have ended.
  process.prependOnceListener('exit', endCrew);
  // As long as if one worker did all of it, and nobody helped.
  const deadlineMs = runs * options.workMs + SPARE_MS;
  const inTime = await watch(crew, deadlineMs);
  if (!inTime) {
    console.error(`WRONG: not ended after ${deadlineMs / 1000} s`);
    endCrew();
    await Promise.all(crew.map((member) => member.ended));
  }
  return report(crew, (performance.now() - startedAt) / 1000) && inTime;
}

/** Shows progress and makes trouble, until all workers have ended; false at the deadline. */
async function watch(crew, deadlineMs) {
  const [, , victim, sleeper] = crew;
  const shown = progress(options.runs);
  // A terminal that is left in the middle has no cursor.
  process.once('exit', shown.stop);
  const trouble = [
    { after: options.runs / 3, make: () => killWhileHolding(dir, victim, shown.tell) },
    { after: options.runs / 2, make: () => stallPastLease(dir, sleeper, shown.tell) },
  ];
  if (process.platform === 'win32') {
    shown.tell('there is no SIGSTOP on Windows: nobody is killed or held up');
    trouble.length = 0;
  }
  const timer = setInterval(() => {
    const done = listRuns(dir).filter((run) => isDone(dir, run)).length;
    shown.update(done);
    if (trouble.length > 0 && done >= trouble[0].after) trouble.shift()?.make();
  }, LOOK_EVERY_MS);
  const ended = Promise.all(crew.map((member) => member.ended));
  const inTime = await Promise.race([ended, sleep(deadlineMs, false, { ref: false })]);
  clearInterval(timer);
  shown.update(listRuns(dir).filter((run) => isDone(dir, run)).length);
  shown.stop();
  return inTime !== false;
}

/** Prints the tables and what was wrong; true when nothing was. */
function report(crew, seconds) {
  const records = readRecords(dir);
  const byRun = holdingsOf(records, options.ttlMs);
  const onDisk = new Map(listRuns(dir).map((run) => [run, holdingsOnDisk(run)]));
  const killed = crew.find(({ fate }) => fate === 'killed')?.name;
  const handed = handovers(byRun);
  const double = doubleHoldings(byRun);
  const undone = listRuns(dir).filter((run) => readResults(dir, run).length === 0);
  const wrong = [
    ...double,
    ...wrongResults(records, byRun),
    ...unrecorded(byRun, onDisk, killed),
    ...undone.map((run) => `${run}: not done`),
    ...crew
      .filter(({ fate }) => fate.startsWith('failed'))
      .map(({ name, fate }) => `${name} ${fate}`),
  ];
  const holdings = [...byRun.values()].flat();
  const lost = [...records].flatMap(([worker, events]) =>
    events.filter(({ event }) => event === 'lost').map((e) => ({ worker, ...e })),
  );
  for (const { worker, run, fence, current } of lost) {
    console.log(
      `  ${worker} learned that it lost ${run}: its fence is ${fence}, the run's ${current}`,
    );
  }
  console.log(`\n${workerTable(crew, records, handed)}`);
  console.log(
    summaryTable([
      ['runs done', `${options.runs - undone.length} of ${options.runs}`],
      ['leases given (claims and renewals)', holdings.length],
      ['highest fence', Math.max(0, ...holdings.map(({ fence }) => fence))],
      ['takeovers (a run went to another worker)', handed.takeovers.length],
      ['of these reclaims (its lease had ended)', handed.reclaims.length],
      ['double holdings found', double.length],
      ['time', `${seconds.toFixed(1)} s`],
    ]),
  );
  for (const text of wrong.slice(0, MOST_FAULTS_SHOWN)) console.error(`WRONG: ${text}`);
  const more = wrong.length - MOST_FAULTS_SHOWN;
  if (more > 0) console.error(`WRONG: and ${more} more`);
  if (wrong.length === 0) console.log('Every run was done, and none was held by two at a time.');
  return wrong.length === 0;
}

/** The holdings that somebody holds or held, as the claims directory has them. */
function holdingsOnDisk(run) {
  const claims = path.join(runDir(dir, run), 'claims');
  // A module of the caller's may keep nothing there, and is then told what is missing.
  if (!existsSync(claims)) return [];
  return readdirSync(claims)
    .filter((name) => /^[0-9]{1,15}\.json$/.test(name))
    .map((name) => ({
      fence: Number.parseInt(name, 10),
      holder: JSON.parse(readFileSync(path.join(claims, name), 'utf8')).holder,
    }))
    .filter(({ holder }) => holder !== '');
}
