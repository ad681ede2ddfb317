// What the addon reads and writes, against `JSON.parse` and `JSON.stringify` themselves, over values and
// texts made at random: holdings' bodies and checkpoints. `FENCELINK_DOCUMENTS` says how many of each,
// and `FENCELINK_SEED` replays a run.

import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import { addon, tempDir } from './helpers.mjs';
import { makeCheckpoint, makeStore } from './store-helpers.mjs';

const settings = {
  numRuns: Number(process.env.FENCELINK_DOCUMENTS ?? 1_000),
  ...(process.env.FENCELINK_SEED && { seed: Number(process.env.FENCELINK_SEED) }),
};

/** Any string of UTF-16 units, lone surrogates among them. */
const text = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.array(fc.integer({ min: 0, max: 0xffff })).map((units) => String.fromCharCode(...units)),
);
const anything = fc.jsonValue({ maxDepth: 4, stringUnit: 'binary' });
const number = fc.oneof(
  fc.double(),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.integer(),
);

/** A text that is a body, nearly is one, or is not: made of a value, then changed at a few places. */
const body = fc
  .tuple(
    fc.record(
      {
        holder: fc.oneof({ weight: 5, arbitrary: text }, anything),
        expiresAt: fc.oneof({ weight: 5, arbitrary: number }, anything),
        nonce: fc.oneof(text, anything),
        other: anything,
      },
      { requiredKeys: [] },
    ),
    fc.constantFrom(undefined, 1, '\t'),
    fc.array(
      fc.tuple(fc.nat(), fc.constantFrom('', '"', ',', '}', ':', '0', 'e', '\\', ' ', '\ufeff')),
      {
        maxLength: 2,
      },
    ),
    fc.integer({ min: 0, max: 3 }),
  )
  .map(([value, space, changes, how]) => {
    const whole = JSON.stringify(value, null, space);
    if (how > 0) return whole;
    return changes.reduce((document, [place, put]) => {
      const at = place % (document.length + 1);
      return `${document.slice(0, at)}${put}${document.slice(at + (place % 2))}`;
    }, whole);
  });

/** The lease that a body is, by `JSON.parse`. */
function leaseOf(bytes) {
  try {
    const { holder, expiresAt } = JSON.parse(bytes.toString('utf8'));
    if (typeof holder === 'string' && Number.isFinite(expiresAt)) return { holder, expiresAt };
  } catch {}
  return { holder: '', expiresAt: 0 };
}

// Guards the one judgement that must not differ between workers: a live lease that is judged damaged
// hands a running run to a second one.
test('a body is judged as JSON.parse judges it', (t) => {
  const runDir = join(tempDir(), 'run_1');
  mkdirSync(join(runDir, 'claims'), { recursive: true });
  let leases = 0;
  const bytes = fc.tuple(body, fc.option(fc.tuple(fc.nat(), fc.nat(255)), { freq: 5 }));
  const property = fc.property(bytes, ([document, damage]) => {
    const content = Buffer.from(document);
    if (damage && content.length > 0) content[damage[0] % content.length] = damage[1];
    writeFileSync(join(runDir, 'claims/4.json'), content);
    const lease = leaseOf(content);
    if (lease.holder !== '') leases += 1;
    assert.deepEqual(addon.readClaimSync(runDir), { ...lease, fence: 4 }, JSON.stringify(document));
  });
  fc.assert(property, settings);
  t.diagnostic(`${settings.numRuns} bodies, ${leases} of them leases`);
  assert.ok(leases > settings.numRuns / 10, 'too few are leases to mean anything');
});

// Guards what other workers read: the bytes of a holding are those that `JSON.stringify` writes.
test('a holder is written as JSON.stringify writes it', () => {
  const directory = tempDir();
  let runs = 0;
  const holder = text.filter((units) => units !== '');
  const property = fc.property(
    holder,
    fc.double({ min: 1, max: 1e18, noNaN: true }),
    (name, now) => {
      runs += 1;
      const runDir = join(directory, `run_${runs}`);
      const lease = addon.acquireClaimSync(runDir, { holder: name, ttlMs: 1, now });
      const written = readFileSync(join(runDir, 'claims/1.json'), 'utf8');
      const { nonce } = JSON.parse(written);
      const { expiresAt } = lease;
      assert.equal(written, JSON.stringify({ holder: name, expiresAt, nonce }));
      assert.deepEqual(addon.readClaimSync(runDir), lease);
      // A long run would use up the names that a volume has for files.
      rmSync(runDir, { recursive: true });
    },
  );
  fc.assert(property, settings);
});

// Guards that a checkpoint comes back as it was, whatever the host keeps in it.
test('a checkpoint is written and read as JSON does it', async () => {
  const { store, scope, checkpoints } = makeStore();
  const property = fc.asyncProperty(
    fc.dictionary(text, anything),
    anything,
    async (more, state) => {
      const checkpoint = { ...more, ...makeCheckpoint('cp_1', { state }) };
      await store.writeCheckpoint(scope, checkpoint);
      const { schemaVersion: _, ...members } = checkpoint;
      const expected = JSON.stringify({ ...members, schemaVersion: 1 }, null, 2);
      assert.equal(readFileSync(join(checkpoints, 'cp_1.json'), 'utf8'), expected);
      assert.deepEqual(await store.readCheckpoint(scope, 'cp_1'), JSON.parse(expected));
    },
  );
  await fc.assert(property, settings);
});
