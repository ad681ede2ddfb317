// Faults of the disk under the store: each is an error that names its cause, the old checkpoint
// stays whole, and nothing is left lying about.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { noFaults } from './faults.mjs';
import { addon, HOUR_MS, tempDir } from './helpers.mjs';
import {
  assertHoldingsOnly,
  assertRefusal,
  assertRefuses,
  callIn,
  callStoreThere,
  contentsOf,
  makeCheckpoint,
  makeStore,
  startTracedStoreCalls,
} from './store-helpers.mjs';

const NOBODY_UID = 65534;
const asRoot = process.getuid?.() === 0;
const faults = { skip: noFaults, concurrency: 4 };

const old = makeCheckpoint('cp_1', { note: 'the old one' });
const next = makeCheckpoint('cp_1', { note: 'the new one', text: 'x'.repeat(11_000) });

/** A run held at fence 1, with a checkpoint. */
async function heldRun(options, baseDir) {
  const run = makeStore(options, baseDir);
  await run.store.claimRun(run.scope, { holder: 'a', ttlMs: HOUR_MS });
  await run.store.writeCheckpoint(run.scope, old, 1);
  return run;
}

/** That only the old checkpoint is there, whole, and no litter. */
async function assertUntouched(run) {
  assert.deepEqual(readdirSync(run.checkpoints), ['cp_1.json']);
  assert.equal((await run.store.readCheckpoint(run.scope, 'cp_1')).note, 'the old one');
  assertHoldingsOnly(run.claims);
}

// ---------------------------------------------------------------------------------------------
// Volumes that are full, or may not be written

/** A volume of its own in memory, until the test ends; `undefined` where none can be had. */
function mountTmpfs(t, options) {
  const directory = tempDir();
  const { status } = spawnSync('mount', ['-t', 'tmpfs', '-o', options, 'tmpfs', directory]);
  if (status !== 0) return undefined;
  const unmount = () => spawnSync('umount', [directory]);
  if (t) t.after(unmount);
  else unmount();
  return directory;
}

const canMount = process.platform === 'linux' && asRoot && mountTmpfs(null, 'size=64k');
const volumes = { skip: canMount ? false : 'only the superuser of Linux can mount a volume' };

/** Fills a volume to its last byte. */
function fill(directory) {
  let size = 1 << 20;
  for (let count = 0; size > 0; count += 1) {
    try {
      writeFileSync(join(directory, `filler-${count}`), 'x'.repeat(size));
    } catch (error) {
      assert.equal(error.code, 'ENOSPC');
      size = Math.floor(size / 2);
    }
  }
}

test('a full volume', volumes, async (t) => {
  // Guards the check of every write before the rename: the create succeeds, the write fails, and
  // the rename would put half a file in the place of the old one.
  const run = await heldRun({}, mountTmpfs(t, 'size=1m'));
  fill(run.config.baseDir);
  for (const [fence, path] of [
    [1, run.claims],
    [undefined, run.checkpoints],
  ]) {
    await assertRefuses(() => run.store.writeCheckpoint(run.scope, next, fence), {
      code: 'storage_error',
      details: { path, file: 'cp_1.json', code: 'ENOSPC' },
      mentions: ['ENOSPC', path, 'cp_1.json'],
    });
    await assertUntouched(run);
  }
  unlinkSync(join(run.config.baseDir, 'filler-0'));
  await run.store.writeCheckpoint(run.scope, next, 1);
  assert.equal((await run.store.readCheckpoint(run.scope, 'cp_1')).note, 'the new one');
});

test('a volume without inodes', volumes, async (t) => {
  const run = await heldRun({}, mountTmpfs(t, 'size=1m,nr_inodes=16'));
  for (let count = 0; ; count += 1) {
    try {
      writeFileSync(join(run.config.baseDir, `filler-${count}`), '');
    } catch {
      break;
    }
  }
  for (const fence of [1, undefined]) {
    await assertRefuses(() => run.store.writeCheckpoint(run.scope, next, fence), {
      code: 'storage_error',
      mentions: ['ENOSPC'],
    });
    await assertUntouched(run);
  }
});

test('a read-only volume', volumes, async (t) => {
  // Guards reading where nothing can be written, and the errno where something was to be.
  const run = await heldRun({}, mountTmpfs(t, 'size=1m'));
  const remount = spawnSync('mount', ['-o', 'remount,ro', run.config.baseDir]);
  assert.equal(remount.status, 0, String(remount.stderr));
  await assertUntouched(run);
  assert.equal((await run.store.listCheckpoints(run.scope)).length, 1);
  for (const [fence, path] of [
    [1, run.claims],
    [undefined, run.checkpoints],
  ]) {
    await assertRefuses(() => run.store.writeCheckpoint(run.scope, next, fence), {
      code: 'storage_error',
      details: { path, file: 'cp_1.json', code: 'EROFS' },
      mentions: ['EROFS'],
    });
  }
  await assertRefuses(() => run.store.deleteCheckpoint(run.scope, 'cp_1'), {
    code: 'storage_error',
    details: { path: run.checkpoints, file: 'cp_1.json', code: 'EROFS' },
  });
  const lease = { holder: 'a', ttlMs: 1 };
  await assertRefuses(() => run.store.claimRun(run.scope, lease), { mentions: ['EROFS'] });
  await assertUntouched(run);
});

test('files of another user', { skip: !asRoot && 'only root can become another' }, async () => {
  // Guards what may not be read from being taken for absent or damaged, and what may not be
  // written from being written in part.
  const run = await heldRun();
  const file = join(run.checkpoints, 'cp_1.json');
  chmodSync(file, 0);
  for (const directory of [run.config.baseDir, run.runDir]) chmodSync(directory, 0o755);
  chmodSync(run.claims, 0o777);
  chmodSync(run.checkpoints, 0o777);
  const denied = { details: { path: run.checkpoints, file: 'cp_1.json', code: 'EACCES' } };
  const read = [
    ['readCheckpoint', run.scope, 'cp_1'],
    ['listCheckpoints', run.scope],
  ];
  for (const { error } of await callStoreThere(run.config, read, { uid: NOBODY_UID })) {
    assertRefusal(error, { code: 'storage_error', ...denied, mentions: ['EACCES'] });
    assert.equal(error.cause.code, 'EACCES');
  }

  chmodSync(run.claims, 0o555);
  chmodSync(run.checkpoints, 0o555);
  const write = [
    ['writeCheckpoint', run.scope, next, 1],
    ['writeCheckpoint', run.scope, next],
    ['deleteCheckpoint', run.scope, 'cp_1'],
  ];
  const refused = await callStoreThere(run.config, write, { uid: NOBODY_UID });
  for (const [index, path] of [run.claims, run.checkpoints, run.checkpoints].entries()) {
    assertRefusal(refused[index].error, {
      code: 'storage_error',
      details: { path, file: 'cp_1.json', code: 'EACCES' },
    });
  }
  chmodSync(file, 0o644);
  await assertUntouched(run);
});

// ---------------------------------------------------------------------------------------------
// Files that are no checkpoints

test('a file that cannot be used refuses the read that needs it', async () => {
  // Guards strictness, and what hosts match of it.
  const good = JSON.stringify(makeCheckpoint('good'));
  const bare = { ...makeCheckpoint('bad') };
  delete bare.costInfo;
  const spoilt = {
    'not a usable checkpoint': [
      '',
      '{',
      'null',
      '[]',
      '5',
      `${good},`,
      good.slice(0, -1),
      `\ufeff${good}`,
      '{}',
      JSON.stringify({ ...makeCheckpoint(), id: 5 }),
      JSON.stringify({ ...makeCheckpoint(), messages: {} }),
    ],
    'malformed budget state': [
      JSON.stringify(bare),
      JSON.stringify({ ...makeCheckpoint(), costInfo: { totalCost: '0' } }),
      good.replace('"totalCost":0.25', '"totalCost":1e999'),
    ],
  };
  for (const [said, texts] of Object.entries(spoilt)) {
    for (const text of texts) {
      const { store, scope, checkpoints } = makeStore();
      mkdirSync(checkpoints, { recursive: true });
      writeFileSync(join(checkpoints, 'good.json'), good);
      writeFileSync(join(checkpoints, 'bad.json'), text);
      for (const call of [
        () => store.readCheckpoint(scope, 'bad'),
        () => store.listCheckpoints(scope),
      ]) {
        const error = await assertRefuses(call, {
          code: 'storage_error',
          mentions: [said, 'bad.json', checkpoints],
        });
        const { path, file, reason, ...more } = error.details;
        assert.deepEqual({ path, file, more }, { path: checkpoints, file: 'bad.json', more: {} });
        assert.ok(reason.includes(said), reason);
      }
      assert.equal((await store.readCheckpoint(scope, 'good')).id, 'good');
      // It is put right by a write, or by its end.
      await store.writeCheckpoint(scope, makeCheckpoint('bad'));
      assert.equal((await store.listCheckpoints(scope)).length, 2);
      writeFileSync(join(checkpoints, 'bad.json'), text);
      await store.deleteCheckpoint(scope, 'bad');
      assert.equal((await store.listCheckpoints(scope)).length, 1);
    }
  }
});

test('what is no file is refused, and opening it never blocks', async () => {
  if (process.platform === 'win32') return;
  const { store, scope, checkpoints } = makeStore();
  mkdirSync(join(checkpoints, 'directory.json'), { recursive: true });
  symlinkSync('nowhere', join(checkpoints, 'link.json'));
  spawnSync('mkfifo', [join(checkpoints, 'pipe.json')]);
  for (const name of ['directory', 'link', 'pipe']) {
    await assertRefuses(() => store.readCheckpoint(scope, name), {
      code: 'storage_error',
      mentions: ['not a usable checkpoint', `${name}.json`],
    });
  }
  await assertRefuses(() => store.listCheckpoints(scope), { code: 'storage_error' });
});

test('a checkpoint of another schema has an error of its own', async () => {
  class HostError extends Error {
    constructor({ code, message, details, retryable, cause }) {
      super(message, { cause });
      Object.assign(this, { name: 'HostError', code, details, retryable });
    }
  }
  const { store, scope, checkpoints } = makeStore();
  await store.writeCheckpoint(scope, makeCheckpoint('good'));
  const text = (version) => JSON.stringify({ ...makeCheckpoint(), schemaVersion: version });
  for (const Class of [addon.NamzuError, HostError]) {
    addon.adoptErrorClass(Class);
    for (const found of [2, 0, -1, 1e15]) {
      writeFileSync(join(checkpoints, 'new.json'), text(found));
      for (const call of [
        () => store.readCheckpoint(scope, 'new'),
        () => store.listCheckpoints(scope),
      ]) {
        const error = await assertRefuses(call, {
          name: 'SchemaVersionError',
          code: 'storage_error',
          found,
          supported: 1,
          mentions: ['new.json', 'reads 1'],
        });
        assert.ok(error instanceof Class);
        assert.equal(error.details.found, found);
        assert.ok(error.message.includes(String(found)), error.message);
      }
    }
  }
  addon.adoptErrorClass(addon.NamzuError);
  for (const same of [undefined, 1, 1.5, '2', null]) {
    writeFileSync(join(checkpoints, 'new.json'), text(same));
    assert.equal((await store.readCheckpoint(scope, 'new')).id, 'cp_1');
  }
});

// ---------------------------------------------------------------------------------------------
// System calls that fail

/** What a write under a fault comes to, with the run and the system calls that it made. */
async function writeUnder(inject, { fenced = true, ...options } = {}) {
  const run = await heldRun(options);
  const calls = [['writeCheckpoint', run.scope, next, ...(fenced ? [1] : [])]];
  const traced = await startTracedStoreCalls(run.config, calls, { inject });
  traced.go();
  const [outcome] = await traced.outcomes;
  return { run, outcome, log: traced.log() };
}

test('a step of a write that fails', faults, async (t) => {
  const cases = [];
  const failing = (title, inject, expected, options) => {
    const run = async () => {
      const { run, outcome } = await writeUnder([inject], options);
      const { directory, file = 'cp_1.json', errno, retryable = false } = expected;
      const details = { path: run[directory], ...(file && { file }), code: errno };
      const mentions = [run[directory], errno];
      const code = 'storage_error';
      assertRefusal(outcome.error, { code, retryable, details, mentions });
      assert.equal(outcome.error.cause.code, errno);
      await assertUntouched(run);
    };
    cases.push(t.test(title, run));
  };
  // Guards the old checkpoint, the errno and the absence of litter at each step.
  for (const fenced of [true, false]) {
    const kind = fenced ? 'fenced' : 'unfenced';
    const directory = fenced ? 'claims' : 'checkpoints';
    const at = (call, errnos, where = directory, options = {}) => {
      for (const errno of errnos) {
        const inject = call.replace('ERRNO', errno);
        const retryable = ['EMFILE', 'EBUSY'].includes(errno);
        const expected = { directory: where, errno, retryable };
        failing(`${kind}: ${inject}`, inject, expected, { fenced, ...options });
      }
    };
    // After the directories, of which an unfenced write opens one less, comes the scratch.
    const create = `openat:error=ERRNO:when=${fenced ? 3 : 2}`;
    at(create, ['ENOSPC', 'EROFS', 'EACCES', 'EIO', 'EMFILE']);
    at('write:error=ERRNO:when=1', ['ENOSPC', 'EDQUOT', 'EIO', 'EFBIG']);
    at('close:error=ERRNO:when=1', ['EIO', 'ENOSPC']);
    at('renameat:error=ERRNO', ['EIO', 'EXDEV', 'EBUSY'], 'checkpoints');
    at('fsync:error=ERRNO:when=1', ['EIO'], directory, { durability: 'power' });
  }
  // Guards the look at the fences: a listing that failed is not an empty one.
  failing('the claims cannot be listed', 'getdents64:error=EIO:when=1', {
    directory: 'claims',
    file: null,
    errno: 'EIO',
  });
  // Guards the answer where the staged file is gone and nobody took the run.
  failing('the staged file is gone', 'renameat:error=ENOENT', {
    directory: 'checkpoints',
    errno: 'ENOENT',
  });
  await Promise.all(cases);

  // Guards another's file: a name that is there already was not made by this write, so it is
  // neither written nor removed.
  await t.test('the scratch name exists', async () => {
    for (const fenced of [true, false]) {
      const inject = [`openat:error=EEXIST:when=${fenced ? 3 : 2}`];
      const { run, outcome, log } = await writeUnder(inject, { fenced });
      assertRefusal(outcome.error, {
        code: 'storage_error',
        retryable: false,
        mentions: ['scratch name', 'already exists'],
      });
      assert.deepEqual(
        log.filter((line) => /^(unlink|write\(\d+<\/|rename)/.test(line)),
        [],
      );
      await assertUntouched(run);
    }
  });

  // Guards the rest of a write that was taken in part only.
  await t.test('a write that takes nothing, and says that it did', async () => {
    for (const fenced of [true, false]) {
      const { run, outcome } = await writeUnder(['write:retval=0:when=1'], { fenced });
      assertRefusal(outcome.error, { code: 'storage_error', mentions: ['EIO'] });
      await assertUntouched(run);
    }
  });
});

test('a read that fails', faults, async (t) => {
  // Guards what cannot be read from being taken for absent: a run would be resumed from less.
  for (const [inject, errno, retryable] of [
    ['openat:error=EIO:when=2', 'EIO', false],
    ['openat:error=EMFILE:when=2', 'EMFILE', true],
    ['read:error=EIO', 'EIO', false],
    ['read:error=ESTALE', 'ESTALE', true],
  ]) {
    await t.test(inject, async () => {
      const run = await heldRun();
      const calls = [['readCheckpoint', run.scope, 'cp_1']];
      const traced = await startTracedStoreCalls(run.config, calls, { inject: [inject] });
      traced.go();
      const [{ error }] = await traced.outcomes;
      const details = { path: run.checkpoints, file: 'cp_1.json', code: errno };
      assertRefusal(error, { code: 'storage_error', retryable, details });
    });
  }
  // Guards a read beside a write: what is replaced meanwhile can seem gone or stale, and is not.
  for (const inject of ['read:error=ESTALE:when=1', 'openat:error=ENOENT:when=2']) {
    await t.test(`${inject}, and then not`, async () => {
      const run = await heldRun();
      const calls = [['readCheckpoint', run.scope, 'cp_1']];
      const traced = await startTracedStoreCalls(run.config, calls, { inject: [inject] });
      traced.go();
      assert.equal((await traced.outcomes)[0].value?.note, 'the old one');
    });
  }
  await t.test('the listing', async () => {
    const run = await heldRun();
    const calls = [['listCheckpoints', run.scope]];
    const inject = ['getdents64:error=EIO'];
    const traced = await startTracedStoreCalls(run.config, calls, { inject });
    traced.go();
    const [{ error }] = await traced.outcomes;
    const details = { path: run.checkpoints, code: 'EIO' };
    assertRefusal(error, { code: 'storage_error', retryable: false, details });
  });
});

// ---------------------------------------------------------------------------------------------
// The end of a process, and the loss of power

test('a process killed at any system call of a write', faults, async (t) => {
  // Guards the old checkpoint and the new one: one of them is there, whole, and what else is left
  // needs nobody's help.
  const { log } = await writeUnder([]);
  const steps = log.filter((line) => line.includes('fencelink-test-'));
  const counts = {};
  const notes = new Set();
  for (const line of steps) {
    const name = callIn(line);
    counts[name] = (counts[name] ?? 0) + 1;
    const run = await heldRun();
    const inject = [`${name}:signal=SIGKILL:when=${counts[name]}`];
    const calls = [['writeCheckpoint', run.scope, next, 1]];
    const traced = await startTracedStoreCalls(run.config, calls, { inject });
    traced.go();
    await assert.rejects(traced.outcomes, /SIGKILL/, line);
    const { note, text } = await run.store.readCheckpoint(run.scope, 'cp_1');
    assert.equal(text, note === 'the new one' ? next.text : undefined);
    notes.add(note);
    const litter = readdirSync(run.claims).filter((file) => !/^\d+\.json$/.test(file));
    assert.ok(litter.length <= 1 && litter.every((file) => file.startsWith('.tmp-w1-')));
    assert.deepEqual(readdirSync(run.checkpoints), ['cp_1.json']);
    assert.equal((await run.store.claimRun(run.scope, { holder: 'a', ttlMs: 1 })).fence, 2);
    assertHoldingsOnly(run.claims);
  }
  assert.equal(notes.size, 2, 'the rename was among the steps');
  t.diagnostic(`killed at each of ${steps.length} system calls`);
});

test('what writers that crashed have left goes by its age', async () => {
  const { store, scope, claims, checkpoints } = makeStore();
  await store.claimRun(scope, { holder: 'a', ttlMs: HOUR_MS });
  mkdirSync(checkpoints);
  const longAgo = new Date(Date.now() - 11 * 60 * 1000);
  for (const [directory, name] of [
    [checkpoints, '.tmp-1-0-old'],
    [claims, '.tmp-w9-1-0-old'],
    [claims, '.tmp-1-0-old'],
  ]) {
    writeFileSync(join(directory, name), 'half a che');
    utimesSync(join(directory, name), longAgo, longAgo);
  }
  await store.writeCheckpoint(scope, old);
  assert.deepEqual(Object.keys(contentsOf(checkpoints)), ['cp_1.json']);
  await store.claimRun(scope, { holder: 'a', ttlMs: HOUR_MS });
  assertHoldingsOnly(claims);
});

test('a store for which the loss of power matters', faults, async (t) => {
  /** Syncs and what they are about, and the acts that they make durable, in order. */
  const acts = (log, runDir) =>
    log.flatMap((line) => {
      const name = callIn(line);
      if (name === 'fsync') {
        const path = /<([^>]*)>/.exec(line)[1].replace(runDir, '');
        return [`sync ${/\.tmp-|#\d|deleted/.test(path) ? 'file' : path}`];
      }
      if (name === 'mkdir') return [`mkdir ${/"([^"]*)"/.exec(line)[1].replace(runDir, '')}`];
      if (/^(renameat|linkat|unlinkat)$/.test(name)) return [name];
      return [];
    });
  const traceOf = async (durability, calls, first = false) => {
    const run = first ? makeStore({ durability }) : await heldRun({ durability });
    const traced = await startTracedStoreCalls(run.config, calls(run));
    traced.go();
    for (const { error } of await traced.outcomes) assert.equal(error, undefined);
    return acts(traced.log(), run.runDir);
  };
  const write = ({ scope }) => [['writeCheckpoint', scope, next, 1]];
  const unfenced = ({ scope }) => [['writeCheckpoint', scope, next]];
  const claim = ({ scope }) => [['claimRun', scope, { holder: 'a', ttlMs: HOUR_MS }]];
  const release = ({ scope }) => [['releaseRun', scope, 1]];
  const erase = ({ scope }) => [['deleteCheckpoint', scope, 'cp_1']];

  // Guards the order: a file's bytes before its name, and its name before the answer.
  await t.test('syncs the file before its name, and the directory after', async () => {
    const renamed = ['sync file', 'renameat', 'sync /checkpoints'];
    assert.deepEqual(await traceOf('power', write), [...renamed, 'sync /claims']);
    assert.deepEqual(await traceOf('power', unfenced), renamed);
    const linked = ['sync file', 'linkat', 'sync /claims'];
    assert.deepEqual(await traceOf('power', claim), linked);
    assert.deepEqual(await traceOf('power', release), linked);
    assert.deepEqual(await traceOf('power', erase), ['unlinkat', 'sync /checkpoints']);
  });

  // Guards the way to the file: each directory on it is an entry in another, and whoever made it
  // may have stopped before syncing that.
  await t.test('syncs the way to the first thing that it publishes in a run', async () => {
    const ways = {
      'nothing is there': () => {},
      'another has just made the directories': (run) => {
        mkdirSync(run.claims, { recursive: true });
        mkdirSync(run.checkpoints);
      },
    };
    for (const [what, make] of Object.entries(ways)) {
      for (const call of [claim, write, unfenced]) {
        for (const parentRunId of [undefined, 'run_0']) {
          const run = makeStore({ durability: 'power' });
          if (parentRunId) {
            run.scope.parentRunId = parentRunId;
            run.runDir = join(run.config.baseDir, 'run_0', 'children', 'run_1');
            run.claims = join(run.runDir, 'claims');
            run.checkpoints = join(run.runDir, 'checkpoints');
          }
          make(run);
          const traced = await startTracedStoreCalls(run.config, call(run));
          traced.go();
          for (const { error } of await traced.outcomes) assert.equal(error, undefined);
          const done = acts(traced.log(), run.config.baseDir);
          const published = done.findIndex((act) => /^(renameat|linkat)$/.test(act));
          const way = parentRunId
            ? ['/run_0/children/run_1', '/run_0/children', '/run_0']
            : ['/run_1'];
          for (const directory of [...way, '']) {
            const synced = done.lastIndexOf(`sync ${directory}`, published);
            const makes = (act) =>
              act.startsWith('mkdir') && dirname(act.slice(6)) === (directory || '/');
            const made = done.findLastIndex(makes);
            assert.ok(synced > made, `${what}: ${directory} in ${done}`);
          }
        }
      }
    }
  });

  // Guards the price of the default: nothing is waited for.
  await t.test('and one for which it does not syncs nothing', async () => {
    for (const call of [write, unfenced, claim, release, erase]) {
      const acts = await traceOf('process', call);
      assert.deepEqual(
        acts.filter((act) => act.startsWith('sync')),
        [],
      );
    }
  });

  // Guards what was sealed: on a volume of another host, a writer outlives the loss of its power.
  await t.test('syncs what it has sealed', async () => {
    const run = await heldRun({ durability: 'power' });
    writeFileSync(join(run.claims, '.tmp-w1-x'), '');
    const traced = await startTracedStoreCalls(run.config, claim(run));
    traced.go();
    assert.equal((await traced.outcomes)[0].value.fence, 2);
    const wanted = ['sync file', 'linkat', 'sync /claims', 'unlinkat', 'sync /claims'];
    assert.deepEqual(acts(traced.log(), run.runDir), wanted);
    assert.ok(!readFileSync(join(run.claims, '2.json')).includes('tmp'));
  });
});
