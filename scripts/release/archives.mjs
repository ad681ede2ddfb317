// The archives of a release: one for the package itself and one for each platform. A release of
// which anything is missing would be installed, and would not run.

import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { root } from './sources.mjs';

const require = createRequire(import.meta.url);
const { PLATFORMS } = require('../../lib/load.js');

const MAIN = 'fencelink';

/**
 * The archives in a folder, none when it is not there: `{ file, manifest, files }`, and a `fault`
 * where one cannot be read, in the order in which they are published.
 * That of the package itself is the last: who installs it finds all others.
 */
export function archivesIn(folder) {
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((name) => name.endsWith('.tgz'))
    .sort()
    .map((name) => archive(path.join(folder, name)))
    .sort((a, b) => Number(a.manifest.name === MAIN) - Number(b.manifest.name === MAIN));
}

function archive(file) {
  const tar = (...args) => execFileSync('tar', args, { encoding: 'utf8', stdio: 'pipe' });
  try {
    const manifest = JSON.parse(tar('-xzOf', file, 'package/package.json'));
    const files = tar('-tzf', file)
      .split('\n')
      .filter(Boolean)
      .map((name) => name.replace(/^package\//, ''));
    return { file, manifest, files };
  } catch (error) {
    const why = /** @type {any} */ (error).stderr?.trim().split('\n')[0] || String(error);
    return { file, manifest: {}, files: [], fault: `${file} cannot be read: ${why}` };
  }
}

/** Why archives are no release of this version, in sentences. */
export function faultsOf(archives, version) {
  const wanted = [...PLATFORMS.map((key) => `@fencelink/${key}`), MAIN];
  return [
    ...archives.flatMap(({ fault }) => fault ?? []),
    ...wanted.flatMap((name) => faultsOfPackage(archives, name, version)),
    ...archives
      .filter(({ manifest, fault }) => !fault && !wanted.includes(manifest.name))
      .map(
        ({ file, manifest }) =>
          `${path.basename(file)} is ${manifest.name}, which is no part of it`,
      ),
  ];
}

function faultsOfPackage(archives, name, version) {
  const found = archives.filter(({ manifest }) => manifest.name === name);
  if (found.length === 0) return [`${name} is missing`];
  if (found.length > 1) return [`${name} is there ${found.length} times`];
  const [{ manifest, files }] = found;
  if (manifest.version !== version) {
    return [`${name} is of version ${manifest.version}, and not ${version}`];
  }
  if (name !== MAIN)
    return files.includes(manifest.main) ? [] : [`${name} has no ${manifest.main}`];
  return PLATFORMS.map((key) => `@fencelink/${key}`)
    .filter((platform) => manifest.optionalDependencies?.[platform] !== version)
    .map((platform) => `${name} does not ask for ${platform} ${version}`);
}

/** The version that is to be released. */
export const releaseVersion = () => require(path.join(root, 'package.json')).version;
