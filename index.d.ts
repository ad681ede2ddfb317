/**
 * fencelink: a lease with a fencing token on a run, kept in plain files, so that many workers can
 * share one queue and no run is worked on twice at a time.
 *
 * Every function is asynchronous unless its name ends in `Sync`. `null` from a claim means only
 * that somebody else holds the run; whatever else stands in the way is a {@link NamzuError}.
 *
 * @packageDocumentation
 */

/**
 * A fencing token: a positive whole number that only grows for one run. Whoever presents a lower
 * one than the run's current fence has been overtaken.
 */
export type FencingToken = number;

/** One worker's hold on one run, up to an instant. */
export interface RunLease {
  /** Who holds it; `''` after a release and on a damaged holding. */
  readonly holder: string;
  /** The fencing token of this hold. A renewal carries a higher one. */
  readonly fence: FencingToken;
  /** The first instant at which it no longer holds, in milliseconds since the epoch. */
  readonly expiresAt: number;
}

/** A lease as a listing shows it. */
export interface LeaseSummary extends RunLease {
  /** Whether it had ended when the listing was made. */
  readonly expired: boolean;
}

/** The name that older versions of the SDK have for {@link FencingToken}. */
export type ClaimFence = FencingToken;
/** The name that older versions of the SDK have for {@link RunLease}. */
export type RunClaim = RunLease;
/** The name that older versions of the SDK have for {@link LeaseSummary}. */
export type ClaimSummary = LeaseSummary;

/** Who asks for a run, and for how long. */
export interface ClaimRunOptions {
  /**
   * The worker's name, not empty. The same name renews its own lease, so two workers must never
   * share one: take something like a host name, a process id and a random part.
   */
  readonly holder: string;
  /** For how long, in milliseconds: a finite number above 0. */
  readonly ttlMs: number;
  /**
   * The present, in milliseconds since the epoch; by default the wall clock. It judges whether
   * another's lease has ended, and dates the new one.
   */
  readonly now?: number;
}

/**
 * Takes the run in `runDir`, or renews the own lease on it. Makes the directories it needs.
 *
 * A first claim, the reclaim of a run whose lease has ended and a renewal are the same call; each
 * mints a fence above every one before it. A renewal may shorten the lease.
 *
 * @param runDir - The run's directory. Its last component is the run's id.
 * @param options - Who asks, and for how long.
 * @returns The lease, or `null` when somebody else holds the run: poll again.
 * @throws {@link NamzuError} `invalid_config` for bad input, before the disk is touched;
 * `capability_unavailable` when the volume has no hard links, which decide a race;
 * `storage_error` when the storage fails. Polling does not help, unless `retryable` says so.
 */
export function acquireClaim(runDir: string, options: ClaimRunOptions): Promise<RunLease | null>;
/** As {@link acquireClaim}, on the calling thread. */
export function acquireClaimSync(runDir: string, options: ClaimRunOptions): RunLease | null;

/**
 * Gives back the run that was taken at `fence`. Does nothing when the run's current fence is
 * another: somebody took it meanwhile, or it was given back already.
 *
 * @param runDir - The run's directory.
 * @param fence - The fence of the lease to give back: a non-negative safe integer.
 * @throws {@link NamzuError} as {@link acquireClaim}; the lease then ends by itself.
 */
export function releaseClaim(runDir: string, fence: FencingToken): Promise<void>;
/** As {@link releaseClaim}, on the calling thread: for an exit handler. */
export function releaseClaimSync(runDir: string, fence: FencingToken): void;

/**
 * The present lease of a run, whether it is live or not; compare `expiresAt` with the clock. A
 * released run and a damaged holding read as `{ holder: '', expiresAt: 0 }` with their fence.
 * Creates nothing on disk.
 *
 * @param runDir - The run's directory.
 * @returns The lease, or `null` for a run never claimed.
 * @throws {@link NamzuError} `storage_error` when it cannot be read; that is not damage, since it
 * may be a live lease.
 */
export function readClaim(runDir: string): Promise<RunLease | null>;
/** As {@link readClaim}, on the calling thread. */
export function readClaimSync(runDir: string): RunLease | null;

/**
 * The highest fence of a run, judged by file names alone; 0 for a run never claimed. Creates
 * nothing on disk.
 *
 * @param runDir - The run's directory.
 * @throws {@link NamzuError} `storage_error` when the claims cannot be listed.
 */
export function currentFence(runDir: string): Promise<FencingToken>;
/** As {@link currentFence}, on the calling thread. */
export function currentFenceSync(runDir: string): FencingToken;

/** What {@link singleOpenWriter} judges. */
export interface SingleOpenWriterContext {
  /** The run's directory. */
  readonly runDir: string;
  /** The fence under which the caller works. */
  readonly presentedFence: FencingToken;
}

/** What {@link singleOpenWriter} answers. */
export type InvariantVerdict =
  | { readonly state: 'holds' }
  | { readonly state: 'violated'; readonly detail: string }
  | { readonly state: 'unknown'; readonly reason: string };

/**
 * Whether a presented fence is still the run's current one.
 *
 * @param context - The run and the fence; without it the answer is `unknown`.
 * @returns `violated` with a detail that names the present fence and, when it is known, who holds
 * the run.
 * @throws {@link NamzuError} as {@link readClaim}.
 */
export function singleOpenWriter(context?: SingleOpenWriterContext): Promise<InvariantVerdict>;

/** Anything that invariants can be registered with. */
export interface InvariantRegistry {
  register(
    moduleName: string,
    name: string,
    check: (context?: SingleOpenWriterContext) => Promise<InvariantVerdict>,
  ): unknown;
}

/** Registers {@link singleOpenWriter} as `single-open-writer` of the module `store.run`. */
export function registerInvariants(registry: InvariantRegistry): void;

/** The kinds of refusal that hosts tell apart. */
export type NamzuErrorCode =
  /** The request itself is wrong. */
  | 'invalid_config'
  /** This volume or store cannot do what was asked, now or later. */
  | 'capability_unavailable'
  /** The storage failed, or says something that cannot be. */
  | 'storage_error'
  /** What was asked for is not there. */
  | 'not_found'
  /** A defect of this library. */
  | 'unknown';

/** What an error is made of. */
export interface NamzuErrorInit {
  readonly code: NamzuErrorCode;
  readonly message: string;
  readonly details?: object;
  readonly retryable?: boolean;
  readonly cause?: unknown;
}

/**
 * A refusal: what happened, to which run or directory, and what to do, in `message`. Its `name`
 * is `'NamzuError'`.
 */
export class NamzuError extends Error {
  constructor(init: NamzuErrorInit);
  /** The kind of refusal. */
  readonly code: NamzuErrorCode;
  /** The particulars, by kind: `path`, `code` (the errno), `fence`, `runId`, `ttlMs`, … */
  readonly details?: object;
  /** Whether the same call can succeed later with nothing repaired. */
  readonly retryable: boolean;
}

/**
 * Makes all later refusals of this package, in this thread, instances of the host's own class, so
 * that the host's `instanceof` holds.
 *
 * @param Class - A class of errors, constructed with `{ code, message, details, retryable, cause }`.
 */
export function adoptErrorClass(
  Class: new (init: {
    code: any;
    message: string;
    details?: any;
    retryable: boolean;
    cause?: unknown;
  }) => Error,
): void;
