// What an installed package has to do, on any runtime: it is loaded both ways, takes and gives back
// a run, answers the claim vectors, decides races of threads and of processes, and outlives threads
// that end in the middle of calls. Writes what it found beside itself, to report.json, since not
// every system hands on what is printed.
//
//   exercise.mjs '{"processes":4,"threads":4,"dying":200}'

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { play, vectorsIn } from './play.mjs';

const HOUR_MS = 60 * 60 * 1000;
const RUNS = 50;

const plan = JSON.parse(process.argv[2]);
const here = fileURLToPath(new URL('.', import.meta.url));
const racer = join(here, 'racer.mjs');
const directory = mkdtempSync(join(here, 'runs-'));
const require = createRequire(import.meta.url);

const steps = {
  async 'is loaded both ways'() {
    const required = require('fencelink');
    const imported = await import('fencelink');
    for (const name of Object.keys(required)) assert.equal(imported[name], required[name], name);
    return `${Object.keys(required).length} exports`;
  },

  async 'takes, renews, refuses and gives back a run'() {
    const { acquireClaim, currentFence, readClaim, releaseClaim } = require('fencelink');
    const runDir = join(directory, 'run_smoke');
    const lease = await acquireClaim(runDir, { holder: 'a', ttlMs: HOUR_MS });
    assert.equal(lease.fence, 1);
    assert.equal(await acquireClaim(runDir, { holder: 'b', ttlMs: HOUR_MS }), null);
    assert.equal((await acquireClaim(runDir, { holder: 'a', ttlMs: HOUR_MS })).fence, 2);
    await releaseClaim(runDir, 2);
    assert.equal(await currentFence(runDir), 3);
    assert.equal((await readClaim(runDir)).holder, '');
    await assert.rejects(acquireClaim(runDir, { holder: 'a', ttlMs: 0 }), {
      code: 'invalid_config',
    });
  },

  async 'keeps checkpoints, lists runs and claims the next'() {
    const { DiskCheckpointStore } = require('fencelink');
    const ids = { tenantId: 't', projectId: 'p', sessionId: 's' };
    const store = new DiskCheckpointStore({ baseDir: join(directory, 'store') }, ids);
    const checkpoint = {
      id: 'cp_1',
      iteration: 1,
      createdAt: Date.now(),
      messages: [],
      tokenUsage: { promptTokens: 0, completionTokens: 0, totalTokens: 0 },
      costInfo: { totalCost: 0 },
      guardState: { iterationCount: 1, elapsedMs: 0 },
    };
    const scope = { ...ids, runId: 'run_1' };
    const lease = await store.claimRun(scope, { holder: 'a', ttlMs: HOUR_MS });
    await store.writeCheckpoint(scope, checkpoint, lease.fence);
    // A second write of one name: it replaces, which systems do in ways of their own.
    await store.writeCheckpoint(scope, { ...checkpoint, iteration: 2 }, lease.fence);
    assert.equal((await store.readCheckpoint(scope, 'cp_1')).iteration, 2);
    await store.releaseRun(scope, lease.fence);
    const { entries } = await store.listDurableRuns(ids, {});
    assert.deepEqual(
      entries.map(({ runId }) => runId),
      ['run_1'],
    );
    const next = await store.claimNext(ids, { holder: 'b', ttlMs: HOUR_MS });
    assert.equal(next.entry.runId, 'run_1');
    assert.equal(next.lease.fence, lease.fence + 2);
  },

  async 'answers the claim vectors'() {
    const vectors = vectorsIn(readFileSync(join(here, 'claims.jsonl'), 'utf8'));
    assert.ok(vectors.length > 200, `only ${vectors.length} vectors`);
    for (const form of ['', 'Sync']) {
      const of = (name) => require('fencelink')[`${name}${form}`];
      const functions = {
        acquire: of('acquireClaim'),
        release: of('releaseClaim'),
        read: of('readClaim'),
        currentFence: of('currentFence'),
      };
      for (const [index, vector] of vectors.entries()) {
        await play(vector, join(directory, `run_vector${index}${form}`), functions).catch(
          (error) => {
            throw new Error(`${vector.name}${form}: ${error.message}`, { cause: error });
          },
        );
      }
    }
    return `${vectors.length} vectors`;
  },

  async 'decides a race of threads'() {
    const runDirs = runsFor('thread');
    const gate = new Int32Array(new SharedArrayBuffer(8));
    const task = { task: 'race', runDirs, gate, threads: plan.threads };
    const names = Array.from({ length: plan.threads }, (_, index) => `thread-${index}`);
    const leases = await Promise.all(names.map((name) => answerOf(start({ ...task, name }))));
    return judge(runDirs, leases);
  },

  async 'decides a race of processes'() {
    if (plan.processes === 0) return 'no processes can be started here';
    const runDirs = runsFor('process');
    const names = Array.from({ length: plan.processes }, (_, index) => `process-${index}`);
    const command = globalThis.Deno ? ['run', '--allow-all', racer] : [racer];
    const ended = names.map((name) => {
      const order = JSON.stringify({ directory, runDirs, name, names });
      return endOf(spawn(process.execPath, [...command, order], { stdio: 'ignore' }));
    });
    await Promise.all(ended);
    const told = (name) => JSON.parse(readFileSync(join(directory, `${name}.json`), 'utf8'));
    return judge(runDirs, names.map(told));
  },

  async 'outlives threads that end in the middle of calls'() {
    let begun = 0;
    const endSome = async () => {
      while (begun < plan.dying) {
        const name = `dying-${begun}`;
        begun += 1;
        const runDir = join(directory, `run_dying${begun % 10}`);
        const worker = start({ task: 'endless', runDir, name });
        await answerOf(worker);
        // At another point of the calls in each thread.
        for (let wait = begun % 5; wait > 0; wait -= 1) await new Promise(setImmediate);
        await worker.terminate();
      }
    };
    await Promise.all([endSome(), endSome(), endSome(), endSome()]);
    const runDir = join(directory, 'run_after');
    const lease = await answerOf(start({ task: 'once', runDir, name: 'after' }));
    assert.equal(lease.fence, 1);
    return `${begun} threads`;
  },
};

const report = { runtime: runtimeName(), passed: false, steps: [] };
try {
  for (const [name, step] of Object.entries(steps)) {
    const begunAt = Date.now();
    console.log(name);
    report.doing = name;
    const detail = await step();
    report.steps.push({ name, detail, ms: Date.now() - begunAt });
  }
  report.passed = true;
} catch (error) {
  report.error = `${report.doing}: ${error?.stack ?? error}`;
  console.log(report.error);
  process.exitCode = 1;
}
writeFileSync(join(here, 'report.json'), JSON.stringify(report));

function runtimeName() {
  const { bun, deno } = /** @type {Record<string, string>} */ (process.versions);
  const name = (bun && `Bun ${bun}`) || (deno && `Deno ${deno}`) || `Node.js ${process.version}`;
  return `${name} ${process.platform} ${process.arch}`;
}

function runsFor(kind) {
  return Array.from({ length: RUNS }, (_, index) => join(directory, `run_${kind}${index}`));
}

function start(workerData) {
  return new Worker(new URL('racer.mjs', import.meta.url), { workerData });
}

function answerOf(worker) {
  return new Promise((resolve, reject) => {
    worker.on('message', resolve).on('error', reject);
  });
}

function endOf(child) {
  return new Promise((resolve, reject) => {
    child.on('error', reject).on('exit', (code, signal) => {
      if (code === 0) resolve();
      else reject(new Error(`a process ended with ${signal ?? code}`));
    });
  });
}

/** Each run has one winner, and its name on disk says the same. */
function judge(runDirs, leases) {
  for (const [index, runDir] of runDirs.entries()) {
    const won = leases.map((ofOne) => ofOne[index]).filter(Boolean);
    assert.equal(won.length, 1, `${runDir} has ${won.length} winners`);
    assert.deepEqual(readdirSync(join(runDir, 'claims')), ['1.json']);
    const { holder } = JSON.parse(readFileSync(join(runDir, 'claims/1.json'), 'utf8'));
    assert.equal(holder, won[0].holder);
  }
  return leases.map((ofOne) => ofOne.filter(Boolean).length).join(' + ');
}
