// Puts the package as it is published into a directory: the files that package.json names, and a
// package.json for those who install it, which asks for the platforms' packages at the same version.
// They are not in the one of the sources: nobody could run `npm ci` before they are published.
//
//   node scripts/stage.mjs DIRECTORY

import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { isProgram } from './arguments.mjs';

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const require = createRequire(import.meta.url);
const { PLATFORMS } = require('../lib/load.js');

/** What is for those who work on the package. */
const OF_THE_SOURCES = ['private', 'scripts', 'devDependencies', 'napi'];

/** The package.json that is published. */
export function publishedManifest() {
  const manifest = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8'));
  for (const member of OF_THE_SOURCES) delete manifest[member];
  const { version } = manifest;
  manifest.optionalDependencies = Object.fromEntries(
    PLATFORMS.map((key) => [`@fencelink/${key}`, version]),
  );
  return manifest;
}

/** README without the section on what a clone can do, which who installs the package has not. */
function publishedReadme() {
  return readFileSync(path.join(root, 'README.md'), 'utf8').replace(
    /^## Try it\n[\s\S]*?(?=^## )/m,
    '',
  );
}

/** Makes `directory`, and puts the package into it. What is there from before would be packed too. */
export function stage(directory) {
  const manifest = publishedManifest();
  mkdirSync(directory, { recursive: true });
  if (readdirSync(directory).length > 0) throw new Error(`${directory} is not empty`);
  for (const name of manifest.files) {
    cpSync(path.join(root, name), path.join(directory, name), { recursive: true });
  }
  const text = `${JSON.stringify(manifest, null, 2)}\n`;
  writeFileSync(path.join(directory, 'package.json'), text);
  writeFileSync(path.join(directory, 'README.md'), publishedReadme());
}

if (isProgram(import.meta.url)) {
  const [directory] = process.argv.slice(2);
  if (directory === undefined) {
    console.error('usage: node scripts/stage.mjs DIRECTORY');
    process.exit(2);
  }
  try {
    stage(directory);
  } catch (error) {
    console.error(/** @type {Error} */ (error).message);
    process.exit(1);
  }
}
