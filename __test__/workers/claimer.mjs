// One of several workers that claim the same runs. Commands come over the channel to the test;
// every answer of a claim is written down at once, so that the record does not depend on how this
// process ends.

import { openSync, writeSync } from 'node:fs';

const { kind, name, recordFile } = JSON.parse(process.argv[2]);
const { acquire, release } = await implementation();
const record = openSync(recordFile, 'w');

const commands = {
  /** One attempt at one run. */
  async claim({ runDir, ttlMs }) {
    return (await claim(runDir, name, ttlMs)).lease;
  },

  /** Attempts without end on one run, until the wall clock says `until`. */
  async hammer({ runDir, until }) {
    const holders = kind === 'sync' ? [name] : [`${name}/a`, `${name}/b`];
    await Promise.all(holders.map((holder) => hammer(runDir, holder, until)));
  },

  async stop() {},
};

process.on('message', async ({ op, ...command }) => {
  process.send((await commands[op](command)) ?? null);
});
process.send('ready');

async function hammer(runDir, holder, until) {
  for (let turn = 0; Date.now() < until; turn += 1) {
    const { lease } = await claim(runDir, holder, 1);
    // Gives it back now and then, so that tombstones take part in the race.
    if (lease && turn % 7 === 0) {
      const released = Date.now();
      await release(runDir, lease.fence);
      write({ kind: 'release', run: runDir, holder, fence: lease.fence, released });
    }
    // Lets messages, and the other holder of this process, have their turn.
    await new Promise(setImmediate);
  }
}

async function claim(runDir, holder, ttlMs) {
  // Whole milliseconds for all workers: what is told in one is not after what was asked in the
  // next, whatever the clock's resolution.
  const now = Date.now();
  const begun = process.hrtime.bigint();
  const lease = await acquire(runDir, { holder, ttlMs, now });
  const ended = process.hrtime.bigint();
  const told = Math.max(now, Date.now());
  const peer = kind === 'peer';
  const when = { begun: Number(begun), ended: Number(ended), told };
  write({ kind: 'acquire', run: runDir, holder, peer, ...when, lease });
  return { lease };
}

function write(entry) {
  writeSync(record, `${JSON.stringify(entry)}\n`);
}

async function implementation() {
  if (kind === 'peer') {
    const { acquireClaim, releaseClaim } = await import('../peer/claims.mjs');
    return { acquire: acquireClaim, release: releaseClaim };
  }
  const { default: addon } = await import('../../index.js');
  return kind === 'sync'
    ? { acquire: addon.acquireClaimSync, release: addon.releaseClaimSync }
    : { acquire: addon.acquireClaim, release: addon.releaseClaim };
}
