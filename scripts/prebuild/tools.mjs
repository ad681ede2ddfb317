// The tools that build for other platforms, from Python's registry: zig, which links for all of
// them, cargo-zigbuild, which puts it in cargo's hands, and lief, which reads what comes out.

import path from 'node:path';
import { kept, run } from './cache.mjs';

const PACKAGES = { ziglang: '0.17.1', 'cargo-zigbuild': '0.24.1', lief: '1.0.0' };

const programs = process.platform === 'win32' ? 'Scripts' : 'bin';

/** The folder of their programs, made if need be. */
export function toolsFolder() {
  const folder = kept(`tools-${Object.values(PACKAGES).join('-')}`, (partial) => {
    run(process.platform === 'win32' ? 'python' : 'python3', ['-m', 'venv', partial]);
    const wanted = Object.entries(PACKAGES).map(([name, version]) => `${name}==${version}`);
    run(path.join(partial, programs, 'python'), ['-m', 'pip', 'install', '-q', ...wanted]);
  });
  return path.join(folder, programs);
}

/** The Python that has these packages. */
export const toolsPython = () => path.join(toolsFolder(), 'python');
