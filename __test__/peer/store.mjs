// A checkpoint store in plain JavaScript, as a worker without the addon writes one, with the old
// guarantee: the claims are listed before the write, and a takeover between that and the rename
// goes unnoticed. The bench measures against it, so it takes no detours: directories are made only
// when they turn out to be missing.
//
// What it lacks, and the addon has: writes that cannot be overtaken, the refusal of a checkpoint
// that would not read back, and `durability`.

import { randomBytes } from 'node:crypto';
import { mkdir, rename, unlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { currentFence } from './claims.mjs';

let writes = 0;

/** Writes a checkpoint of the run in `runDir`, replacing one of the same id. */
export async function writeCheckpoint(runDir, checkpoint, fence) {
  const { schemaVersion: _, ...members } = checkpoint;
  const text = JSON.stringify({ ...members, schemaVersion: 1 }, null, 2);
  if (fence !== undefined) {
    const current = await currentFence(runDir);
    if (fence < current) throw new Error(`fence ${fence} no longer holds it: ${current} does`);
  }
  writes += 1;
  const checkpoints = join(runDir, 'checkpoints');
  const unique = `${process.pid}-${writes}-${randomBytes(8).toString('hex')}`;
  const scratch = join(checkpoints, `.tmp-${unique}`);
  try {
    await writeIn(checkpoints, scratch, text);
    await rename(scratch, join(checkpoints, `${checkpoint.id}.json`));
  } catch (error) {
    await unlink(scratch).catch(() => {});
    throw error;
  }
}

async function writeIn(directory, file, text) {
  try {
    await writeFile(file, text, { flag: 'wx' });
  } catch (error) {
    if (error.code !== 'ENOENT') throw error;
    await mkdir(directory, { recursive: true });
    await writeFile(file, text, { flag: 'wx' });
  }
}
