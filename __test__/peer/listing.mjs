// A listing of durable runs in plain JavaScript, as a worker without the addon does it: every row is
// made, then the page is cut. The tests compare the addon's answers with it, and the bench measures
// against it, so it takes no detours: a run that the claim filter drops has its checkpoints left
// unread here too, and the files of a run are read at the same time.
//
// What it lacks, and the addon has: pages that cost what they hold, `damaged: 'report'`, and the
// scan for the few members that a row needs.

import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { readClaim } from './claims.mjs';

const RANKS = ['outstanding', 'expired', 'resolved'];

/**
 * A page of the runs below `baseDir`.
 * @param attribution `{ tenantId, projectId, sessionId }`, which every row carries
 * @param options those of `listDurableRuns`, but for `damaged`
 */
export async function listDurableRuns(baseDir, attribution, options = {}) {
  const { now = Date.now(), claimed } = options;
  const entries = [];
  for (const { runDir, ...ids } of await runsBelow(baseDir)) {
    const lease = await readClaim(runDir);
    const claim = lease && { ...lease, expired: !(now < lease.expiresAt) };
    if (claimed !== undefined && claimed !== isLive(claim)) continue;
    const checkpoints = await readCheckpoints(runDir);
    if (checkpoints.length === 0) continue;
    const entry = entryOf({ ...attribution, ...ids }, checkpoints, now);
    entries.push(claim ? { ...entry, claim } : entry);
  }
  return paginate(entries, options);
}

const isLive = (claim) => claim !== null && !claim.expired;

async function runsBelow(baseDir) {
  const runs = [];
  for (const runId of await runNames(baseDir)) {
    const runDir = join(baseDir, runId);
    runs.push({ runDir, runId });
    const children = join(runDir, 'children');
    for (const child of await runNames(children)) {
      runs.push({ runDir: join(children, child), runId: child, parentRunId: runId });
    }
  }
  return runs;
}

async function runNames(directory) {
  const found = await list(directory, { withFileTypes: true });
  return found
    .filter((entry) => entry.isDirectory() && entry.name.startsWith('run_'))
    .map(({ name }) => name);
}

async function list(directory, options) {
  try {
    return await readdir(directory, options);
  } catch (error) {
    if (error.code === 'ENOENT') return [];
    throw error;
  }
}

async function readCheckpoints(runDir) {
  const directory = join(runDir, 'checkpoints');
  const names = (await list(directory)).filter((name) => name.endsWith('.json'));
  return await Promise.all(
    names.map(async (name) => usable(await readFile(join(directory, name), 'utf8'), name)),
  );
}

/** A checkpoint, strictly read. */
function usable(text, file) {
  const checkpoint = JSON.parse(text);
  const { schemaVersion } = checkpoint ?? {};
  if (Number.isInteger(schemaVersion) && schemaVersion !== 1) {
    throw new Error(`${file}: schema version ${schemaVersion}`);
  }
  if (
    typeof checkpoint?.id !== 'string' ||
    !Number.isFinite(checkpoint.iteration) ||
    !Number.isFinite(checkpoint.createdAt) ||
    !Array.isArray(checkpoint.messages)
  ) {
    throw new Error(`${file}: not a usable checkpoint`);
  }
  const { tokenUsage, costInfo, guardState } = checkpoint;
  const budget = [
    tokenUsage?.promptTokens,
    tokenUsage?.completionTokens,
    tokenUsage?.totalTokens,
    costInfo?.totalCost,
    guardState?.iterationCount,
    guardState?.elapsedMs,
  ];
  if (!budget.every(Number.isFinite)) throw new Error(`${file}: malformed budget state`);
  return checkpoint;
}

function entryOf(scope, checkpoints, now) {
  const latest = checkpoints.reduce((a, b) => (b.createdAt > a.createdAt ? b : a));
  const made = checkpoints.map(({ runCreatedAt }) => runCreatedAt).filter(Number.isFinite);
  const park = parkOf(checkpoints, now);
  return {
    ...scope,
    ...(made.length > 0 && { runCreatedAt: Math.min(...made) }),
    checkpointCount: checkpoints.length,
    latestCheckpointId: latest.id,
    latestCheckpointAt: latest.createdAt,
    ...(park && { park }),
  };
}

function parkOf(checkpoints, now) {
  const parks = checkpoints
    .filter(({ pending }) => pending)
    .map(({ id, pending }) => ({
      state: stateOf(pending, now),
      checkpointId: id,
      requestType: pending.request.type,
      parkedAt: pending.parkedAt,
      ...(pending.deadlineAt !== undefined && { deadlineAt: pending.deadlineAt }),
      ...(pending.resolvedAt !== undefined && { resolvedAt: pending.resolvedAt }),
    }));
  const [best] = parks.sort(
    (a, b) => RANKS.indexOf(a.state) - RANKS.indexOf(b.state) || b.parkedAt - a.parkedAt,
  );
  return best;
}

function stateOf({ resolvedAt, deadlineAt }, now) {
  if (resolvedAt !== undefined) return 'resolved';
  return deadlineAt !== undefined && now >= deadlineAt ? 'expired' : 'outstanding';
}

/** Its cursor is the place of the last row. */
function paginate(entries, { orderBy = 'runId', park = [], limit = 100, cursor }) {
  const place = ({ runId, parentRunId = '', runCreatedAt = Number.NEGATIVE_INFINITY }) =>
    orderBy === 'runId' ? [runId, parentRunId] : [runCreatedAt, runId, parentRunId];
  const after = cursor && JSON.parse(cursor).map((part) => part ?? Number.NEGATIVE_INFINITY);
  const rows = entries
    .filter((entry) => park.length === 0 || park.includes(entry.park?.state))
    .map((entry) => ({ entry, place: place(entry) }))
    .filter((row) => !after || compare(row.place, after) > 0)
    .sort((a, b) => compare(a.place, b.place));
  const page = rows.slice(0, Math.max(1, Math.trunc(limit)));
  return {
    entries: page.map(({ entry }) => entry),
    ...(page.length < rows.length && { cursor: JSON.stringify(page.at(-1).place) }),
  };
}

function compare(a, b) {
  const at = a.findIndex((part, index) => part !== b[index]);
  if (at < 0) return 0;
  return a[at] < b[at] ? -1 : 1;
}
