// The package under bundlers: the recipes of docs/bundlers.md, as they are written there, give
// programs that run; without them the bundler stops, and says at what.

import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { packageRoot, runNode, start } from '../helpers.mjs';
import { addPlatform, key, project } from '../package-helpers.mjs';
import { run } from './published.mjs';

const recipes = readFileSync(join(packageRoot, 'docs/bundlers.md'), 'utf8');
const [esbuildRecipe] = /esbuild app\.mjs .*/.exec(recipes);
const viteRecipes = Array.from(recipes.matchAll(/^```js\n([\s\S]*?)^```$/gm), ([, code]) => code);

const APP = `
import { acquireClaim } from 'fencelink';
const { fence } = await acquireClaim('queue/run_1', { holder: 'a', ttlMs: 60_000 });
console.log('fence', fence);`;

/** A project with the package and this platform's binary, and a program that uses it. */
function app() {
  const dir = project();
  addPlatform(dir);
  writeFileSync(join(dir, 'app.mjs'), APP);
  return dir;
}

const program = (place) => join(packageRoot, 'node_modules', place);

async function assertRuns(dir) {
  const { stdout } = await run(process.execPath, ['out/app.mjs'], { cwd: dir });
  assert.equal(stdout, 'fence 1\n');
}

describe('esbuild', () => {
  // A program of its own, or a script that finds it, depending on how it was installed.
  const esbuild = (dir, args) =>
    start(program('.bin/esbuild'), args, { cwd: dir, shell: process.platform === 'win32' }).done;
  const args = esbuildRecipe.split(' ').slice(1);

  it('leaves the package out by the recipe, and the program runs', async () => {
    const dir = app();
    const { code, stderr } = await esbuild(dir, args);
    assert.equal(code, 0, stderr);
    await assertRuns(dir);
  });

  it('stops without it, at the package of a platform', async () => {
    const without = args.filter((arg) => arg !== '--external:fencelink');
    assert.equal(without.length, args.length - 1);
    const { code, stderr } = await esbuild(app(), without);
    assert.equal(code, 1);
    assert.match(stderr, /Could not resolve "@fencelink\//);
  });
});

describe('Vite', () => {
  const vite = (dir, config) => {
    writeFileSync(join(dir, 'vite.config.mjs'), config);
    return runNode([program('vite/bin/vite.js'), 'build'], { cwd: dir });
  };

  it('leaves it out of a build for the server by itself', async () => {
    const dir = app();
    const { code, stderr } = await vite(
      dir,
      `export default { build: { ssr: 'app.mjs', outDir: 'out' } };`,
    );
    assert.equal(code, 0, stderr);
    await assertRuns(dir);
  });

  for (const [at, recipe] of viteRecipes.entries()) {
    it(`leaves it out by recipe ${at + 1}, and the program runs`, async () => {
      const dir = app();
      const { code, stderr } = await vite(dir, recipe);
      assert.equal(code, 0, stderr);
      await assertRuns(dir);
    });

    it(`stops without recipe ${at + 1}, at the binary`, async () => {
      const without = recipe.replace(/external: \['fencelink'\],?/, '');
      assert.notEqual(without, recipe);
      const { code, stderr } = await vite(app(), without);
      assert.equal(code, 1);
      assert.ok(stderr.includes(`fencelink.${key}.node`), stderr);
    });
  }

  it('has the recipes that were looked for', () => {
    assert.equal(viteRecipes.length, 2);
  });
});
