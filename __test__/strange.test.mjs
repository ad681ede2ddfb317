// What can lie about in a claims directory, and what a claim makes of it, leaves and removes.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { callThere } from './faults.mjs';
import {
  addon,
  bodyOf,
  claimsOf,
  forms,
  HOUR_MS,
  holdings,
  makeRun,
  namesOf,
  outcome,
  putClaims,
  runNode,
  snapshot,
  tempDir,
} from './helpers.mjs';

const NOW = 1_000_000;
const dead = { holder: 'gone', expiresAt: 1 };
const live = (holder) => ({ holder, expiresAt: NOW + HOUR_MS });
const asked = { holder: 'a', ttlMs: 1000, now: NOW };
const fenced = (fence) => ({ holder: 'a', fence, expiresAt: NOW + 1000 });
const nobody = (fence) => ({ holder: '', fence, expiresAt: 0 });
const eachForm = Object.entries(forms);

/** Makes something that is no file at this path; `undefined` where the system cannot. */
const strangers = {
  'a pipe': (path) => assert.equal(spawnSync('mkfifo', [path]).status, 0),
  'a directory': (path) => mkdirSync(path),
  'a directory that is not empty': (path) => mkdirSync(join(path, 'sub'), { recursive: true }),
  'a socket': (path) => listen(path),
  'a link to a directory': (path) => symlinkSync('/', path),
  'a link to a device': (path) => symlinkSync('/dev/zero', path),
};

/** Leaves a socket behind: its name in the file system outlives who listened. */
async function listen(path) {
  const directory = tempDir();
  const server = createServer();
  await new Promise((resolve) => server.listen(join(directory, 's'), resolve));
  renameSync(join(directory, 's'), path);
  await new Promise((resolve) => server.close(resolve));
}

if (process.platform !== 'win32') {
  for (const [what, make] of Object.entries(strangers)) {
    // Guards the opening without blocking, and that what is no file is damage: such a name keeps
    // its place in the order. In a process of its own, which a hang would not take along.
    test(`${what} named 5.json is damaged, and answers at once`, async () => {
      for (const form of ['', 'Sync']) {
        const runDir = makeRun({ '4.json': live('b') });
        await make(join(claimsOf(runDir), '5.json'));
        const calls = [
          [`currentFence${form}`, runDir],
          [`readClaim${form}`, runDir],
          [`acquireClaim${form}`, runDir, asked],
          [`readClaim${form}`, runDir],
          [`releaseClaim${form}`, runDir, 6],
          [`currentFence${form}`, runDir],
        ];
        const outcomes = await callThere(calls);
        const values = outcomes.map(({ value, error }) => error ?? value);
        assert.deepEqual(values, [5, nobody(5), fenced(6), fenced(6), null, 7]);
        assert.deepEqual(namesOf(runDir), holdings(4, 7));
      }
    });
  }

  // Guards reading through links as other workers do.
  test('a body that is a link is read where it leads', async () => {
    for (const [, { acquire, read }] of eachForm) {
      const runDir = makeRun({ '4.json': dead });
      writeFileSync(join(runDir, 'elsewhere'), JSON.stringify(live('b')));
      symlinkSync('../elsewhere', join(claimsOf(runDir), '5.json'));
      assert.equal(await acquire(runDir, asked), null);
      assert.deepEqual(await read(runDir), { fence: 5, ...live('b') });
      assert.equal((await acquire(runDir, { ...asked, holder: 'b' })).fence, 6);
    }
  });

  // Guards the bound of listing again: a name that never can be read is damaged in the end.
  test('a link that leads nowhere is damaged', async () => {
    for (const [, { acquire, read, currentFence }] of eachForm) {
      const runDir = makeRun({ '4.json': live('b') });
      symlinkSync('nowhere', join(claimsOf(runDir), '5.json'));
      assert.equal(await currentFence(runDir), 5);
      assert.deepEqual(await read(runDir), nobody(5));
      assert.deepEqual(await acquire(runDir, asked), fenced(6));
    }
  });
}

// Guards the end of the numbers: there is no name above, and "held by somebody else" would let
// workers poll for ever.
test('the highest name a fence can have is refused with the reason', async () => {
  for (const body of [dead, live('b'), nobody(0), 'damaged']) {
    for (const [, { acquire, release, read, currentFence }] of eachForm) {
      const runDir = makeRun({ '3.json': dead, '999999999999999.json': body });
      const before = snapshot(runDir);
      const refused = [await outcome(() => acquire(runDir, asked))];
      if (body === dead) refused.push(await outcome(() => release(runDir, 999_999_999_999_999)));
      for (const { error, value } of refused) {
        assert.ok(error, `answered ${JSON.stringify(value)}`);
        assert.equal(error.code, 'storage_error');
        assert.equal(error.retryable, false);
        assert.match(error.message, /999999999999999\.json/);
        assert.match(error.message, /no fence is left|used up/);
        assert.equal(error.details.path, claimsOf(runDir));
      }
      assert.deepEqual(snapshot(runDir), before);
      assert.equal(await currentFence(runDir), 999_999_999_999_999);
      assert.equal((await read(runDir)).fence, 999_999_999_999_999);
    }
  }
});

test('the name below the highest can still be taken', async () => {
  const runDir = makeRun({ '999999999999998.json': dead });
  assert.equal((await addon.acquireClaim(runDir, asked)).fence, 999_999_999_999_999);
});

// Guards the bound on memory; a live body of exactly the bound is still one.
test('a body over one MiB is damaged, one of a MiB is not', async () => {
  const MIB = 1024 * 1024;
  for (const [, { acquire, read }] of eachForm) {
    const text = JSON.stringify(live('b'));
    const fits = makeRun({ '5.json': text + ' '.repeat(MIB - text.length) });
    assert.equal(await acquire(fits, asked), null);
    const exceeds = makeRun({ '5.json': text + ' '.repeat(MIB + 1 - text.length) });
    assert.deepEqual(await read(exceeds), nobody(5));
    assert.deepEqual(await acquire(exceeds, asked), fenced(6));
  }
});

// Guards the reading of a padded name under the name it has.
test('007.json is the holding of fence 7', async () => {
  for (const [, { acquire, release, read, currentFence }] of eachForm) {
    const runDir = makeRun({ '007.json': live('b'), '6.json': dead });
    assert.equal(await currentFence(runDir), 7);
    assert.deepEqual(await read(runDir), { fence: 7, ...live('b') });
    assert.equal(await acquire(runDir, asked), null);
    assert.deepEqual(await acquire(runDir, { ...asked, holder: 'b' }), {
      ...fenced(8),
      holder: 'b',
    });
    await release(runDir, 8);
    assert.deepEqual(namesOf(runDir).sort(), ['007.json', '6.json', '8.json', '9.json']);
  }
});

const MINUTE_S = 60;

/** A file in the claims directory, last modified so many minutes ago by the wall clock. */
function age(runDir, name, minutes) {
  const at = Date.now() / 1000 - minutes * MINUTE_S;
  utimesSync(join(claimsOf(runDir), name), at, at);
}

// Guards the age by the wall clock: a caller's `now` says nothing about when a file was written,
// and one far ahead would remove what another worker is about to link.
test('scratch is removed when it is more than ten minutes old, whatever the caller calls now', async () => {
  for (const now of [0, NOW, Date.now(), Date.now() + 1000 * HOUR_MS, 1e15]) {
    for (const [, { acquire }] of eachForm) {
      const runDir = makeRun({
        '.tmp-old': '',
        '.tmp-4-4-older': 'x',
        '.tmp-young': '',
        '.tmp-now': '',
        '.tmp-ahead': '',
        'tmp-old': '',
        'x.tmp-old': '',
        'old.json': '',
      });
      for (const name of namesOf(runDir)) age(runDir, name, 60);
      age(runDir, '.tmp-old', 11);
      age(runDir, '.tmp-young', 9);
      age(runDir, '.tmp-now', 0);
      age(runDir, '.tmp-ahead', -60);
      await acquire(runDir, { holder: 'a', ttlMs: 1000, now });
      const left = [
        '.tmp-ahead',
        '.tmp-now',
        '.tmp-young',
        '1.json',
        'old.json',
        'tmp-old',
        'x.tmp-old',
      ];
      assert.deepEqual(namesOf(runDir).sort(), left, `now: ${now}`);
    }
  }
});

const staged = {
  '.tmp-w1-x': '',
  '.tmp-w5-x': '',
  '.tmp-w6-x': '',
  '.tmp-w7-1-2-ab': '',
  '.tmp-w99-x': '',
  '.tmp-w999999999999999-x': '',
};
const sealedBelow6 = ['.tmp-w6-x', '.tmp-w7-1-2-ab', '.tmp-w99-x', '.tmp-w999999999999999-x'];

// Guards the seal: a write that was staged below the taker's fence must not become visible after
// the taker was told; one at or above it belongs to a holder that is not overtaken.
test('a taker removes the writes staged below its fence, and no others', async () => {
  for (const [, { acquire }] of eachForm) {
    const runDir = makeRun({ '5.json': dead, ...staged, '.tmp-other': '' });
    assert.deepEqual(await acquire(runDir, asked), fenced(6));
    assert.deepEqual(
      namesOf(runDir).sort(),
      ['.tmp-other', ...sealedBelow6, '5.json', '6.json'].sort(),
    );
  }
});

// Guards the seal of a release: its tombstone overtakes the writer just as a taker does. Its
// caller keeps no house: what is old stays for the next taker.
test('a release seals below its tombstone, and prunes nothing', async () => {
  const old = Object.fromEntries(holdings(1, 50).map((name) => [name, dead]));
  for (const [, { release }] of eachForm) {
    const runDir = makeRun({
      ...old,
      '.tmp-w50-x': '',
      '.tmp-w3-x': '',
      '.tmp-w51-x': '',
      '.tmp-w52-x': '',
      '.tmp-old': '',
    });
    age(runDir, '.tmp-old', 60);
    await release(runDir, 50);
    const left = ['.tmp-old', '.tmp-w51-x', '.tmp-w52-x', ...holdings(1, 51)];
    assert.deepEqual(namesOf(runDir).sort(), left.sort());
    const { holder, expiresAt } = bodyOf(runDir, 51);
    assert.deepEqual({ holder, expiresAt }, { holder: '', expiresAt: 0 });
  }
});

test('a release that comes too late, or for another fence, changes nothing', async () => {
  for (const [, { release }] of eachForm) {
    const runDir = makeRun({ '5.json': live('b'), '.tmp-w4-x': '' });
    const before = snapshot(runDir);
    for (const fence of [0, 4, 6, Number.MAX_SAFE_INTEGER]) await release(runDir, fence);
    assert.deepEqual(snapshot(runDir), before);
  }
});

// Guards a staged write against somebody who was told that he does not have the run.
test('a worker that is refused a held run seals nothing', async () => {
  for (const [, { acquire }] of eachForm) {
    const runDir = makeRun({ '5.json': live('b'), ...staged });
    const before = snapshot(runDir);
    assert.equal(await acquire(runDir, asked), null);
    assert.deepEqual(snapshot(runDir), before);
  }
});

// Guards the floor of pruning: a window of 32 below the highest stays, with the floor itself.
test('pruning leaves the highest fence and the 32 below it', async () => {
  for (const [form, { acquire }] of eachForm) {
    for (const highest of [1, 31, 32, 33, 34, 35, 100, 999_999_999_999_998]) {
      const lowest = Math.max(1, highest - 60);
      const runDir = makeRun(Object.fromEntries(holdings(lowest, highest).map((n) => [n, dead])));
      const { fence } = await acquire(runDir, asked);
      assert.equal(fence, highest + 1);
      const floor = Math.max(lowest, fence - 32);
      assert.deepEqual(namesOf(runDir), holdings(floor, fence), `${form}, ${highest}`);
    }
    const runDir = makeRun({
      '001.json': dead,
      '0.json': dead,
      '033.json': dead,
      '040.json': dead,
    });
    await acquire(runDir, asked);
    assert.deepEqual(namesOf(runDir).sort(), ['033.json', '040.json', '41.json']);
    const gaps = makeRun({ '3.json': dead, '900.json': dead });
    await acquire(gaps, asked);
    assert.deepEqual(namesOf(gaps), holdings(900, 901));
  }
});

test('a thousand renewals keep the directory small and the numbers unbroken', async () => {
  for (const [, { acquire }] of eachForm) {
    const runDir = makeRun();
    for (let fence = 1; fence <= 1000; fence += 1) {
      assert.equal((await acquire(runDir, asked)).fence, fence);
    }
    assert.deepEqual(namesOf(runDir), holdings(968, 1000));
  }
});

// Guards housekeeping from failing a claim: what cannot be removed stays.
test('litter that cannot be removed fails no claim', async () => {
  for (const [, { acquire }] of eachForm) {
    const runDir = makeRun({ '50.json': dead });
    mkdirSync(join(claimsOf(runDir), '2.json'));
    mkdirSync(join(claimsOf(runDir), '.tmp-old'));
    age(runDir, '.tmp-old', 60);
    assert.deepEqual(await acquire(runDir, asked), fenced(51));
    assert.deepEqual(namesOf(runDir).sort(), ['.tmp-old', '2.json', '50.json', '51.json']);
  }
});

// Guards that reading leaves no trace: a look at a run must not make it one that was claimed.
test('reading creates nothing, and neither does a release of what was never claimed', async () => {
  for (const [, { release, read, currentFence }] of eachForm) {
    const base = tempDir();
    const runDir = join(base, 'run_1');
    assert.equal(await read(runDir), null);
    assert.equal(await currentFence(runDir), 0);
    assert.equal(await release(runDir, 0), undefined);
    assert.equal(await release(runDir, 1), undefined);
    assert.deepEqual(snapshot(base), []);
    mkdirSync(claimsOf(runDir), { recursive: true });
    assert.equal(await release(runDir, 0), undefined);
    assert.equal(await read(runDir), null);
    assert.deepEqual(namesOf(runDir), []);
  }
});

// Guards the making of directories one component at a time, with the usual rights less the umask.
test('a claim makes the directories it needs', async () => {
  const calls = (runDir, form) => [[`acquireClaim${form}`, runDir, asked]];
  for (const form of ['', 'Sync']) {
    const base = tempDir();
    for (const runDir of [join(base, 'a/b/c/children/run_1'), `${base}/d//run_2/`]) {
      const [{ value }] = await callThere(calls(runDir, form), { umask: 0o027 });
      assert.deepEqual(value, fenced(1));
      if (process.platform === 'win32') continue;
      const { statSync } = await import('node:fs');
      assert.equal(statSync(claimsOf(runDir)).mode & 0o777, 0o750);
      assert.equal(statSync(join(claimsOf(runDir), '1.json')).mode & 0o777, 0o640);
    }
  }
  // A relative path is taken from where the process is.
  const here = tempDir();
  const script = `
    const addon = require(${JSON.stringify(new URL('..', import.meta.url).pathname)});
    addon.acquireClaimSync('run_1', ${JSON.stringify(asked)});
    addon.acquireClaim('./run_2', ${JSON.stringify(asked)});
  `;
  const { code, stderr } = await runNode(['--eval', script], { cwd: here });
  assert.equal(code, 0, stderr);
  assert.ok(existsSync(join(here, 'run_1/claims/1.json')));
  assert.ok(existsSync(join(here, 'run_2/claims/1.json')));
});

test('a claims directory that was removed starts anew', async () => {
  const runDir = makeRun({ '5.json': dead });
  await addon.acquireClaim(runDir, asked);
  rmSync(runDir, { recursive: true });
  assert.equal(await addon.currentFence(runDir), 0);
  assert.deepEqual(await addon.acquireClaim(runDir, asked), fenced(1));
});

test('a path of two hundred components and one of every script', async () => {
  for (const runDir of [
    join(tempDir(), ...Array(200).fill('deep'), 'run_1'),
    join(tempDir(), 'übung 名前 \u{1f600} %2e "q" \'s\' \n', 'run_1'),
  ]) {
    assert.deepEqual(await addon.acquireClaim(runDir, asked), fenced(1));
    assert.ok(existsSync(join(claimsOf(runDir), '1.json')));
    assert.deepEqual(addon.readClaimSync(runDir), fenced(1));
  }
});

// Guards the invariant that a host registers: is the fence I present still the current one?
test('singleOpenWriter tells a current fence from one that was overtaken', async () => {
  const { singleOpenWriter } = addon;
  const runDir = makeRun({ '5.json': live('worker-b') });
  assert.deepEqual(await singleOpenWriter({ runDir, presentedFence: 5 }), { state: 'holds' });
  const violated = await singleOpenWriter({ runDir, presentedFence: 4 });
  assert.equal(violated.state, 'violated');
  assert.match(violated.detail, /worker-b/);
  assert.match(violated.detail, /4.*5/);
  const ahead = await singleOpenWriter({ runDir, presentedFence: 6 });
  assert.equal(ahead.state, 'violated');

  putClaims(runDir, { '6.json': { holder: '', expiresAt: 0 } });
  const released = await singleOpenWriter({ runDir, presentedFence: 5 });
  assert.equal(released.state, 'violated');
  assert.doesNotMatch(released.detail, /worker-b/, 'who held it before does not hold it now');

  const never = await singleOpenWriter({ runDir: makeRun(), presentedFence: 1 });
  assert.equal(never.state, 'violated');

  const without = await singleOpenWriter(undefined);
  assert.equal(without.state, 'unknown');
  assert.equal(typeof without.reason, 'string');
  assert.deepEqual(Object.keys(without).sort(), ['reason', 'state']);
  assert.deepEqual(await singleOpenWriter(), without);
});

test('singleOpenWriter refuses a context that is none', async () => {
  const contexts = [1, 'x', { runDir: '', presentedFence: 1 }, { runDir: makeRun() }, {}];
  contexts.push({ runDir: makeRun(), presentedFence: -1 });
  for (const context of contexts) {
    const { error } = await outcome(() => addon.singleOpenWriter(context));
    assert.equal(error?.code, 'invalid_config', JSON.stringify(context));
  }
});

test('registerInvariants registers it by the name that hosts look for', async () => {
  const registered = [];
  class Registry {
    register(...args) {
      assert.ok(this instanceof Registry, 'called as a method');
      registered.push(args);
    }
  }
  addon.registerInvariants(new Registry());
  assert.equal(registered.length, 1);
  const [moduleName, name, check] = registered[0];
  assert.deepEqual([moduleName, name], ['store.run', 'single-open-writer']);
  const runDir = makeRun({ '5.json': live('b') });
  assert.deepEqual(await check({ runDir, presentedFence: 5 }), { state: 'holds' });
  assert.equal((await check(undefined)).state, 'unknown');
  for (const registry of [undefined, null, {}, { register: 1 }]) {
    assert.throws(() => addon.registerInvariants(registry), { code: 'invalid_config' });
  }
});
