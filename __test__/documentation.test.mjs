// The reference, which is index.d.ts: everything that is exported is told of, with what it takes,
// what it answers and what it throws, in comments that tools for documentation understand.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { parse } from '@babel/parser';
import { TSDocConfiguration, TSDocParser } from '@microsoft/tsdoc';
import { packageRoot } from './helpers.mjs';

/** Functions that throw nothing of their own. */
const PURE = ['fencedOut', 'toClaimSummary'];

/** Words that begin what is told by another's comment, which is then as complete as that one. */
const BY_ANOTHER = /^As \{@link /;

/** What a comment lacks that stands before a declaration in TypeScript, in sentences. */
function faultsIn(text) {
  const { program } = parse(text, {
    sourceType: 'module',
    plugins: [['typescript', { dts: true }]],
  });
  return program.body.flatMap((statement) => {
    if (statement.type !== 'ExportNamedDeclaration') return [];
    return faultsOf(statement.declaration, statement);
  });
}

function faultsOf(declaration, documented, owner = '') {
  const node =
    declaration.type === 'VariableDeclaration' ? declaration.declarations[0] : declaration;
  const name = `${owner}${nameOf(node)}`;
  const comments = (documented.leadingComments ?? []).map(({ value }) => value);
  const comment = comments.filter((value) => !value.includes('@packageDocumentation')).at(-1);
  if (!comment?.startsWith('*'))
    return [`${name} is told nothing of`, ...faultsOfMembers(node, name)];
  const { docComment, log } = new TSDocParser(new TSDocConfiguration()).parseString(
    `/*${comment}*/`,
  );
  const faults = log.messages.map(({ unformattedText }) => `${name}: ${unformattedText}`);
  if (isCall(node) && !BY_ANOTHER.test(plain(comment)))
    faults.push(...faultsOfCall(node, docComment, name));
  return [...faults, ...faultsOfMembers(node, name)];
}

const plain = (comment) => comment.replace(/^[\s*]+/gm, ' ').trim();

const nameOf = ({ id, key }) => id?.name ?? key?.name ?? key?.value ?? 'constructor';

/** Not the methods of an interface: what they do is told of where they are implemented. */
const CALLS = ['TSDeclareFunction', 'TSDeclareMethod'];

const isCall = ({ type }) => CALLS.includes(type);

function faultsOfCall(node, doc, name) {
  const params = (node.params ?? node.parameters).map((param) => param.name);
  const told = doc.params.blocks.map(({ parameterName }) => parameterName);
  const faults = params
    .filter((param) => !told.includes(param))
    .map((param) => `${name}: nothing of the parameter ${param}`);
  const strange = told.filter((param) => !params.includes(param));
  faults.push(...strange.map((param) => `${name}: there is no parameter ${param}`));
  const answers = !(node.kind === 'constructor' || isVoid(node.returnType ?? node.typeAnnotation));
  if (answers && !doc.returnsBlock) faults.push(`${name}: nothing of what it answers`);
  if (!answers && doc.returnsBlock) faults.push(`${name}: it answers nothing`);
  const throws = doc.customBlocks.some(({ blockTag }) => blockTag.tagName === '@throws');
  if (throws === PURE.includes(name)) faults.push(`${name}: what it throws, or that it is pure`);
  return faults;
}

/** `void`, or a promise of it. */
function isVoid(annotation) {
  const type = annotation?.typeAnnotation;
  if (type?.type === 'TSVoidKeyword') return true;
  const [inner] = (type?.typeParameters ?? type?.typeArguments)?.params ?? [];
  return type?.typeName?.name === 'Promise' && inner.type === 'TSVoidKeyword';
}

/** The members of an interface or a class; those of types that stand in them too. */
function faultsOfMembers(node, owner) {
  const members = node.body?.body ?? node.members ?? node.typeAnnotation?.typeAnnotation?.members;
  return (Array.isArray(members) ? members : [])
    .filter(({ type }) => type !== 'TSConstructSignatureDeclaration')
    .flatMap((member) => faultsOf(member, member, `${owner}.`));
}

describe('the reference', () => {
  const text = readFileSync(join(packageRoot, 'index.d.ts'), 'utf8');

  it('tells of everything', () => {
    assert.deepEqual(faultsIn(text), []);
  });

  // Guards the test: what is taken away from the comments is missed.
  it('would be missed, wherever it is not there', () => {
    const comments = [...text.matchAll(/^ *\/\*\*[\s\S]*?\*\/\n/gm)];
    assert.ok(comments.length > 150, String(comments.length));
    for (const { 0: comment, index } of comments.slice(1)) {
      const after = text.slice(index + comment.length);
      if (/^\s*\|/.test(after)) continue; // A member of a union.
      const without = text.slice(0, index) + after;
      assert.ok(faultsIn(without).length > 0, comment);
    }
    for (const line of text.matchAll(/^ *\* @(param|returns|throws).*\n(?: *\* [^@].*\n)*/gm)) {
      const without = text.slice(0, line.index) + text.slice(line.index + line[0].length);
      assert.ok(faultsIn(without).length > 0, line[0]);
    }
  });
});
