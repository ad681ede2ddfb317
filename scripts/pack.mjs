// Packs what is published: the main package and that of each platform, as archives in
// prebuilt/packages/. Nothing is packed when a binary is missing.
//
//   npm run pack

import { copyFileSync, cpSync, existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import path from 'node:path';
import { isProgram } from './arguments.mjs';
import { LICENSES } from './platform-packages.mjs';
import { stage as binaries } from './prebuild/build.mjs';
import { root, run, say } from './prebuild/cache.mjs';
import { stage as stageMain } from './stage.mjs';
import { binaryName, targets } from './targets.mjs';

/** Where the archives are left. */
export const packages = path.join(binaries, 'packages');

/**
 * Packs everything into `folder`, which is made anew.
 * @param {string} folder
 */
export function pack(folder) {
  const missing = targets.map(binaryName).filter((name) => !existsSync(path.join(binaries, name)));
  if (missing.length > 0) {
    throw new Error(`${binaries} has no ${missing.join(', ')}: run \`npm run prebuild\``);
  }
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const staged = mkdtempSync(path.join(folder, 'staged-'));
  try {
    stageMain(path.join(staged, 'main'));
    archive(path.join(staged, 'main'), folder);
    for (const target of targets) {
      const place = path.join(staged, target.key);
      stagePlatform(target, place);
      archive(place, folder);
    }
  } finally {
    rmSync(staged, { recursive: true });
  }
}

function stagePlatform(target, place) {
  cpSync(path.join(root, 'npm', target.key), place, { recursive: true });
  copyFileSync(path.join(binaries, binaryName(target)), path.join(place, binaryName(target)));
  for (const name of LICENSES) copyFileSync(path.join(root, name), path.join(place, name));
}

/** Packs the package in a folder. */
export function archive(place, folder) {
  run('npm', ['pack', '--ignore-scripts', '--silent', '--pack-destination', folder], {
    cwd: place,
  });
}

if (isProgram(import.meta.url)) {
  pack(packages);
  say(`packed into ${packages}`);
}
