// The observed answers of the implementation that existing workers run: the addon must give the
// same ones, or two workers in one directory would disagree about who holds a run.

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { play, vectorsIn } from './consumer/play.mjs';
import { forms, packageRoot, tempDir } from './helpers.mjs';

const files = [join(packageRoot, 'tests/fixture/vectors/claims.jsonl'), ...furtherFiles()];

/** Files in a folder of the caller's choice, to try vectors that are not in the repository. */
function furtherFiles() {
  const folder = process.env.FENCELINK_VECTORS;
  if (!folder) return [];
  const names = readdirSync(folder).filter((name) => name.endsWith('.jsonl'));
  return names.map((name) => join(folder, name));
}

const vectors = files.flatMap((file) => vectorsIn(readFileSync(file, 'utf8')));

test('there are vectors, and each operation is among them', () => {
  assert.ok(vectors.length > 200, `only ${vectors.length} vectors`);
  const operations = new Set(vectors.flatMap(({ steps }) => steps.map(({ op }) => op)));
  assert.deepEqual([...operations].sort(), ['acquire', 'currentFence', 'read', 'release']);
});

// Guards the agreement with existing workers about names, bodies, leases and what stays on disk.
for (const [form, functions] of Object.entries(forms)) {
  test(`the addon answers every vector as existing workers do (${form})`, async (t) => {
    const directory = tempDir();
    const failures = [];
    for (const [index, vector] of vectors.entries()) {
      try {
        await play(vector, join(directory, `run_${index}`), functions);
      } catch (error) {
        failures.push(`${vector.name}: ${error.message}`);
      }
    }
    assert.deepEqual(failures, []);
    t.diagnostic(`${vectors.length} vectors`);
  });
}
