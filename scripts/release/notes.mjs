// Prints what the changelog tells of the version that is released.
//
//   node scripts/release/notes.mjs

import { releaseVersion } from './archives.mjs';
import { changesIn } from './sources.mjs';

const version = releaseVersion();
const changes = changesIn(version);
if (!changes) {
  console.error(`CHANGELOG.md tells nothing of ${version}`);
  process.exit(1);
}
console.log(changes);
