// Checkpoints of tens of megabytes: whole, in memory that grows by a few times their size, and
// with turns for others in between.

import assert from 'node:assert/strict';
import { readFileSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { test } from 'node:test';
import { runNode, workerFile } from './helpers.mjs';
import { makeCheckpoint, makeStore } from './store-helpers.mjs';

const MESSAGES = 12_000;
const LINE = 'The quick brown fox jumps over the lazy dog. "Quoted", and so on.\n'.repeat(60);

/** About 50 MB, with characters of one, two or four bytes here and there. */
function largeCheckpoint(id, rare) {
  const content = (index) => `${LINE}${index % 50 === 0 ? rare : ''}${index}`;
  const messages = Array.from({ length: MESSAGES }, (_, index) => ({ content: content(index) }));
  return makeCheckpoint(id, { messages });
}

const linux = { skip: process.platform === 'linux' ? false : 'memory is read from /proc' };

test('a checkpoint of 50 MB', linux, async (t) => {
  const { store, scope, config, checkpoints } = makeStore();
  for (const [id, rare] of Object.entries({ cp_ascii: 'e', cp_latin: 'é', cp_wide: '—😀' })) {
    const checkpoint = largeCheckpoint(id, rare);
    await store.writeCheckpoint(scope, checkpoint);
    const file = join(checkpoints, `${id}.json`);
    // Guards the pieces that it is handed over in: none is lost, doubled or cut in two.
    const text = JSON.stringify({ ...checkpoint, schemaVersion: 1 }, null, 2);
    assert.ok(readFileSync(file, 'utf8') === text, `${id} is not what was to be written`);
    assert.ok(JSON.stringify(await store.readCheckpoint(scope, id), null, 2) === text);

    const { size } = statSync(file);
    assert.ok(size > 45e6);
    for (const op of ['read', 'write']) {
      const args = JSON.stringify({ config, scope, id, op });
      const { code, stdout, stderr } = await runNode([
        '--expose-gc',
        workerFile('large.mjs'),
        args,
      ]);
      assert.equal(code, 0, stderr);
      const { grown, id: whose } = JSON.parse(stdout);
      assert.equal(whose, id);
      const times = grown / size;
      t.diagnostic(`${id}: to ${op} it took ${times.toFixed(2)} times its size`);
      // Guards the memory: to read, the text once, what is parsed of it, and no more copies. To
      // write, our copy and what JSON.stringify leaves, which is the text twice until it is
      // collected, of two bytes a character where one is wide.
      const most = op === 'read' ? 3 : id === 'cp_wide' ? 5 : 3.5;
      assert.ok(grown < most * size + 16e6, `${id}: to ${op} it took ${times.toFixed(2)} times`);
    }
  }
});

// Guards pieces that would end between the two halves of a character.
test('a text of wide characters is cut between them', async () => {
  const { store, scope } = makeStore();
  for (const shift of ['', 'x']) {
    const text = shift + '😀'.repeat(1_200_000);
    await store.writeCheckpoint(scope, makeCheckpoint('cp_1', { text }));
    const read = await store.readCheckpoint(scope, 'cp_1');
    assert.ok(read.text === text, 'a character was torn apart');
  }
});

/** In which turns of the event loop a method is called while `during` runs; each turn by number. */
async function turnsOf(methods, during) {
  let turn = 0;
  let done = false;
  const count = () => {
    turn += 1;
    if (!done) setImmediate(count);
  };
  setImmediate(count);
  const calls = [];
  const originals = methods.map(([object, name]) => object[name]);
  for (const [index, [object, name]] of methods.entries()) {
    object[name] = function spy(...args) {
      calls.push({ name, turn });
      return originals[index].apply(this, args);
    };
  }
  try {
    await during();
  } finally {
    done = true;
    for (const [index, [object, name]] of methods.entries()) object[name] = originals[index];
  }
  return calls;
}

const { Draft, Texts } = createRequire(import.meta.url)('../lib/load.js').load();

// Guards the turns of others: what takes long and can be parted, is.
test('others have a turn between the steps of a large read and write', async () => {
  const { store, scope } = makeStore();
  const large = makeCheckpoint('cp_1', { text: 'x'.repeat(5 << 20) });
  const made = await turnsOf(
    [
      [JSON, 'stringify'],
      [Draft.prototype, 'push'],
    ],
    () => store.writeCheckpoint(scope, large),
  );
  assert.equal(made.filter(({ name }) => name === 'push').length, 5);
  assert.equal(new Set(made.map(({ turn }) => turn)).size, made.length, 'a turn for each step');

  const taken = await turnsOf(
    [
      [JSON, 'parse'],
      [Texts.prototype, 'next'],
    ],
    () => store.readCheckpoint(scope, 'cp_1'),
  );
  const [next, parse] = taken;
  assert.deepEqual([next.name, parse.name], ['next', 'parse']);
  assert.ok(parse.turn > next.turn, 'a turn to take the text in, and one to parse it');

  const text = 'x'.repeat(200_000);
  for (let index = 0; index < 40; index += 1) {
    await store.writeCheckpoint(scope, makeCheckpoint(`cp_${index}`, { text, createdAt: index }));
  }
  const parsed = await turnsOf([[JSON, 'parse']], () => store.listCheckpoints(scope));
  assert.equal(parsed.length, 40);
  assert.ok(new Set(parsed.map(({ turn }) => turn)).size >= 8, '8 MB are parsed in 8 turns');
});
