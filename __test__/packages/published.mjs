// What is published, as archives, and served by a registry on this machine: the package itself, that
// of this platform with the binary that is built here, and those of the others with a few bytes in
// its place.

import { copyFileSync, cpSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { archive } from '../../scripts/pack.mjs';
import { serve } from '../../scripts/prebuild/registry.mjs';
import { stage } from '../../scripts/stage.mjs';
import { binaryName, targets } from '../../scripts/targets.mjs';
import { packageRoot, start, tempDir } from '../helpers.mjs';
import { binary, key } from '../package-helpers.mjs';

/** Runs a command to its end; resolves to what it wrote. Fails with all of that when it failed. */
export async function run(command, args, options) {
  const { code, signal, stdout, stderr } = await start(command, args, {
    timeout: 300_000,
    ...options,
  }).done;
  if (code === 0) return { stdout, stderr };
  const line = [command, ...args].join(' ');
  throw new Error(`${line} ended with ${signal ?? code}:\n${stdout}${stderr}`);
}

/** A directory with the package itself. */
export function stagedPackage() {
  const directory = join(tempDir(), 'fencelink');
  stage(directory);
  return directory;
}

function platformPackage(target) {
  const directory = join(tempDir(), target.key);
  const file = join(directory, binaryName(target));
  cpSync(join(packageRoot, 'npm', target.key), directory, { recursive: true });
  if (target.key === key) copyFileSync(binary, file);
  else writeFileSync(file, `for ${target.key}`);
  return directory;
}

/** Starts the registry; resolves to its address, and to what ends it. */
export async function startRegistry() {
  const folder = tempDir();
  for (const directory of [stagedPackage(), ...targets.map(platformPackage)]) {
    archive(directory, folder);
  }
  return await serve(folder);
}
