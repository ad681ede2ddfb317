// Gives the sources a new version, everywhere, and the changes since the last one its name.

import { parseArguments } from '../arguments.mjs';
import { changesIn, disagreements, releaseChanges, setVersion, versions } from './sources.mjs';

const HELP = `Gives the sources a version, in every place that tells one, and makes what is unreleased in
CHANGELOG.md the section of that version. Commit and tag it afterwards.

  node scripts/release/version.mjs VERSION [OPTIONS]

  --date DATE  the day of the release: YYYY-MM-DD (today)
  --dry-run    change nothing, and say what would be changed
  --help       this text`;

/** What npm and Cargo both take: three numbers, and labels of what comes before a release. */
const NUMBER = '(0|[1-9]\\d*)';
const LABEL = `(${NUMBER}|\\d*[A-Za-z-][\\dA-Za-z-]*)`;
const VERSION = new RegExp(`^${NUMBER}\\.${NUMBER}\\.${NUMBER}(-${LABEL}(\\.${LABEL})*)?$`);

const { values, positionals } = parseArguments('node scripts/release/version.mjs --help', {
  options: {
    date: { type: 'string', default: new Date().toISOString().slice(0, 10) },
    'dry-run': { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
  allowPositionals: true,
});
if (values.help) {
  console.log(HELP);
  process.exit(0);
}
const [version] = positionals;
const faults = faultsOf(version);
if (faults.length > 0) {
  console.error(faults.join('\n'));
  process.exit(1);
}
for (const { file, version: old } of versions()) console.log(`${file}: ${old} -> ${version}`);
console.log(`CHANGELOG.md: what is unreleased becomes ${version}, of ${values.date}`);
if (!values['dry-run']) {
  setVersion(version);
  releaseChanges(version, values.date);
}

/** Why it cannot be. */
function faultsOf(version) {
  if (positionals.length !== 1)
    return ['Give one version. See: node scripts/release/version.mjs --help'];
  const faults = [];
  if (!VERSION.test(version)) {
    faults.push(`${version} is no version as https://semver.org has it`);
  }
  if (!/^\d{4}-\d\d-\d\d$/.test(values.date) || Number.isNaN(Date.parse(values.date))) {
    faults.push(`${values.date} is no YYYY-MM-DD`);
  }
  if (changesIn(version) !== null) faults.push(`CHANGELOG.md has a section ${version} already`);
  if (!changesIn('Unreleased')) faults.push('CHANGELOG.md has nothing unreleased');
  return [...faults, ...disagreements()];
}
