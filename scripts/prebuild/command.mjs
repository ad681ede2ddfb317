// What a command about platforms was given: their keys, and options.

import { parseArguments } from '../arguments.mjs';
import { targets } from '../targets.mjs';

/**
 * Answers the options and the targets, all of them if none was named; prints the help, or what is
 * wrong, and ends this process instead where it is asked for the one or told the other.
 * @param {string} name the command, as it is typed
 * @param {string} help
 * @param {Record<string, { type: 'boolean' }>} [options]
 * @returns {{ values: Record<string, boolean | undefined>, targets: typeof targets }}
 */
export function command(name, help, options = {}) {
  const { values, positionals } = parseArguments(`${name} -- --help`, {
    options: { ...options, help: { type: 'boolean' } },
    allowPositionals: true,
  });
  if (values.help) {
    console.log(help);
    process.exit(0);
  }
  const keys = targets.map(({ key }) => key);
  const unknown = positionals.filter((key) => !keys.includes(key));
  if (unknown.length > 0) {
    console.error(`no platform is called ${unknown.join(', ')}; there are ${keys.join(', ')}`);
    process.exit(2);
  }
  const chosen = positionals.length === 0 ? keys : positionals;
  return { values, targets: targets.filter(({ key }) => chosen.includes(key)) };
}
