// What is said of the platforms outside scripts/targets.mjs, and made from it: the packages in npm/
// and the table in README. A test compares them.
//
//   node scripts/platform-packages.mjs   writes them

import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { isProgram } from './arguments.mjs';
import { binaryName, packageName, targets } from './targets.mjs';

/** @typedef {import('./targets.mjs').Target} Target */

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));

/** What a platform's package has of the main one, word for word. */
const SHARED = ['version', 'license', 'author', 'homepage', 'repository', 'bugs', 'engines'];

/** Files of the main package that are put into each. */
export const LICENSES = ['LICENSE-APACHE', 'LICENSE-MIT'];

export const mainManifest = () => JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8'));

/** @param {Target} target */
function manifestOf(target, main) {
  const shared = SHARED.filter((name) => main[name] !== undefined);
  return {
    name: packageName(target),
    description: `The binary of fencelink for ${target.name}`,
    ...Object.fromEntries(shared.map((name) => [name, main[name]])),
    main: binaryName(target),
    files: [binaryName(target), ...LICENSES],
    os: [target.os],
    cpu: [target.cpu],
    ...(target.libc && { libc: [target.libc] }),
  };
}

/** @param {Target} target */
function readmeOf(target) {
  return `# ${packageName(target)}

The binary of fencelink for ${target.name}, from ${target.floor} on. Install \`fencelink\`: the package of
your platform comes with it.

${stateOf(target)}.
`;
}

/** On what a target was run, as a phrase. @param {Target} target */
export function stateOf({ runs }) {
  if (runs.length === 0) return 'Built, not run here';
  const places = runs.map(({ where, runtimes }) => `${runtimesOf(runtimes)} on ${where}`);
  return `Run: ${places.join('; ')}`;
}

const NAMES = { node: 'Node.js', bun: 'Bun', deno: 'Deno' };

/** `node 20`, `node 22`, `bun`: Node.js 20, 22, Bun. */
function runtimesOf(runtimes) {
  const lines = runtimes.filter((one) => one.startsWith('node ')).map((one) => one.slice(5));
  const others = runtimes.filter((one) => !one.startsWith('node ')).map((one) => NAMES[one]);
  return [`Node.js ${lines.join(', ')}`, ...others].join(', ');
}

/** The table of README. */
export function platformTable() {
  const rows = targets.map((target) => {
    const cells = [target.name, target.floor, `\`${packageName(target)}\``, stateOf(target)];
    return `| ${cells.join(' | ')} |`;
  });
  return ['| platform | from | package | state |', '|---|---|---|---|', ...rows].join('\n');
}

const TABLE = /(<!-- platforms -->\n)([\s\S]*?)(\n<!-- end of platforms -->)/;

/** The files that are made from the list: path to text. */
export function files() {
  const main = mainManifest();
  const readme = readFileSync(path.join(root, 'README.md'), 'utf8');
  const made = new Map([
    [
      'README.md',
      readme.replace(TABLE, (_, before, _old, after) => before + platformTable() + after),
    ],
  ]);
  for (const target of targets) {
    const manifest = `${JSON.stringify(manifestOf(target, main), null, 2)}\n`;
    made.set(`npm/${target.key}/package.json`, manifest);
    made.set(`npm/${target.key}/README.md`, readmeOf(target));
  }
  return made;
}

if (isProgram(import.meta.url)) {
  rmSync(path.join(root, 'npm'), { recursive: true, force: true });
  for (const [file, text] of files()) {
    mkdirSync(path.dirname(path.join(root, file)), { recursive: true });
    writeFileSync(path.join(root, file), text);
  }
}
