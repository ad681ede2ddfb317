// One installed package on one runtime: the exercise of __test__/consumer/, and what became of it.

import { readFileSync } from 'node:fs';
import path from 'node:path';
import { say, seconds } from './cache.mjs';
import { copyOf, reportIn } from './consumers.mjs';
import { rooms } from './rooms.mjs';
import { runtimeFor } from './runtimes.mjs';

/** Nothing here takes a tenth of it on a machine that is not busy. */
const MOST_MS = 8 * 60 * 1000;

/**
 * @typedef {object} Trial
 * @property {import('../targets.mjs').Target} target
 * @property {string} consumer the project that has the package
 * @property {string} room
 * @property {string} where
 * @property {() => { folder: string, program: string, args: string[] }} runtime
 */

/** The trials that the list claims of a target. @returns {Trial[]} */
export function trialsOf(target, consumer) {
  return target.runs.flatMap(({ room, where, runtimes }) =>
    runtimes.map((name) => {
      return { target, consumer, room, where, runtime: () => runtimeFor(name, target) };
    }),
  );
}

/**
 * Makes a trial; resolves to its row in the table.
 * @param {Trial} trial
 * @param {string} work
 */
export async function tried({ target, consumer, room, where, runtime }, work) {
  const begun = Date.now();
  const found = await exercise(copyOf(consumer, work), room, runtime());
  const name = found.report?.runtime ?? 'no runtime';
  const what = `${name}, ${where}`;
  say(`${target.key}: ${what}: ${found.fault ?? 'passed'}, ${seconds(begun)}`);
  return { platform: target.key, what, fault: found.fault, told: toldBy(found.report) };
}

/** Has a project's package exercised; resolves to what was reported, and to what is wrong. */
export async function exercise(consumer, room, runtime) {
  const { spawns, dying, run } = rooms[room];
  const plan = { threads: 4, processes: spawns ? 4 : 0, dying };
  const output = path.join(consumer, 'output');
  const script = ['exercise.mjs', JSON.stringify(plan)];
  const end = await run({ consumer, runtime, script, output, timeoutMs: MOST_MS });
  const report = reportIn(consumer);
  if (report?.error) return { report, fault: report.error };
  if (end !== null || !report?.passed) {
    const printed = readFileSync(output, 'utf8').trim().split('\n').slice(-15).join('\n');
    return { report, fault: `${end ?? 'it reported nothing'}\n${printed}` };
  }
  return { report, fault: null };
}

function toldBy(report) {
  const details = report?.steps.map(({ detail }) => detail).filter(Boolean) ?? [];
  return details.join('; ');
}
