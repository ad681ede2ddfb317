// Workers held up in the middle of a system call, while others pass them by. Nothing here depends
// on how fast anything is: whether the one was held up for as long as the others needed is looked
// at, and a stall that ended too early is made anew, longer, and at last called what it is.

import assert from 'node:assert/strict';
import {
  linkSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { heldUp, noFaults, outcomesOf, startCalls, tracee } from './faults.mjs';
import {
  addon,
  bodyOf,
  claimsOf,
  HOUR_MS,
  holdings,
  makeRun,
  namesOf,
  putClaims,
} from './helpers.mjs';

const STALLS_MS = [4_000, 20_000];
const RENEWALS = 40;
const asked = { holder: 'slow', ttlMs: HOUR_MS };
const live = (holder) => ({ holder, expiresAt: Date.now() + HOUR_MS });

/**
 * Holds a call up in a system call, does something meanwhile, and resolves to what the call came
 * to, with the run and what was done.
 * @param make makes the run
 * @param call the call, made of the run directory
 * @param faults as for `startCalls`; `DELAY` stands for the time to be held up
 * @param isThere whether the call has come to where it is to be held up; it may stop before
 * @param meanwhile what others do; gets the run directory and the process that is held up
 */
async function stall(t, { make, call, faults, isThere = () => true, meanwhile }) {
  for (const milliseconds of STALLS_MS) {
    const runDir = make();
    const { inject, paths, trace } = faults(runDir);
    const delayed = inject.map((fault) => fault.replace('DELAY', String(milliseconds * 1000)));
    const started = startCalls([call(runDir)], { inject: delayed, paths, trace });
    let isHeldUp = await heldUp(started);
    while (isHeldUp && !isThere(runDir)) isHeldUp = await heldUp(started);
    const did = isHeldUp && (await meanwhile(runDir, started.child));
    const longEnough = isHeldUp?.();
    const [outcome] = outcomesOf(await started.done);
    if (longEnough) return { runDir, did, log: readFileSync(started.log, 'utf8'), ...outcome };
    t.diagnostic(`held up for ${milliseconds} ms, which was not long enough here: once more`);
  }
  throw new Error('the other worker never was done in time: nothing was shown, neither way');
}

/** Another worker takes the run and renews: 40 holdings, of which the window keeps 33. */
async function renewMany(runDir, options = {}) {
  const fences = [];
  for (let count = 0; count < RENEWALS; count += 1) {
    const lease = await addon.acquireClaim(runDir, { holder: 'quick', ttlMs: HOUR_MS, ...options });
    // Somebody else was faster: the one that was to be held up no longer is.
    if (lease === null) break;
    fences.push(lease.fence);
  }
  return fences;
}

const later = () => ({ now: Date.now() + 2 * HOUR_MS });
const bothForms = (name, ...rest) => ['', 'Sync'].map((form) => [`${name}${form}`, ...rest]);
const atLink = () => ({ inject: ['link,linkat:delay_enter=DELAY:when=1'] });
const afterLink = () => ({ inject: ['link,linkat:delay_exit=DELAY'] });
const hasLinked2 = (runDir) => namesOf(runDir).includes('2.json');
const afterListing = (runDir) => ({
  inject: ['getdents64:delay_exit=DELAY:when=1'],
  paths: [claimsOf(runDir)],
});

const options = { skip: noFaults, concurrency: true };

// All at the same time: they mostly wait.
test('a worker that is held up while others pass by', options, async (t) => {
  const cases = [];
  const stalled = (title, run) => cases.push(t.test(title, { concurrency: true }, run));

  for (const [acquire] of bothForms('acquireClaim')) {
    // Guards the second listing: the name that the taker computed has been pruned meanwhile, so
    // its link succeeds at a number issued long ago.
    stalled(`${acquire} at its link answers null`, async (t) => {
      const { runDir, did, value, error } = await stall(t, {
        make: () => makeRun({}),
        call: (runDir) => [acquire, runDir, asked],
        faults: atLink,
        meanwhile: (runDir) => renewMany(runDir),
      });
      assert.equal(value, null, error?.message);
      assert.deepEqual(
        did,
        Array.from({ length: RENEWALS }, (_, index) => index + 1),
      );
      assert.deepEqual(namesOf(runDir), holdings(8, 40), 'what it linked is gone again');
      assert.equal((await addon.readClaim(runDir)).holder, 'quick');
    });
  }

  // Guards the round after that: a run that has become free meanwhile is taken, at a new fence.
  stalled('a taker at its link goes on to the next round', async (t) => {
    const { runDir, value } = await stall(t, {
      make: () => makeRun({}),
      call: (runDir) => ['acquireClaim', runDir, asked],
      faults: atLink,
      meanwhile: (runDir) => renewMany(runDir, { ttlMs: 1, now: 1000 }),
    });
    assert.equal(value.fence, 41);
    assert.deepEqual(namesOf(runDir), holdings(9, 41));
  });

  for (const [release] of bothForms('releaseClaim')) {
    // Guards the same of a release: its tombstone must not stay below the counter, nor move it.
    stalled(`${release} at its link leaves the counter where it was`, async (t) => {
      const { runDir, did, error } = await stall(t, {
        make: () => makeRun({ '1.json': live('slow'), '.tmp-w1-x': '' }),
        call: (runDir) => [release, runDir, 1],
        faults: atLink,
        meanwhile: (runDir) => renewMany(runDir, later()),
      });
      assert.equal(error, undefined);
      assert.equal(did.at(-1), 41);
      assert.equal(await addon.currentFence(runDir), 41);
      assert.equal((await addon.readClaim(runDir)).holder, 'quick');
      assert.deepEqual(namesOf(runDir), holdings(9, 41));
    });
  }

  // Guards workers that do not list after their link: while a number is within the window, its
  // name must not become free again, or one of them wins it below the present holder.
  stalled('a taker overtaken right after its link leaves its name taken', async (t) => {
    const { runDir, did, value, error } = await stall(t, {
      make: () => makeRun({ '1.json': { holder: 'gone', expiresAt: 1 } }),
      call: (runDir) => ['acquireClaim', runDir, { holder: 'slow', ttlMs: 1, now: 1000 }],
      faults: afterLink,
      isThere: hasLinked2,
      meanwhile: (runDir) => addon.acquireClaim(runDir, { holder: 'quick', ttlMs: HOUR_MS }),
    });
    assert.equal(value, null, error?.message);
    assert.equal(did.fence, 3);
    assert.deepEqual(namesOf(runDir), holdings(1, 3));
  });

  stalled('a release overtaken right after its link leaves its name taken', async (t) => {
    const { runDir, did, error } = await stall(t, {
      make: () => makeRun({ '1.json': live('slow') }),
      call: (runDir) => ['releaseClaim', runDir, 1],
      faults: afterLink,
      isThere: hasLinked2,
      meanwhile: (runDir) => addon.acquireClaim(runDir, { holder: 'quick', ttlMs: HOUR_MS }),
    });
    assert.equal(error, undefined);
    assert.equal(did.fence, 3);
    assert.deepEqual(namesOf(runDir), holdings(1, 3));
    assert.equal((await addon.readClaim(runDir)).holder, 'quick');
  });

  // Guards the one directory of an operation: its path may lead elsewhere before it is done, and
  // what was decided of one directory must not be done to another.
  stalled('a taker whose directory is moved away claims in that one', async (t) => {
    const { runDir, value, error } = await stall(t, {
      make: () => makeRun({ '1.json': { holder: 'gone', expiresAt: 1 } }),
      call: (runDir) => ['acquireClaim', runDir, asked],
      faults: atLink,
      meanwhile: (runDir) => {
        renameSync(runDir, `${runDir}_moved`);
        putClaims(runDir, { '1.json': live('quick') });
      },
    });
    assert.equal(value?.fence, 2, error?.message);
    assert.deepEqual(namesOf(`${runDir}_moved`), holdings(1, 2));
    assert.deepEqual(namesOf(runDir), ['1.json']);
  });

  // Guards the look at the listed maximum: it was pruned, so the listing was an old one.
  stalled('currentFence after its listing lists again', async (t) => {
    const { value } = await stall(t, {
      make: () => makeRun({ '1.json': live('quick') }),
      call: (runDir) => ['currentFence', runDir],
      faults: afterListing,
      meanwhile: (runDir) => renewMany(runDir),
    });
    assert.equal(value, 41);
  });

  stalled('readClaim after its listing lists again', async (t) => {
    const { value } = await stall(t, {
      make: () => makeRun({ '1.json': live('quick') }),
      call: (runDir) => ['readClaim', runDir],
      faults: afterListing,
      meanwhile: (runDir) => renewMany(runDir),
    });
    assert.equal(value.fence, 41);
    assert.equal(value.holder, 'quick');
  });

  stalled('a release after its listing lists again', async (t) => {
    const { runDir, error, log } = await stall(t, {
      make: () => makeRun({ '1.json': live('slow') }),
      call: (runDir) => ['releaseClaim', runDir, 1],
      faults: (runDir) => ({ ...afterListing(runDir), trace: ['linkat'] }),
      meanwhile: (runDir) => renewMany(runDir, later()),
    });
    assert.equal(error, undefined);
    assert.doesNotMatch(log, /linkat/, 'nothing is published by a listing from long ago');
    assert.deepEqual(namesOf(runDir), holdings(9, 41));
  });

  for (const [acquire] of bothForms('acquireClaim')) {
    // Guards the settling of doubt by the nonce: a network volume can report a failure of a link
    // that it made. Then the name carries the taker's own body, and it has won.
    stalled(`${acquire} whose link landed and answers EIO has won`, async (t) => {
      const { runDir, value, error } = await stall(t, {
        make: () => makeRun({}),
        call: (runDir) => [acquire, runDir, asked],
        faults: () => ({ inject: ['link,linkat:error=EIO:delay_enter=DELAY:when=1'] }),
        meanwhile: (runDir, child) => landLink(runDir, child),
      });
      assert.equal(value?.fence, 1, error?.message);
      assert.deepEqual(namesOf(runDir), ['1.json']);
      assert.equal(bodyOf(runDir, 1).holder, 'slow');
    });
  }

  // Guards the other half of it: another's body at the name means lost, whatever link answers.
  stalled('a link that answers EIO where another has won is lost', async (t) => {
    const { runDir, value, error } = await stall(t, {
      make: () => makeRun({}),
      call: (runDir) => ['acquireClaim', runDir, asked],
      faults: () => ({ inject: ['link,linkat:error=EIO:delay_enter=DELAY'] }),
      meanwhile: (runDir) => addon.acquireClaim(runDir, { holder: 'quick', ttlMs: HOUR_MS }),
    });
    assert.equal(value, null, error?.message);
    assert.deepEqual(namesOf(runDir), ['1.json']);
    assert.equal(bodyOf(runDir, 1).holder, 'quick');
  });

  // Guards against a client of a network volume that repeats a lost request, finds its own work
  // and answers EEXIST. Such volumes have no nameless files.
  stalled('a named link that landed and answers EEXIST has won', async (t) => {
    const { runDir, value, error } = await stall(t, {
      make: () => makeRun({}),
      call: (runDir) => ['acquireClaim', runDir, asked],
      faults: (runDir) => ({
        paths: [claimsOf(runDir)],
        inject: [
          // Of what is opened in the directory, the first is itself, the second itself for another
          // listing, the third a nameless file.
          'openat:error=EOPNOTSUPP:when=3',
          'link,linkat:error=EEXIST:delay_enter=DELAY:when=1',
        ],
      }),
      meanwhile: (runDir) => {
        const [scratch] = readdirSync(claimsOf(runDir));
        linkSync(join(claimsOf(runDir), scratch), join(claimsOf(runDir), '1.json'));
      },
    });
    assert.equal(value?.fence, 1, error?.message);
    assert.deepEqual(namesOf(runDir), ['1.json']);
  });

  await Promise.all(cases);
});

/** Does what the held-up link was to do: the file that it is about, at the name of fence 1. */
function landLink(runDir, straceChild) {
  const claims = claimsOf(runDir);
  const descriptors = `/proc/${tracee(straceChild)}/fd`;
  for (const descriptor of readdirSync(descriptors)) {
    const path = join(descriptors, descriptor);
    if (!readlinkSync(path).startsWith(`${claims}/`)) continue;
    // Its bytes under the name: what a reader sees is the same.
    writeFileSync(join(claims, '1.json'), readFileSync(path));
    return;
  }
  throw new Error('the process has no file of that directory open');
}
