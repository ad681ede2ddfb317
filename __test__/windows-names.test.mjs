// Names that Windows keeps for itself, or would alter, as ids: refused there before anything is
// touched, and taken elsewhere. The rule looks at nothing but the name and the platform, so it is
// tried wherever the tests run.

import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { makeCheckpoint, makeStore } from './store-helpers.mjs';

const KEPT = [
  ...['CON', 'con', 'NUL', 'nul.txt', 'aux', 'PRN', 'COM1', 'lpt9.log', 'COM¹'],
  ...[
    'run_a.',
    'run_a ',
    'run_x:y',
    'run_<',
    'run_>',
    'run_"',
    'run_|',
    'run_?',
    'run_*',
    'run_\n',
  ],
];
const FREE = ['run_con', 'console', 'con_1', 'COM10', 'nullify', 'run_a.b', '.run', 'run a', 'é'];

// The binary is the one of the true platform.
before(() => makeStore().store.listCheckpoints(makeStore().scope));

/** Makes calls while the process says that it runs elsewhere. */
async function on(platform, calls) {
  const own = Object.getOwnPropertyDescriptor(process, 'platform');
  Object.defineProperty(process, 'platform', { ...own, value: platform });
  try {
    await calls();
  } finally {
    Object.defineProperty(process, 'platform', own);
  }
}

/** Whether each call that takes an id refuses this one. */
async function refusals(id) {
  const { store, scope } = makeStore();
  const calls = [
    () => store.claimRun({ ...scope, runId: id }, { holder: 'a', ttlMs: 1000 }),
    () => store.listCheckpoints({ ...scope, parentRunId: id }),
    () => store.writeCheckpoint(scope, makeCheckpoint(id)),
    () => store.readCheckpoint(scope, id),
    () => store.deleteCheckpoint(scope, id),
  ];
  const refused = [];
  for (const call of calls) {
    const error = await call().then(
      () => null,
      (thrown) => thrown,
    );
    if (error) assert.equal(error.code, 'invalid_config', `${id}: ${error.message}`);
    refused.push(error !== null);
  }
  return refused;
}

// Guards runs on Windows: under such a name a run would be a device, a stream of another file, or one
// run with that of a name without the end.
test('names that Windows keeps are refused as ids there', async () => {
  await on('win32', async () => {
    for (const id of KEPT) assert.deepEqual(await refusals(id), Array(5).fill(true), id);
  });
});

// Guards against a rule that refuses too much: workers elsewhere use such names.
test('other names are taken there, and all of them elsewhere', async () => {
  await on('win32', async () => {
    for (const id of FREE) assert.deepEqual(await refusals(id), Array(5).fill(false), id);
  });
  if (process.platform === 'win32') return;
  for (const id of [...KEPT, ...FREE]) {
    assert.deepEqual(await refusals(id), Array(5).fill(false), id);
  }
});
