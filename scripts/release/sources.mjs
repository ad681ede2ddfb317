// Where the sources tell their version and what changed in it. package.json is what counts: all
// other places say the same, and a test looks that they do.

import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('../..', import.meta.url));

const CHANGELOG = 'CHANGELOG.md';

/** A version, with two groups before it and one after. */
const IN_JSON = /^( {2})("version": ")([^"]+)(")/m;
const IN_LOCK = /^(name = "fencelink"\n)(version = ")([^"]+)(")/m;

/**
 * Every place: a file, and an expression whose third group is the version.
 * @returns {[string, RegExp][]}
 */
function places() {
  const platforms = existsSync(path.join(root, 'npm')) ? readdirSync(path.join(root, 'npm')) : [];
  return [
    ['package.json', IN_JSON],
    ['package-lock.json', IN_JSON],
    ['package-lock.json', /^( {4}"": \{\s+"name": "fencelink",\s+)("version": ")([^"]+)(")/m],
    ['Cargo.toml', /^()(version = ")([^"]+)(")/m],
    ['Cargo.lock', IN_LOCK],
    ['fuzz/Cargo.lock', IN_LOCK],
    ...platforms.map(
      /** @returns {[string, RegExp]} */ (name) => [`npm/${name}/package.json`, IN_JSON],
    ),
  ];
}

const read = (file) => readFileSync(path.join(root, file), 'utf8');

/** The version of each place: `{ file, version }`, package.json first. */
export function versions() {
  return places().map(([file, where]) => ({ file, version: where.exec(read(file))?.[3] }));
}

/** What is wrong with the versions, in sentences. */
export function disagreements() {
  const [main, ...others] = versions();
  return others
    .filter(({ version }) => version !== main.version)
    .map(({ file, version }) => `${file} says ${version}, and package.json ${main.version}`);
}

/** Writes a version to every place. */
export function setVersion(version) {
  for (const [file, where] of places()) {
    const changed = read(file).replace(where, (_, a, b, _old, c) => a + b + version + c);
    writeFileSync(path.join(root, file), changed);
  }
}

/** What a section of the changelog says, or `null` when there is no such section. */
export function changesIn(section) {
  const [heading, ...rest] = sectionsOf(read(CHANGELOG)).get(section) ?? [null];
  return heading === null ? null : rest.join('\n').trim();
}

/** Sections by their names, as lines with the heading first. */
function sectionsOf(text) {
  const sections = new Map();
  let lines = [];
  for (const line of text.split('\n')) {
    const name = /^## \[([^\]]+)\]/.exec(line)?.[1];
    if (name !== undefined) {
      lines = [];
      sections.set(name, lines);
    }
    lines.push(line);
  }
  return sections;
}

/** Makes what is unreleased the section of a version. */
export function releaseChanges(version, date) {
  const heading = '## [Unreleased]';
  const text = read(CHANGELOG).replace(heading, `${heading}\n\n## [${version}] - ${date}`);
  writeFileSync(path.join(root, CHANGELOG), text);
}
