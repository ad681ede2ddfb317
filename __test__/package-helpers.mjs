// The package as somebody has it who installed it: in a project of its own, with a platform's
// package beside it or without.

import { copyFileSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { stage } from '../scripts/stage.mjs';
import { packageRoot, runNode, tempDir } from './helpers.mjs';

const require = createRequire(import.meta.url);
export const { version } = require('../package.json');

/** This platform's key, its binary here, and the name of its package. */
export const key = require('../lib/platform.js').platformKey();
export const fileName = `fencelink.${key}.node`;
export const binary = join(packageRoot, fileName);
export const packageName = `@fencelink/${key}`;

/** A project that has the package, as it is published, and no binary. */
export function project() {
  const dir = tempDir();
  stage(join(dir, 'node_modules/fencelink'));
  return dir;
}

/**
 * Puts a platform's package into a project; returns where its binary is.
 * @param put puts the binary there: by default, a copy of the one that is built here
 */
export function addPlatform(dir, platform = key, { of = version, put } = {}) {
  const place = join(dir, 'node_modules/@fencelink', platform);
  const name = `fencelink.${platform}.node`;
  mkdirSync(place, { recursive: true });
  const manifest = { name: `@fencelink/${platform}`, version: of, main: name, files: [name] };
  writeFileSync(join(place, 'package.json'), JSON.stringify(manifest));
  const file = join(place, name);
  if (put) put(file);
  else if (existsSync(binary)) copyFileSync(binary, file);
  else throw new Error(`the addon is not built: there is no ${binary}`);
  return file;
}

/**
 * What the first call that needs the binary comes to in a project: the lease's fence, or the error.
 * @param before a script to be run before the package is imported
 */
export async function firstCall(dir, { before = '', options = [], call = CLAIM } = {}) {
  const file = join(dir, 'call.cjs');
  writeFileSync(file, `${before}\n${CALL.replace('CALL', call)}`);
  const { code, signal, stdout, stderr } = await runNode([...options, file], { cwd: dir });
  if (code !== 0) throw new Error(`the call ended with ${signal ?? code}: ${stderr}`);
  return JSON.parse(stdout);
}

const CLAIM = `acquireClaim('queue/run_1', { holder: 'a', ttlMs: 60000 })`;

const CALL = `
const fencelink = require('fencelink');
(async () => fencelink.CALL)().then(
  (value) => console.log(JSON.stringify({ value })),
  (error) => {
    const { name, code, message, details, retryable, stack, cause } = error;
    const isOurs = error instanceof fencelink.NamzuError;
    const said = cause && { code: cause.code, message: cause.message };
    console.log(JSON.stringify({ isOurs, name, code, message, details, retryable, stack, said }));
  },
);
`;
