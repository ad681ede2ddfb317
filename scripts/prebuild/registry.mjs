// A registry of npm packages on loopback, of the archives in a folder, for as long as the process
// runs. It answers what `npm install` asks and nothing else.

import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import path from 'node:path';
import { run } from './cache.mjs';

/**
 * Serves the archives that are in the folder now.
 * @param {string} folder
 * @returns {Promise<{ url: string, close: () => void }>}
 */
export async function serve(folder) {
  const archives = new Map();
  const packages = new Map();
  const server = createServer((request, response) => {
    const wanted = decodeURIComponent(String(request.url).slice(1));
    const found = archives.get(wanted) ?? packages.get(wanted);
    response.writeHead(found ? 200 : 404);
    response.end(found ?? '{}');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  const url = `http://127.0.0.1:${port}/`;
  for (const name of readdirSync(folder).filter((file) => file.endsWith('.tgz'))) {
    const file = path.join(folder, name);
    const bytes = readFileSync(file);
    archives.set(name, bytes);
    const manifest = JSON.parse(run('tar', ['-xzOf', file, 'package/package.json']));
    const integrity = `sha512-${createHash('sha512').update(bytes).digest('base64')}`;
    packages.set(manifest.name, packument(manifest, { tarball: url + name, integrity }));
  }
  return { url, close: () => void server.close().closeAllConnections() };
}

/** What a registry tells of a package: here each has one version. */
function packument(manifest, dist) {
  const { name, version } = manifest;
  const versions = { [version]: { ...manifest, dist } };
  return JSON.stringify({ name, 'dist-tags': { latest: version }, versions });
}
