// What can befall a system call, and what each operation comes to under it.

import assert from 'node:assert/strict';
import { callIn } from '../faults.mjs';
import { HOUR_MS } from '../helpers.mjs';
import { contentsOf } from '../store-helpers.mjs';
import { assertNextClaim, operations } from './operations.mjs';

/**
 * The errnos that a call can give, on local volumes and on those of a network. Not those that only a
 * wrong argument can bring about.
 */
const EVERYWHERE = ['EIO', 'EINTR', 'ENOMEM', 'ESTALE', 'ENOTCONN'];
const LOOKUP = ['EACCES', 'ELOOP', 'ENOENT', 'ENOTDIR'];
const CREATION = ['EDQUOT', 'EEXIST', 'ENOSPC', 'EPERM', 'EROFS'];
const ERRNOS = {
  openat: [...LOOKUP, 'EMFILE', 'ENFILE', 'EPERM', 'EBUSY'],
  create: [...LOOKUP, ...CREATION, 'EMFILE', 'ENFILE', 'EOPNOTSUPP', 'EISDIR', 'EINVAL'],
  mkdir: [...LOOKUP, ...CREATION, 'EMLINK'],
  getdents64: ['EACCES', 'ENOENT', 'EINVAL'],
  newfstatat: [...LOOKUP, 'EOVERFLOW'],
  fstat: ['EOVERFLOW'],
  getrandom: ['ENOSYS', 'EPERM', 'EAGAIN'],
  read: ['EAGAIN', 'EACCES', 'EISDIR'],
  write: ['EAGAIN', 'EDQUOT', 'EFBIG', 'ENOSPC', 'EPERM'],
  fsync: ['EDQUOT', 'EINVAL', 'ENOSPC', 'EROFS'],
  close: ['EDQUOT', 'ENOSPC'],
  linkat: [...LOOKUP, ...CREATION, 'EMLINK', 'EXDEV', 'EOPNOTSUPP', 'ENOSYS', 'EBUSY'],
  unlinkat: [...LOOKUP, 'EBUSY', 'EISDIR', 'EPERM', 'EROFS'],
  renameat: [...LOOKUP, 'EBUSY', 'EDQUOT', 'EMLINK', 'ENOSPC', 'EPERM', 'EROFS', 'EXDEV'],
};

/** The errnos of a call; one that `stays` is not that a name just made is not there. */
export function errnosOf({ kind }, stays) {
  const own = ERRNOS[kind];
  assert.ok(own, `no errnos are known of ${kind}`);
  const errnos = [...new Set([...EVERYWHERE, ...own])].sort();
  return errnos.filter((errno) => !(stays && kind === 'newfstatat' && errno === 'ENOENT'));
}

/** What says that there is no such thing: an answer may be made of that, and it is no fault. */
const SAYS_ABSENT = ['ENOENT', 'ENOTDIR'];

const PASSING = ['EMFILE', 'ENFILE', 'EINTR', 'EAGAIN', 'EBUSY', 'ESTALE'];

/**
 * How a volume without nameless files is had: the nameless file fails once, in one of two ways, of
 * which the one is for faults in the calls that the other is made of.
 */
const NAMED = {
  'a claim': { 'openat:error=EOPNOTSUPP:when=3': 'openat', 'linkat:error=EPERM:when=1': 'linkat' },
  'a release': {
    'openat:error=EOPNOTSUPP:when=2': 'openat',
    'linkat:error=EPERM:when=1': 'linkat',
  },
};

/**
 * The operations, and those that publish also from a scratch file with a name. `without`: the call
 * that fails so that there is none without, and in which no fault is injected then.
 */
export function variants() {
  const plain = Object.entries(operations).map(([title, operation]) => ({ title, operation }));
  const named = Object.entries(NAMED).flatMap(([title, ways]) =>
    Object.entries(ways).map(([fault, without]) => ({
      title: `${title}, \`${without}\` of a nameless file refused`,
      operation: { ...operations[title], scratch: 1, writes: without === 'openat' ? 1 : 2 },
      inject: [fault],
      without,
    })),
  );
  return [...plain, ...named];
}

/** The system calls of an operation: which, how often so far, and what it is about. */
export async function stepsOf(traced, { operation, inject, without }) {
  const run = await operation.make();
  const lines = await traced.stepsOf(operation.call(run), inject);
  const counts = {};
  const steps = lines.map((line) => {
    const name = callIn(line);
    counts[name] = (counts[name] ?? 0) + 1;
    const kind = kindOf(name, line);
    return { name, kind, count: counts[name], label: labelOf(line, run.config.baseDir) };
  });
  if (!without) return steps;
  const refused = lines.findIndex((line) => line.includes('(INJECTED)'));
  assert.ok(
    steps.some(({ label }) => label === 'openat claims/.tmp-…'),
    'no scratch file was named',
  );
  return steps.slice(refused + 1).filter(({ name }) => name !== without);
}

/** By which a call may fail: a file is created, or looked at that is open already. */
function kindOf(name, line) {
  if (/O_CREAT|O_TMPFILE/.test(line)) return 'create';
  return line.includes('AT_EMPTY_PATH') && name === 'newfstatat' ? 'fstat' : name;
}

/** A call without what differs from run to run. */
function labelOf(line, baseDir) {
  const name = callIn(line);
  const plain = line
    .replaceAll(`${baseDir}/run_1/`, '')
    .replaceAll(`${baseDir}/`, '')
    .replaceAll(baseDir, 'the tree')
    .replace(/#\d+> ?\(deleted\)/g, 'a nameless file>')
    .replace(/(\.tmp-(?:w\d+-)?)\d+-\d+-[0-9a-f]{16}/g, '$1…');
  const [, at] = /^\w+\(\d+<([^>]*)>/.exec(plain) ?? [];
  const paths = [...plain.matchAll(/(?:\d+<([^>]*)>, |\()?"([^"]*)"/g)];
  if (['read', 'write', 'close', 'fsync', 'getdents64'].includes(name)) return `${name} ${at}`;
  if (name === 'getrandom') return name;
  if (/O_TMPFILE/.test(line)) return `${name} a nameless file`;
  const about = paths.filter(([, , path]) => path !== '' && path !== '.');
  if (about.length === 0) return `${name} ${at}`;
  return `${name} ${about.map(([, dir, path]) => (dir ? `${dir}/${path}` : path)).join(' to ')}`;
}

/** One operation under one fault; see {@link killed}, {@link failed} and {@link stalled}. */
async function under(traced, { operation, inject = [] }, fault) {
  const run = await operation.make();
  const outcome = await traced.make(operation.call(run), [...inject, ...fault]);
  return { run, outcome, effect: operation.effect(run) };
}

/** The process ends at a call. Resolves to what there was to see of the operation. */
export async function killed(traced, variant, { name, count }) {
  const fault = [`${name}:signal=SIGKILL:when=${count}`];
  const { run, outcome, effect } = await under(traced, variant, fault);
  assert.equal(outcome, undefined, 'it was not killed');
  await assertNextClaim(run, { scratch: variant.operation.scratch });
  return effect;
}

/**
 * A call answers an error, once or each time from then on. Resolves to what became of the operation.
 */
export async function failed(traced, variant, { name, count }, errno, stays) {
  const { operation } = variant;
  // Not the write after those of files, by which Node.js is told of the answer.
  const until = name === 'write' && stays ? `..${Math.max(count, operation.writes)}` : '+';
  const fault = `${name}:error=${errno}:when=${count}${stays ? until : ''}`;
  const { run, outcome, effect } = await under(traced, variant, [fault]);
  assert.ok(outcome, 'the process has ended');
  let told = outcome.error ? `refused, ${effect}` : effect;
  if (outcome.error) {
    assertNames(outcome.error, errno, run);
    assert.ok(operation.refused.includes(effect), `refused, and ${effect}`);
    await operation.alsoRefused?.(run);
  } else if (operation.absent?.(outcome.value, effect) && SAYS_ABSENT.includes(errno)) {
    told = 'answered as if nothing were there';
  } else {
    operation.answered(run, outcome.value, effect);
    if (effect === 'nothing done') told = 'answered';
  }
  // A name that cannot be removed stays until it is old.
  await assertNextClaim(run, { scratch: name === 'unlinkat' ? 2 : operation.scratch });
  return told;
}

/** What is no cause by itself: the refusal says what came of it. */
const OTHERWISE_TOLD = {
  EEXIST: /EEXIST|already exists|answered ENOENT/,
  ENOENT: /ENOENT|change faster than they can be listed|leads nowhere/,
};

/** An error names its cause, and is told from one that passes. */
function assertNames(error, errno, { config }) {
  const shown = errno === 'EOPNOTSUPP' ? 'ENOTSUP' : errno;
  const { name, code, message, details, retryable } = error;
  assert.equal(name, 'NamzuError', message);
  assert.match(code, /^(storage_error|capability_unavailable)$/, message);
  assert.match(message, OTHERWISE_TOLD[errno] ?? new RegExp(shown));
  assert.ok(details.path.startsWith(config.baseDir), details.path);
  assert.ok(message.includes(details.path), `"${message}" does not name ${details.path}`);
  assert.doesNotMatch(message, /\.tmp-/);
  if (errno in OTHERWISE_TOLD) return;
  assert.deepEqual([details.code, error.cause?.code], [shown, shown], message);
  assert.equal(retryable, PASSING.includes(shown), `${message}: retryable`);
}

/** How another takes the run when all leases have ended. */
function takes({ store, scope }) {
  const now = Date.now() + 2 * HOUR_MS;
  return store.claimRun(scope, { holder: 'quick', ttlMs: 4 * HOUR_MS, now });
}

/**
 * Another takes the run while the operation is held up at a call. Resolves to what became of it. What
 * the other saw of the run's checkpoints when it had its lease is what they are in the end.
 */
export async function stalled(traced, { operation, inject }, step) {
  const run = await operation.make();
  let seen;
  const meanwhile = async () => {
    const lease = await takes(run);
    seen = contentsOf(run.checkpoints);
    return lease;
  };
  const { outcome, did } = await traced.holdUp(operation.call(run), step, meanwhile, inject);
  assert.ok(did, 'the other did not get the run');
  const told = operation.overtaken({ run, outcome, taken: did, seen });
  await assertNextClaim(run, { scratch: operation.scratch });
  return told;
}
