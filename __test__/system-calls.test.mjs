// The process is killed, or held up while another takes the run, at every system call of a few
// operations. What comes of it is what the table in docs/testing.md says; `npm run test:torture` tries
// all operations, and every error.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fillTable, writtenRows } from './calls/table.mjs';
import { TracedProcess } from './calls/traced.mjs';
import { noFaults } from './faults.mjs';
import { makeCheckpoint, makeStore } from './store-helpers.mjs';

const options = { skip: noFaults };

/** That these are the rows that are written down, as far as these columns go. */
function assertAsWritten(rows, columns, titles) {
  const only = (row) => Object.fromEntries(columns.map((column) => [column, row[column]]));
  const written = writtenRows().filter(({ title }) => !titles || titles.includes(title));
  assert.deepEqual(
    rows.map((row) => [row.title, row.label, only(row)]),
    written.map((row) => [row.title, row.label, only(row)]),
    'not as in docs/testing.md; `FENCELINK_WRITE_DOCS=1 npm run test:torture -- system-calls` writes it there',
  );
}

// Guards P5: no state in between needs anybody's help, and what is left is bounded.
test('a process killed at any of its system calls', options, async (t) => {
  const titles = ['a renewal', 'a release', 'a fenced write'];
  const rows = await fillTable({ only: ['killed'], titles });
  assertAsWritten(rows, ['killed'], titles);
  t.diagnostic(`${rows.length} system calls`);
});

// Guards P1 and P3: whoever is passed by is told so, wherever that happens.
test('a worker held up at any of its system calls', options, async (t) => {
  const titles = ['a claim', 'a release', 'a fenced write', 'a read of the claim'];
  const rows = await fillTable({ only: ['stalled'], titles });
  assertAsWritten(rows, ['stalled'], titles);
  t.diagnostic(`${rows.length} system calls`);
});

// Guards a resumed run against a listing that lacks a checkpoint which is written anew meanwhile, as on
// btrfs: it would go on from less than there is.
test('one listing that shows no checkpoint is not believed', options, async () => {
  const run = makeStore();
  await run.store.writeCheckpoint(run.scope, makeCheckpoint());
  const traced = new TracedProcess();
  try {
    const operation = { config: run.config, method: 'listCheckpoints', args: [run.scope] };
    const { value, error } = await traced.make(operation, ['getdents64:retval=0:when=1']);
    assert.equal(value?.length, 1, error?.message);
  } finally {
    traced.end();
  }
});
