// What a command of this project was given.

import { realpathSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

/**
 * Whether a module is the program that was started, and not one that another imports.
 * @param {string} url its `import.meta.url`
 */
export const isProgram = (url) =>
  process.argv[1] !== undefined && realpathSync(process.argv[1]) === fileURLToPath(url);

/**
 * As `parseArgs`, with a line instead of a stack for a slip of the fingers.
 * @template {import('node:util').ParseArgsConfig} T
 * @param {string} command what prints the command's help
 * @param {T} config
 * @returns {ReturnType<typeof parseArgs<T>>}
 */
export function parseArguments(command, config) {
  try {
    return parseArgs(config);
  } catch (error) {
    console.error(`${/** @type {Error} */ (error).message}\nSee: ${command}`);
    process.exit(2);
  }
}
