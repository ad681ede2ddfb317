// Packages of Debian, of the release that runs here and of others, of this architecture and of
// arm64: fetched by apt with lists of its own and unpacked. Nothing is installed, and the system's
// own lists and sources stay as they are.

import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
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

/** The environment in which apt uses the lists in the cache; they are fetched if need be. */
export function aptEnvironment() {
  const folder = path.join(cache, 'apt');
  const config = path.join(folder, 'apt.conf');
  const env = { ...process.env, APT_CONFIG: config };
  if (existsSync(config)) return env;
  for (const name of ['lists/partial', 'archives/partial', 'sources']) {
    mkdirSync(path.join(folder, name), { recursive: true });
  }
  const main = mirror();
  const security = stanza(serverOf('bookworm-security'), 'bookworm-security');
  const sources = [stanza(main, 'bookworm bookworm-updates trixie bullseye'), security].join('\n');
  writeFileSync(path.join(folder, 'sources/debian.sources'), sources);
  writeFileSync(path.join(folder, 'status'), '');
  const settings = {
    'Dir::State': folder,
    'Dir::State::lists': path.join(folder, 'lists'),
    'Dir::State::status': path.join(folder, 'status'),
    'Dir::Cache': folder,
    'Dir::Etc::sourcelist': '/dev/null',
    'Dir::Etc::sourceparts': path.join(folder, 'sources'),
    'APT::Sandbox::User': 'root',
    'Acquire::Languages': 'none',
  };
  const lines = Object.entries(settings).map(([name, value]) => `${name} "${value}";`);
  lines.push('APT::Architectures { "amd64"; "arm64"; };');
  const update = ['-c', `${config}.new`, '-qq', 'update'];
  writeFileSync(`${config}.new`, `${lines.join('\n')}\n`);
  say('fetching the lists of Debian');
  run('apt-get', update, { env: { ...process.env, APT_CONFIG: `${config}.new` } });
  writeFileSync(config, `${lines.join('\n')}\n`);
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
    download(debs, packages);
    for (const name of readdirSync(debs)) run('dpkg-deb', ['-x', path.join(debs, name), folder]);
  } finally {
    rmSync(debs, { recursive: true });
  }
}

function download(cwd, packages) {
  const fetch = () =>
    run('apt-get', ['-qq', 'download', ...packages], { cwd, env: aptEnvironment() });
  try {
    fetch();
  } catch (error) {
    // Lists grow old: what they name is not on the server any more.
    say(`fetching the lists of Debian again, since there was this: ${error}`);
    run('apt-get', ['-qq', 'update'], { env: aptEnvironment() });
    fetch();
  }
}
