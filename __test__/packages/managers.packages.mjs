// The package installed by the real package managers, from a registry on this machine: which
// binaries come, that they run, and what is said where none came.

import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { packageRoot, tempDir } from '../helpers.mjs';
import { firstCall, key, packageName, version } from '../package-helpers.mjs';
import { run, startRegistry } from './published.mjs';

const require = createRequire(import.meta.url);
const { PLATFORMS } = require('../../lib/load.js');
const other = PLATFORMS.find((platform) => platform !== key);
const shell = process.platform === 'win32';

/** The program of a package manager that is a package. */
const programOf = (place) => join(packageRoot, 'node_modules', place);

const { url: registry, close } = await startRegistry();
after(close);

/** A directory whose package.json is this. */
function project(manifest, dir = tempDir()) {
  mkdirSync(dir, { recursive: true });
  writeFileSync(join(dir, 'package.json'), JSON.stringify(manifest));
  return dir;
}

const consumer = { name: 'consumer', private: true, dependencies: { fencelink: version } };

/** What every manager is told: this registry, and nothing kept from or for elsewhere. */
function environment(dir) {
  const { npm_execpath: _, ...env } = process.env;
  const own = {
    npm_config_registry: registry,
    npm_config_fetch_retries: '0',
    npm_config_cache: join(dir, '.cache'),
    CI: '1',
  };
  return { ...env, ...own, HOME: dir, XDG_DATA_HOME: dir, XDG_CACHE_HOME: dir };
}

const npm = (dir, ...args) =>
  run('npm', [...args, '--no-audit', '--no-fund'], { cwd: dir, env: environment(dir), shell });

/** The platforms' packages that a directory of installed packages has. */
function platformsIn(nodeModules) {
  const scope = join(nodeModules, '@fencelink');
  return existsSync(scope) ? readdirSync(scope).sort() : [];
}

/** Checks that a claim works there, from CommonJS and from an ES module. */
async function assertRuns(dir, options = {}) {
  const { value } = await firstCall(dir, options);
  assert.equal(value.fence, 1);
  const file = join(dir, 'call.mjs');
  writeFileSync(
    file,
    `import { currentFenceSync } from 'fencelink';\nconsole.log(currentFenceSync('queue/run_1'));`,
  );
  const { stdout } = await run(process.execPath, [...(options.options ?? []), file], { cwd: dir });
  assert.equal(stdout, '1\n');
}

describe('npm', () => {
  for (const more of [[], ['--ignore-scripts']]) {
    it(`installs one binary, which runs ${more.join('')}`, async () => {
      const dir = project(consumer);
      await npm(dir, 'install', ...more);
      assert.deepEqual(platformsIn(join(dir, 'node_modules')), [key]);
      await assertRuns(dir);
    });
  }

  it('installs none with --omit=optional, and the first call says so', async () => {
    const dir = project(consumer);
    await npm(dir, 'install', '--omit=optional');
    assert.deepEqual(platformsIn(join(dir, 'node_modules')), []);
    const { message } = await firstCall(dir);
    const [first, advice] = message.split('\n');
    assert.ok(first.includes(`the package ${packageName} is not installed; this is`), message);
    assert.match(advice, /install without `--omit=optional`/);
  });

  // A lock file that was made where another platform's node_modules stood can lack the others.
  it('installs none from a lock file that knows another platform only', async () => {
    const dir = project(consumer);
    await npm(dir, 'install', '--package-lock-only');
    const lock = join(dir, 'package-lock.json');
    const { packages, ...rest } = JSON.parse(readFileSync(lock, 'utf8'));
    for (const platform of PLATFORMS) {
      if (platform !== other) delete packages[`node_modules/@fencelink/${platform}`];
    }
    const main = packages['node_modules/fencelink'];
    main.optionalDependencies = { [`@fencelink/${other}`]: version };
    writeFileSync(lock, JSON.stringify({ ...rest, packages }));
    await npm(dir, 'ci');
    assert.deepEqual(platformsIn(join(dir, 'node_modules')), []);
    const { message } = await firstCall(dir);
    assert.ok(message.includes(`the package ${packageName} is not installed`), message);
    assert.match(message, /remove the lock file too, since one made on another platform can lack/);
    // And that helps.
    rmSync(lock);
    rmSync(join(dir, 'node_modules'), { recursive: true });
    await npm(dir, 'install');
    await assertRuns(dir);
  });

  it('installs from a lock file of all platforms what fits this one', async () => {
    const dir = project(consumer);
    await npm(dir, 'install', '--package-lock-only');
    const { packages } = JSON.parse(readFileSync(join(dir, 'package-lock.json'), 'utf8'));
    const locked = Object.keys(packages).filter((place) => place.includes('@fencelink/'));
    assert.equal(locked.length, PLATFORMS.length);
    await npm(dir, 'ci');
    assert.deepEqual(platformsIn(join(dir, 'node_modules')), [key]);
    await assertRuns(dir);
  });

  it('says which platform is there when node_modules was brought from another', async () => {
    const dir = project(consumer);
    const [os, cpu] = other.split('-');
    await npm(dir, 'install', `--os=${os}`, `--cpu=${cpu}`);
    assert.deepEqual(platformsIn(join(dir, 'node_modules')), [other]);
    const { message } = await firstCall(dir);
    assert.ok(
      message.includes(`${packageName} is not installed, but @fencelink/${other};`),
      message,
    );
  });

  it('installs it for a workspace', async () => {
    const dir = project({ name: 'root', private: true, workspaces: ['apps/*'] });
    const app = project({ ...consumer, name: 'app' }, join(dir, 'apps/app'));
    await npm(dir, 'install');
    assert.deepEqual(platformsIn(join(dir, 'node_modules')), [key]);
    await assertRuns(app);
  });
});

describe('pnpm', () => {
  const pnpm = (dir, ...args) =>
    run(process.execPath, [programOf('pnpm/bin/pnpm.cjs'), ...args], {
      cwd: dir,
      env: environment(dir),
    });
  const store = (dir) => ['--store-dir', join(dir, '.store')];

  it('installs one binary, which runs', async () => {
    const dir = project(consumer);
    await pnpm(dir, 'install', ...store(dir));
    const places = readdirSync(join(dir, 'node_modules/.pnpm'));
    const binaries = places.filter((place) => place.startsWith('@fencelink+'));
    assert.deepEqual(binaries, [`@fencelink+${key}@${version}`]);
    await assertRuns(dir);
  });

  it('installs it for a workspace', async () => {
    const dir = project({ name: 'root', private: true });
    writeFileSync(join(dir, 'pnpm-workspace.yaml'), 'packages:\n  - apps/*\n');
    const app = project({ ...consumer, name: 'app' }, join(dir, 'apps/app'));
    await pnpm(dir, 'install', ...store(dir));
    await assertRuns(app);
  });

  it('installs none with --no-optional, and the first call says so', async () => {
    const dir = project(consumer);
    await pnpm(dir, 'install', '--no-optional', ...store(dir));
    const { message } = await firstCall(dir);
    assert.ok(message.includes(`the package ${packageName} is not installed; this is`), message);
  });
});

describe('Yarn', () => {
  const yarn = (dir, ...args) =>
    run(process.execPath, [programOf('@yarnpkg/cli-dist/bin/yarn.js'), ...args], {
      cwd: dir,
      env: environment(dir),
    });

  function yarnProject(nodeLinker) {
    const dir = project(consumer);
    const settings = {
      nodeLinker,
      pnpEnableEsmLoader: true,
      npmRegistryServer: registry,
      unsafeHttpWhitelist: ['127.0.0.1'],
      enableGlobalCache: false,
      enableTelemetry: false,
      npmMinimalAgeGate: 0,
      enableImmutableInstalls: false,
    };
    writeFileSync(join(dir, '.yarnrc.yml'), JSON.stringify(settings));
    writeFileSync(join(dir, 'yarn.lock'), '');
    return dir;
  }

  it('installs one binary, which runs', async () => {
    const dir = yarnProject('node-modules');
    await yarn(dir, 'install');
    assert.deepEqual(platformsIn(join(dir, 'node_modules')), [key]);
    await assertRuns(dir);
  });

  it("installs one binary under Plug'n'Play, which runs", async () => {
    const dir = yarnProject('pnp');
    await yarn(dir, 'install');
    assert.equal(existsSync(join(dir, 'node_modules')), false);
    const binaries = readdirSync(join(dir, '.yarn/unplugged'));
    assert.equal(binaries.filter((place) => place.startsWith('@fencelink-')).length, 1);
    const loader = ['--loader', join(dir, '.pnp.loader.mjs')];
    await assertRuns(dir, { options: ['--require', join(dir, '.pnp.cjs'), ...loader] });
  });
});
