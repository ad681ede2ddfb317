// What a command of this project was given.

import { parseArgs } from 'node:util';

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
