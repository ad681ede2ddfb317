// What the demo found, as tables that fit a terminal of 80 columns.

import Table from 'cli-table3';

const colors = process.stdout.isTTY && !process.env.NO_COLOR;
const LOOK = {
  style: { head: colors ? ['bold'] : [], border: colors ? ['grey'] : [] },
  // No line between rows.
  chars: { mid: '', 'left-mid': '', 'mid-mid': '', 'right-mid': '' },
};

/** @param {import('./crew.mjs').Member[]} crew @param {Map<string, any[]>} records @param {ReturnType<typeof import('./check.mjs').handovers>} handed */
export function workerTable(crew, records, { reclaims }) {
  const table = new Table({
    head: ['worker', 'kind', 'done', 'renewals', 'null', 'reclaims', 'fate'],
    colAligns: ['left', 'left', 'right', 'right', 'right', 'right', 'left'],
    ...LOOK,
  });
  for (const [worker, events] of records) {
    const member = crew.find(({ name }) => worker.split('.')[0] === name);
    const count = (event) => events.filter((e) => e.event === event).length;
    table.push([
      worker,
      member?.kind ?? '',
      ...['done', 'renewed', 'busy'].map(count),
      reclaims.filter(({ to }) => to === worker).length,
      member?.fate ?? '',
    ]);
  }
  return table.toString();
}

/** @param {[string, string | number][]} rows */
export function summaryTable(rows) {
  const table = new Table({ colAligns: ['left', 'right'], ...LOOK });
  table.push(...rows);
  return table.toString();
}
