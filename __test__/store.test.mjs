// The store as a host uses it: what is written is what is read, by this store and by others.

import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { addon, HOUR_MS, snapshot, tempDir, workerFile } from './helpers.mjs';
import {
  assertHoldingsOnly,
  assertRefuses,
  contentsOf,
  makeCheckpoint,
  makeStore,
  scopeOf,
} from './store-helpers.mjs';

// Not named .json, for formatters would change it.
const fixture = workerFile('../fixtures/cp_interop.txt');

/** What a store in plain JavaScript writes of a checkpoint. */
const plain = (checkpoint) => JSON.stringify({ ...checkpoint, schemaVersion: 1 }, null, 2);

// Guards the file's format, which other workers read and write: byte for byte, whichever way.
test('a file is the one that other workers write', async () => {
  const { store, scope, checkpoints } = makeStore();
  const text = readFileSync(fixture, 'utf8');
  const { schemaVersion, ...checkpoint } = JSON.parse(text);
  for (const fence of [undefined, 0]) {
    await store.writeCheckpoint(scope, checkpoint, fence);
    assert.equal(readFileSync(join(checkpoints, 'cp_interop.json'), 'utf8'), text);
  }
  assert.equal(text, plain(checkpoint));
  assert.deepEqual(await store.readCheckpoint(scope, 'cp_interop'), JSON.parse(text));
});

// Guards that nothing is lost or changed on the way: what comes back is what `JSON.parse` makes of
// the file, whatever its characters are and however wide.
test('what is read is what JSON.parse gives', async () => {
  const { store, scope, checkpoints } = makeStore();
  const filler = 'plain text, and much of it. '.repeat(40);
  const values = {
    ascii: filler,
    latin: `${filler}é${filler}ÿ\u0080`,
    wide: `${filler}—${filler}`,
    wider: '漢字😀'.repeat(500),
    mixed: `${filler}é—😀\u2028\ufeff\ufffd`,
    lone: ['\ud800', '\udc00x', 'x\ud83d'],
    escapes: '\u0000\u0001\b\t\n\u000b\f\r"\\/\u007f',
    numbers: [0, -0, 1e21, 1e-7, 5e-324, 1.7976931348623157e308, 0.1 + 0.2, 2 ** 53 + 2],
    keys: { '': 1, '—': 2, 10: 3, 9: 4, constructor: 5, toString: 6, '\ud800': 7 },
    proto: JSON.parse('{"__proto__":{"a":1},"x":{"__proto__":null}}'),
    deep: JSON.parse('['.repeat(200) + ']'.repeat(200)),
  };
  for (const [name, value] of Object.entries(values)) {
    const checkpoint = makeCheckpoint(`cp_${name}`, { value, createdAt: 1 });
    const text = plain(checkpoint);
    await store.writeCheckpoint(scope, checkpoint);
    assert.equal(readFileSync(join(checkpoints, `cp_${name}.json`), 'utf8'), text, name);
    const read = await store.readCheckpoint(scope, `cp_${name}`);
    assert.deepStrictEqual(read, JSON.parse(text), name);
    assert.equal(plain(read), text, name);
  }
  const { value } = await store.readCheckpoint(scope, 'cp_proto');
  assert.ok(Object.hasOwn(value, '__proto__') && value.a === undefined);

  // Files of others: compact, with bytes that are no text, with duplicates, with numbers that
  // JavaScript would not write.
  const body = JSON.stringify(makeCheckpoint()).slice(0, -1);
  const files = {
    compact: Buffer.from(`${body}}`),
    broken: Buffer.concat([
      Buffer.from(`${body},"text":"${'x'.repeat(99)}`),
      Buffer.from([0x61, 0xff, 0xe2, 0x82, 0x62, 0xed, 0xa0, 0x80, 0xf0, 0x9f, 0x98]),
      Buffer.from('漢"}'),
    ]),
    duplicates: Buffer.from(`${body},"iteration":7,"a":1,"a":2,"schemaVersion":1.5}`),
    numbers: Buffer.from(`\n\t${body},"n":[1E400,-0.0,1.50,12345678901234567890]}\r\n `),
    escapes: Buffer.from(`${body},"\\u005f_proto__":"\\u2014\\/\\ud83d\\ude00"}`),
  };
  for (const [name, bytes] of Object.entries(files)) {
    writeFileSync(join(checkpoints, `file_${name}.json`), bytes);
    const read = await store.readCheckpoint(scope, `file_${name}`);
    assert.deepStrictEqual(read, JSON.parse(bytes.toString('utf8')), name);
  }
});

// Guards the last member, by which every reader knows the schema, against checkpoints that bring
// one, or bring ways of their own to be written.
test('the schema is written last, whatever a checkpoint has', async () => {
  const { store, scope, checkpoints } = makeStore();
  const textOf = () => readFileSync(join(checkpoints, 'cp_1.json'), 'utf8');
  const base = makeCheckpoint();
  const last = `"schemaVersion": 1\n}`;
  class Held {
    constructor(members) {
      Object.assign(this, members);
    }
    toJSON() {
      return { ...this, made: 'by toJSON' };
    }
  }
  const answersItself = { ...base, toJSON: () => answersItself };
  const cases = {
    'one of its own in the middle': [{ schemaVersion: 7, ...base, after: 1 }, { after: 1 }],
    'members without a value': [{ ...base, gone: undefined, also: () => 1, [Symbol('x')]: 1 }, {}],
    'a way to be written': [new Held(base), { made: 'by toJSON' }],
    'a way to be written of its own': [{ ...base, toJSON: () => base }, {}],
    'a way that answers itself': [
      { ...base, toJSON: function toJSON() { return this; } }, // biome-ignore format: one line
      {},
    ],
    'a way that answers the original': [answersItself, {}],
    'a member of that name': [{ ...base, toJSON: 'no function' }, { toJSON: 'no function' }],
    'no prototype': [Object.assign(Object.create(null), base), {}],
  };
  for (const [what, [checkpoint, more]] of Object.entries(cases)) {
    await store.writeCheckpoint(scope, checkpoint);
    assert.ok(textOf().endsWith(last), what);
    assert.equal(textOf(), plain({ ...base, ...more }), what);
  }
  const read = await store.readCheckpoint(scope, 'cp_1');
  await store.writeCheckpoint(scope, { ...read, added: 1 });
  assert.ok(textOf().endsWith(last));
});

// Guards the moment of the copy: a host goes on with its objects while the write is under way.
test('what is changed after the call is not written', async () => {
  const { store, scope } = makeStore();
  for (const size of [10, 3 << 20]) {
    const checkpoint = makeCheckpoint('cp_1', { text: 'x'.repeat(size), list: [1] });
    const held = { ...scope };
    const written = store.writeCheckpoint(held, checkpoint);
    checkpoint.iteration = 99;
    checkpoint.list.push(2);
    checkpoint.id = 'cp_2';
    held.runId = 'run_2';
    await written;
    const read = await store.readCheckpoint(scope, 'cp_1');
    assert.equal(read.iteration, 1);
    assert.deepEqual(read.list, [1]);
  }
  assert.equal(existsSync(makeStore().runDir), false);
});

// Guards the order in which other workers restore: by time, then by name as they list a directory,
// whatever order the volume has.
test('checkpoints are listed oldest first, and equal ones by name', async () => {
  const { store, scope, checkpoints } = makeStore();
  assert.deepEqual(await store.listCheckpoints(scope), []);
  assert.equal(await store.readCheckpoint(scope, 'cp_1'), null);
  const times = { cp_b: 5, cp_é: 5, cp_B: 5, cp_a: 9, cp_c: -1, cp_z: 0, cp_y: -0 };
  for (const [id, createdAt] of Object.entries(times)) {
    await store.writeCheckpoint(scope, makeCheckpoint(id, { createdAt }));
  }
  for (const name of ['cp_x.json.1.tmp', '.tmp-1-0-a', 'readme.txt']) {
    writeFileSync(join(checkpoints, name), '{');
  }
  const ids = (await store.listCheckpoints(scope)).map(({ id }) => id);
  assert.deepEqual(ids, ['cp_c', 'cp_y', 'cp_z', 'cp_B', 'cp_b', 'cp_é', 'cp_a']);
  const asOthers = readdirSync(checkpoints)
    .filter((name) => name.endsWith('.json'))
    .map((name) => JSON.parse(readFileSync(join(checkpoints, name), 'utf8')))
    .sort((one, other) => one.createdAt - other.createdAt);
  assert.deepEqual(await store.listCheckpoints(scope), asOthers);

  await store.deleteCheckpoint(scope, 'cp_z');
  await store.deleteCheckpoint(scope, 'cp_z');
  assert.equal(await store.readCheckpoint(scope, 'cp_z'), null);
  assert.equal((await store.listCheckpoints(scope)).length, 6);
});

// Guards the place of each run, where other workers look for it, and that runs are kept apart.
test('a run has its directory, and a sub-run one below its parent', async () => {
  const { store, config } = makeStore();
  const scopes = {
    run_1: scopeOf('run_1'),
    'run_1/children/run_2': scopeOf('run_2', 'run_1'),
    'run_2/children/run_3': scopeOf('run_3', 'run_2'),
    'a run é': scopeOf('a run é'),
    '...': scopeOf('...'),
  };
  for (const [path, scope] of Object.entries(scopes)) {
    await store.writeCheckpoint(scope, makeCheckpoint('cp_1', { path }));
    await store.claimRun(scope, { holder: path, ttlMs: HOUR_MS });
    const runDir = join(config.baseDir, path);
    assert.deepEqual(
      readdirSync(runDir)
        .filter((name) => name !== 'children')
        .sort(),
      ['checkpoints', 'claims'],
    );
    assert.equal((await addon.readClaim(runDir)).holder, path);
  }
  for (const [path, scope] of Object.entries(scopes)) {
    assert.equal((await store.readCheckpoint(scope, 'cp_1')).path, path);
  }
  // A relative directory is the one that it was when the store was made.
  const was = process.cwd();
  process.chdir(config.baseDir);
  const relative = new addon.DiskCheckpointStore({ baseDir: '.' });
  process.chdir(was);
  assert.equal((await relative.listCheckpoints(scopeOf('run_1'))).length, 1);
});

// Guards the fence through the store: the store's claims and the claim module's are the same.
test('claims and fences', async () => {
  const { store, scope, runDir, claims, checkpoints } = makeStore();
  const lease = await store.claimRun(scope, { holder: 'a', ttlMs: 1000, now: 5 });
  assert.deepEqual(lease, { holder: 'a', fence: 1, expiresAt: 1005 });
  assert.deepEqual(await addon.readClaim(runDir), lease);
  assert.equal(await store.claimRun(scope, { holder: 'b', ttlMs: 1000, now: 1004 }), null);
  await store.writeCheckpoint(scope, makeCheckpoint(), 1);
  assert.equal((await store.claimRun(scope, { holder: 'b', ttlMs: 1000, now: 1005 })).fence, 2);

  const before = contentsOf(checkpoints);
  await assertRefuses(() => store.writeCheckpoint(scope, makeCheckpoint('cp_2'), 1), {
    code: 'storage_error',
    details: { runId: 'run_1', presentedFence: 1, currentFence: 2 },
    mentions: ['no longer holds it', 'run_1'],
  });
  assert.deepEqual(contentsOf(checkpoints), before);
  await store.writeCheckpoint(scope, makeCheckpoint('cp_2'), 2);
  await store.writeCheckpoint(scope, makeCheckpoint('cp_3'), 3);
  // Without a fence it is accepted always.
  await store.writeCheckpoint(scope, makeCheckpoint('cp_4'));

  await store.releaseRun(scope, 1);
  assert.equal(await addon.currentFence(runDir), 2);
  assert.equal(await store.releaseRun(scope, 2), undefined);
  assert.equal(await addon.currentFence(runDir), 3);
  await assertRefuses(() => store.writeCheckpoint(scope, makeCheckpoint(), 2), {
    details: { runId: 'run_1', presentedFence: 2, currentFence: 3 },
  });
  assert.equal(await store.claimRun(scope, { holder: 'a', ttlMs: 1 }).then((it) => it.fence), 4);
  assertHoldingsOnly(claims);
});

// Guards that looking leaves no trace.
test('reading, listing and deleting create nothing', async () => {
  const { store, scope, config } = makeStore();
  const before = snapshot(config.baseDir);
  assert.equal(await store.readCheckpoint(scope, 'cp_1'), null);
  assert.deepEqual(await store.listCheckpoints(scope), []);
  assert.equal(await store.deleteCheckpoint(scope, 'cp_1'), undefined);
  assert.equal(await store.releaseRun(scope, 1), undefined);
  assert.deepEqual(snapshot(config.baseDir), before);
  const elsewhere = join(tempDir(), 'not', 'there');
  const other = new addon.DiskCheckpointStore({ baseDir: elsewhere });
  assert.equal(await other.readCheckpoint(scope, 'cp_1'), null);
  assert.equal(existsSync(elsewhere), false);
  await other.writeCheckpoint(scope, makeCheckpoint());
  assert.equal((await other.listCheckpoints(scope)).length, 1);
});

// Guards the writes of one process that run at the same time: none sees another's file.
test('many writes at once are each whole', async () => {
  const { store, scope, checkpoints, claims } = makeStore();
  const { fence } = await store.claimRun(scope, { holder: 'a', ttlMs: HOUR_MS });
  const write = (index) => {
    const id = `cp_${index % 5}`;
    const text = String(index).repeat(index * 20);
    const more = { text, index, createdAt: index % 5 };
    return store.writeCheckpoint(scope, makeCheckpoint(id, more), index % 2 ? fence : undefined);
  };
  const writes = Array.from({ length: 200 }, (_, index) => write(index));
  const reads = Array.from({ length: 50 }, () => store.listCheckpoints(scope));
  await Promise.all(writes);
  for (const read of [...(await Promise.all(reads)), await store.listCheckpoints(scope)]) {
    for (const { text, index } of read) assert.equal(text, String(index).repeat(index * 20));
  }
  assert.equal(readdirSync(checkpoints).length, 5);
  assertHoldingsOnly(claims);
  mkdirSync(join(checkpoints, 'other'));
  assert.equal((await store.listCheckpoints(scope)).length, 5);
});
