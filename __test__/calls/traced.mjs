// A process of the addon whose file-system calls can be seen, failed, held up, or made its last, one
// operation after another: strace is attached to the addon's thread for each, so that a process
// serves many and counts begin anew.

import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { callIn } from '../faults.mjs';
import { start, tempDir, workerFile } from '../helpers.mjs';
import { FILE_CALLS } from '../store-helpers.mjs';

/** What is traced: all calls of the file system, and the one for randomness. */
const TRACED = [...FILE_CALLS, 'getrandom'];

/** Longer than whatever is done meanwhile: the delay is ended by hand. */
const HELD_UP_US = 600_000_000;

export class TracedProcess {
  #child;
  /** The threads that it has from the start; those that come later are the addon's. */
  #ofNode = [];
  #log = join(tempDir(), 'trace');

  /**
   * Makes an operation under faults, as strace has them: `linkat:error=EIO:when=1`. Resolves to what
   * it came to, `{ value }` or `{ error }`, or `undefined` when the process ended.
   */
  async make(operation, inject = []) {
    return (await this.#run(operation, inject)).outcome;
  }

  /** The file-system calls of an operation that works: log lines, in order. */
  async stepsOf(operation, inject = []) {
    const { outcome, lines } = await this.#run(operation, inject);
    assert.equal(outcome?.error, undefined, outcome?.error?.message);
    return lines;
  }

  /**
   * Holds an operation up at a call of the system, the `count`-th of that name, awaits what others do
   * meanwhile, lets it go on, and resolves to what it came to, and what they did.
   */
  async holdUp(operation, { name, count }, meanwhile, inject = []) {
    const fault = `${name}:delay_enter=${HELD_UP_US}:when=${count}`;
    let did;
    const { outcome } = await this.#run(operation, [...inject, fault], async () => {
      await until(() => this.#isAt(name, count));
      did = await meanwhile();
    });
    return { outcome, did };
  }

  end() {
    this.#child?.kill('SIGKILL');
  }

  /**
   * `outcome` is `undefined` when the fault was the end of the process; the next has a new one. With
   * something to do `meanwhile`, the trace ends when that is done, and with it every delay.
   */
  async #run(operation, inject, meanwhile) {
    await this.#warm();
    const threads = this.#threads();
    const strace = start('strace', [
      ...['-y', '-s', '200', '-o', this.#log, ...threads.flatMap((id) => ['-p', id])],
      ...['-e', `trace=${TRACED}`],
      ...inject.flatMap((fault) => ['-e', `inject=${fault}`]),
    ]);
    await until(() => {
      assert.equal(strace.child.exitCode, null, strace.written.stderr);
      return strace.written.stderr.split('attached').length > threads.length;
    });
    const answer = this.#ask(operation);
    await (meanwhile ? meanwhile() : answer);
    strace.child.kill('SIGINT');
    const [outcome] = await Promise.all([answer, strace.done]);
    const lines = this.#lines();
    assert.ok(lines.length > 0, 'the calls were not traced');
    return { outcome, lines };
  }

  async #warm() {
    if (!this.#child) {
      this.#child = fork(workerFile('operations.mjs'));
      await once(this.#child, 'message');
      this.#ofNode = this.#tasks();
    }
    // A thread that is idle for long ends, and one that is not idle again yet is passed by: in either
    // case a new one makes the calls. It has to be traced too, also when it comes late.
    await this.#ask({ config: { baseDir: '.' }, method: 'currentFence', args: ['.'] });
    let before;
    await until(() => {
      const now = this.#threads().map((id) => this.#statusOf(id));
      const stay = now.join() === before;
      before = now.join();
      return stay && now.every((status) => /^State:\s+S /m.test(status));
    });
  }

  #ask({ config, attribution, method, args }) {
    const child = this.#child;
    return new Promise((resolve) => {
      const answered = (outcome) => {
        child.removeAllListeners();
        if (outcome === undefined) this.#child = undefined;
        resolve(outcome);
      };
      child.once('message', answered).once('exit', () => answered());
      child.send({ config, attribution, method, args });
    });
  }

  /** The addon's threads: one, or more where a call came before the last had its thread idle. */
  #threads() {
    return this.#tasks().filter((id) => !this.#ofNode.includes(id));
  }

  #tasks() {
    return readdirSync(`/proc/${this.#child.pid}/task`);
  }

  /** What a thread does, and how often it was switched to so far. */
  #statusOf(id) {
    return readFileSync(`/proc/${this.#child.pid}/task/${id}/status`, 'utf8');
  }

  #lines() {
    if (!existsSync(this.#log)) return [];
    return (
      readFileSync(this.#log, 'utf8')
        .split('\n')
        .map((line) => line.replace(/^\d+ +/, ''))
        // The last one tells Node.js that there is an answer.
        .filter((line) => /^\w+\(/.test(line) && !line.includes('<anon_inode:'))
    );
  }

  /** Whether the last call in the log is this one, and has not returned. */
  #isAt(name, count) {
    const lines = this.#lines().filter((line) => callIn(line) === name);
    return lines.length === count && !/ = /.test(lines.at(-1));
  }
}

async function until(condition) {
  while (!condition()) await pause(1);
}
