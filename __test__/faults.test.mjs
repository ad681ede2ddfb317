// Faults of the disk: each is an error that names its cause, none is "somebody else holds it", and
// none leaves the run worse than it was. Errors are injected into the addon's own system calls.

import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { callIn, callThere, callUnderAttachedFaults, noFaults, outcomesOf } from './faults.mjs';
import {
  addon,
  bodyOf,
  claimsOf,
  HOUR_MS,
  holdings,
  makeRun,
  namesOf,
  snapshot,
} from './helpers.mjs';
import * as peer from './peer/claims.mjs';

const options = { skip: noFaults, concurrency: 2 };
const NOBODY_UID = 65534;
const asRoot = process.getuid?.() === 0;

const dead = { holder: 'gone', expiresAt: 1 };
const live = (holder) => ({ holder, expiresAt: Date.now() + HOUR_MS });
const asked = { holder: 'a', ttlMs: HOUR_MS };

/**
 * A refusal as hosts match it: the message has the directory, the errno and all of `mentions`,
 * and the parts `inOrder` one after another.
 */
function assertRefused({ error, value }, expected) {
  const { code, path, errno, fence, retryable = false, mentions = [], inOrder = [] } = expected;
  assert.ok(error, `answered ${JSON.stringify(value)}`);
  assert.deepEqual(
    { name: error.name, code: error.code, retryable: error.retryable },
    { name: 'NamzuError', code, retryable },
    error.message,
  );
  const details = { path };
  if (errno) details.code = errno;
  if (fence) details.fence = fence;
  assert.deepEqual(error.details, details, error.message);
  if (errno) assert.equal(error.cause?.code, errno);
  for (const part of [path, ...(errno ? [errno] : []), ...mentions]) {
    assert.ok(error.message.includes(part), `"${error.message}" does not name "${part}"`);
  }
  let from = 0;
  for (const part of inOrder) {
    const at = error.message.indexOf(part, from);
    assert.ok(at >= 0, `"${error.message}" does not go on with "${part}"`);
    from = at + part.length;
  }
  assert.doesNotMatch(error.message, /\.tmp-/, 'a scratch name helps nobody');
}

/** The calls that publish: first claim, renewal and release, in both forms, each on a new run. */
function publishing() {
  const cases = ['', 'Sync'].flatMap((form) => {
    const fresh = makeRun({});
    const own = makeRun({ '4.json': live('a'), '2.json': dead });
    const given = makeRun({ '4.json': live('a') });
    return [
      { runDir: fresh, call: [`acquireClaim${form}`, fresh, asked], fence: 1 },
      { runDir: own, call: [`acquireClaim${form}`, own, asked], fence: 5 },
      { runDir: given, call: [`releaseClaim${form}`, given, 4], fence: 5 },
    ];
  });
  return cases.map((each) => ({ ...each, before: snapshot(each.runDir) }));
}

/** Makes all publishing calls under a fault, and judges that each is refused and changed nothing. */
async function assertAllRefused(inject, expected) {
  const cases = publishing();
  const outcomes = await callThere(
    cases.map(({ call }) => call),
    { inject },
  );
  for (const [index, { runDir, call, fence, before }] of cases.entries()) {
    const path = claimsOf(runDir);
    assertRefused(outcomes[index], { path, fence, ...expected });
    assert.deepEqual(namesOf(runDir), namesIn(before), `${call[0]} left something`);
    assert.deepEqual(contentsIn(snapshot(runDir)), contentsIn(before), `${call[0]}`);
  }
}

const namesIn = (shot) =>
  shot
    .map(({ name }) => name)
    .filter((name) => name.startsWith('claims/'))
    .map((name) => name.slice('claims/'.length))
    .sort((a, b) => Number.parseInt(a, 10) - Number.parseInt(b, 10));
const contentsIn = (shot) => shot.map(({ name, inode, content }) => ({ name, inode, content }));

test('a volume that cannot make a second name', options, async (t) => {
  // Guards the refusal on a volume that cannot decide a race: any fallback would let two in.
  for (const [errno, shown] of Object.entries({
    EPERM: 'EPERM',
    EOPNOTSUPP: 'ENOTSUP',
    ENOSYS: 'ENOSYS',
    EXDEV: 'EXDEV',
    EMLINK: 'EMLINK',
  })) {
    await t.test(`link answers ${errno}`, () =>
      assertAllRefused([`link,linkat:error=${errno}`], {
        code: 'capability_unavailable',
        errno: shown,
        inOrder: [
          'cannot publish a run claim',
          shown,
          'hard-link support',
          'single writer per run',
        ],
      }),
    );
  }
});

test('a volume that fails at the link', options, async (t) => {
  // Guards the difference between a fault and a lost race, and that no scratch is left.
  for (const errno of ['EIO', 'ENOSPC', 'EDQUOT', 'EROFS', 'EACCES', 'ENOTCONN']) {
    await t.test(`link answers ${errno}`, () =>
      assertAllRefused([`link,linkat:error=${errno}`], {
        code: 'storage_error',
        errno,
      }),
    );
  }

  // Guards the answer where the system says "try again": that is for the caller to do.
  for (const errno of ['EBUSY', 'ESTALE', 'EAGAIN']) {
    await t.test(`link answers ${errno}`, () =>
      assertAllRefused([`link,linkat:error=${errno}`], {
        code: 'storage_error',
        errno,
        retryable: true,
      }),
    );
  }

  // Guards the look for the name that is said to exist: a full volume says so of names that do
  // not, and "held by somebody else" would let workers poll for ever.
  await t.test('link answers EEXIST for a name that no listing shows', () =>
    assertAllRefused(['link,linkat:error=EEXIST'], {
      code: 'storage_error',
      mentions: ['EEXIST'],
    }),
  );
});

/** The system calls of one Sync call that works, in order, as log lines. */
async function stepsOf(call, trace) {
  const { steps, ...ended } = await callUnderAttachedFaults([call], { trace });
  const [{ error }] = outcomesOf(ended);
  assert.equal(error, undefined);
  return steps;
}

/** Which `openat` of a call is the first that creates something: the scratch file. */
async function creationIn(call) {
  const opens = await stepsOf(call, ['openat']);
  const creation = opens.findIndex((line) => /O_CREAT|O_TMPFILE/.test(line)) + 1;
  assert.ok(creation > 0, `no scratch is created in: ${opens.join('\n')}`);
  return creation;
}

test('a volume that takes no scratch', options, async (t) => {
  const creations = {};
  for (const name of publishers) creations[name] = await creationIn(sample(name).call);
  // The nameless file first, then the named one: both are refused.
  const atCreation = (errno) => (name) => [`openat:error=${errno}:when=${creations[name]}+`];
  const atWrite = (fault) => () => [`write,pwrite64:${fault}:when=1..2`];

  // Guards P6 at the creation of the scratch file, and the text that leads to the directory.
  for (const errno of ['EROFS', 'EACCES', 'ENOSPC', 'EDQUOT', 'EIO', 'EPERM']) {
    await t.test(`the creation answers ${errno}`, () =>
      assertAttachedRefused(atCreation(errno), {
        code: 'storage_error',
        errno,
      }),
    );
  }
  for (const errno of ['EMFILE', 'ENFILE']) {
    await t.test(`the creation answers ${errno}`, () =>
      assertAttachedRefused(atCreation(errno), {
        code: 'storage_error',
        errno,
        retryable: true,
      }),
    );
  }

  // Guards a scratch name that is there already from being taken for a lost race.
  await t.test('the scratch name exists', () =>
    assertAttachedRefused(atCreation('EEXIST'), {
      code: 'storage_error',
      inOrder: ['scratch name', 'already exists'],
    }),
  );

  // Guards the check of every write before the link: on a full volume the create succeeds, the
  // write fails, and the link would publish an empty holding, which is free to take.
  for (const errno of ['ENOSPC', 'EDQUOT', 'EIO', 'EFBIG']) {
    await t.test(`the write answers ${errno}`, () =>
      assertAttachedRefused(atWrite(`error=${errno}`), {
        code: 'storage_error',
        errno,
      }),
    );
  }

  // Guards the rest of a write that was taken in part only.
  await t.test('a write takes nothing, and says that it did', async () => {
    const { runDir, call } = sample('acquireClaimSync');
    const before = namesOf(runDir);
    const ended = await callUnderAttachedFaults([call], {
      inject: atWrite('retval=0')(),
    });
    const [{ error, value }] = outcomesOf(ended);
    assert.ok(error, `answered ${JSON.stringify(value)}`);
    assert.equal(error.code, 'storage_error');
    assert.deepEqual(namesOf(runDir), before);
  });
});

/** What creates a scratch file, in the form that stays on the thread that faults are injected in. */
const publishers = ['acquireClaimSync', 'releaseClaimSync'];

/** A run that is free for `acquireClaimSync` or held for `releaseClaimSync`, and the call. */
function sample(name) {
  const [body, argument] = name === 'acquireClaimSync' ? [dead, asked] : [live('a'), 4];
  const runDir = makeRun({ '4.json': body });
  return { runDir, call: [name, runDir, argument] };
}

async function assertAttachedRefused(injectInto, expected) {
  for (const name of publishers) {
    const { runDir, call } = sample(name);
    const before = contentsIn(snapshot(runDir));
    const ended = await callUnderAttachedFaults([call], { inject: injectInto(name) });
    const [outcome] = outcomesOf(ended);
    assertRefused(outcome, { path: claimsOf(runDir), fence: 5, ...expected });
    assert.deepEqual(contentsIn(snapshot(runDir)), before);
  }
}

test('a volume without nameless files', options, async (t) => {
  // Guards the named scratch: most volumes on a network have nothing else.
  await t.test('the claim is published from a scratch file with a name', async () => {
    const { runDir, call } = sample('acquireClaimSync');
    const creation = await creationIn(sample('acquireClaimSync').call);
    const { steps, ...ended } = await callUnderAttachedFaults([call, call], {
      trace: ['openat', 'link', 'linkat'],
      inject: [`openat:error=EOPNOTSUPP:when=${creation}`],
    });
    const leases = outcomesOf(ended).map(({ value }) => value);
    assert.deepEqual([leases[0].fence, leases[1].fence], [5, 6]);
    assert.match(steps.join('\n'), /link(at)?\(.*"\.tmp-[^"/]+".*"5\.json"/);
    assert.deepEqual(namesOf(runDir), holdings(4, 6));
  });

  await t.test('the link of a nameless file is refused, the other is not', async () => {
    for (const form of ['', 'Sync']) {
      const runDir = makeRun({ '4.json': dead });
      const calls = [[`acquireClaim${form}`, runDir, asked]];
      const [{ value }] = await callThere(calls, { inject: ['link,linkat:error=EPERM:when=1'] });
      assert.equal(value.fence, 5);
      assert.deepEqual(namesOf(runDir), holdings(4, 5));
    }
  });

  // Guards nameless files on kernels that link a descriptor for the privileged alone, and answer
  // others that there is no such file: the name that `/proc` has for it does as well.
  await t.test('a descriptor cannot be linked by itself', async () => {
    const { runDir, call } = sample('acquireClaimSync');
    const { steps, ...ended } = await callUnderAttachedFaults([call], {
      trace: ['openat', 'linkat'],
      inject: ['linkat:error=ENOENT:when=1'],
    });
    assert.equal(outcomesOf(ended)[0].value?.fence, 5);
    assert.match(steps.join('\n'), /linkat\(.*"\/proc\/self\/fd\/\d+".*"5\.json"/);
    assert.doesNotMatch(steps.join('\n'), /O_CREAT/);
    assert.deepEqual(namesOf(runDir), holdings(4, 5));
  });

  // Guards the one rule for all that can go wrong without a name: it says nothing of the other way.
  const atCreation = await creationIn(sample('acquireClaimSync').call);
  for (const [step, fault] of Object.entries({
    'the creation': (errno) => `openat:error=${errno}:when=${atCreation}`,
    'the write': (errno) => `write,pwrite64:error=${errno}:when=1`,
    'the link': (errno) => `link,linkat:error=${errno}:when=1`,
  })) {
    await t.test(`${step} fails for a nameless file only`, async () => {
      for (const errno of ['EOPNOTSUPP', 'EIO', 'ENOSPC', 'EINVAL']) {
        const { runDir, call } = sample('acquireClaimSync');
        const ended = await callUnderAttachedFaults([call], { inject: [fault(errno)] });
        const [{ error, value }] = outcomesOf(ended);
        assert.equal(value?.fence, 5, `${errno}: ${error?.message}`);
        assert.deepEqual(namesOf(runDir), holdings(4, 5));
      }
    });
  }

  // Guards a won claim from housekeeping: a scratch name that stays is litter, no refusal.
  await t.test('the scratch cannot be unlinked', async () => {
    const runDir = makeRun({ '4.json': dead, '900.json': dead });
    const calls = [['acquireClaim', runDir, asked]];
    const [{ value }] = await callThere(calls, {
      inject: ['link,linkat:error=EPERM:when=1', 'unlink,unlinkat:error=EPERM'],
    });
    assert.equal(value.fence, 901);
    assert.equal(namesOf(runDir).filter((name) => name.startsWith('.tmp-')).length, 1);
  });
});

test('a body that cannot be read', options, async (t) => {
  // Guards the rule that unread is not damaged: the body may be a live lease, and judging it
  // damaged hands a running run to a second worker.
  const calls = (runDir) => [
    ['acquireClaim', runDir, asked],
    ['acquireClaimSync', runDir, asked],
    ['readClaim', runDir],
    ['readClaimSync', runDir],
    ['currentFence', runDir],
    ['currentFenceSync', runDir],
  ];
  async function assertUnread(errno, retryable, made) {
    for (const holder of ['a', 'b']) {
      const runDir = makeRun({ '3.json': dead, '5.json': live(holder) });
      const before = snapshot(runDir);
      const outcomes = await callThere(calls(runDir), made(runDir));
      for (const outcome of outcomes.slice(0, 4)) {
        const path = claimsOf(runDir);
        assertRefused(outcome, { code: 'storage_error', path, errno, retryable });
      }
      // Names alone say which fence is the current one.
      assert.deepEqual(outcomes.slice(4), [{ value: 5 }, { value: 5 }]);
      assert.deepEqual(snapshot(runDir), before);
    }
  }

  for (const errno of ['EIO', 'EACCES', 'ESTALE']) {
    await t.test(`reading it answers ${errno}`, () =>
      assertUnread(errno, errno === 'ESTALE', (runDir) => ({
        paths: [join(claimsOf(runDir), '5.json')],
        inject: [`read,pread64,readv,preadv:error=${errno}`],
      })),
    );
  }
  for (const errno of ['EIO', 'EACCES', 'EPERM', 'EMFILE', 'ENFILE', 'EAGAIN', 'EBUSY', 'EINTR']) {
    await t.test(`opening it answers ${errno}`, () =>
      assertUnread(errno, /EM|EN|EA|EB|EI[^O]/.test(errno.replace('EACCES', '')), (runDir) => ({
        paths: ['5.json', join(claimsOf(runDir), '5.json')],
        inject: [`open,openat:error=${errno}`],
      })),
    );
  }

  // The same by the rights of a real file, for a user other than its owner.
  await t.test('another user may not read it', async () => {
    const runDir = makeRun({ '3.json': dead, '5.json': live('b') });
    const body = join(claimsOf(runDir), '5.json');
    chmodSync(join(runDir, '..'), 0o755);
    chmodSync(claimsOf(runDir), 0o777);
    chmodSync(body, 0);
    const uid = asRoot ? NOBODY_UID : undefined;
    const outcomes = await callThere(calls(runDir), { uid });
    const path = claimsOf(runDir);
    for (const outcome of outcomes.slice(0, 4)) {
      assertRefused(outcome, { code: 'storage_error', path, errno: 'EACCES' });
    }
    assert.deepEqual(outcomes.slice(4), [{ value: 5 }, { value: 5 }]);
    assert.deepEqual(namesOf(runDir), ['3.json', '5.json']);
    assert.equal(statSync(body).mode & 0o777, 0);
  });

  // Guards the second look at a name that is gone when it is to be read: pruning took it, so the
  // listing was an old one. Read as damaged, a live lease would be stolen.
  await t.test('a body that is gone once is looked for again', async () => {
    for (const form of ['', 'Sync']) {
      const runDir = makeRun({ '3.json': dead, '5.json': live('b') });
      const gone = {
        paths: ['5.json', join(claimsOf(runDir), '5.json')],
        inject: ['open,openat:error=ENOENT:when=1'],
      };
      const acquired = await callThere([[`acquireClaim${form}`, runDir, asked]], gone);
      assert.deepEqual(acquired, [{ value: null }]);
      const read = await callThere([[`readClaim${form}`, runDir]], gone);
      assert.equal(read[0].value.holder, 'b');
      assert.deepEqual(namesOf(runDir), ['3.json', '5.json']);
    }
  });
});

test('a directory that cannot be listed', options, async (t) => {
  const calls = (runDir) =>
    ['', 'Sync'].flatMap((form) => [
      [`acquireClaim${form}`, runDir, asked],
      [`releaseClaim${form}`, runDir, 5],
      [`readClaim${form}`, runDir],
      [`currentFence${form}`, runDir],
    ]);

  // Guards against a listing that failed being taken for an empty one: fence 1 again.
  for (const errno of ['EIO', 'EACCES', 'ESTALE', 'ENOTCONN']) {
    await t.test(`listing it answers ${errno}`, async () => {
      const runDir = makeRun({ '5.json': live('a') });
      const before = snapshot(runDir);
      const outcomes = await callThere(calls(runDir), {
        paths: [claimsOf(runDir)],
        inject: [`getdents64:error=${errno}`],
      });
      const path = claimsOf(runDir);
      const retryable = errno === 'ESTALE';
      const expected = { code: 'storage_error', path, errno, retryable };
      for (const outcome of outcomes) assertRefused(outcome, expected);
      assert.deepEqual(snapshot(runDir), before);
    });
  }

  // Guards a run against a listing that ends where the directory ended when it was opened, as on btrfs:
  // held up until all holdings of then are pruned, it shows nothing, of a run that is held.
  await t.test('one listing of it shows nothing', async () => {
    const runDir = makeRun({ '5.json': live('b') });
    const calls = [
      ['acquireClaim', runDir, asked],
      ['readClaim', runDir],
      ['currentFence', runDir],
    ];
    for (const [index, call] of calls.entries()) {
      const [{ value, error }] = await callThere([call], {
        paths: [claimsOf(runDir)],
        inject: ['getdents64:retval=0:when=1'],
      });
      assert.equal(error, undefined, error?.message);
      const told = [value === null, value?.fence === 5, value === 5];
      assert.ok(told[index], `${call[0]} answered ${JSON.stringify(value)}`);
    }
    assert.deepEqual(namesOf(runDir), ['5.json']);
  });

  // Guards a claim that could not be made sure of: the listing after the link must not be taken
  // on trust, and a lease that nobody was told of must not lock the run.
  await t.test('only the listing after the link fails', async () => {
    const runDir = makeRun({ '5.json': dead });
    const trace = ['getdents64', 'linkat', 'link'];
    const first = await stepsOf(['acquireClaimSync', runDir, asked], trace);
    const link = first.findIndex((line) => callIn(line).startsWith('link'));
    assert.ok(link > 0, first.join('\n'));
    const run = makeRun({ '5.json': dead });
    const ended = await callUnderAttachedFaults([['acquireClaimSync', run, asked]], {
      inject: [`getdents64:error=EIO:when=${link + 1}`],
    });
    const [{ error, value }] = outcomesOf(ended);
    assert.ok(error, `answered ${JSON.stringify(value)}`);
    assert.equal(error.code, 'storage_error');
    assert.equal(error.details.code, 'EIO');
    const lease = await addon.acquireClaim(run, { holder: 'b', ttlMs: 1000 });
    assert.ok(lease?.fence > 6, 'the run is free for the next one');
  });

  // Guards a lease against a volume that answers a later listing with nothing, as sshfs did: without
  // the own name in it, a listing cannot say that nobody stands above.
  await t.test('the listing after the link shows nothing', async () => {
    const runDir = makeRun({ '5.json': dead });
    const ended = await callUnderAttachedFaults([['acquireClaimSync', runDir, asked]], {
      inject: ['getdents64:retval=0:when=3'],
    });
    const [{ error, value }] = outcomesOf(ended);
    assert.ok(error, `answered ${JSON.stringify(value)}`);
    assert.equal(error.code, 'storage_error');
    assert.equal(error.retryable, true);
  });

  // Guards a holder whose renewal fails once its link is made: it goes on under the lease that it
  // knows, so nobody may be let in before that ends, not even when the renewal was to shorten it.
  await t.test('the listing after the link of a renewal fails', async () => {
    for (const ttlMs of [HOUR_MS, 1]) {
      const runDir = makeRun();
      const known = await addon.acquireClaim(runDir, asked);
      const ended = await callUnderAttachedFaults(
        [['acquireClaimSync', runDir, { ...asked, ttlMs }]],
        {
          inject: ['getdents64:error=EIO:when=3'],
        },
      );
      assert.equal(outcomesOf(ended)[0].error?.details.code, 'EIO');
      const now = known.expiresAt - 1;
      assert.equal(await addon.acquireClaim(runDir, { holder: 'b', ttlMs: 1000, now }), null);
      assert.ok(
        (await addon.acquireClaim(runDir, asked)).fence > known.fence,
        'it can renew again',
      );
    }
  });

  await t.test('a directory of another user', async () => {
    const uid = asRoot ? NOBODY_UID : undefined;
    const runDir = makeRun({ '5.json': dead });
    const path = claimsOf(runDir);
    chmodSync(join(runDir, '..'), 0o755);
    const before = snapshot(runDir);

    // May be read, not written.
    chmodSync(path, 0o555);
    for (const form of ['', 'Sync']) {
      const outcomes = await callThere(
        [
          [`acquireClaim${form}`, runDir, asked],
          [`releaseClaim${form}`, runDir, 5],
          [`readClaim${form}`, runDir],
          [`currentFence${form}`, runDir],
        ],
        { uid },
      );
      const expected = { code: 'storage_error', path, errno: 'EACCES' };
      assertRefused(outcomes[0], { ...expected, fence: 6 });
      assertRefused(outcomes[1], { ...expected, fence: 6 });
      assert.deepEqual(outcomes.slice(2), [{ value: { fence: 5, ...dead } }, { value: 5 }]);
    }

    // May be written, not listed; then neither.
    for (const mode of [0o333, 0o000]) {
      chmodSync(path, mode);
      const outcomes = await callThere(calls(runDir), { uid });
      const expected = { code: 'storage_error', path, errno: 'EACCES' };
      for (const outcome of outcomes) assertRefused(outcome, expected);
    }
    chmodSync(path, 0o755);
    assert.deepEqual(contentsIn(snapshot(runDir)), contentsIn(before));
  });

  // Guards sharing between users: what one wrote with the usual rights another can take over.
  await t.test('a directory that users share', async () => {
    const runDir = makeRun({ '5.json': dead });
    chmodSync(join(runDir, '..'), 0o755);
    chmodSync(claimsOf(runDir), 0o777);
    const uid = asRoot ? NOBODY_UID : undefined;
    const [{ value }] = await callThere([['acquireClaim', runDir, asked]], { uid });
    assert.equal(value.fence, 6);
    assert.equal((await addon.readClaim(runDir)).holder, 'a');
    assert.equal((await addon.acquireClaim(runDir, asked)).fence, 7);
  });
});

// Guards listings against what comes and goes while they run: what one call tells is of one instant
// on a local volume, so a thousand names take one, and another that says there are no more.
test('a thousand names are listed in one system call', options, async () => {
  const last = 1000;
  const names = holdings(1, last).map((name) => [name, dead]);
  const runDir = makeRun(Object.fromEntries(names));
  const listing = await stepsOf(['currentFenceSync', runDir], ['getdents64']);
  assert.deepEqual(
    listing.map((line) => Number(/= (\d+)/.exec(line)[1]) > 0),
    [true, false],
    listing.join('\n'),
  );
  assert.equal(addon.currentFenceSync(runDir), last);
});

test('no descriptor is left', options, async () => {
  // Guards the refusal as one that passes: trying again helps as soon as a file is closed.
  const runDir = makeRun({ '5.json': live('b') });
  const before = snapshot(runDir);
  const calls = ['', 'Sync'].flatMap((form) => [
    [`acquireClaim${form}`, runDir, asked],
    [`readClaim${form}`, runDir],
    [`currentFence${form}`, runDir],
    [`releaseClaim${form}`, runDir, 5],
  ]);
  const path = claimsOf(runDir);
  const expected = {
    code: 'storage_error',
    path,
    errno: 'EMFILE',
    retryable: true,
  };
  for (const outcome of await callThere(calls, { descriptors: 80, openAll: true })) {
    assertRefused(outcome, expected);
  }
  assert.deepEqual(snapshot(runDir), before);
});

test('directories that other hosts make at the same time', options, async (t) => {
  // Guards the making of a directory on volumes where it is for a moment not there, no directory,
  // or stale to one host while another makes it.
  for (const errno of ['ENOENT', 'ENOTDIR', 'ESTALE', 'EEXIST']) {
    await t.test(`making it answers ${errno} twice`, async () => {
      for (const form of ['', 'Sync']) {
        const runDir = join(makeRun({}), 'children', 'run_2');
        const calls = [[`acquireClaim${form}`, runDir, asked]];
        const [{ value, error }] = await callThere(calls, {
          inject: [`mkdir,mkdirat:error=${errno}:when=1..2`],
        });
        assert.equal(value?.fence, 1, error?.message);
      }
    });
  }
  // Guards both ends of the waiting: one that is soon over helps nobody, and one without an end is
  // no answer. The pauses grow, so that whoever is first is not disturbed by the others.
  await t.test('making it keeps answering ENOTDIR', async () => {
    const runDir = join(makeRun({}), 'children', 'run_2');
    const { steps, ...ended } = await callUnderAttachedFaults(
      [['acquireClaimSync', runDir, asked]],
      { inject: ['mkdir,mkdirat:error=ENOTDIR'], trace: ['clock_nanosleep', 'nanosleep'] },
    );
    const path = claimsOf(runDir);
    assertRefused(outcomesOf(ended)[0], { code: 'storage_error', path, errno: 'ENOTDIR' });
    const pauses = steps.map((line) => {
      const [, seconds, nanoseconds] = /tv_sec=(\d+), tv_nsec=(\d+)/.exec(line);
      return Number(seconds) * 1000 + Number(nanoseconds) / 1e6;
    });
    assert.ok(pauses.length >= 10 && pauses[0] <= 10 && pauses.at(-1) <= 200, pauses.join(' '));
    assert.deepEqual(
      pauses,
      [...pauses].sort((a, b) => a - b),
    );
    assert.ok(pauses[0] < pauses.at(-1), pauses.join(' '));
    const waited = pauses.reduce((sum, each) => sum + each, 0);
    assert.ok(waited >= 2000 && waited <= 2200, `${waited} ms`);
  });
  for (const errno of ['EACCES', 'EROFS', 'ENOSPC']) {
    await t.test(`making it answers ${errno}`, async () => {
      const runDir = join(makeRun({}), 'children', 'run_2');
      const calls = ['', 'Sync'].map((form) => [`acquireClaim${form}`, runDir, asked]);
      const outcomes = await callThere(calls, { inject: [`mkdir,mkdirat:error=${errno}`] });
      const path = claimsOf(runDir);
      for (const outcome of outcomes) {
        assertRefused(outcome, { code: 'storage_error', path, errno });
      }
    });
  }
});

test('a staged write that cannot be removed refuses the claim', options, async () => {
  // Guards the promise to the new holder: told that it has the run, it may rely on no older write
  // becoming visible.
  const runDir = makeRun({ '5.json': dead, '.tmp-w5-x': '' });
  const calls = [['acquireClaim', runDir, asked]];
  const [outcome] = await callThere(calls, { inject: ['unlink,unlinkat:error=EACCES'] });
  const path = claimsOf(runDir);
  assertRefused(outcome, { code: 'storage_error', path, errno: 'EACCES', fence: 6 });
  // And nobody has to wait for the end of a lease that nobody was told of.
  const lease = await addon.acquireClaim(runDir, { holder: 'b', ttlMs: 1000 });
  assert.ok(lease?.fence > 6);
  assert.ok(!namesOf(runDir).includes('.tmp-w5-x'));
});

test('a caller that keeps being refused does not fill the directory', options, async () => {
  // Guards the bound on litter: each refused claim publishes, and must prune as well.
  const runDir = makeRun({ '5.json': dead, '.tmp-w5-x': '' });
  const calls = Array.from({ length: 60 }, () => ['acquireClaim', runDir, asked]);
  const path = join(claimsOf(runDir), '.tmp-w5-x');
  const outcomes = await callThere(calls, {
    paths: ['.tmp-w5-x', path],
    inject: ['unlink,unlinkat:error=EACCES'],
  });
  assert.ok(outcomes.every(({ error }) => error?.code === 'storage_error'));
  assert.ok(namesOf(runDir).length <= 37, `${namesOf(runDir).length} names`);
});

test('a directory that is named like a staged write holds nobody up', options, async () => {
  const runDir = makeRun({ '5.json': dead });
  mkdirSync(join(claimsOf(runDir), '.tmp-w5-x'));
  assert.equal((await addon.acquireClaim(runDir, asked)).fence, 6);
});

test('a process killed at any system call of a claim', options, async (t) => {
  // Guards P5: no state in between needs anybody's help, and no body is half a body.
  const calls = ['openat', 'getdents64', 'write', 'linkat', 'link', 'unlinkat', 'unlink', 'close'];
  const fresh = () => makeRun({ ...many, '.tmp-w3-x': '' });
  const many = Object.fromEntries(holdings(1, 40).map((name) => [name, dead]));
  const sampled = fresh();
  const steps = await stepsOf(['acquireClaimSync', sampled, asked], calls);
  assert.ok(steps.length >= 8, steps.join('\n'));
  const atOnce = 2;
  let next = 0;
  async function killSome() {
    while (next < steps.length) {
      const step = next;
      next += 1;
      await killAt(step);
    }
  }
  async function killAt(step) {
    const runDir = fresh();
    const name = callIn(steps[step]);
    const count = steps.slice(0, step + 1).filter((line) => callIn(line) === name).length;
    const ended = await callUnderAttachedFaults([['acquireClaimSync', runDir, asked]], {
      inject: [`${name}:signal=SIGKILL:when=${count}`],
    });
    assert.equal(ended.signal, 'SIGKILL', steps[step]);
    const names = namesOf(runDir);
    const won = names.includes('41.json');
    if (won) assert.equal(bodyOf(runDir, 41).holder, 'a');
    assert.ok(names.filter((name) => /^\.tmp-\d/.test(name)).length <= 1);
    const later = Date.now() + 2 * HOUR_MS;
    const lease = await addon.acquireClaim(runDir, { holder: 'b', ttlMs: 1000, now: later });
    assert.equal(lease.fence, won ? 42 : 41);
    const left = namesOf(runDir).filter((name) => !/^\.tmp-\d/.test(name));
    assert.deepEqual(left, holdings(lease.fence - 32, lease.fence));
  }
  await Promise.all(Array.from({ length: atOnce }, killSome));
  t.diagnostic(`${steps.length} system calls`);
});

// Guards the agreement on modes and keys with workers that do not know the addon.
test('what the addon publishes is what other workers read', async () => {
  for (const form of ['', 'Sync']) {
    const runDir = makeRun();
    const lease = await addon[`acquireClaim${form}`](runDir, asked);
    const { holder, expiresAt, nonce, ...more } = bodyOf(runDir, 1);
    assert.deepEqual({ holder, expiresAt }, { holder: 'a', expiresAt: lease.expiresAt });
    assert.equal(typeof nonce, 'string');
    assert.deepEqual(more, {});
    assert.deepEqual(await peer.readClaim(runDir), lease);
    await addon[`releaseClaim${form}`](runDir, 1);
    assert.deepEqual(await peer.readClaim(runDir), { holder: '', fence: 2, expiresAt: 0 });
    assert.notEqual(bodyOf(runDir, 2).nonce, nonce);
    if (process.platform !== 'win32') {
      const mode = statSync(join(claimsOf(runDir), '1.json')).mode & 0o777;
      assert.equal(mode, 0o666 & ~process.umask());
    }
  }
});
