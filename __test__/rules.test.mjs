// The table of rules in docs/testing.md, held to the repository: each place, test and mutant that it
// names is there, so that a test which is renamed or removed is missed.

import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { test } from 'node:test';

const root = new URL('..', import.meta.url);
const read = (file) => readFileSync(new URL(file, root), 'utf8');

const table = /<!-- rules -->\n([\s\S]*?)<!-- end of rules -->/.exec(read('docs/testing.md'))?.[1];
const rows = (table ?? '')
  .split('\n')
  .map((line) => line.split('|').map((cell) => cell.trim()))
  .filter(([, , place]) => place?.startsWith('`'))
  .map(([, rule, ...cells]) => {
    const [place, name, file] = cells.slice(0, 3).map((cell) => cell.replaceAll('`', ''));
    const mutants = [...cells[3].matchAll(/mutant `(\w+)`/g)].map(([, mutant]) => mutant);
    return { rule, place, name, file, reverted: cells[3], mutants };
  });

/** How a test of that name begins, in either language. */
const beginnings = (name) => [`fn ${name}(`, `fn ${name}<`, `('${name}', `, `(\`${name}\`, `];

test('every rule has a test that is there', () => {
  assert.ok(rows.length >= 50, `${rows.length} rules`);
  for (const { rule, place, name, file, reverted } of rows) {
    assert.ok(existsSync(new URL(place, root)), `${rule}: ${place}`);
    const source = read(file);
    const begins = beginnings(name).some((beginning) => source.includes(beginning));
    assert.ok(begins, `${rule}: there is no test "${name}" in ${file}`);
    assert.ok(reverted, `${rule}: how it was reverted`);
  }
});

test('every mutant in it is a switch at that place, and is searched for', () => {
  const searched = read('tests/simulation/mutants.rs');
  for (const { rule, place, mutants } of rows) {
    const switches = [...read(place).matchAll(/mutant!\(([\w| ]+) =>/g)];
    const there = switches.flatMap(([, names]) => names.split(' | '));
    for (const mutant of mutants) {
      assert.ok(there.includes(mutant), `${rule}: ${mutant} is no switch in ${place}`);
      assert.ok(searched.includes(`(${mutant}, `), `${rule}: nothing searches for ${mutant}`);
    }
  }
  assert.ok(rows.some(({ mutants }) => mutants.length > 0));
});
