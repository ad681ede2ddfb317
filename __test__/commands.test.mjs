// The project's own commands, as somebody meets them who types a wrong word.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { packageRoot, runNode } from './helpers.mjs';

test('a slip in the options of a command is answered with a line', async () => {
  const commands = [
    ...['version', 'check', 'publish'].map((name) => `scripts/release/${name}.mjs`),
    ...['scripts/test.mjs', 'bench/main.mjs', 'bench/soak.mjs', 'demo/main.mjs'],
  ];
  for (const command of commands) {
    const { code, stdout, stderr } = await runNode([join(packageRoot, command), '--slip']);
    assert.equal(code, 2, command);
    assert.equal(stdout, '', command);
    assert.match(stderr, /^Unknown option '--slip'.*\nSee: .* --help\n$/, command);
    const help = await runNode([join(packageRoot, command), '--help']);
    assert.equal(help.code, 0, command);
    assert.match(help.stdout, /^ {2}--help +this text/m, command);
  }
});
