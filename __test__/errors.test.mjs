// Refusals: what hosts match, which input is refused before the disk is touched, and how an error
// reaches the caller. Faults of the disk itself are in faults.test.mjs.

import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { test } from 'node:test';
import {
  addon,
  claimsOf,
  HOUR_MS,
  makeRun,
  outcome,
  packageRoot,
  runNode,
  snapshot,
  tempDir,
} from './helpers.mjs';
import * as peer from './peer/claims.mjs';

const live = (holder) => ({ holder, expiresAt: Date.now() + HOUR_MS });
const good = { holder: 'a', ttlMs: 1000 };

/** Values that are no strings worth having, whatever the argument. */
const notStrings = [
  undefined,
  null,
  '',
  0,
  1,
  NaN,
  true,
  1n,
  [],
  ['a'],
  {},
  Symbol('a'),
  () => 'a',
];
const notNumbers = [null, '', '1000', 'x', true, false, [], [5], {}, Symbol('1'), () => 5, 5n];
const notFinite = [NaN, Infinity, -Infinity];
const notFences = [undefined, ...notNumbers, ...notFinite, -1, 0.5, 1e300, 2 ** 53, -(2 ** 53)];
const notPaths = [
  ...notStrings,
  Buffer.from('/tmp'),
  new URL('file:///tmp'),
  '/tmp/a\0b',
  '\0',
  '/tmp/\ud800',
  '\udc00/x',
  '/tmp/\udc00\ud800',
];

/** What is refused: function, arguments made from a good run directory, and the argument named. */
const badInput = [
  ...notPaths.flatMap((runDir) => [
    ['acquireClaim', () => [runDir, good], 'runDir'],
    ['releaseClaim', () => [runDir, 1], 'runDir'],
    ['readClaim', () => [runDir], 'runDir'],
    ['currentFence', () => [runDir], 'runDir'],
  ]),
  ...[undefined, null, 'a', 1, true, 1n, Symbol('a')].map((options) => [
    'acquireClaim',
    (runDir) => [runDir, options],
    'options',
  ]),
  ...[[], {}].map((options) => ['acquireClaim', (runDir) => [runDir, options], '']),
  ...notStrings.map((holder) => [
    'acquireClaim',
    (runDir) => [runDir, { ...good, holder }],
    'holder',
  ]),
  ...[undefined, ...notNumbers, ...notFinite, 0, -0, -1, -Number.MIN_VALUE].map((ttlMs) => [
    'acquireClaim',
    (runDir) => [runDir, { ...good, ttlMs }],
    'ttlMs',
  ]),
  ...[...notNumbers, ...notFinite].map((now) => [
    'acquireClaim',
    (runDir) => [runDir, { ...good, now }],
    'now',
  ]),
  [
    'acquireClaim',
    (runDir) => [runDir, { ...good, ttlMs: Number.MAX_VALUE, now: Number.MAX_VALUE }],
    'now',
  ],
  ...notFences.map((fence) => ['releaseClaim', (runDir) => [runDir, fence], 'fence']),
];

// Guards the check of arguments: none may reach the disk or the addon's own code, where the best
// that can happen is an error that names nothing.
for (const [situation, holdings] of Object.entries({
  'a run never claimed': undefined,
  'a held run': { '3.json': live('b') },
})) {
  test(`bad input is refused before the disk is touched: ${situation}`, async () => {
    const runDir = makeRun(holdings);
    const base = dirname(runDir);
    const before = snapshot(base);
    for (const [name, makeArgs, argument] of badInput) {
      const args = makeArgs(runDir);
      const shown = `${name}(${args.map((arg) => describe(arg)).join(', ')})`;
      // A function that answers with a promise answers so in every case.
      let promise;
      assert.doesNotThrow(() => {
        promise = addon[name](...args);
      }, shown);
      const refusals = [
        await outcome(() => promise),
        await outcome(() => addon[`${name}Sync`](...args)),
      ];
      for (const { error, value } of refusals) {
        assert.ok(error, `${shown} answered ${JSON.stringify(value)}`);
        assert.equal(error.code, 'invalid_config', `${shown}: ${error.message}`);
        assert.equal(error.name, 'NamzuError', shown);
        assert.equal(error.retryable, false, shown);
        assert.ok(error instanceof Error, shown);
        assert.match(error.message, new RegExp(argument), shown);
      }
      assert.throws(() => addon[`${name}Sync`](...args), shown);
    }
    assert.deepEqual(snapshot(base), before);
  });
}

function describe(value) {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
    const fields = Object.entries(value).map(([key, field]) => `${key}: ${describe(field)}`);
    return `{ ${fields.join(', ')} }`;
  }
  return typeof value === 'string' ? JSON.stringify(value) : String(value);
}

test('too few arguments are refused too', async () => {
  for (const name of ['acquireClaim', 'releaseClaim', 'readClaim', 'currentFence']) {
    for (const form of [name, `${name}Sync`]) {
      const { error } = await outcome(() => addon[form]());
      assert.equal(error.code, 'invalid_config', form);
    }
  }
  const { error } = await outcome(() => addon.acquireClaim(makeRun()));
  assert.equal(error.code, 'invalid_config');
});

// Guards the promise of an asynchronous function where the host's own object does the throwing.
test('an option that throws when it is read rejects, and throws nothing', async () => {
  const options = {
    holder: 'a',
    get ttlMs() {
      throw new RangeError('not today');
    },
  };
  const promise = addon.acquireClaim(makeRun(), options);
  await assert.rejects(promise, /not today/);
  assert.throws(() => addon.acquireClaimSync(makeRun(), options), /not today/);
});

// Guards the row of the table that hosts match for a lease of no length.
test('a bad ttlMs is refused as hosts know it', async () => {
  for (const ttlMs of [0, -1, -0.5, NaN, Infinity, -Infinity]) {
    const runDir = makeRun();
    for (const form of ['acquireClaim', 'acquireClaimSync']) {
      const { error } = await outcome(() => addon[form](runDir, { holder: 'a', ttlMs }));
      assert.equal(error.code, 'invalid_config');
      assert.match(error.message, /positive number of milliseconds/);
      assert.deepEqual(error.details, { runId: basename(runDir), ttlMs });
    }
  }
});

// Guards the check of the sum: an end at infinity would never come.
test('numbers at the edge of what is allowed are taken as they are', async () => {
  for (const options of [
    { ttlMs: Number.MIN_VALUE, now: 0 },
    { ttlMs: 0.25, now: 1000.5 },
    { ttlMs: Number.MAX_VALUE, now: 0 },
    { ttlMs: 1, now: -1e15 },
    { ttlMs: Number.MAX_VALUE, now: -Number.MAX_VALUE },
  ]) {
    const expiresAt = options.now + options.ttlMs;
    for (const form of ['acquireClaim', 'acquireClaimSync']) {
      const runDir = makeRun();
      const lease = await addon[form](runDir, { holder: 'a', ...options });
      assert.deepEqual(lease, { holder: 'a', fence: 1, expiresAt });
      assert.deepEqual(await addon.readClaim(runDir), lease);
      assert.deepEqual(await peer.readClaim(runDir), lease);
    }
  }
  // `undefined` is as good as absent.
  const before = Date.now();
  const lease = await addon.acquireClaim(makeRun(), { ...good, now: undefined });
  assert.ok(lease.expiresAt >= before + 1000 && lease.expiresAt <= Date.now() + 1001);
  // 2^53 - 1 is a fence, if not one that a name can carry.
  await addon.releaseClaim(makeRun(), Number.MAX_SAFE_INTEGER);
  await addon.releaseClaim(makeRun(), 0);
});

// Guards the identity of holders: text that is repaired on its way makes one worker of two.
test('holders are the same exactly when JavaScript says so', async () => {
  const holders = ['\ud800', '\ud801', '\udc00', '\ufffd', 'a\ud800', '\ud83d\ude00', 'é', 'é'];
  holders.push('a\0b', 'a', ' a', '"', '\\ud800', '\n', 'x'.repeat(10_000));
  for (const form of ['', 'Sync']) {
    const acquire = addon[`acquireClaim${form}`];
    for (const holder of holders) {
      const runDir = makeRun();
      const lease = await acquire(runDir, { holder, ttlMs: HOUR_MS });
      assert.equal(lease.holder, holder);
      assert.equal((await addon.readClaim(runDir)).holder, holder);
      assert.equal((await peer.readClaim(runDir)).holder, holder, 'as other workers read it');
      for (const other of holders) {
        const answer = await acquire(runDir, { holder: other, ttlMs: HOUR_MS });
        assert.equal(answer === null, other !== holder, JSON.stringify([holder, other]));
      }
      // And so does one that another worker wrote.
      const foreign = makeRun({ '4.json': live(holder) });
      assert.equal((await acquire(foreign, { holder, ttlMs: HOUR_MS })).fence, 5);
    }
  }
});

// Guards a lease against its own body: one over a MiB is read as damaged, and the run as free,
// while its holder was told that it holds it.
test('a holder whose body would be taken for damaged is refused', async () => {
  for (const form of ['', 'Sync']) {
    const acquire = async (...args) => addon[`acquireClaim${form}`](...args);
    const longest = '\ud800'.repeat(100_000);
    const runDir = makeRun();
    assert.equal((await acquire(runDir, { holder: longest, ttlMs: HOUR_MS })).fence, 1);
    assert.equal((await addon.readClaim(runDir)).holder, longest);
    const refused = makeRun();
    await assert.rejects(acquire(refused, { holder: `${longest}a`, ttlMs: HOUR_MS }), {
      name: 'NamzuError',
      code: 'invalid_config',
      message: /^holder must be a string of 1 to 100,000 characters/,
    });
    assert.equal(existsSync(refused), false);
  }
});

// Guards relative paths: a call that gets to its directory only after the process has moved on
// would claim another run than the one its caller was told of.
test('a relative path is the one of the moment of the call', async () => {
  const [from, to] = [tempDir(), tempDir()];
  const before = process.cwd();
  try {
    for (let i = 0; i < 50; i += 1) {
      process.chdir(from);
      const claimed = addon.acquireClaim(`run_${i}`, { holder: 'a', ttlMs: HOUR_MS });
      process.chdir(to);
      await claimed;
    }
  } finally {
    process.chdir(before);
  }
  assert.deepEqual([readdirSync(from).length, readdirSync(to).length], [50, 0]);
});

// Guards the stack: an error that points into the addon's threads does not say who asked.
test('the stack of a refusal shows who called', async () => {
  const runDir = makeRun();
  mkdirSync(runDir);
  writeFileSync(claimsOf(runDir), 'not a directory');
  async function someWorkerOfTheHost(call) {
    return await call();
  }
  for (const call of [
    () => addon.acquireClaim('', good),
    () => addon.acquireClaimSync('', good),
    () => addon.readClaim(runDir),
    () => addon.readClaimSync(runDir),
    () => addon.currentFence(runDir),
    () => addon.releaseClaim(runDir, 1),
  ]) {
    const { error } = await outcome(() => someWorkerOfTheHost(call));
    assert.match(error.stack, /errors\.test\.mjs/, String(call));
    assert.match(error.stack, /someWorkerOfTheHost/, String(call));
    assert.ok(error.stack.includes(error.message), String(call));
  }
});

// Guards P6 where the path is wrong: such a run is not "held by somebody else".
test('a path that is no directory is a storage error with its errno', async () => {
  const runDir = makeRun();
  mkdirSync(runDir);
  writeFileSync(claimsOf(runDir), 'not a directory');
  for (const call of [
    () => addon.readClaim(runDir),
    () => addon.currentFence(runDir),
    () => addon.releaseClaim(runDir, 1),
    () => addon.readClaimSync(runDir),
  ]) {
    const { error } = await outcome(call);
    const { name, code, retryable, details, cause } = error;
    assert.deepEqual(
      { name, code, retryable },
      { name: 'NamzuError', code: 'storage_error', retryable: false },
    );
    assert.equal(details.code, 'ENOTDIR');
    assert.equal(details.path, claimsOf(runDir));
    assert.equal(cause.code, 'ENOTDIR');
    assert.ok(error.message.includes('ENOTDIR') && error.message.includes(claimsOf(runDir)));
  }
});

test('a refusal is an error of the package, printable and structured', async () => {
  const { error } = await outcome(() => addon.acquireClaim(makeRun(), { holder: '', ttlMs: 1 }));
  assert.ok(error instanceof addon.NamzuError);
  assert.match(String(error), /^NamzuError: /);
  assert.equal(Object.prototype.toString.call(error), '[object Error]');
});

// Guards `instanceof` in hosts that have an error class of their own.
test('adoptErrorClass makes refusals instances of the host class', async () => {
  const file = makeRun();
  mkdirSync(file);
  writeFileSync(claimsOf(file), 'not a directory');
  const script = `
    const addon = require(${JSON.stringify(packageRoot)});
    const made = [];
    class HostError extends Error {
      constructor(init) {
        super(init.message, { cause: init.cause });
        this.name = 'NamzuError';
        Object.assign(this, { code: init.code, details: init.details, retryable: init.retryable });
        made.push(Object.keys(init).sort());
      }
    }
    (async () => {
      const before = await addon.acquireClaim('x', {}).catch((error) => error);
      addon.adoptErrorClass(HostError);
      const calls = [
        () => addon.acquireClaim('x', {}),
        () => addon.acquireClaimSync('x', {}),
        () => addon.acquireClaim('x', { holder: 'a', ttlMs: 0 }),
        () => addon.readClaim(${JSON.stringify(file)}),
        () => addon.readClaimSync(${JSON.stringify(file)}),
      ];
      const refusals = [];
      for (const call of calls) {
        const error = await (async () => call())().catch((error) => error);
        const { name, code, message, details, retryable, cause } = error;
        const host = error instanceof HostError;
        refusals.push({ host, name, code, message, details, retryable, cause: cause?.code });
      }
      const wrong = [undefined, null, 1, 'Error', {}, () => {}].filter((Class) => {
        try { addon.adoptErrorClass(Class); return true } catch (error) { return !(error instanceof HostError) }
      });
      console.log(JSON.stringify({ before: before instanceof HostError, refusals, made, wrong: wrong.length }));
    })();
  `;
  const { code, stdout, stderr } = await runNode(['--eval', script], { cwd: tempDir() });
  assert.equal(code, 0, stderr);
  const { before, refusals, made, wrong } = JSON.parse(stdout);
  assert.equal(before, false);
  assert.equal(wrong, 0, 'what is no class of errors is refused, and changes nothing');
  for (const { host, name, code, message, retryable } of refusals) {
    assert.deepEqual(
      { host, name, retryable },
      { host: true, name: 'NamzuError', retryable: false },
    );
    assert.ok(code && message);
  }
  for (const keys of made) {
    assert.deepEqual(keys, ['cause', 'code', 'details', 'message', 'retryable']);
  }
  assert.deepEqual(refusals[2].details, { runId: 'x', ttlMs: 0 });
  assert.equal(refusals[3].cause, 'ENOTDIR');
  assert.equal(refusals[4].details.code, 'ENOTDIR');
});
