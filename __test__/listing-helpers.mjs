// What the tests of listings share: trees of runs, and walks through all pages of a listing.

import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { addon, packageRoot, tempDir } from './helpers.mjs';
import { makeCheckpoint } from './store-helpers.mjs';

export const attribution = { tenantId: 'tnt_1', projectId: 'prj_1', sessionId: 'ses_1' };
export const scope = { tenantId: 'tnt_1' };

/** A tree of these files: path to content, where an object is written as JSON, and `null` is an
 * empty directory. */
export function layTree(files, baseDir = tempDir()) {
  for (const [path, content] of Object.entries(files)) {
    const place = join(baseDir, path);
    mkdirSync(content === null ? place : dirname(place), { recursive: true });
    if (content === null) continue;
    const plain = typeof content === 'string' || Buffer.isBuffer(content);
    writeFileSync(place, plain ? content : JSON.stringify(content));
  }
  return baseDir;
}

/** The files of runs with one checkpoint each, by the paths of the runs. */
export const filesOf = (...runs) =>
  Object.fromEntries(runs.map((run) => [`${run}/checkpoints/cp_1.json`, makeCheckpoint()]));

/** A store over a tree of these files. */
export function storeOver(files, own = attribution) {
  const baseDir = layTree(files);
  return { baseDir, store: new addon.DiskCheckpointStore({ baseDir }, own) };
}

/** All pages of a listing, by its cursors. */
export async function pagesOf(list, options = {}) {
  const pages = [];
  let cursor;
  do {
    const page = await list(cursor === undefined ? options : { ...options, cursor });
    pages.push(page);
    cursor = page.cursor;
  } while (cursor !== undefined);
  return pages;
}

/** The ids of rows, with that of the run that a sub-run belongs to in front. */
export const idsOf = (entries) =>
  entries.map(({ runId, parentRunId }) => (parentRunId ? `${parentRunId}/${runId}` : runId));

/** A park as a checkpoint has it. */
export const parked = (parkedAt, more = {}) => ({
  pending: { request: { type: 'question' }, parkedAt, ...more },
});

/** The observed cases of listings: those of the repository, and of a folder of the caller's choice. */
export function listingCases() {
  const files = [join(packageRoot, 'tests/fixture/vectors/listing.jsonl')];
  const folder = process.env.FENCELINK_VECTORS;
  if (folder && existsSync(folder)) {
    const names = readdirSync(folder).filter((name) => name.endsWith('.jsonl'));
    files.push(...names.map((name) => join(folder, name)));
  }
  return files
    .flatMap((file) => readFileSync(file, 'utf8').split('\n').filter(Boolean))
    .map((line) => JSON.parse(line))
    .filter(({ calls }) => calls);
}

/**
 * Makes the directory look as if nothing came or went lately. Within moments of a change its time
 * would stay the same over another one, and names are not kept.
 */
export function letNamesBeKept(baseDir) {
  utimesSync(baseDir, 1_000, 1_000);
}
