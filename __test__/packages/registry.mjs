// A registry on this machine, with the packages as they would be published: the main one, the one of
// this platform with its binary, and those of the others with a few bytes in its place.

import { createHash } from 'node:crypto';
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { stage } from '../../scripts/stage.mjs';
import { start, tempDir } from '../helpers.mjs';
import { binary, key, version } from '../package-helpers.mjs';

const { PLATFORMS } = createRequire(import.meta.url)('../../lib/load.js');

/** Runs a command to its end; resolves to what it wrote. Fails with all of that when it failed. */
export async function run(command, args, options) {
  const { code, signal, stdout, stderr } = await start(command, args, {
    timeout: 300_000,
    ...options,
  }).done;
  if (code === 0) return { stdout, stderr };
  const line = [command, ...args].join(' ');
  throw new Error(`${line} ended with ${signal ?? code}:\n${stdout}${stderr}`);
}

/** Packs a directory with npm; resolves to what npm says of the package, and the file. */
export async function pack(directory, into) {
  const args = ['pack', directory, '--json', '--ignore-scripts', '--pack-destination', into];
  const { stdout } = await run('npm', args, { shell: process.platform === 'win32' });
  const said = Object.values(JSON.parse(stdout))[0];
  return { ...said, file: join(into, said.filename) };
}

/** A directory with the main package, as it is published. */
export function stagedPackage() {
  const directory = join(tempDir(), 'fencelink');
  stage(directory);
  return directory;
}

/** A directory with the package of a platform. */
function platformPackage(platform) {
  const directory = join(tempDir(), platform);
  const name = `fencelink.${platform}.node`;
  const [os, cpu, abi] = platform.split('-');
  const libc = { gnu: 'glibc', musl: 'musl' }[abi];
  const manifest = {
    name: `@fencelink/${platform}`,
    version,
    main: name,
    files: [name],
    os: [os],
    cpu: [cpu],
    ...(libc && { libc: [libc] }),
  };
  mkdirSync(directory);
  writeFileSync(join(directory, 'package.json'), JSON.stringify(manifest));
  if (platform === key) copyFileSync(binary, join(directory, name));
  else writeFileSync(join(directory, name), `for ${platform}`);
  return directory;
}

/** Starts the registry; resolves to its address. It ends with the process. */
export async function startRegistry() {
  const files = tempDir();
  const directories = [stagedPackage(), ...PLATFORMS.map(platformPackage)];
  const packages = new Map();
  const tarballs = new Map();
  for (const directory of directories) {
    const { file, filename } = await pack(directory, files);
    const manifest = JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8'));
    tarballs.set(`/${filename}`, readFileSync(file));
    packages.set(`/${manifest.name}`, { filename, manifest });
  }
  const server = createServer((request, response) => {
    const path = decodeURIComponent(request.url ?? '');
    const tarball = tarballs.get(path);
    const found = packages.get(path);
    if (tarball) return response.end(tarball);
    if (!found) return response.writeHead(404).end('{}');
    response.setHeader('content-type', 'application/json');
    return response.end(JSON.stringify(documentOf(found, tarballs, address())));
  });
  const address = () => `http://127.0.0.1:${/** @type {any} */ (server.address()).port}`;
  await new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(undefined)));
  // It keeps nobody waiting.
  server.unref();
  return address();
}

/** What a registry tells of a package. */
function documentOf({ filename, manifest }, tarballs, address) {
  const bytes = tarballs.get(`/${filename}`);
  const dist = {
    tarball: `${address}/${filename}`,
    integrity: `sha512-${createHash('sha512').update(bytes).digest('base64')}`,
    shasum: createHash('sha1').update(bytes).digest('hex'),
  };
  return {
    name: manifest.name,
    'dist-tags': { latest: manifest.version },
    versions: { [manifest.version]: { ...manifest, dist } },
    // Some take nothing that was published lately.
    time: { [manifest.version]: '2020-01-01T00:00:00.000Z' },
  };
}
