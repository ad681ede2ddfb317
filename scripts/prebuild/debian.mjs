// Packages of Debian, of the release that runs here and of others, of this architecture and of
// arm64: fetched by apt with lists of its own and unpacked. Nothing is installed, and the system's
// own lists and sources stay as they are.

import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { cache, run, say } from './cache.mjs';

const KEYRING = '/usr/share/keyrings/debian-archive-keyring.gpg';

/** The server of Debian's packages that this system's own apt uses. */
export function mirror() {
  return serverOf('bookworm');
}

function serverOf(suite) {
  const lines = run('apt-get', ['indextargets', '--format', '$(SITE) $(RELEASE)']).split('\n');
  const found = lines.map((line) => line.split(' ')).find(([, release]) => release === suite);
  if (!found) throw new Error(`apt has no source for ${suite} here: this needs Debian 12`);
  return found[0];
}

function stanza(uri, suites) {
  const fields = { Types: 'deb', URIs: uri, Suites: suites, Components: 'main' };
  const lines = Object.entries({ ...fields, 'Signed-By': KEYRING });
  return `${lines.map(([name, value]) => `${name}: ${value}`).join('\n')}\n`;
}

/** Lists name packages that are on the server no more when they are older. */
const DAY_MS = 24 * 60 * 60 * 1000;

/** The environment in which apt uses lists of its own in the cache; they are fetched if need be. */
export function aptEnvironment() {
  const folder = path.join(cache, 'apt');
  const config = path.join(folder, 'apt.conf');
  const stamp = path.join(folder, 'fetched');
  const env = { ...process.env, APT_CONFIG: config };
  if (existsSync(stamp) && statSync(stamp).mtimeMs > Date.now() - DAY_MS) return env;
  for (const name of ['lists/partial', 'archives/partial', 'sources']) {
    mkdirSync(path.join(folder, name), { recursive: true });
  }
  const main = stanza(mirror(), 'bookworm bookworm-updates trixie bullseye');
  const security = stanza(serverOf('bookworm-security'), 'bookworm-security');
  writeFileSync(path.join(folder, 'sources/debian.sources'), `${main}\n${security}`);
  writeFileSync(path.join(folder, 'status'), '');
  const settings = {
    'Dir::State': folder,
    'Dir::State::status': path.join(folder, 'status'),
    'Dir::Cache': folder,
    'Dir::Etc::sourcelist': '/dev/null',
    'Dir::Etc::sourceparts': path.join(folder, 'sources'),
    'APT::Sandbox::User': 'root',
    'Acquire::Languages': 'none',
    // What is named without a release is of the one that runs here.
    'APT::Default-Release': '/^bookworm(|-updates|-security)$/',
  };
  const lines = Object.entries(settings).map(([name, value]) => `${name} "${value}";`);
  writeFileSync(config, `${lines.join('\n')}\nAPT::Architectures { "amd64"; "arm64"; };\n`);
  say('fetching the lists of Debian');
  run('apt-get', ['-qq', 'update'], { env });
  writeFileSync(stamp, '');
  return env;
}

/**
 * Unpacks packages into a folder. Each is named as apt has it: `libc6:arm64`, `musl/trixie`.
 * @param {string} folder
 * @param {string[]} packages
 */
export function unpack(folder, packages) {
  const debs = mkdtempSync(path.join(cache, 'debs-'));
  try {
    run('apt-get', ['-qq', 'download', ...packages], { cwd: debs, env: aptEnvironment() });
    for (const name of readdirSync(debs)) run('dpkg-deb', ['-x', path.join(debs, name), folder]);
  } finally {
    rmSync(debs, { recursive: true });
  }
}
