// The documents: what they name is there. Their examples are tested where they belong: those of the
// README in readme.test.mjs, the recipes for bundlers in packages/.

import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, it } from 'node:test';
import { packageRoot } from './helpers.mjs';

const { scripts } = JSON.parse(readFileSync(join(packageRoot, 'package.json'), 'utf8'));

const documents = [
  'README.md',
  'CONTRIBUTING.md',
  ...readdirSync(join(packageRoot, 'docs'), { recursive: true })
    .map((name) => join('docs', String(name)))
    .filter((name) => name.endsWith('.md')),
];

/** Paths that are told of, and are not in a clone: they are built, or begin with a pattern. */
const MADE = /^npm\/|[*<>…]/;

describe('the documents', () => {
  for (const name of documents) {
    const text = readFileSync(join(packageRoot, name), 'utf8');

    it(`${name} links to what is there`, () => {
      for (const [, target] of text.matchAll(/\]\(([^)#]+)(?:#[^)]*)?\)/g)) {
        if (/^https?:/.test(target)) continue;
        assert.ok(existsSync(join(packageRoot, dirname(name), target)), target);
      }
    });

    it(`${name} names scripts and files that are there`, () => {
      for (const [, script = 'test'] of text.matchAll(/`npm (?:run ([\w:]+)|test)/g)) {
        assert.ok(scripts[script], `npm run ${script}`);
      }
      for (const [, path] of text.matchAll(/`((?:scripts|docs|lib|src|npm|\.github)\/[^` ]+)`/g)) {
        assert.ok(MADE.test(path) || existsSync(join(packageRoot, path)), path);
      }
    });
  }

  it('are found', () => {
    for (const name of [
      'errors',
      'compatibility',
      'migration',
      'bundlers',
      'decisions/0051-loader',
    ]) {
      assert.ok(documents.includes(join('docs', `${name}.md`)), name);
    }
  });
});
