// What is published: which files, how large, what it says of itself, and whether compilers and
// runtimes of every kind find its types.

import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { before, describe, it } from 'node:test';
import { publint } from 'publint';
import { formatMessage } from 'publint/utils';
import { packageRoot, runNode, tempDir } from '../helpers.mjs';
import { version } from '../package-helpers.mjs';
import { run, stagedPackage } from './published.mjs';

const require = createRequire(import.meta.url);

/** All of it. A file that is not here is not needed by those who install the package. */
const FILES = [
  'LICENSE-APACHE',
  'LICENSE-MIT',
  'README.md',
  'errors.js',
  'index.d.ts',
  'index.js',
  'lib/check.js',
  'lib/claim.js',
  'lib/helpers.js',
  'lib/listing.js',
  'lib/load.js',
  'lib/native.js',
  'lib/platform.js',
  'lib/store.js',
  'package.json',
];

const MOST_BYTES = 100_000;

describe('the package', () => {
  const directory = stagedPackage();
  const manifest = JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8'));
  let packed;
  before(async () => {
    const folder = tempDir();
    const args = ['pack', directory, '--json', '--pack-destination', folder];
    const { stdout } = await run('npm', args, { shell: process.platform === 'win32' });
    [packed] = Object.values(JSON.parse(stdout));
    packed.file = join(folder, packed.filename);
  });

  it('has the files that are needed, and no others', () => {
    assert.deepEqual(packed.files.map(({ path }) => path).sort(), FILES);
    assert.ok(packed.unpackedSize < MOST_BYTES, `${packed.unpackedSize} bytes`);
  });

  // Guards the reader: of these commands there are none where the package is installed.
  it('has the README without what only a clone can do', () => {
    const readme = readFileSync(join(directory, 'README.md'), 'utf8');
    assert.match(readme, /^# fencelink\n[^#]+^## Install\n/m);
    const own = readFileSync(join(packageRoot, 'README.md'), 'utf8');
    assert.equal(own.replace(/^## Try it\n[^#]+/m, ''), readme);
  });

  it('asks for the package of each platform in its own version, and for nothing else', () => {
    const { PLATFORMS } = require('../../lib/load.js');
    const wanted = Object.fromEntries(PLATFORMS.map((key) => [`@fencelink/${key}`, version]));
    assert.deepEqual(manifest.optionalDependencies, wanted);
    for (const member of ['dependencies', 'peerDependencies', 'devDependencies', 'scripts']) {
      assert.equal(manifest[member], undefined, member);
    }
  });

  // Guards provenance: the registry compares these with where the package was built.
  it('says where it comes from', () => {
    const { repository, publishConfig, homepage, bugs } = manifest;
    const url = 'https://github.com/fencelink/fencelink';
    assert.deepEqual(repository, { type: 'git', url: `git+${url}.git` });
    assert.deepEqual(publishConfig, { access: 'public', provenance: true });
    assert.deepEqual([homepage, bugs], [`${url}#readme`, `${url}/issues`]);
  });

  // Guards the sources: what they would publish has no binaries.
  it('is published from where it was staged, and from nowhere else', () => {
    assert.equal(manifest.private, undefined);
    assert.equal(require('../../package.json').private, true);
  });

  it('is clean to publint', async () => {
    const { messages, pkg } = await publint({ pkgDir: directory, strict: true });
    assert.deepEqual(
      messages.map((message) => formatMessage(message, pkg, { color: false })),
      [],
    );
  });

  it('is clean to arethetypeswrong', async () => {
    const cli = require.resolve('@arethetypeswrong/cli/package.json');
    const bin = join(dirname(cli), require(cli).bin.attw);
    const { stdout } = await run(process.execPath, [bin, packed.file, '--format', 'json']);
    const { analysis, problems } = JSON.parse(stdout);
    assert.deepEqual(problems ?? {}, {});
    assert.equal(analysis.packageName, 'fencelink');
    assert.equal(analysis.types.kind, 'included');
    for (const how of ['node10', 'node16-cjs', 'node16-esm', 'bundler']) {
      const { resolution } = analysis.entrypoints['.'].resolutions[how];
      assert.ok(resolution.fileName.endsWith('/index.d.ts'), how);
    }
  });

  describe('its types', () => {
    /** A project that has it; resolves to what the compiler says of `source` there. */
    async function check(name, source, options) {
      const dir = tempDir();
      mkdirSync(join(dir, 'node_modules'));
      symlinkSync(directory, join(dir, 'node_modules/fencelink'), 'junction');
      symlinkSync(join(packageRoot, 'node_modules/@types'), join(dir, 'node_modules/@types'));
      writeFileSync(join(dir, name), source);
      const tsc = join(packageRoot, 'node_modules/typescript/bin/tsc');
      const strict = ['--noEmit', '--strict', '--target', 'es2022', '--pretty', 'false'];
      const { stdout, stderr } = await runNode([tsc, ...strict, ...options, name], { cwd: dir });
      return stdout + stderr;
    }

    const ES = `
      import { acquireClaim, DiskCheckpointStore, NamzuError, type RunLease } from 'fencelink';
      const lease: RunLease | null = await acquireClaim('run', { holder: 'a', ttlMs: 1 });
      const fence: number = lease?.fence ?? 0;
      export const used = [fence, new DiskCheckpointStore({ baseDir: 'x' }), NamzuError];`;
    const COMMON = `
      import fencelink = require('fencelink');
      const lease: fencelink.RunLease | null = fencelink.readClaimSync('run');
      export = lease;`;
    for (const [name, source, module, resolution] of [
      ['a.mts', ES, 'nodenext', 'nodenext'],
      ['a.cts', COMMON, 'nodenext', 'nodenext'],
      ['a.mts', ES, 'node16', 'node16'],
      ['a.cts', COMMON, 'node16', 'node16'],
      ['a.mts', ES, 'esnext', 'bundler'],
      ['a.cts', COMMON, 'preserve', 'bundler'],
    ]) {
      it(`are found in ${name} under ${resolution}`, async () => {
        const options = ['--module', module, '--moduleResolution', resolution];
        assert.equal(await check(name, source, options), '');
        const wrong = source === ES ? `export { nothing } from 'fencelink';` : 'fencelink.nothing;';
        const said = await check(name, `${source}\n${wrong}`, options);
        assert.match(said, /has no exported member|does not exist/, 'what is wrong is found too');
        assert.ok(said.includes(`'nothing'`), said);
      });
    }
  });
});
