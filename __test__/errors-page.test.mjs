// docs/errors.md against the sources: it has each code, each kind of message and each particular of
// a refusal, and none that is not there.

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { parse } from '@babel/parser';
import { packageRoot } from './helpers.mjs';

const read = (file) => readFileSync(join(packageRoot, file), 'utf8');

const page = read('docs/errors.md');
const declarations = read('index.d.ts');

/** The rows of the page: the code, the words of the message, the names of particulars. */
const rows = page
  .split(/^## /m)
  .slice(1)
  .flatMap((section) => {
    const [, code] = /^`(\w+)`/.exec(section);
    return Array.from(section.matchAll(/^\| `([^`]+)` \|([^|]*)\|/gm), ([, words, details]) => ({
      code,
      words,
      details: Array.from(details.matchAll(/`(\w+)`/g), ([, name]) => name),
    }));
  });

const codesOnPage = Array.from(page.matchAll(/^## `(\w+)`$/gm), ([, code]) => code);

// ------------------------------------------------------------------------------------------------
// What the sources say

/** Messages of Rust: what is written where an error is displayed, `{…}` as it stands. */
function rustMessages() {
  const files = ['src/error.rs', 'src/error/checkpoint.rs', 'src/checkpoint/format.rs'];
  const displayed = files.flatMap((file) =>
    Array.from(
      read(file).matchAll(/write!\(\s*out,\s*"((?:[^"\\]|\\[\s\S])*)"/g),
      ([, text]) => text,
    ),
  );
  const made = Array.from(
    read('src/binding/answer.rs').matchAll(/format!\(\s*"((?:[^"\\]|\\[\s\S])*)"/g),
    ([, text]) => text,
  );
  return [...displayed, ...made].map((text) => ({ text: text.replace(/\\\n\s*/g, '') }));
}

/** The functions that make refusals, with the places of the code and of the message. */
const MAKERS = { refuse: [0, 1], unusable: [undefined, 0] };

/** Messages of JavaScript: the words that a refusal is made with, `…` for what is put in. */
function javascriptMessages() {
  const files = [
    'errors.js',
    ...readdirSync(join(packageRoot, 'lib')).map((name) => `lib/${name}`),
  ];
  return files.flatMap((file) => {
    const tree = parse(read(file), { sourceType: 'script' });
    const values = new Map();
    const calls = [];
    walk(tree, (node) => {
      if (node.type === 'VariableDeclarator') values.set(node.id.name, node.init);
      if (node.type === 'CallExpression' && node.callee.name in MAKERS) calls.push(node);
    });
    return calls.map(({ callee, arguments: args }) => {
      const [code, message] = MAKERS[callee.name];
      return {
        code: code === undefined ? 'capability_unavailable' : args[code].value,
        text: wordsOf(args[message], values),
      };
    });
  });
}

function walk(node, visit) {
  if (typeof node?.type === 'string') visit(node);
  for (const value of Object.values(node ?? {})) {
    if (typeof value === 'object') walk(value, visit);
  }
}

function wordsOf(node, values) {
  if (node.type === 'StringLiteral') return node.value;
  if (node.type === 'TemplateLiteral')
    return node.quasis.map(({ value }) => value.cooked).join('…');
  if (node.type === 'BinaryExpression') {
    return wordsOf(node.left, values) + wordsOf(node.right, values);
  }
  const value = values.get(node.name);
  return value ? wordsOf(value, values) : '…';
}

/** Messages that only pass on what another one says. */
const PASSED_ON = [/^…$/, /^fencelink … has no binary: …$/, /^\{file\} in \{dir\}: \{why\}\./];

const messages = [...rustMessages(), ...javascriptMessages()]
  .map(({ code, text }) => ({ code, text: text.split('\n')[0] }))
  .filter(({ text }) => !PASSED_ON.some((form) => form.test(text)));

// ------------------------------------------------------------------------------------------------

test('the page has each code', () => {
  const [, union] = /type NamzuErrorCode =([\s\S]*?);/.exec(declarations);
  assert.deepEqual(
    codesOnPage,
    Array.from(union.matchAll(/\| '(\w+)'/g), ([, code]) => code),
  );
});

test('each message has its words on the page, under its code', () => {
  assert.ok(messages.length > 25, String(messages.length));
  for (const { code, text } of messages) {
    const found = rows.filter(({ words }) => text.includes(words));
    assert.ok(found.length > 0, `nothing is told of "${text}"`);
    const codes = found.map((row) => row.code);
    assert.ok(code === undefined || codes.includes(code), `${code} is not in ${codes}: "${text}"`);
  }
});

test('the words on the page are in messages', () => {
  for (const { words } of rows) {
    assert.ok(
      messages.some(({ text }) => text.includes(words)),
      `no message has "${words}"`,
    );
  }
});

// Guards the types of `details`, which are told in two places.
test('the particulars on the page are those of the types', () => {
  const [, types] = /interface NamzuErrorDetails \{([\s\S]*?)^\}/m.exec(declarations);
  const ofCode = Object.fromEntries(
    Array.from(types.matchAll(/^ {2}(\w+): (?:\{([\s\S]*?)^ {2}\}|Record)/gm), ([, code, body]) => [
      code,
      Array.from((body ?? '').matchAll(/readonly (\w+)\?/g), ([, name]) => name).sort(),
    ]),
  );
  for (const code of codesOnPage) {
    const told = rows.filter((row) => row.code === code).flatMap(({ details }) => details);
    assert.deepEqual([...new Set(told)].sort(), ofCode[code], code);
  }
});

test('the errnos on the page are those that are judged so', () => {
  const judged = (name) => {
    const [, list] = new RegExp(`fn ${name}[^]*?matches!\\(self, ([^)]*)\\)`).exec(
      read('src/errno.rs'),
    );
    return list.split(' | ');
  };
  const told = (line) => Array.from(line.matchAll(/`(E[A-Z]+)`/g), ([, name]) => name);
  assert.deepEqual(told(/^`retryable` are those.*$/m.exec(page)[0]), judged('is_passing'));
  assert.deepEqual(told(/^\| `cannot publish.*$/m.exec(page)[0]), judged('denies_hard_links'));
});
