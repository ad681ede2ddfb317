// Every system call of the addon's operations: the process is killed there, held up there while
// another takes the run, or the call answers each errno that it can give, once or for good. After each
// the promises are checked, and the outcome is held to the table in docs/testing.md, which
// `FENCELINK_WRITE_DOCS=1` writes anew.

import { test } from 'node:test';
import { compareTable, fillTable } from '../calls/table.mjs';
import { noFaults } from '../faults.mjs';

test('every system call under every fault', { skip: noFaults }, async (t) => {
  const rows = await fillTable({ processes: 3 });
  t.diagnostic(`${rows.length} system calls`);
  console.log(compareTable(rows));
});
