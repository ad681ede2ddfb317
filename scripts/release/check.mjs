// Looks whether the sources, and the archives made of them, are one release.

import { parseArguments } from '../arguments.mjs';
import { archivesIn, faultsOf, releaseVersion } from './archives.mjs';
import { changesIn, disagreements } from './sources.mjs';

const HELP = `Looks whether all places of the sources tell one version; exit code 1 if not.

  node scripts/release/check.mjs [OPTIONS]

  --tag TAG       also whether this is the version's tag, and CHANGELOG.md tells of it
  --packages DIR  also whether the archives there are a whole release of that version
  --help          this text`;

const { values } = parseArguments('node scripts/release/check.mjs --help', {
  options: {
    tag: { type: 'string' },
    packages: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
});
if (values.help) {
  console.log(HELP);
  process.exit(0);
}
const version = releaseVersion();
const faults = disagreements();
if (values.tag !== undefined) {
  if (values.tag !== `v${version}`) faults.push(`the tag is ${values.tag}, and not v${version}`);
  if (!changesIn(version)) faults.push(`CHANGELOG.md tells nothing of ${version}`);
}
if (values.packages !== undefined) faults.push(...faultsOf(archivesIn(values.packages), version));
console.log(faults.length > 0 ? faults.join('\n') : `${version}: as it should be`);
process.exit(faults.length > 0 ? 1 : 0);
