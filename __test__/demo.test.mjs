// The demo, end to end, small: alone, with plain-JS workers, and with a claim module that gives a
// run to everybody, which it must catch; and the check by itself, on records written by hand.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { doubleHoldings, handovers, holdingsOf, unrecorded, wrongResults } from '../demo/check.mjs';
import { tempDir } from './helpers.mjs';

const MAIN = fileURLToPath(new URL('../demo/main.mjs', import.meta.url));
const SMALL = ['--runs', '60', '--work', '120', '--ttl', '600'];
/** Gives every caller whatever it asks for. */
const BROKEN = `data:text/javascript,${encodeURIComponent(`
  import { mkdirSync } from 'node:fs';
  let fence = 0;
  export const acquireClaim = async (runDir, { holder, ttlMs }) => {
    mkdirSync(runDir + '/claims', { recursive: true });
    fence += 1;
    return { holder, fence, expiresAt: Date.now() + ttlMs };
  };
  export const currentFence = async () => fence;
  export const releaseClaim = async () => {};
`)}`;

/** Where the demos make their directories, and what is left of them goes with the tests. */
const TMPDIR = tempDir();

/**
 * Runs the demo; resolves to its exit code and all that it printed. `SIGINT` among the options
 * interrupts it as soon as it has told of its workers.
 */
function demo(...options) {
  return new Promise((resolve, reject) => {
    const args = options.filter((option) => option !== 'SIGINT');
    const child = spawn(process.execPath, [MAIN, ...args], { env: { ...process.env, TMPDIR } });
    if (args.length < options.length) child.stdout.once('data', () => child.kill('SIGINT'));
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text) => {
        output += text;
      });
    }
    child.once('error', reject);
    child.once('close', (code) => resolve({ code, output }));
  });
}

/** The number in a row of the summary. */
function row(output, title) {
  const found = new RegExp(`│ ${title}[^│]*│ +(\\S+)`).exec(output);
  assert.ok(found, `no row "${title}" in:\n${output}`);
  return Number(found[1]);
}

describe('the demo', () => {
  for (const options of [[], ['--peer']]) {
    it(`drains the queue with one worker killed and one stalled ${options.join(' ')}`, async () => {
      const { code, output } = await demo(...SMALL, ...options);
      assert.equal(code, 0, output);
      assert.match(output, /Every run was done, and none was held by two at a time\./);
      assert.match(output, /w3 was killed \(SIGKILL\) while it held run_\d+ at fence \d+/);
      assert.match(output, /w4 was stopped \(SIGSTOP\) while it held run_\d+ at fence \d+/);
      assert.match(output, /w4 learned that it lost run_\d+/);
      assert.match(output, /│ w2\.2 +│ thread, addon/);
      assert.equal(/process, JS/.test(output), options.length > 0);
      assert.match(output, /│ runs done +│ +60 of 60 │/);
      assert.ok(row(output, 'of these reclaims') >= 2, output);
      assert.equal(row(output, 'double holdings found'), 0);
    });
  }

  it('fails when a run is held by two at once', async () => {
    const { code, output } = await demo(...SMALL, '--claims', BROKEN);
    assert.equal(code, 1, output);
    assert.ok(row(output, 'double holdings found') > 0, output);
    assert.match(output, /WRONG: run_\d+: w\S+ at fence \d+ and w\S+ at fence \d+ both held it/);
  });

  // Guards a name from where the user stands, and a module that keeps nothing where it should.
  it('judges a module by its path, though it leaves nothing on disk', async () => {
    const dir = tempDir();
    const source = decodeURIComponent(BROKEN.split(',')[1]).replace(/mkdirSync\(.*/, '');
    writeFileSync(path.join(dir, 'broken.mjs'), source);
    const module = path.relative(process.cwd(), path.join(dir, 'broken.mjs'));
    const { code, output } = await demo(...SMALL, '--claims', module);
    assert.equal(code, 1, output);
    assert.match(output, /WRONG: and \d+ more/);
    const shown = output.match(/^WRONG: run_/gm) ?? [];
    assert.equal(shown.length, 20, output);
  });

  it('leaves nothing when it is interrupted', async () => {
    const before = readdirSync(TMPDIR).length;
    const { code, output } = await demo(...SMALL, 'SIGINT');
    assert.equal(code, 130, output);
    assert.equal(readdirSync(TMPDIR).length, before);
  });

  it('explains itself, and refuses options that make no sense', async () => {
    const help = await demo('--help');
    assert.equal(help.code, 0);
    assert.match(help.output, /npm run demo/);
    for (const wrong of [['--runs', 'many'], ['--rums'], ['--ttl', '0'], ['--ttl', '50']]) {
      const { code, output } = await demo(...wrong);
      assert.equal(code, 2, output);
      assert.match(output, new RegExp(wrong[0]));
    }
  });
});

describe("the demo's check", () => {
  const TTL = 100;
  const claimed = (at, fence) => ({
    at,
    event: 'claimed',
    run: 'run_1',
    fence,
    expiresAt: at + TTL,
  });
  const renewed = (at, fence) => ({ ...claimed(at, fence), event: 'renewed' });
  const event = (name, at, fence) => ({ at, event: name, run: 'run_1', fence });
  const check = (records) => {
    const all = new Map(Object.entries(records));
    const byRun = holdingsOf(all, TTL);
    return {
      byRun,
      double: doubleHoldings(byRun),
      wrong: wrongResults(all, byRun),
      handed: handovers(byRun),
    };
  };

  it('accepts a release, a lease that ended, and a taker in the same millisecond', () => {
    const { double, wrong, handed } = check({
      a: [claimed(0, 1), renewed(50, 2), event('releasing', 60, 2)],
      b: [claimed(60, 4)],
      c: [claimed(160, 5), event('writing', 170, 5), event('done', 171, 5)],
    });
    assert.deepEqual([double, wrong], [[], []]);
    assert.equal(handed.takeovers.length, 2);
    assert.deepEqual(handed.reclaims, [{ from: 'b', to: 'c', reclaim: true }]);
  });

  it('finds a lease given before the other one ended', () => {
    const { double } = check({ a: [claimed(0, 1)], b: [claimed(99, 2)] });
    assert.equal(double.length, 1);
    assert.match(double[0], /a at fence 1 and b at fence 2 both held it for 1\.0 ms/);
  });

  it('finds a lease given under another that was renewed', () => {
    const { double } = check({ a: [claimed(0, 1), renewed(90, 2)], b: [claimed(110, 3)] });
    assert.equal(double.length, 1);
  });

  it('finds a fence given twice, however far apart', () => {
    const { double } = check({ a: [claimed(0, 7)], b: [claimed(5000, 7)] });
    assert.deepEqual(double, ['run_1: fence 7 was given to a and to b']);
  });

  it('finds a result written after the run was taken, and a run done twice', () => {
    const { wrong } = check({
      a: [claimed(0, 1), event('writing', 300, 1), event('done', 301, 1)],
      b: [claimed(200, 2), event('writing', 250, 2), event('done', 251, 2)],
    });
    assert.deepEqual(wrong, ['run_1: a wrote at fence 1; b had 2', 'run_1: done by a and by b']);
  });

  it('finds a holding on disk that no record tells of, unless its worker was killed', () => {
    const { byRun } = check({ a: [claimed(0, 1)] });
    const onDisk = new Map([
      [
        'run_1',
        [
          { fence: 1, holder: 'a' },
          { fence: 2, holder: 'b' },
        ],
      ],
    ]);
    assert.equal(unrecorded(byRun, onDisk).length, 1);
    assert.equal(unrecorded(byRun, onDisk, 'b').length, 0);
  });
});
