// What claims, checkpoints and listings cost: beside bare system calls, which are the floor, and
// beside plain JavaScript.

import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import Table from 'cli-table3';
import { parseArguments } from '../scripts/arguments.mjs';
import { javascript, startFloor } from './contestants.mjs';
import { median } from './measure.mjs';
import { scenarios } from './scenarios.mjs';
import { storeScenarios } from './store.mjs';

const HELP = `Measures claims on tmpfs and on disk: bare system calls from Rust (floor), the package's
synchronous and asynchronous calls, and the protocol in plain JavaScript (peer), in turns.
Measures the checkpoint store and its listing on tmpfs, beside plain JavaScript too; whole is all
runs in one page.

  npm run bench [-- OPTIONS]

  --rounds N     turns of each (10)
  --only TEXT    scenarios whose title has this text
  --store        the checkpoint store and its listing only
  --disk DIR     a directory on the disk to measure (the temporary directory)
  --tmpfs DIR    a directory on tmpfs (/dev/shm)
  --json FILE    write the numbers to FILE as JSON too; - for standard output
  --help         this text`;

const { values } = parseArguments('npm run bench -- --help', {
  options: {
    rounds: { type: 'string', default: '10' },
    only: { type: 'string', default: '' },
    store: { type: 'boolean', default: false },
    disk: { type: 'string', default: os.tmpdir() },
    tmpfs: { type: 'string', default: '/dev/shm' },
    json: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
});
if (values.help) {
  console.log(HELP);
  process.exit(0);
}
const rounds = Number(values.rounds);
if (!Number.isInteger(rounds) || rounds < 1) {
  console.error(`--rounds takes a whole number above 0, and got ${values.rounds}`);
  process.exit(2);
}
/** Numbers for a program on standard output send what is for people elsewhere. */
const print = values.json === '-' ? console.error : console.log;

const result = {
  environment: environment(),
  load: load(),
  volumes: await measureVolumes(),
  memory: memory(),
};
if (values.json === '-') console.log(JSON.stringify(result, null, 2));
else if (values.json) writeFileSync(values.json, `${JSON.stringify(result, null, 2)}\n`);

function environment() {
  const described = {
    node: process.version,
    cpu: os.cpus()[0]?.model ?? 'unknown',
    cores: os.availableParallelism(),
    kernel: `${os.type()} ${os.release()}`,
    rounds,
  };
  print(Object.values(described).slice(0, -1).join(', '));
  return described;
}

/** What it takes to load the package: the size of the addon, and the time of `require`. */
function load() {
  const script = `const before = performance.now();
    require('fencelink');
    console.log(performance.now() - before);`;
  const cwd = fileURLToPath(new URL('..', import.meta.url));
  const times = Array.from({ length: 11 }, () =>
    Number(execFileSync(process.execPath, ['-e', script], { cwd, encoding: 'utf8' })),
  );
  const addons = readdirSync(cwd).filter((name) => name.endsWith('.node'));
  const bytes = Object.fromEntries(
    addons.map((name) => [name, statSync(path.join(cwd, name)).size]),
  );
  print(`require: ${median(times).toFixed(1)} ms, median of ${times.length}`);
  for (const [name, size] of Object.entries(bytes)) print(`${name}: ${Math.round(size / 1000)} kB`);
  return { requireMs: median(times), bytes };
}

/** The type of the file system that a directory is on, as the kernel names it. */
function volumeType(dir) {
  if (process.platform !== 'linux') return 'unknown';
  const mounts = readFileSync('/proc/self/mounts', 'utf8')
    .trim()
    .split('\n')
    .map((line) => line.split(' '))
    .filter(([, at]) => at === '/' || dir === at || dir.startsWith(`${at}/`));
  return mounts.reduce((a, b) => (b[1].length >= a[1].length ? b : a))[2];
}

async function measureVolumes() {
  const volumes = [];
  for (const base of values.store ? [values.tmpfs] : [values.tmpfs, values.disk]) {
    const type = volumeType(path.resolve(base));
    if (base === values.tmpfs && type !== 'tmpfs') {
      print(`\n${base} is not on tmpfs but on ${type}: left out`);
      continue;
    }
    const dir = mkdtempSync(path.join(base, 'fencelink-bench-'));
    try {
      const chosen = [
        ...(values.store ? [] : scenarios()),
        ...(base === values.tmpfs ? storeScenarios() : []),
      ].filter(({ title }) => title.includes(values.only));
      volumes.push({ type, scenarios: await measureScenarios(chosen, type, dir) });
    } finally {
      rmSync(dir, { recursive: true, force: true });
    }
  }
  return volumes;
}

async function measureScenarios(chosen, type, dir) {
  const floor = values.store ? null : await startFloor();
  const all = [...(floor ? [floor] : []), ...['sync', 'async', 'peer'].map(javascript)];
  const measured = [];
  for (const [i, { title, measure }] of chosen.entries()) {
    if (process.stderr.isTTY) process.stderr.write(`\r\x1b[K${type}: ${title} …`);
    measured.push({ title, ...(await measure(all, path.join(dir, `${i}`), rounds)) });
  }
  if (process.stderr.isTTY) process.stderr.write('\r\x1b[K');
  for (const contestant of all) await contestant.stop();
  print(`\n${type}: microseconds, median (99th percentile)\n${timesTable(measured)}`);
  print(`${type}: ratios, median over rounds\n${ratiosTable(measured)}`);
  return measured;
}

function timesTable(measured) {
  const names = ['floor', 'sync', 'async', 'peer', 'whole'].filter((name) =>
    measured.some(({ contestants: of }) => of[name]),
  );
  const cell = (stats) => (stats ? `${us(stats.median)} (${us(stats.p99)})` : '');
  return table(
    names,
    measured.map(({ title, contestants: of }) => [title, ...names.map((name) => cell(of[name]))]),
  );
}

function ratiosTable(measured) {
  const names = ['sync/floor', 'async/floor', 'peer/sync', 'peer/async', 'async/whole'].filter(
    (name) => measured.some(({ ratios: of }) => of[name]),
  );
  return table(
    names,
    measured.map(({ title, ratios: of }) => [
      title,
      ...names.map((name) => of[name]?.toFixed(2) ?? ''),
    ]),
  );
}

function table(columns, rows) {
  const colors = process.stdout.isTTY && !process.env.NO_COLOR;
  const shown = new Table({
    head: ['', ...columns],
    colAligns: ['left', ...columns.map(() => /** @type {const} */ ('right'))],
    style: { head: colors ? ['bold'] : [], border: colors ? ['grey'] : [] },
    chars: { mid: '', 'left-mid': '', 'mid-mid': '', 'right-mid': '' },
  });
  shown.push(...rows);
  return shown.toString();
}

/** Milliseconds as microseconds, with as many digits as say something. */
function us(ms) {
  const value = ms * 1000;
  return value < 100 ? value.toFixed(1) : Math.round(value).toLocaleString('en');
}

/** What 20,000 renewals do to the memory of a process that does nothing else. */
function memory() {
  if (values.store || (values.only && !'memory'.includes(values.only))) return undefined;
  print('\nmemory: 20,000 renewals in a process of their own');
  const soak = fileURLToPath(new URL('./soak.mjs', import.meta.url));
  const measured = {};
  for (const calls of ['sync', 'async', 'peer']) {
    const options = [
      '--expose-gc',
      '--max-semi-space-size=1',
      soak,
      '--json',
      '--renewals',
      '20000',
      '--calls',
      calls,
    ];
    // Plain JavaScript may grow as it likes: it is measured, not judged.
    const numbers = JSON.parse(outputOf(options));
    measured[calls] = numbers;
    const [rss, grown] = [numbers.rss.meanBytes, numbers.rss.grownBytes].map(
      (b) => b / 1024 / 1024,
    );
    print(`  ${calls.padEnd(6)} resident ${rss.toFixed(1)} MiB, grown by ${grown.toFixed(2)} MiB`);
  }
  return measured;
}

/** Standard output, whatever the exit code. */
function outputOf(options) {
  try {
    return execFileSync(process.execPath, options, { encoding: 'utf8' });
  } catch (error) {
    return /** @type {any} */ (error).stdout;
  }
}
