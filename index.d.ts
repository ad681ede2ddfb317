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
   * The worker's name, of 1 to 100,000 UTF-16 units. The same name renews its own lease, so two workers must never
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
 * A renewal that fails leaves the lease that the holder had: nobody else is let in before its end.
 * It may have counted the fence up all the same. Then a write under the old fence is refused, and a
 * release of it does nothing; {@link readClaim} tells the fence to release, or the next renewal.
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
 * @throws {@link NamzuError} `invalid_config` for bad input; `storage_error` or
 * `capability_unavailable` when the release could not be made visible: the lease then ends by
 * itself, or is given back by another call.
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
 * @returns The fence.
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
  /** Takes a check by the name of its module and its own. */
  register(
    moduleName: string,
    name: string,
    check: (context?: SingleOpenWriterContext) => Promise<InvariantVerdict>,
  ): unknown;
}

/**
 * Registers {@link singleOpenWriter} as `single-open-writer` of the module `store.run`.
 *
 * @param registry - Where to.
 * @throws {@link NamzuError} `invalid_config` for what is no registry.
 */
export function registerInvariants(registry: InvariantRegistry): void;

/** The kinds of refusal that hosts tell apart. */
export type NamzuErrorCode =
  /** The request itself is wrong. */
  | 'invalid_config'
  /** This volume, store or installation cannot do what was asked, now or later. */
  | 'capability_unavailable'
  /** The storage failed, or says something that cannot be. */
  | 'storage_error'
  /** What was asked for is not there. */
  | 'not_found'
  /** A defect of this library, or a system that has no thread to give. */
  | 'unknown';

/**
 * The particulars of a refusal, by its code. A refusal has those that are known to it; which ones
 * come together is told in `docs/errors.md`.
 */
export interface NamzuErrorDetails {
  /** Of a wrong request. */
  invalid_config: {
    /** The argument that is wrong. */
    readonly argument?: string;
    /** The run, of a bad `ttlMs`. */
    readonly runId?: string;
    /** The `ttlMs` that came. */
    readonly ttlMs?: unknown;
    /** The cursor that is not of the listing. */
    readonly cursor?: string;
    /** The order of that listing. */
    readonly orderBy?: string;
    /** Why a checkpoint would not read back. */
    readonly reason?: string;
  };
  /** Of a volume without hard links, and of a binary that is not there or does not fit. */
  capability_unavailable: {
    /** The claims directory on that volume, or the binary. */
    readonly path?: string;
    /** The errno, or the code that Node.js gives. */
    readonly code?: string;
    /** The fence that was to be published. */
    readonly fence?: FencingToken;
    /** This platform. */
    readonly platform?: string;
    /** The package that is not installed. */
    readonly package?: string;
    /** The version that the binary is of. */
    readonly found?: string;
    /** The version that is needed. */
    readonly supported?: string;
  };
  /** Of the storage. */
  storage_error: {
    /** The directory that it is about. */
    readonly path?: string;
    /** The file in it. */
    readonly file?: string;
    /** The errno. */
    readonly code?: string;
    /** The fence that was to be published. */
    readonly fence?: FencingToken;
    /** What is wrong with a checkpoint. */
    readonly reason?: string;
    /** The schema that a file says. */
    readonly found?: number;
    /** The schema that this version reads. */
    readonly supported?: number;
    /** The run, of a write that came too late. */
    readonly runId?: string;
    /** The fence that the write presented. */
    readonly presentedFence?: FencingToken;
    /** The run's current fence, which is above it. */
    readonly currentFence?: FencingToken;
  };
  /** None. */
  not_found: Record<never, never>;
  /** None. */
  unknown: Record<never, never>;
}

/** What an error is made of. */
export interface NamzuErrorInit<Code extends NamzuErrorCode = NamzuErrorCode> {
  /** The kind of refusal. */
  readonly code: Code;
  /** What happened, and what to do. */
  readonly message: string;
  /** The particulars. */
  readonly details?: object;
  /** Whether the same call can succeed later with nothing repaired: `false` by default. */
  readonly retryable?: boolean;
  /** The error behind it. */
  readonly cause?: unknown;
}

/** A refusal of one code. */
export interface NamzuErrorOf<Code extends NamzuErrorCode> extends Error {
  /** The kind of refusal. */
  readonly code: Code;
  /** The particulars; absent where there are none. */
  readonly details?: NamzuErrorDetails[Code];
  /** Whether the same call can succeed later with nothing repaired. */
  readonly retryable: boolean;
}

/**
 * A refusal: what happened, to which run or directory, and what to do, in `message`. Its `name` is
 * `'NamzuError'`. To compare its `code` is to know the type of its `details`.
 */
export type NamzuError = { [Code in NamzuErrorCode]: NamzuErrorOf<Code> }[NamzuErrorCode];

/** The class of refusals, where {@link adoptErrorClass} gave no other. */
export const NamzuError: {
  new <Code extends NamzuErrorCode = any>(init: NamzuErrorInit<Code>): NamzuErrorOf<Code>;
  readonly prototype: NamzuError;
};

/**
 * Makes all later refusals of this package, in this thread, instances of the host's own class, so
 * that the host's `instanceof` holds.
 *
 * @param Class - A class of errors, constructed with `{ code, message, details, retryable, cause }`.
 * @throws {@link NamzuError} `invalid_config` for what is no class that extends `Error`.
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

/** The run that a call is about. Its directory follows from `runId` and `parentRunId` alone. */
export interface CheckpointRunScope {
  /** Whose run. */
  readonly tenantId: string;
  /** Of which project. */
  readonly projectId: string;
  /** Of which session. */
  readonly sessionId: string;
  /**
   * The run: one component of a path, so not empty, `.` or `..`, without `/`, `\`, NUL and lone
   * surrogates; on Windows also nothing that it reserves. Listings show those that start with
   * `run_`.
   */
  readonly runId: string;
  /** For a sub-run: the run that it belongs to, whatever that one belongs to. As `runId`. */
  readonly parentRunId?: string;
}

/** What a listing is of: a contiguous prefix of tenant, project and session. */
export interface CheckpointListingScope {
  /** Whose runs. */
  readonly tenantId: string;
  /** Of which project; all by default. */
  readonly projectId?: string;
  /** Of which session; all by default. Not without a `projectId`. */
  readonly sessionId?: string;
}

/**
 * What every checkpoint has. All else that a checkpoint carries is written and read back as
 * `JSON.stringify` and `JSON.parse` have it. Numbers are finite.
 */
export interface IterationCheckpoint {
  /** One component of a path, as {@link CheckpointRunScope.runId}; the file is named after it. */
  readonly id: string;
  /** Which iteration of the run it is of. */
  readonly iteration: number;
  /** When it was made, in milliseconds since the epoch. */
  readonly createdAt: number;
  /** The conversation so far. */
  readonly messages: readonly unknown[];
  /** What the run has used of the model. */
  readonly tokenUsage: {
    /** Tokens that were sent. */
    readonly promptTokens: number;
    /** Tokens that were answered. */
    readonly completionTokens: number;
    /** All of them. */
    readonly totalTokens: number;
  };
  /** What the run has cost. */
  readonly costInfo: {
    /** As the host counts it. */
    readonly totalCost: number;
  };
  /** What the run's limits are judged by. */
  readonly guardState: {
    /** How many iterations it has taken. */
    readonly iterationCount: number;
    /** How long it has worked, in milliseconds. */
    readonly elapsedMs: number;
  };
}

/** Whether a run waits for a decision, waited too long for it, or has it. */
export type ParkState = 'outstanding' | 'expired' | 'resolved';

/** What a run waits for. Times are in milliseconds since the epoch. */
export interface ParkSummary {
  /** Whether it still waits. */
  readonly state: ParkState;
  /** The checkpoint that says so. */
  readonly checkpointId: string;
  /** The kind of decision. */
  readonly requestType: string;
  /** Since when it waits. */
  readonly parkedAt: number;
  /** From this instant on a decision comes too late; absent for never. */
  readonly deadlineAt?: number;
  /** When it was decided. */
  readonly resolvedAt?: number;
}

/** A row of a listing. What is absent is an absent key. Times are in milliseconds since the epoch. */
export interface DurableRunEntry extends CheckpointRunScope {
  /** When the run was made: the earliest time that its checkpoints give. */
  readonly runCreatedAt?: number;
  /** How many checkpoints it has. */
  readonly checkpointCount: number;
  /** The id of the latest one. */
  readonly latestCheckpointId: string;
  /** When that was made. */
  readonly latestCheckpointAt: number;
  /** What the run waits for, or waited for last. */
  readonly park?: ParkSummary;
  /** The run's last lease, live or not; absent for a run never claimed. */
  readonly claim?: LeaseSummary;
}

/** Which runs a listing shows, and in which order. */
export interface ListDurableRunsOptions {
  /** `runId` by default. */
  readonly orderBy?: 'runId' | 'createdAt';
  /** Only runs in one of these states; an empty array filters nothing. */
  readonly park?: readonly ParkState[];
  /** Only runs with a live claim, or only the others. */
  readonly claimed?: boolean;
  /** How many rows a page has at most: 100 by default, at least 1. */
  readonly limit?: number;
  /** The cursor of the page before, which is tied to the order. */
  readonly cursor?: string;
  /** The present, in milliseconds since the epoch; by default the wall clock. */
  readonly now?: number;
  /**
   * What becomes of a run whose row cannot be told, since a checkpoint of it is damaged or something
   * of it may not be read. By default it refuses the page that would reach it; in the order
   * `createdAt`, in which it has no place, every page. With `report` it is left out and named in the
   * page's `damaged`. A system error that passes (`retryable`) refuses the page in either case.
   */
  readonly damaged?: 'refuse' | 'report';
}

/** A run that a listing left out, since its row cannot be told. */
export interface DamagedRun {
  /** The run. */
  readonly runId: string;
  /** For a sub-run, the run that it belongs to. */
  readonly parentRunId?: string;
  /** What of the run it is about: a checkpoint's file, or a directory of the run. */
  readonly file: string;
  /** What is wrong with it. */
  readonly reason: string;
}

/** A page of a listing. */
export interface DurableRunPage<Entry extends DurableRunEntry = DurableRunEntry> {
  /** The rows, in order. */
  readonly entries: readonly Entry[];
  /** Where the next page starts; absent on the last one. */
  readonly cursor?: string;
  /**
   * With `damaged: 'report'`, the runs that were left out between this page's rows; in the order
   * `createdAt`, all of them, on the first page.
   */
  readonly damaged?: readonly DamagedRun[];
}

/**
 * Where checkpoints are kept.
 *
 * `Checkpoint` and `Entry` are the host's own types, which may have ids of its own kind. Left out,
 * what is read is `any`, as it is from `JSON.parse`: then a store of this type is one of the host's
 * type, and the other way round, without a cast.
 */
export interface CheckpointStore<
  Checkpoint extends IterationCheckpoint = any,
  Entry extends DurableRunEntry = any,
> {
  /** Writes a checkpoint, replacing one of the same id. */
  writeCheckpoint(
    scope: CheckpointRunScope,
    checkpoint: Checkpoint,
    fence?: FencingToken,
  ): Promise<void>;
  /** The checkpoint of that id, or `null`. */
  readCheckpoint(scope: CheckpointRunScope, id: string): Promise<Checkpoint | null>;
  /** All checkpoints of a run, oldest first. */
  listCheckpoints(scope: CheckpointRunScope): Promise<Checkpoint[]>;
  /** Deletes a checkpoint; one that is absent is fine. */
  deleteCheckpoint(scope: CheckpointRunScope, id: string): Promise<void>;
  /** The runs that have a checkpoint. */
  listDurableRuns?(
    scope: CheckpointListingScope,
    options?: ListDurableRunsOptions,
  ): Promise<DurableRunPage<Entry>>;
  /** Takes or renews a run; `null` when somebody else holds it. */
  claimRun?(scope: CheckpointRunScope, options: ClaimRunOptions): Promise<RunLease | null>;
  /** Gives a run back. */
  releaseRun?(scope: CheckpointRunScope, fence: FencingToken): Promise<void>;
}

/** Where a store on disk is, and what its writes outlive. */
export interface DiskCheckpointStoreConfig {
  /** The directory that all runs are under. A relative one is taken from where the process is now. */
  readonly baseDir: string;
  /** Taken for the sake of hosts that pass one. Nothing is logged: what goes wrong is a refusal. */
  readonly logger?: unknown;
  /**
   * What claims and writes outlive once they are answered: `process`, the default, the crash of
   * every process; `power` the loss of power too, at the price of syncing files and directories.
   * Without it a power cut may take back the newest holdings, and with them fences already given
   * out.
   */
  readonly durability?: 'process' | 'power';
}

/** Whose runs a store holds. */
export interface CheckpointAttribution {
  /** The tenant. */
  readonly tenantId: string;
  /** The project. */
  readonly projectId: string;
  /** The session. */
  readonly sessionId: string;
}

/**
 * Checkpoints and claims in plain files, shared by many workers. The constructor touches no disk.
 *
 * `Checkpoint` and `Entry` are as for {@link CheckpointStore}.
 */
export class DiskCheckpointStore<
  Checkpoint extends IterationCheckpoint = any,
  Entry extends DurableRunEntry = any,
> implements CheckpointStore<Checkpoint, Entry>
{
  /**
   * @param config - Where the store is.
   * @param attribution - Whose runs it holds; needed for listing only.
   * @throws {@link NamzuError} `invalid_config` for bad input.
   */
  constructor(config: DiskCheckpointStoreConfig, attribution?: CheckpointAttribution);

  /**
   * Writes a checkpoint, replacing one of the same id: a reader finds the old one or the new one,
   * whole. Directories are made as needed. The checkpoint is turned into text before the call
   * returns its promise, so changing it afterwards changes nothing.
   *
   * With a fence, the write is refused when the run was taken at a higher one. That is atomic: once
   * `claimRun` has answered, no write under a lower fence becomes visible. A renewal mints a higher
   * fence too, so present the newest one. Without a fence it is accepted always.
   *
   * @param scope - The run.
   * @param checkpoint - The checkpoint. A `schemaVersion` of its own is replaced.
   * @param fence - The fence of the lease it was made under: a non-negative safe integer.
   * @throws {@link NamzuError} `storage_error` with `{ runId, presentedFence, currentFence }` when
   * the fence is below the current one; `invalid_config` before the disk is touched for a
   * checkpoint that cannot be written as JSON or would not read back; `storage_error` with the
   * errno in `details.code` when the storage fails: the old checkpoint then stands.
   */
  writeCheckpoint(
    scope: CheckpointRunScope,
    checkpoint: Checkpoint,
    fence?: FencingToken,
  ): Promise<void>;

  /**
   * Reads a checkpoint. Creates nothing on disk.
   *
   * @param scope - The run.
   * @param id - The checkpoint's id: one component of a path.
   * @returns The checkpoint, as `JSON.parse` gives it, or `null` when there is none.
   * @throws {@link NamzuError} `storage_error`, with `{ path, file, reason }` for a file that is
   * not a usable checkpoint; a {@link SchemaVersionError} for one of another schema.
   */
  readCheckpoint(scope: CheckpointRunScope, id: string): Promise<Checkpoint | null>;

  /**
   * Reads all checkpoints of a run. Creates nothing on disk. One file that cannot be used refuses
   * the whole.
   *
   * @param scope - The run.
   * @returns The checkpoints by ascending `createdAt`, equal ones by file name.
   * @throws {@link NamzuError} as {@link DiskCheckpointStore.readCheckpoint}.
   */
  listCheckpoints(scope: CheckpointRunScope): Promise<Checkpoint[]>;

  /**
   * Deletes a checkpoint, usable or not. One that is absent is fine. No fence is asked for.
   *
   * @param scope - The run.
   * @param id - The checkpoint's id: one component of a path.
   * @throws {@link NamzuError} `storage_error` when it is there and stays.
   */
  deleteCheckpoint(scope: CheckpointRunScope, id: string): Promise<void>;

  /** As {@link acquireClaim}, for the run of a scope. */
  claimRun(scope: CheckpointRunScope, options: ClaimRunOptions): Promise<RunLease | null>;

  /** As {@link releaseClaim}, for the run of a scope. */
  releaseRun(scope: CheckpointRunScope, fence: FencingToken): Promise<void>;

  /**
   * The runs that have a checkpoint, sub-runs among them, a page at a time: those directories below
   * `baseDir`, and below the `children` of one, whose name starts with `run_`. Creates nothing on
   * disk, and none at all means that there are none, also when there is no such directory.
   *
   * In the order `runId`, which is that of JavaScript's `<`, a page costs what the page holds, and
   * the names of all runs. In the order `createdAt`, which begins with the runs that do not say
   * when they were made, every run is read for every page. Runs that `claimed` drops have their
   * checkpoints left unread.
   *
   * A run that is there from before the first page until after the last is on exactly one; runs
   * that come or go meanwhile may be. A walk that goes on within a second uses the names that it
   * read, unless a run at the top came or went, so sub-runs made in that second may be missed.
   *
   * @param scope - Whose runs: a contiguous prefix of the store's own attribution. The runs of any
   * other tenant, project or session are not here: an empty page.
   * @param options - Which of them, and in which order.
   * @returns The page, and the cursor of the next one.
   * @throws {@link NamzuError} `invalid_config` for bad input, a store without attribution, a scope
   * with a gap, and, with `{ cursor, orderBy }`, for a cursor that is not of this listing;
   * `storage_error` for a damaged run, as {@link DiskCheckpointStore.readCheckpoint}, and when
   * something cannot be read.
   */
  listDurableRuns(
    scope: CheckpointListingScope,
    options?: ListDurableRunsOptions,
  ): Promise<DurableRunPage<Entry>>;

  /**
   * Takes the next run that nobody holds: the way to drain a queue, in one call. The run is the
   * first, in order, that is free, matches, and that this caller wins.
   *
   * - A run that `holder` itself holds is not free, so calls at the same time never get the same
   *   run, even under one name.
   * - When another wins the first one, the caller goes on with the next 32 free ones in an order by
   *   chance, and so on. So many callers at once do not all fight over each run, while one that
   *   has no rival keeps to the order, and no run waits behind later ones for ever.
   * - Once claimed, the run is read again. One that no longer matches, or has no checkpoint any
   *   more, is given back and passed over.
   *
   * As in a walk through a listing, calls within a second use the names that one of them read,
   * unless a run at the top came or went: a sub-run made in that second may be taken later than
   * the order says. A call that finds nothing looks at all names anew before it says so.
   *
   * To stop being found, a run that is done must match no more: let it have another `park`, keep
   * the lease, or delete its checkpoints.
   *
   * @param scope - Whose runs, as for {@link DiskCheckpointStore.listDurableRuns}.
   * @param options - Who asks, for how long, and for which runs.
   * @returns The lease, and the run's row as a listing right after the claim shows it, with the
   * lease as its `claim`. `null` when no run was to be had: ask again later.
   * @throws {@link NamzuError} as {@link DiskCheckpointStore.listDurableRuns} and
   * {@link DiskCheckpointStore.claimRun}. A run that cannot be read refuses the call when it would
   * be next, unless `damaged` is `report`. Nothing is held then.
   */
  claimNext(
    scope: CheckpointListingScope,
    options: ClaimNextOptions,
  ): Promise<ClaimedRun<Entry> | null>;
}

/** Who asks for the next run, for how long, and for which runs. */
export interface ClaimNextOptions extends ClaimRunOptions {
  /** Only runs in one of these states; an empty array filters nothing. */
  readonly park?: readonly ParkState[];
  /**
   * Which run is next: by `runId` by default. For `createdAt` every free run is read at each call.
   */
  readonly orderBy?: 'runId' | 'createdAt';
  /**
   * Whether a run whose row cannot be told refuses the call when it would be next, as it does by
   * default, or is passed over; a listing with `damaged: 'report'` names it. One that matches and
   * cannot be claimed, for want of rights to it for instance, refuses the call in either case.
   */
  readonly damaged?: 'refuse' | 'report';
}

/** A run that was taken. */
export interface ClaimedRun<Entry extends DurableRunEntry = DurableRunEntry> {
  /** The run, as it is under the lease. */
  readonly entry: Entry;
  /** The lease. */
  readonly lease: RunLease;
}

/** The refusal of a checkpoint that was written for another schema: a later version reads it. */
export interface SchemaVersionError extends NamzuErrorOf<'storage_error'> {
  /** What it is known by. */
  readonly name: 'SchemaVersionError';
  /** The schema that the file says. */
  readonly found: number;
  /** The schema that this version reads. */
  readonly supported: number;
}

/**
 * Takes or renews a run through any store.
 *
 * @param store - The store. One without `claimRun` is refused: it could not keep others away.
 * @param scope - The run.
 * @param options - Who asks, and for how long.
 * @returns The lease, or `null` when somebody else holds the run: poll again.
 * @throws {@link NamzuError} `capability_unavailable` when the store lacks the method;
 * `invalid_config` for bad input, such as a `ttlMs` that is not a positive finite number; what the
 * store throws.
 */
export function claimRun(
  store: CheckpointStore,
  scope: CheckpointRunScope,
  options: ClaimRunOptions,
): Promise<RunLease | null>;

/**
 * Gives a run back through any store.
 *
 * @param store - The store. One without `releaseRun` is refused.
 * @param scope - The run.
 * @param fence - The fence of the lease to give back: a non-negative safe integer.
 * @throws {@link NamzuError} as {@link claimRun}.
 */
export function releaseRun(
  store: CheckpointStore,
  scope: CheckpointRunScope,
  fence: FencingToken,
): Promise<void>;

/**
 * Lists runs through any store.
 *
 * @param store - The store. One without `listDurableRuns` is refused.
 * @param scope - Whose runs: a contiguous prefix of tenant, project and session.
 * @param options - Which of them, and in which order.
 * @returns The page, as the store gives it.
 * @throws {@link NamzuError} `capability_unavailable` when the store lacks the method;
 * `invalid_config` for a scope with a gap; what the store throws.
 */
export function listDurableRuns<Entry extends DurableRunEntry = DurableRunEntry>(
  store: CheckpointStore<any, Entry>,
  scope: CheckpointListingScope,
  options?: ListDurableRunsOptions,
): Promise<DurableRunPage<Entry>>;

/**
 * The refusal of a write under a fence below the run's current one, for stores of other kinds.
 *
 * @param scope - The run.
 * @param presented - The fence that the write presented.
 * @param current - The run's current fence.
 * @returns The error, to be thrown: `storage_error`, not retryable, with
 * `{ runId, presentedFence, currentFence }`.
 */
export function fencedOut(
  scope: CheckpointRunScope,
  presented: FencingToken,
  current: FencingToken,
): NamzuErrorOf<'storage_error'>;

/**
 * A lease as a listing shows it.
 *
 * @param lease - The lease.
 * @param now - The present, in milliseconds since the epoch. At `expiresAt` itself it has expired.
 * @returns The lease, and whether it has expired.
 */
export function toClaimSummary(lease: RunLease, now: number): LeaseSummary;

/**
 * Refuses a listing scope with a `sessionId` and no `projectId`.
 *
 * @param scope - The scope.
 * @param caller - The function that it was given to, for the message.
 * @throws {@link NamzuError} `invalid_config`.
 */
export function assertContiguousListingScope(scope: CheckpointListingScope, caller: string): void;

// ------------------------------------------------------------------------------------------------
// The rules of listings, for stores of other kinds

/** What a run waits for: a checkpoint's `pending`. Times are in milliseconds since the epoch. */
export interface PendingDecision {
  /** What is asked. */
  readonly request: {
    /** The kind of decision. */
    readonly type: string;
  };
  /** Since when the run waits. */
  readonly parkedAt: number;
  /** From this instant on a decision comes too late; absent, `null` or infinite for never. */
  readonly deadlineAt?: number | null;
  /** Present once it was decided, even after the deadline. */
  readonly resolvedAt?: number | null;
}

/** What a row needs of a checkpoint. */
export interface ListedCheckpoint {
  /** Its id. */
  readonly id: string;
  /** When it was made, in milliseconds since the epoch. */
  readonly createdAt: number;
  /** When its run was. */
  readonly runCreatedAt?: number;
  /** What the run waits for. */
  readonly pending?: PendingDecision | null;
}

/**
 * What a run waits for, of all that its checkpoints say: the newest that is outstanding, or else
 * the newest that expired, or else the newest that was resolved; of equals the first.
 *
 * @param checkpoints - The run's checkpoints.
 * @param now - The present, in milliseconds since the epoch. At a deadline itself it has expired.
 * @returns `undefined` when none of them waits for anything.
 * @throws {@link NamzuError} `invalid_config` for what is no checkpoint.
 */
export function summarizePark<Park extends ParkSummary = ParkSummary>(
  checkpoints: readonly ListedCheckpoint[],
  now: number,
): Park | undefined;

/**
 * The row of a run, without its claim: the latest checkpoint (of equals the first), the smallest
 * `runCreatedAt` that any of them gives, and what the run waits for.
 *
 * @param scope - The run.
 * @param checkpoints - Its checkpoints.
 * @param now - The present, in milliseconds since the epoch.
 * @returns `null` without checkpoints: such a run is not listed.
 * @throws {@link NamzuError} `invalid_config` for what is no checkpoint.
 */
export function toDurableRunEntry<Entry extends DurableRunEntry = DurableRunEntry>(
  scope: CheckpointRunScope,
  checkpoints: readonly ListedCheckpoint[],
  now: number,
): Entry | null;

/**
 * A page of rows, as {@link DiskCheckpointStore.listDurableRuns} cuts them: put in order,
 * filtered, after the cursor, up to the limit.
 *
 * @param entries - All rows, in any order. They come back as they are.
 * @param options - Which of them. `now` and `damaged` play no part: a row says if its claim ended.
 * @returns The page, and the cursor of the next one.
 * @throws {@link NamzuError} `invalid_config` for bad input, and, with `{ cursor, orderBy }`, for a
 * cursor that is not of this listing.
 */
export function paginateDurableRuns<Entry extends DurableRunEntry>(
  entries: readonly Entry[],
  options?: ListDurableRunsOptions,
): DurableRunPage<Entry>;
