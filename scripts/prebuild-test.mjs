// Tries what goes out: packs it, serves it from a registry on loopback, installs it for each
// platform as somebody else would, and has it run on every runtime that can run here
// (scripts/targets.mjs). Prints a table; fails when anything in it is not as it should be.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import Table from 'cli-table3';
import { platformKey } from '../lib/platform.js';
import { pack } from './pack.mjs';
import { say, seconds } from './prebuild/cache.mjs';
import { command } from './prebuild/command.mjs';
import { install, installFaults, typeCheck } from './prebuild/consumers.mjs';
import { controls } from './prebuild/controls.mjs';
import { serve } from './prebuild/registry.mjs';
import { thisRuntime } from './prebuild/runtimes.mjs';
import { trialsOf, tried } from './prebuild/trials.mjs';
import { targets as all } from './targets.mjs';

const HELP = `Packs what npm run prebuild has built, installs it as others would, and runs it on every runtime that
can run here.

  npm run prebuild:test [-- KEY…]

  --help  this text

KEYs are platforms: linux-x64-gnu, …; all of them unless some are named. It takes Debian 12 on
x86-64, root's rights to enter the folders that hold other systems, and the registries of npm, Debian
and Python; about 6 GB in the user's cache folder.`;

/** How many runtimes are tried at a time. */
const AT_ONCE = 2;

/** @typedef {{ platform: string, what: string, fault: string | null, told: string }} Row */

const begun = Date.now();
const { targets } = command('npm run prebuild:test', HELP);
const work = mkdtempSync(path.join(tmpdir(), 'fencelink-consumers-'));
process.on('exit', () => rmSync(work, { recursive: true, force: true, maxRetries: 5 }));
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => process.exit(1));

const archives = path.join(work, 'archives');
pack(archives);
const registry = await serve(archives);
/** @type {Row[]} */
const rows = [];
const trials = [];
for (const target of targets) {
  const consumer = await install(work, registry.url, { target });
  const fault = installFaults(consumer, target);
  rows.push({ platform: target.key, what: 'install', fault, told: 'one binary' });
  trials.push(...trialsOf(target, consumer));
}
const own = targets.find(({ key }) => key === platformKey());
if (own) {
  const consumer = await install(work, registry.url, { scripts: true });
  const fault = installFaults(consumer, own) ?? typeCheck(consumer);
  const told = 'one binary, types';
  rows.push({ platform: own.key, what: 'install, with scripts', fault, told });
  trials.unshift({
    target: own,
    consumer,
    room: 'host',
    where: 'with scripts',
    runtime: thisRuntime,
  });
}
registry.close();

const next = trials.values();
const worker = async () => {
  for (const trial of next) rows.push(await tried(trial, work));
};
await Promise.all(Array.from({ length: AT_ONCE }, worker));
const ran = rows.filter(({ what }) => !what.startsWith('install')).length;
if (own) rows.push(...(await controls(own, archives, work)));

const table = new Table({
  head: ['platform', 'what', 'result', 'told'],
  colWidths: [null, null, null, 60],
  wordWrap: true,
  style: { head: [], border: [], compact: true },
});
for (const { platform, what, fault, told } of rows) {
  table.push([platform, what, fault === null ? 'passed' : 'FAILED', fault === null ? told : '']);
}
console.log(table.toString());
for (const { platform, what, fault } of rows) {
  if (fault !== null) console.log(`\n${platform}: ${what}:\n${fault}`);
}
const failed = rows.filter(({ fault }) => fault !== null).length;
say(`${ran} runtimes of ${targets.length} of ${all.length} platforms in ${seconds(begun)}`);
console.log(`${rows.length - failed} passed, ${failed} failed`);
process.exitCode = failed > 0 ? 1 : 0;
