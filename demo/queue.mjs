// The demo's directory: a queue of runs, and the record that each worker keeps of what it did.
//
//   <dir>/runs/<runId>/claims/…        the claims, kept by the claim module
//   <dir>/runs/<runId>/result.jsonl    one line, by the worker that did the run
//   <dir>/records/<worker>.jsonl       what that worker was told and did, in order, never rewritten

import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

/** Makes a queue of `count` runs. @param {string} dir @param {number} count */
export function createQueue(dir, count) {
  mkdirSync(path.join(dir, 'records'), { recursive: true });
  for (let i = 1; i <= count; i += 1) {
    mkdirSync(runDir(dir, `run_${String(i).padStart(4, '0')}`), { recursive: true });
  }
}

/** All runs, in the order of the queue. @param {string} dir */
export function listRuns(dir) {
  return readdirSync(path.join(dir, 'runs')).sort();
}

/** @param {string} dir @param {string} run */
export function runDir(dir, run) {
  return path.join(dir, 'runs', run);
}

/** @param {string} dir @param {string} run */
export function isDone(dir, run) {
  return existsSync(path.join(runDir(dir, run), 'result.jsonl'));
}

/** @param {string} dir @param {string} run @param {object} result */
export function writeResult(dir, run, result) {
  appendFileSync(path.join(runDir(dir, run), 'result.jsonl'), `${JSON.stringify(result)}\n`);
}

/** The result lines of a run: one, if everything went well. @param {string} dir @param {string} run */
export function readResults(dir, run) {
  return isDone(dir, run) ? readLines(path.join(runDir(dir, run), 'result.jsonl')) : [];
}

/**
 * Opens a worker's record for writing. An event carries the wall clock, in whole milliseconds.
 * @param {string} dir @param {string} worker
 */
export function openRecord(dir, worker) {
  const file = path.join(dir, 'records', `${worker}.jsonl`);
  /** @param {string} event @param {object} [details] */
  return (event, details) => {
    appendFileSync(file, `${JSON.stringify({ at: Date.now(), event, ...details })}\n`);
  };
}

/**
 * Every worker's record so far, by worker.
 * @param {string} dir
 * @returns {Map<string, any[]>}
 */
export function readRecords(dir) {
  const records = path.join(dir, 'records');
  return new Map(
    readdirSync(records)
      .sort()
      .map((name) => [path.basename(name, '.jsonl'), readLines(path.join(records, name))]),
  );
}

/** A last line without its end was cut off by the death of its writer, and tells nothing. */
function readLines(file) {
  return readFileSync(file, 'utf8')
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line));
}
