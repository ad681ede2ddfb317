// The package from a CommonJS module: by `require`, and by `import` that becomes one.

import type { RunLease } from 'fencelink';

import fencelink = require('fencelink');

async function work(runDir: string): Promise<RunLease | null> {
  const lease = await fencelink.acquireClaim(runDir, { holder: 'a', ttlMs: 1000 });
  if (lease === null) return null;
  fencelink.releaseClaimSync(runDir, lease.fence);
  return fencelink.readClaimSync(runDir);
}

function explain(error: unknown): string {
  if (!(error instanceof fencelink.NamzuError)) throw error;
  const code:
    | 'invalid_config'
    | 'capability_unavailable'
    | 'storage_error'
    | 'not_found'
    | 'unknown' = error.code;
  return error.retryable ? 'again' : code;
}

// @ts-expect-error No such function.
fencelink.claim;

export = { work, explain };
