// How far the demo is: a bar in a terminal, a line for every tenth in a log.

import { MultiBar } from 'cli-progress';

/**
 * @param {number} total
 * @returns {{ update(done: number): void, tell(text: string): void, stop(): void }}
 */
export function progress(total) {
  return process.stdout.isTTY ? bar(total) : lines(total);
}

function bar(total) {
  const bars = new MultiBar({
    stream: process.stdout,
    format: '  {bar} {value}/{total} runs done, {duration} s',
    barCompleteChar: '█',
    barIncompleteChar: '░',
    hideCursor: true,
    gracefulExit: false,
  });
  const one = bars.create(total, 0);
  return {
    update: (done) => one.update(done),
    tell: (text) => bars.log(`  ${text}\n`),
    stop: () => bars.stop(),
  };
}

function lines(total) {
  const startedAt = performance.now();
  let told = 0;
  return {
    update(done) {
      const tenths = Math.floor((done / total) * 10);
      if (tenths === told) return;
      told = tenths;
      const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
      console.log(`  ${done}/${total} runs done, ${seconds} s`);
    },
    tell: (text) => console.log(`  ${text}`),
    stop() {},
  };
}
