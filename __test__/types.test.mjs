// The package's types: under `strict`, in both ways of resolving modules, from ES modules and from
// CommonJS, beside a host's own copies of the same shapes. And what is typed is there at run time.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { packageRoot, workerFile } from './helpers.mjs';

const require = createRequire(import.meta.url);
const typescript = require.resolve('typescript/package.json');
const tsc = join(dirname(typescript), require(typescript).bin.tsc);

/** Type-checks with one of the projects; returns what the compiler wrote. */
function check(resolution, ...more) {
  const project = workerFile(`../types/tsconfig.${resolution}.json`);
  const args = [tsc, '--project', project, '--pretty', 'false', ...more];
  const { error, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
  assert.ifError(error);
  return stdout + stderr;
}

for (const resolution of ['nodenext', 'bundler']) {
  // Guards the change of one import line: a host's types and the package's must fit each other
  // without a cast, in either place. The lines that must not compile are in the project too.
  test(`the types fit a host that resolves modules as ${resolution} does`, () => {
    assert.equal(check(resolution), '');
    // The files are really part of it, and the types are the package's own.
    const files = check(resolution, '--listFilesOnly').replaceAll('\\', '/');
    for (const name of [
      'types/assignable.mts',
      'types/commonjs.cts',
      'types/errors.mts',
      'types/named.mts',
      'types/listing.mts',
    ]) {
      assert.ok(files.includes(`/__test__/${name}`), `${name} is not checked`);
    }
    assert.ok(files.includes(`${packageRoot.replaceAll('\\', '/')}index.d.ts`));
  });
}

// Guards the names: what is declared exists, and what exists is declared, under `require` and as
// names of an `import`, which Node.js finds by reading the source.
test('the package has the names that its types declare, and no others', async () => {
  const text = readFileSync(join(packageRoot, 'index.d.ts'), 'utf8');
  const declared = text.matchAll(/^export (?:declare )?(?:function|class|const) (\w+)/gm);
  const names = [...new Set(Array.from(declared, ([, name]) => name))].sort();
  assert.ok(names.includes('acquireClaim') && names.includes('NamzuError'));
  assert.deepEqual(Object.keys(require('..')).sort(), names);
  const { default: whole, ...imported } = await import('../index.js');
  assert.equal(whole, require('..'));
  delete imported['module.exports'];
  assert.deepEqual(Object.keys(imported).sort(), names);
  // By its own name, as a program that depends on it finds it.
  const byName = await import('fencelink');
  assert.equal(byName.acquireClaim, imported.acquireClaim);
});
