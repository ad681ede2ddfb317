// Releases: a version that is told in one way everywhere, and archives that are published all or
// not at all, that of the package itself last. The registry is one on this machine that writes down
// what it is given.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { before, describe, it, test } from 'node:test';
import { packageRoot, runNode, tempDir } from '../helpers.mjs';

const { PLATFORMS } = createRequire(import.meta.url)('../../lib/load.js');
const { version } = JSON.parse(readFileSync(join(packageRoot, 'package.json'), 'utf8'));

/** All that a release reads of the sources. */
const SOURCES = [
  'package.json',
  'package-lock.json',
  'Cargo.toml',
  'Cargo.lock',
  'fuzz/Cargo.lock',
  'errors.js',
  'lib',
];

const CHANGES = `# Changelog

## [Unreleased]

### Added

- Something new.

## [0.0.1] - 2020-01-01

- The first.
`;

/** Sources of which a release can be made, with a changelog of their own. */
function sources() {
  const dir = tempDir();
  for (const name of SOURCES) cpSync(join(packageRoot, name), join(dir, name), { recursive: true });
  cpSync(join(packageRoot, 'scripts/arguments.mjs'), join(dir, 'scripts/arguments.mjs'));
  cpSync(join(packageRoot, 'scripts/release'), join(dir, 'scripts/release'), { recursive: true });
  for (const key of PLATFORMS) {
    mkdirSync(join(dir, 'npm', key), { recursive: true });
    const manifest = { name: `@fencelink/${key}`, version };
    writeFileSync(join(dir, 'npm', key, 'package.json'), JSON.stringify(manifest, null, 2));
  }
  writeFileSync(join(dir, 'CHANGELOG.md'), CHANGES);
  return dir;
}

const script = (dir, name, args, env = {}) =>
  runNode([join(dir, 'scripts/release', `${name}.mjs`), ...args], {
    cwd: dir,
    env: { ...process.env, ...env },
  });

test('the sources tell one version everywhere', async () => {
  const { code, stdout } = await script(packageRoot, 'check', []);
  assert.equal(code, 0, stdout);
});

describe('a new version', () => {
  it('is written to each place, and to the changelog', async () => {
    const dir = sources();
    const { code, stderr } = await script(dir, 'version', ['9.8.7', '--date', '2030-02-01']);
    assert.equal(code, 0, stderr);
    const read = (name) => readFileSync(join(dir, name), 'utf8');
    const lock = JSON.parse(read('package-lock.json'));
    assert.deepEqual([lock.version, lock.packages[''].version], ['9.8.7', '9.8.7']);
    for (const name of ['package.json', ...PLATFORMS.map((key) => `npm/${key}/package.json`)]) {
      assert.equal(JSON.parse(read(name)).version, '9.8.7', name);
    }
    assert.match(read('Cargo.toml'), /^name = "fencelink"\nversion = "9\.8\.7"$/m);
    for (const name of ['Cargo.lock', 'fuzz/Cargo.lock']) {
      assert.match(read(name), /^name = "fencelink"\nversion = "9\.8\.7"$/m);
    }
    assert.ok(
      read('CHANGELOG.md').includes('## [Unreleased]\n\n## [9.8.7] - 2030-02-01\n\n### Added'),
    );
    // And nothing else is touched: with the old version back, all is as it was.
    for (const name of SOURCES.slice(0, 5)) {
      const there = read(name).replaceAll('9.8.7', version);
      assert.equal(there, readFileSync(join(packageRoot, name), 'utf8'), name);
    }
    const tagged = await script(dir, 'check', ['--tag', 'v9.8.7']);
    assert.equal(tagged.code, 0, tagged.stdout);
    const notes = await script(dir, 'notes', []);
    assert.equal(notes.stdout, '### Added\n\n- Something new.\n');
  });

  it('is only told of with --dry-run', async () => {
    const dir = sources();
    const { code, stdout } = await script(dir, 'version', ['9.8.7', '--dry-run']);
    assert.equal(code, 0);
    assert.ok(stdout.includes(`package.json: ${version} -> 9.8.7`), stdout);
    const check = await script(dir, 'check', []);
    assert.ok(check.stdout.startsWith(version), check.stdout);
    assert.equal(readFileSync(join(dir, 'CHANGELOG.md'), 'utf8'), CHANGES);
  });

  for (const [why, args, said] of [
    ['is no version', ['9.8'], '9.8 is no version'],
    ['has a number that starts with 0', ['9.8.07'], '9.8.07 is no version'],
    ['comes before a release without saying how', ['9.8.7-rc.'], '9.8.7-rc. is no version'],
    ['was released', ['0.0.1'], 'CHANGELOG.md has a section 0.0.1 already'],
    ['has no day', ['9.8.7', '--date', 'today'], 'today is no YYYY-MM-DD'],
    ['has no such day', ['9.8.7', '--date', '2026-13-01'], '2026-13-01 is no YYYY-MM-DD'],
    ['is not given', [], 'Give one version'],
  ]) {
    it(`is refused when it ${why}`, async () => {
      const dir = sources();
      const { code, stderr } = await script(dir, 'version', args);
      assert.equal(code, 1);
      assert.ok(stderr.includes(said), stderr);
      assert.equal(readFileSync(join(dir, 'CHANGELOG.md'), 'utf8'), CHANGES);
    });
  }

  it('is refused when nothing changed, and when the sources tell two', async () => {
    const dir = sources();
    writeFileSync(join(dir, 'CHANGELOG.md'), CHANGES.replace(/### Added[^#]*/, ''));
    const cargo = join(dir, 'Cargo.toml');
    writeFileSync(
      cargo,
      readFileSync(cargo, 'utf8').replace(/^version = .*$/m, 'version = "7.0.0"'),
    );
    const { code, stderr } = await script(dir, 'version', ['9.8.7']);
    assert.equal(code, 1);
    assert.match(stderr, /CHANGELOG\.md has nothing unreleased/);
    assert.ok(stderr.includes(`Cargo.toml says 7.0.0, and package.json ${version}`), stderr);
  });
});

test('each place is looked at, the tag and the changelog too', async () => {
  const dir = sources();
  const places = [
    'package-lock.json',
    'Cargo.toml',
    'Cargo.lock',
    'fuzz/Cargo.lock',
    `npm/${PLATFORMS[0]}/package.json`,
  ];
  for (const name of places) {
    const file = join(dir, name);
    const text = readFileSync(file, 'utf8');
    writeFileSync(file, text.replaceAll(`"${version}"`, '"7.0.0"'));
    const { code, stdout } = await script(dir, 'check', []);
    assert.equal(code, 1, name);
    assert.ok(stdout.includes(`${name} says 7.0.0, and package.json ${version}`), stdout);
    writeFileSync(file, text);
  }
  const { code, stdout } = await script(dir, 'check', ['--tag', 'v7.0.0']);
  assert.equal(code, 1);
  assert.ok(stdout.includes(`the tag is v7.0.0, and not v${version}`), stdout);
  assert.ok(stdout.includes(`CHANGELOG.md tells nothing of ${version}`), stdout);
  assert.equal((await script(dir, 'notes', [])).code, 1);
});

// ------------------------------------------------------------------------------------------------
// Archives

const MAIN = 'fencelink';
const PLATFORM_NAMES = PLATFORMS.map((key) => `@fencelink/${key}`);

/** The manifests of a whole release: name to manifest. */
function manifests() {
  const all = PLATFORMS.map((key) => ({
    name: `@fencelink/${key}`,
    version,
    main: `fencelink.${key}.node`,
  }));
  const optionalDependencies = Object.fromEntries(PLATFORM_NAMES.map((name) => [name, version]));
  all.push({ name: MAIN, version, main: 'index.js', optionalDependencies });
  return new Map(all.map((manifest) => [manifest.name, manifest]));
}

/** Packs them as npm does, each with the file that is its `main`, but for those in `without`. */
function pack(dir, packages, without = []) {
  const folder = join(dir, 'archives');
  rmSync(folder, { recursive: true, force: true });
  for (const [name, manifest] of packages) {
    const place = join(folder, 'package');
    mkdirSync(place, { recursive: true });
    writeFileSync(join(place, 'package.json'), JSON.stringify(manifest));
    if (!without.includes(name)) writeFileSync(join(place, manifest.main), `of ${name}`);
    const file = join(folder, `${name.replace('@', '').replace('/', '-')}.tgz`);
    execFileSync('tar', ['-czf', file, '-C', folder, 'package']);
    rmSync(place, { recursive: true });
  }
  return folder;
}

describe('publishing', () => {
  /** What the registry was given, in order, and what it has. */
  let given = [];
  let has = new Map();
  let failing;
  let registry;
  before(async () => {
    const server = createServer((request, response) => {
      const name = decodeURIComponent(request.url.slice(1));
      if (request.method === 'GET') {
        response.setHeader('content-type', 'application/json');
        if (!has.has(name)) return response.writeHead(404).end('{}');
        return response.end(JSON.stringify(has.get(name)));
      }
      request.resume();
      request.on('end', () => {
        const fails = name === failing;
        if (!fails) given.push(name);
        response.writeHead(fails ? 400 : 201).end('{}');
      });
    });
    server.listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    server.unref();
    registry = `http://127.0.0.1:${server.address().port}/`;
  });

  async function publish(dir, folder, ...args) {
    given = [];
    const npmrc = join(dir, '.npmrc');
    writeFileSync(npmrc, `registry=${registry}\n${registry.slice(5)}:_authToken=none\n`);
    const env = { npm_config_userconfig: npmrc, npm_config_registry: registry };
    return script(dir, 'publish', [folder, '--no-provenance', ...args], {
      ...env,
      npm_config_cache: join(dir, '.cache'),
      npm_config_fetch_retries: '0',
      // As `npm run --silent` has it for what it runs.
      npm_config_loglevel: 'silent',
    });
  }

  // Guards those who install the package in the minutes of a release.
  it('gives out the platforms first, and the package itself last', async () => {
    const dir = sources();
    has = new Map();
    const { code, stdout, stderr } = await publish(dir, pack(dir, manifests()));
    assert.equal(code, 0, stdout + stderr);
    assert.equal(given.at(-1), MAIN);
    assert.deepEqual(given.slice(0, -1).sort(), [...PLATFORM_NAMES].sort());
    assert.match(stdout, /9 of 9 packages published/);
  });

  it('gives out nothing with --dry-run', async () => {
    const dir = sources();
    has = new Map();
    const { code, stdout } = await publish(dir, pack(dir, manifests()), '--dry-run');
    assert.equal(code, 0);
    assert.deepEqual(given, []);
    assert.equal(stdout.match(/^\$ npm publish /gm).length, 9);
    assert.match(stdout, /9 of 9 packages would be published/);
    assert.doesNotMatch(stdout, /--tag/);
  });

  // Guards those who install without a version: what comes before a release is not for them.
  it('makes what comes before a release nobody’s latest', async () => {
    const dir = sources();
    has = new Map();
    const early = '9.8.7-rc.1';
    assert.equal((await script(dir, 'version', [early])).code, 0);
    const text = JSON.stringify([...manifests()]).replaceAll(`"${version}"`, `"${early}"`);
    const { code, stdout } = await publish(dir, pack(dir, new Map(JSON.parse(text))), '--dry-run');
    assert.equal(code, 0, stdout);
    assert.equal(stdout.match(/^\$ npm publish .* --tag next$/gm).length, 9);
  });

  it('goes on with a release that broke off, and never over another', async () => {
    const dir = sources();
    const folder = pack(dir, manifests());
    const [done] = PLATFORMS;
    const bytes = readFileSync(join(folder, `fencelink-${done}.tgz`));
    const published = (content) => {
      const integrity = `sha512-${createHash('sha512').update(content).digest('base64')}`;
      const name = `@fencelink/${done}`;
      const dist = { integrity, tarball: `${registry}x.tgz` };
      const versions = { [version]: { name, version, dist } };
      return { name, 'dist-tags': { latest: version }, versions };
    };
    has = new Map([[`@fencelink/${done}`, published(bytes)]]);
    const { code, stdout, stderr } = await publish(dir, folder);
    assert.equal(code, 0, stdout + stderr);
    assert.equal(given.length, 8);
    assert.ok(!given.includes(`@fencelink/${done}`));
    has = new Map([[`@fencelink/${done}`, published('something else')]]);
    const other = await publish(dir, folder);
    assert.equal(other.code, 1);
    assert.ok(other.stderr.includes(`the registry has another @fencelink/${done}@${version}`));
    assert.deepEqual(given, []);
  });

  const [first, second] = PLATFORM_NAMES;

  // Guards whoever is to go on with it: what is out, and what to do. The package itself is not.
  it('ends at the first package that the registry does not take', async () => {
    const dir = sources();
    has = new Map();
    failing = second;
    const { code, stderr } = await publish(dir, pack(dir, manifests()));
    failing = undefined;
    assert.equal(code, 1);
    assert.deepEqual(given, [first]);
    assert.match(stderr, /^1 of 9 were published\. The same command goes on from there\.$/m);
  });

  // Guards what arrived in part only: it has a name and a package.json, and is of no use.
  it('is refused when an archive is damaged', async () => {
    const dir = sources();
    has = new Map();
    const folder = pack(dir, manifests());
    const file = join(folder, `fencelink-${PLATFORMS[0]}.tgz`);
    writeFileSync(file, readFileSync(file).subarray(0, -9));
    for (const { code, stdout, stderr } of [
      await publish(dir, folder),
      await script(dir, 'check', ['--packages', folder]),
    ]) {
      assert.equal(code, 1);
      const said = stdout || stderr;
      assert.match(said, /fencelink-\S+\.tgz cannot be read: .+/);
      assert.ok(said.includes(`${first} is missing`), said);
      assert.doesNotMatch(said, /\n +at /);
    }
    assert.deepEqual(given, []);
  });

  const refused = {
    'a platform is missing': [(all) => all.delete(first), `${first} is missing`],
    'the package itself is missing': [(all) => all.delete(MAIN), `${MAIN} is missing`],
    'a platform is of another version': [
      (all) => Object.assign(all.get(second), { version: '7.0.0' }),
      `${second} is of version 7.0.0, and not ${version}`,
    ],
    'the package itself is of another version': [
      (all) => Object.assign(all.get(MAIN), { version: '7.0.0' }),
      `${MAIN} is of version 7.0.0, and not ${version}`,
    ],
    'the package does not ask for a platform': [
      (all) => delete all.get(MAIN).optionalDependencies[first],
      `${MAIN} does not ask for ${first} ${version}`,
    ],
    'something is there that is no part of it': [
      (all) => all.set('other', { name: 'other', version, main: 'index.js' }),
      'other.tgz is other, which is no part of it',
    ],
  };
  for (const [why, [change, said]] of Object.entries(refused)) {
    it(`is refused when ${why}`, async () => {
      const dir = sources();
      has = new Map();
      const all = manifests();
      change(all);
      const folder = pack(dir, all);
      const { code, stderr } = await publish(dir, folder);
      assert.equal(code, 1);
      assert.ok(stderr.startsWith('nothing was published:\n') && stderr.includes(said), stderr);
      assert.deepEqual(given, []);
      const check = await script(dir, 'check', ['--packages', folder]);
      assert.equal(check.code, 1);
      assert.ok(check.stdout.includes(said), check.stdout);
    });
  }

  it('is refused when a package has no binary', async () => {
    const dir = sources();
    const folder = pack(dir, manifests(), [first]);
    const { code, stderr } = await publish(dir, folder);
    assert.equal(code, 1);
    assert.ok(stderr.includes(`${first} has no fencelink.${PLATFORMS[0]}.node`), stderr);
    assert.deepEqual(given, []);
  });

  it('is refused when the registry does not say what it has', async () => {
    const dir = sources();
    const folder = pack(dir, manifests());
    const address = registry;
    registry = 'http://127.0.0.1:1/';
    const { code, stderr } = await publish(dir, folder);
    registry = address;
    assert.equal(code, 1);
    assert.match(stderr, /the registry does not say whether it has @fencelink\//);
  });
});
