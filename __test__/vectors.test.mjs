// The observed answers of the implementation that existing workers run: the addon must give the
// same ones, or two workers in one directory would disagree about who holds a run.

import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { claimsOf, forms, packageRoot, tempDir } from './helpers.mjs';

const files = [join(packageRoot, 'tests/fixture/vectors/claims.jsonl'), ...furtherFiles()];

/** Files in a folder of the caller's choice, to try vectors that are not in the repository. */
function furtherFiles() {
  const folder = process.env.FENCELINK_VECTORS;
  if (!folder) return [];
  const names = readdirSync(folder).filter((name) => name.endsWith('.jsonl'));
  return names.map((name) => join(folder, name));
}

/** The claim vectors of a file; one of listing vectors has none. */
function vectorsOf(file) {
  const lines = readFileSync(file, 'utf8').split('\n').filter(Boolean);
  return lines.map((line) => JSON.parse(line)).filter((vector) => vector.steps);
}

const vectors = files.flatMap(vectorsOf);

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

async function play({ files: before, steps, after }, runDir, functions) {
  const first = before && contents(before);
  if (first) lay(runDir, first);
  for (const [index, step] of steps.entries()) {
    const answer = await take(step, runDir, functions);
    assert.deepEqual(answer ?? null, step.result, `step ${index + 1}, ${step.op}`);
  }
  if (after === null) {
    assert.ok(!existsSync(runDir), 'the run has no directory');
    return;
  }
  const names = readdirSync(claimsOf(runDir));
  assert.deepEqual(names.sort(), Object.keys(after).sort(), 'the names on disk');
  for (const name of names) {
    const content = readFileSync(join(claimsOf(runDir), name));
    if (first && name in first) assert.deepEqual(content, first[name], `${name} was rewritten`);
    else assert.deepEqual(leaseIn(content), after[name], name);
  }
}

function take({ op, options, fence }, runDir, { acquire, release, read, currentFence }) {
  switch (op) {
    case 'acquire':
      return acquire(runDir, options);
    case 'release':
      return release(runDir, fence);
    case 'read':
      return read(runDir);
    case 'currentFence':
      return currentFence(runDir);
    default:
      throw new Error(`no operation is called ${op}`);
  }
}

/** Name to bytes. */
function contents(before) {
  const bytes = (content) =>
    typeof content === 'string' ? Buffer.from(content) : Buffer.from(content.b64, 'base64');
  return Object.fromEntries(Object.entries(before).map(([name, c]) => [name, bytes(c)]));
}

function lay(runDir, first) {
  mkdirSync(claimsOf(runDir), { recursive: true });
  for (const [name, content] of Object.entries(first)) {
    writeFileSync(join(claimsOf(runDir), name), content);
  }
}

/** What other workers read of a body: it may carry more. */
function leaseIn(content) {
  const { holder, expiresAt } = JSON.parse(content);
  return { holder, expiresAt };
}
