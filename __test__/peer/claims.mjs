// The claim protocol in plain JavaScript, as workers without the addon speak it: the part that
// every worker agrees on, and nothing that the addon adds to it. The tests let it race the addon
// in one directory, and the bench measures against it, so it takes no detours.
//
// What it therefore lacks, and the addon has: the second listing after the link (a peer that is
// held up for more than 33 holdings may be handed a fence issued before), sealing, the nonce,
// and directories made beside other hosts.

import { randomBytes } from 'node:crypto';
import { link, lstat, mkdir, readdir, readFile, unlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

const HOLDING = /^([0-9]{1,15})\.json$/;
const ROUNDS = 8;
const KEPT_BELOW_CURRENT = 32;
const SCRATCH_AGE_MS = 10 * 60 * 1000;
const NO_HARD_LINKS = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EXDEV', 'EMLINK']);
const NOBODY = { holder: '', expiresAt: 0 };

let attempts = 0;

/**
 * Takes or renews the run in `runDir`.
 * @returns the lease `{ holder, fence, expiresAt }`, or `null` when somebody else has it.
 */
export async function acquireClaim(runDir, { holder, ttlMs, now = Date.now() }) {
  const claims = join(runDir, 'claims');
  for (let round = 0; round < ROUNDS; round += 1) {
    const current = await newest(claims);
    if (current) {
      const body = await readBody(claims, current.name);
      if (now < body.expiresAt && body.holder !== holder) return null;
    } else {
      await attempt(claims, 1, () => mkdir(claims, { recursive: true }));
    }
    const fence = (current?.fence ?? 0) + 1;
    const expiresAt = now + ttlMs;
    if (await publish(claims, fence, { holder, expiresAt })) {
      await prune(claims, fence);
      return { holder, fence, expiresAt };
    }
  }
  return null;
}

/** Gives the run back, if `fence` is still the one it is held at. */
export async function releaseClaim(runDir, fence) {
  const claims = join(runDir, 'claims');
  const current = await newest(claims);
  if (current?.fence === fence) await publish(claims, fence + 1, NOBODY);
}

/** The newest holding as a lease, live or not; `null` when the run was never claimed. */
export async function readClaim(runDir) {
  const claims = join(runDir, 'claims');
  const current = await newest(claims);
  if (!current) return null;
  const { holder, expiresAt } = await readBody(claims, current.name);
  return { holder, fence: current.fence, expiresAt };
}

/** The newest fence; 0 when the run was never claimed. */
export async function currentFence(runDir) {
  return (await newest(join(runDir, 'claims')))?.fence ?? 0;
}

/** Names alone decide which holding is the current one, so that no damage can hide the order. */
async function newest(claims) {
  let current = null;
  for (const name of await list(claims)) {
    const fence = fenceOf(name);
    if (fence !== null && (current === null || fence > current.fence)) current = { name, fence };
  }
  return current;
}

async function list(claims) {
  try {
    return await readdir(claims);
  } catch (error) {
    if (error.code === 'ENOENT') return [];
    throw failure(claims, undefined, error);
  }
}

function fenceOf(name) {
  const match = HOLDING.exec(name);
  return match ? Number(match[1]) : null;
}

/** A damaged body belongs to nobody; one that cannot be read may be somebody's, and is refused. */
async function readBody(claims, name) {
  let text;
  try {
    text = await readFile(join(claims, name), 'utf8');
  } catch (error) {
    if (error.code === 'ENOENT') return NOBODY;
    throw failure(claims, fenceOf(name), error);
  }
  try {
    const body = JSON.parse(text);
    if (typeof body.holder === 'string' && Number.isFinite(body.expiresAt)) return body;
  } catch {}
  return NOBODY;
}

/** Links a whole file to the fence's name; exactly one caller can. `false`: somebody else did. */
async function publish(claims, fence, body) {
  attempts += 1;
  const unique = `${process.pid}-${attempts}-${randomBytes(8).toString('hex')}-${fence}`;
  const scratch = join(claims, `.tmp-${unique}`);
  try {
    await attempt(claims, fence, () => writeFile(scratch, JSON.stringify(body), { flag: 'wx' }));
    await link(scratch, join(claims, `${fence}.json`));
    return true;
  } catch (error) {
    if (error.syscall === 'link' && error.code === 'EEXIST') return false;
    throw error.syscall === 'link' ? failure(claims, fence, error) : error;
  } finally {
    await unlink(scratch).catch(() => {});
  }
}

/** Removes holdings far below the newest, lowest first, and scratch that a crash left behind. */
async function prune(claims, fence) {
  const names = await readdir(claims).catch(() => []);
  const old = [];
  for (const name of names) {
    const other = fenceOf(name);
    if (other !== null && other < fence - KEPT_BELOW_CURRENT) old.push({ name, fence: other });
    else if (name.startsWith('.tmp-')) await removeIfOld(join(claims, name));
  }
  old.sort((a, b) => a.fence - b.fence);
  for (const { name } of old) await unlink(join(claims, name)).catch(() => {});
}

async function removeIfOld(scratch) {
  try {
    const { mtimeMs } = await lstat(scratch);
    if (Date.now() - mtimeMs > SCRATCH_AGE_MS) await unlink(scratch);
  } catch {}
}

async function attempt(claims, fence, step) {
  try {
    return await step();
  } catch (error) {
    throw failure(claims, fence, error);
  }
}

function failure(claims, fence, cause) {
  const noLinks = cause.syscall === 'link' && NO_HARD_LINKS.has(cause.code);
  const error = new Error(
    noLinks
      ? `cannot publish a run claim in ${claims}: link answered ${cause.code}; a shared queue needs hard-link support, or a single writer per run`
      : `cannot use ${claims}: ${cause.syscall} answered ${cause.code}`,
    { cause },
  );
  error.code = noLinks ? 'capability_unavailable' : 'storage_error';
  error.details = { path: claims, code: cause.code, fence };
  return error;
}
