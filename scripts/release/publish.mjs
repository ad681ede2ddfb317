// Publishes a release: the packages of the platforms, and after all of them the package itself, so
// that nobody gets it without them. Refuses the whole when anything is missing or of another version.

import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { parseArguments } from '../arguments.mjs';
import { archivesIn, faultsOf, releaseVersion } from './archives.mjs';
import { disagreements } from './sources.mjs';

const HELP = `Publishes the archives of a folder with npm, that of the package itself last. What the registry
has already, byte for byte, is passed over, so that a release which broke off can be gone on with.

  node scripts/release/publish.mjs DIR [OPTIONS]

  --dry-run        publish nothing, and say what would be published
  --no-provenance  without an attestation of where it was built
  --help           this text`;

const { values, positionals } = parseArguments('node scripts/release/publish.mjs --help', {
  options: {
    'dry-run': { type: 'boolean', default: false },
    'no-provenance': { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
  allowPositionals: true,
});
if (values.help) {
  console.log(HELP);
  process.exit(0);
}
const [folder] = positionals;
if (positionals.length !== 1)
  fail(['Give one folder. See: node scripts/release/publish.mjs --help']);

const version = releaseVersion();
const archives = archivesIn(folder);
const faults = [...disagreements(), ...faultsOf(archives, version)];
if (faults.length > 0) fail(faults);

const toPublish = archives.filter(isNew);
for (const [at, { file }] of toPublish.entries()) {
  if (publish(file)) continue;
  console.error(
    `${at} of ${toPublish.length} were published. The same command goes on from there.`,
  );
  process.exit(1);
}
const done = values['dry-run'] ? 'packages would be published' : 'packages published';
console.log(`${version}: ${toPublish.length} of ${archives.length} ${done}`);

function fail(faults) {
  console.error(`nothing was published:\n${faults.join('\n')}`);
  process.exit(1);
}

/** Whether the registry lacks it. Another content under the same version ends everything. */
function isNew({ file, manifest }) {
  const name = `${manifest.name}@${manifest.version}`;
  const shell = process.platform === 'win32';
  // Nothing else tells what is absent from what failed, and a silent npm does not tell it.
  const args = ['view', name, 'dist.integrity', '--json', '--loglevel=error'];
  const { status, stdout, stderr } = spawnSync('npm', args, { encoding: 'utf8', shell });
  if (/\bE404\b/.test(stderr)) return true;
  // npm has an empty answer for a package that is there in other versions only.
  if (status === 0 && stdout.trim() === '') return true;
  if (status !== 0) fail([`the registry does not say whether it has ${name}: ${stderr}`]);
  const own = `sha512-${createHash('sha512').update(readFileSync(file)).digest('base64')}`;
  if (JSON.parse(stdout) !== own) fail([`the registry has another ${name}`]);
  console.log(`${name} is published already`);
  return false;
}

/** Whether it went well; npm says what did not. */
function publish(file) {
  const args = ['publish', path.resolve(file), '--access', 'public', '--ignore-scripts'];
  args.push(`--provenance=${!values['no-provenance']}`);
  // What comes before a release is for those who ask for it by this name.
  if (version.includes('-')) args.push('--tag', 'next');
  console.log(`$ npm ${args.join(' ')}`);
  if (values['dry-run']) return true;
  const shell = process.platform === 'win32';
  return spawnSync('npm', args, { stdio: 'inherit', shell }).status === 0;
}
