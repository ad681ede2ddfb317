// What must not pass, to show that the trials can fail: each takes the packages that have just been
// tried, and spoils that of this platform.

import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { archive } from '../pack.mjs';
import { binaryName, targets } from '../targets.mjs';
import { stage } from './build.mjs';
import { run } from './cache.mjs';
import { install } from './consumers.mjs';
import { serve } from './registry.mjs';
import { thisRuntime } from './runtimes.mjs';
import { exercise } from './trials.mjs';

/** By what is wrong: what to do to the unpacked package, and what the failure has to say. */
const SPOILS = {
  'half of the binary': {
    spoil: (place, target) => {
      const file = path.join(place, binaryName(target));
      const bytes = readFileSync(file);
      writeFileSync(file, bytes.subarray(0, bytes.length / 2));
    },
    says: /cut short/,
  },
  'the binary of another platform': {
    spoil: (place, target) => {
      const [other] = targets.filter(({ os, cpu }) => os === target.os && cpu !== target.cpu);
      cpSync(path.join(stage, binaryName(other)), path.join(place, binaryName(target)));
    },
    says: /made for/,
  },
  'no binary': {
    spoil: (place, target) => rmSync(path.join(place, binaryName(target))),
    says: /Cannot find module/,
  },
  'no package': { spoil: null, says: /is not installed/ },
};

/** The rows of all controls; one that is not found out is a failure. */
export async function controls(target, archives, work) {
  const rows = [];
  for (const [name, { spoil, says }] of Object.entries(SPOILS)) {
    const folder = mkdtempSync(path.join(work, 'control-'));
    cpSync(archives, folder, { recursive: true });
    spoilArchive(target, folder, spoil);
    const registry = await serve(folder);
    const consumer = await install(work, registry.url, {});
    registry.close();
    const { fault } = await exercise(consumer, 'host', thisRuntime());
    const found = fault !== null && says.test(fault);
    rows.push({
      platform: target.key,
      what: `control: ${name}`,
      fault: found ? null : `not found out: ${fault ?? 'it passed'}`,
      told: 'found out',
    });
  }
  return rows;
}

function spoilArchive(target, folder, spoil) {
  const name = readdirSync(folder).find((file) => file.startsWith(`fencelink-${target.key}-`));
  const file = path.join(folder, String(name));
  const place = mkdtempSync(path.join(folder, 'spoiled-'));
  run('tar', ['-xzf', file, '--strip-components=1'], { cwd: place });
  rmSync(file);
  if (spoil === null) return;
  spoil(place, target);
  archive(place, folder);
}
