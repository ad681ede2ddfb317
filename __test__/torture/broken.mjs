// A claim that is wrong on purpose: published by `rename`, which replaces what another has published.
// The checker of the storm must catch it.

import { mkdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { readClaim, releaseClaim } from '../peer/claims.mjs';

export { releaseClaim };

let attempts = 0;

export async function acquireClaim(runDir, { holder, ttlMs, now }) {
  const current = await readClaim(runDir);
  if (current && now < current.expiresAt && current.holder !== holder) return null;
  const claims = join(runDir, 'claims');
  await mkdir(claims, { recursive: true });
  attempts += 1;
  const scratch = join(claims, `.tmp-${process.pid}-${attempts}`);
  const lease = { holder, fence: (current?.fence ?? 0) + 1, expiresAt: now + ttlMs };
  await writeFile(scratch, JSON.stringify(lease));
  await rename(scratch, join(claims, `${lease.fence}.json`));
  return lease;
}
