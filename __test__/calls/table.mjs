// The table of system call, fault and outcome: filled by trying all of it, written into
// `docs/testing.md`, and compared with what is written there.

import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../helpers.mjs';
import { errnosOf, failed, killed, stalled, stepsOf, variants } from './faults.mjs';
import { TracedProcess } from './traced.mjs';

const FILE = join(packageRoot, 'docs/testing.md');
const [BEGIN, END] = ['<!-- system calls -->', '<!-- end of system calls -->'];
const HEAD =
  '| operation | system call | killed there | held up there while another takes the run | an error, once | an error from then on |\n|---|---|---|---|---|---|';

/** The columns, each a way to fill a cell. */
const columns = {
  killed,
  stalled,
  once: (traced, variant, step) => errors(traced, variant, step, false),
  stays: (traced, variant, step) => errors(traced, variant, step, true),
};

/** What comes of each errno, those of one outcome together, and the most frequent one as the rest. */
async function errors(traced, variant, step, stay) {
  const outcomes = new Map();
  for (const errno of errnosOf(step, stay)) {
    const outcome = await failed(traced, variant, step, errno, stay);
    outcomes.set(outcome, [...(outcomes.get(outcome) ?? []), errno]);
  }
  const sorted = [...outcomes].sort(([, a], [, b]) => a.length - b.length);
  const [[rest]] = sorted.splice(-1);
  if (sorted.length === 0) return rest;
  const named = sorted.map(([outcome, errnos]) => `${errnos.join(', ')}: ${outcome}`);
  return [...named, `others: ${rest}`].join('; ');
}

/** Fills the table, or some columns of some operations. Resolves to its rows. */
export async function fillTable({ only = Object.keys(columns), processes = 2, titles } = {}) {
  const rows = [];
  const work = variants().filter(({ title }) => !titles || titles.includes(title));
  const waiting = [...work.entries()];
  async function fillSome() {
    const traced = new TracedProcess();
    try {
      for (let next = waiting.shift(); next; next = waiting.shift()) {
        const [place, variant] = next;
        rows[place] = await rowsOf(traced, variant, only);
      }
    } finally {
      // After a failure the others stop as well.
      waiting.length = 0;
      traced.end();
    }
  }
  await Promise.all(Array.from({ length: processes }, fillSome));
  return rows.flat();
}

async function rowsOf(traced, variant, only) {
  const rows = [];
  for (const step of await stepsOf(traced, variant)) {
    const row = { title: variant.title, label: step.label };
    for (const column of only) {
      try {
        row[column] = await columns[column](traced, variant, step);
      } catch (error) {
        error.message = `${variant.title}: ${step.label}, ${column}: ${error.message}`;
        throw error;
      }
    }
    rows.push(row);
  }
  return rows;
}

/** The rows as text; calls that follow each other and come to the same are one row. */
function render(rows) {
  const merged = [];
  for (const { title, label, ...cells } of rows) {
    const last = merged.at(-1);
    const same =
      last?.title === title && Object.keys(cells).every((key) => last[key] === cells[key]);
    if (!same) merged.push({ title, labels: [label], ...cells });
    else last.labels.push(label);
  }
  const line = ({ title, labels, ...cells }) =>
    `| ${[title, labels.map((label) => `\`${label}\``).join(', '), ...Object.values(cells)].join(' | ')} |`;
  return [HEAD, ...merged.map(line)].join('\n');
}

/** The rows that are written down, one for each call. */
export function writtenRows() {
  const [, table] = partsOf(readFileSync(FILE, 'utf8'));
  return table
    .trim()
    .split('\n')
    .slice(2)
    .flatMap((line) => {
      const [title, labels, ...cells] = line.slice(2, -2).split(' | ');
      const [killed, stalled, once, stays] = cells;
      const calls = [...labels.matchAll(/`([^`]*)`/g)].map(([, label]) => label);
      return calls.map((label) => ({ title, label, killed, stalled, once, stays }));
    });
}

function partsOf(text) {
  const [before, rest] = text.split(BEGIN);
  assert.ok(rest?.includes(END), `docs/testing.md lacks ${BEGIN} … ${END}`);
  const [table, after] = rest.split(END);
  return [before, table, after];
}

/** Holds the whole table to what is written down; `FENCELINK_WRITE_DOCS=1` writes it instead. */
export function compareTable(rows) {
  const [before, table, after] = partsOf(readFileSync(FILE, 'utf8'));
  const text = render(rows);
  if (process.env.FENCELINK_WRITE_DOCS === '1') {
    writeFileSync(FILE, `${before}${BEGIN}\n${text}\n${END}${after}`);
    return text;
  }
  const [written, found] = [table.trim().split('\n'), text.split('\n')];
  const why = 'not as in docs/testing.md; FENCELINK_WRITE_DOCS=1 writes it there';
  assert.deepEqual(
    found.filter((line) => !written.includes(line)),
    written.filter((line) => !found.includes(line)),
    why,
  );
  assert.equal(found.length, written.length, why);
  return text;
}
