// A copy of the store that a host of this package declares for itself: ids as branded strings,
// checkpoints with members of its own. Nothing here knows the package.

import type { Branded, ClaimRunOptions, FencingToken, LeaseSummary, RunLease } from './sdk.js';

export type TenantId = Branded<'TenantId'>;
export type ProjectId = Branded<'ProjectId'>;
export type SessionId = Branded<'SessionId'>;
export type RunId = Branded<'RunId'>;
export type CheckpointId = Branded<'CheckpointId'>;

export interface CheckpointRunScope {
  tenantId: TenantId;
  projectId: ProjectId;
  sessionId: SessionId;
  runId: RunId;
  parentRunId?: RunId;
}

export interface CheckpointListingScope {
  tenantId: TenantId;
  projectId?: ProjectId;
  sessionId?: SessionId;
}

export interface Message {
  role: 'user' | 'assistant';
  content: string | { type: 'text'; text: string }[];
}

export interface Pending {
  request: { type: 'question' | 'plan_approval'; runId: RunId; checkpointId: CheckpointId };
  parkedAt: number;
  deadlineAt?: number;
  resolvedAt?: number;
}

export interface IterationCheckpoint {
  id: CheckpointId;
  runId: RunId;
  iteration: number;
  createdAt: number;
  runCreatedAt?: number;
  messages: Message[];
  tokenUsage: { promptTokens: number; completionTokens: number; totalTokens: number };
  costInfo: { totalCost: number; cacheDiscount: number };
  guardState: { iterationCount: number; elapsedMs: number };
  pending?: Pending;
}

export type ParkState = 'outstanding' | 'expired' | 'resolved';

export interface ParkSummary {
  state: ParkState;
  checkpointId: CheckpointId;
  requestType: Pending['request']['type'];
  parkedAt: number;
  deadlineAt?: number;
  resolvedAt?: number;
}

export interface DurableRunEntry extends CheckpointRunScope {
  runCreatedAt?: number;
  checkpointCount: number;
  latestCheckpointId: CheckpointId;
  latestCheckpointAt: number;
  park?: ParkSummary;
  claim?: LeaseSummary;
}

export interface ListDurableRunsOptions {
  orderBy?: 'runId' | 'createdAt';
  park?: readonly ParkState[];
  claimed?: boolean;
  limit?: number;
  cursor?: string;
  now?: number;
}

export interface DurableRunPage {
  entries: readonly DurableRunEntry[];
  cursor?: string;
}

export interface CheckpointStore {
  writeCheckpoint(
    scope: CheckpointRunScope,
    checkpoint: IterationCheckpoint,
    fence?: FencingToken,
  ): Promise<void>;
  readCheckpoint(scope: CheckpointRunScope, id: CheckpointId): Promise<IterationCheckpoint | null>;
  listCheckpoints(scope: CheckpointRunScope): Promise<IterationCheckpoint[]>;
  deleteCheckpoint(scope: CheckpointRunScope, id: CheckpointId): Promise<void>;
  listDurableRuns?(
    scope: CheckpointListingScope,
    options?: ListDurableRunsOptions,
  ): Promise<DurableRunPage>;
  claimRun?(scope: CheckpointRunScope, options: ClaimRunOptions): Promise<RunLease | null>;
  releaseRun?(scope: CheckpointRunScope, fence: FencingToken): Promise<void>;
}

export interface Attribution {
  tenantId: TenantId;
  projectId: ProjectId;
  sessionId: SessionId;
}

export interface Logger {
  warn(message: string, fields?: Record<string, unknown>): void;
}
