// Plays a claim vector against a claim module. It needs nothing of the tests, so that an installed
// package is tried with it too.

import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** What no file of Windows has in its name. */
const isKept = (char) => char < ' ' || '<>:"|?*'.includes(char);

/**
 * The claim vectors of a file's text that this system can have the files of; a file of listing
 * vectors has none.
 */
export function vectorsIn(text) {
  const lines = text.split('\n').filter(Boolean);
  const vectors = lines.map((line) => JSON.parse(line)).filter((vector) => vector.steps);
  if (process.platform !== 'win32') return vectors;
  const names = ({ files }) => Object.keys(files ?? {});
  return vectors.filter((vector) => !names(vector).some((name) => [...name].some(isKept)));
}

/**
 * Lays the files of a vector, takes its steps, and looks at what is left; throws when an answer or
 * a file is not what the vector says.
 * @param functions `acquire`, `release`, `read`, `currentFence`
 */
export async function play({ files: before, steps, after }, runDir, functions) {
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

const claimsOf = (runDir) => join(runDir, 'claims');

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
