// Every code block of the README is run: scripts as files of a project that has the package,
// TypeScript through the compiler, commands against package.json. A block of a kind that is not
// run here fails, so that no example can go stale unseen.
//
// In an example, `// prints "TEXT"` is a promise: that text must come out. With `once` after it,
// exactly once.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const readme = readFileSync(path.join(root, 'README.md'), 'utf8');
const { scripts } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8'));
const projects = mkdtempSync(path.join(tmpdir(), 'fencelink-readme-'));
after(() => rmSync(projects, { recursive: true, force: true }));

const blocks = [...readme.matchAll(/^```(.*)\n([\s\S]*?)^```$/gm)].map(([, language, code], i) => ({
  number: i + 1,
  language,
  code,
}));

/** A new project that has the package as a dependency. */
function project(number) {
  const dir = path.join(projects, `${number}`);
  mkdirSync(path.join(dir, 'node_modules'), { recursive: true });
  symlinkSync(root, path.join(dir, 'node_modules/fencelink'), 'junction');
  symlinkSync(
    path.join(root, 'node_modules/@types'),
    path.join(dir, 'node_modules/@types'),
    'junction',
  );
  return dir;
}

function runScript(number, code) {
  const dir = project(number);
  const file = path.join(dir, code.includes('require(') ? 'example.cjs' : 'example.mjs');
  writeFileSync(file, code);
  const { status, stdout, stderr } = spawnSync(process.execPath, [file], {
    cwd: dir,
    encoding: 'utf8',
    timeout: 60_000,
  });
  assert.equal(stderr, '');
  assert.equal(status, 0);
  for (const [, comment] of code.matchAll(/\/\/ prints (.*)/g)) {
    for (const [, text, once] of comment.matchAll(/"([^"]*)"( once)?/g)) {
      const times = stdout.split(text).length - 1;
      assert.ok(once ? times === 1 : times > 0, `"${text}" came ${times} times in: ${stdout}`);
    }
  }
}

const RUN = {
  js: runScript,

  /** The lines that are there after the change. */
  diff(number, code) {
    const lines = code.split('\n').filter((line) => !line.startsWith('-'));
    runScript(number, lines.map((line) => line.replace(/^[+ ]/, '')).join('\n'));
  },

  ts(number, code) {
    const dir = project(number);
    writeFileSync(path.join(dir, 'package.json'), '{ "type": "module" }');
    writeFileSync(path.join(dir, 'example.ts'), code);
    const tsc = path.join(root, 'node_modules/typescript/bin/tsc');
    const options = ['--noEmit', '--strict', '--target', 'es2022', '--module', 'nodenext'];
    const { status, stdout } = spawnSync(process.execPath, [tsc, ...options, 'example.ts'], {
      cwd: dir,
      encoding: 'utf8',
    });
    assert.equal(stdout, '');
    assert.equal(status, 0);
  },

  /** Commands are scripts of the package: that each works on a fresh clone is for CI to show. */
  sh(_number, code) {
    for (const line of code.trim().split('\n')) {
      const [, name] = /^npm (?:run )?([\w:]+)$/.exec(line) ?? [];
      assert.ok(name && scripts[name], `"${line}" is no script of package.json`);
    }
  },
};

describe('the README', () => {
  it('has examples', () => {
    assert.ok(blocks.length >= 5, `found ${blocks.length} code blocks`);
    const fences = readme.match(/^```/gm)?.length;
    assert.equal(fences, blocks.length * 2, 'a code block was not recognised');
  });

  for (const { number, language, code } of blocks) {
    it(`block ${number} (${language || 'of no language'}) is true`, () => {
      assert.ok(language in RUN, 'no way to run it: a block that is not run may go stale');
      RUN[language](number, code);
    });
  }
});
