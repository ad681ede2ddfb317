// A copy of what a host of this package declares for itself: the same shapes, ids as branded
// strings, an error class and a registry of its own. Nothing here knows the package.

export type Branded<Name extends string> = string & { readonly __brand: Name };

export type TenantId = Branded<'TenantId'>;
export type RunId = Branded<'RunId'>;
export type WorkerId = Branded<'WorkerId'>;
export type RunDirectory = Branded<'RunDirectory'>;

export type FencingToken = number;

export interface RunLease {
  readonly holder: string;
  readonly fence: FencingToken;
  readonly expiresAt: number;
}

export interface LeaseSummary extends RunLease {
  readonly expired: boolean;
}

export interface ClaimRunOptions {
  readonly holder: string;
  readonly ttlMs: number;
  readonly now?: number;
}

export interface ClaimModule {
  acquireClaim(runDir: string, options: ClaimRunOptions): Promise<RunLease | null>;
  acquireClaimSync(runDir: string, options: ClaimRunOptions): RunLease | null;
  releaseClaim(runDir: string, fence: FencingToken): Promise<void>;
  releaseClaimSync(runDir: string, fence: FencingToken): void;
  readClaim(runDir: string): Promise<RunLease | null>;
  readClaimSync(runDir: string): RunLease | null;
  currentFence(runDir: string): Promise<FencingToken>;
  currentFenceSync(runDir: string): FencingToken;
}

export type Verdict =
  | { readonly state: 'holds' }
  | { readonly state: 'violated'; readonly detail: string }
  | { readonly state: 'unknown'; readonly reason: string };

export type OpenWriterCheck = (
  context: { readonly runDir: string; readonly presentedFence: FencingToken } | undefined,
) => Promise<Verdict>;

export declare class InvariantRegistry {
  register(
    moduleName: string,
    name: string,
    check: (context?: { runDir: string; presentedFence: FencingToken }) => Promise<Verdict>,
  ): this;
}

export type ErrorCode =
  | 'invalid_config'
  | 'capability_unavailable'
  | 'storage_error'
  | 'not_found'
  | 'unknown'
  | 'rate_limited';

export interface ErrorInit {
  code: ErrorCode;
  message: string;
  details?: Record<string, unknown> | undefined;
  retryable?: boolean;
  cause?: unknown;
}

export declare class HostError extends Error {
  constructor(init: ErrorInit);
  readonly code: ErrorCode;
  readonly details?: Record<string, unknown>;
  readonly retryable: boolean;
}

/** True for types that are the same, not merely assignable. */
export type Same<A, B> =
  (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;

export declare function assertType<Condition extends true>(condition?: Condition): void;
