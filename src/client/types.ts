import type { CheckQuestion, SessionCheckRequest } from '../contract/requests.js';
import type { CreateSessionRequest, StepAnswer, StepRequest } from '../contract/sessions.js';

/** [3·V], in the caller's unit; an answer has the scalar of its target. */
export type Positions = Float32Array | Float64Array;

export type Mesh = CreateSessionRequest['mesh'];
export type Parameters = CreateSessionRequest['parameters'];

type FullReport = StepAnswer['report'];
type ReportList = 'ignoredPairs' | 'intersectingPairs' | 'limitingPairs' | 'warnings' | 'timings';
/** The report of the fast path has only scalars and counts: no lists, and timings only if they fit into the header. */
export type Report = Omit<FullReport, ReportList> & Partial<Pick<FullReport, ReportList>>;

/** Options of every call. */
export interface CallOptions {
  readonly signal?: AbortSignal;
}

export interface SessionOptions extends CallOptions {
  readonly parameters?: Parameters;
  readonly label?: string;
  /** absent = the server's default; 0 = until deleted */
  readonly idleTimeoutSeconds?: number;
}

/**
 * Options of a step. With `start`, `kinematic`, `masses`, `include` or `priority` the step is not sent on the fast path (raw
 * positions) but as JSON with base64 arrays. `timeBudgetSeconds` covers all attempts of one step together.
 */
export interface StepOptions
  extends CallOptions,
    Pick<
      StepRequest,
      'start' | 'kinematic' | 'masses' | 'override' | 'include' | 'timeBudgetSeconds' | 'onBudget' | 'priority'
    > {}

export type StepResult = Omit<StepAnswer, 'frame' | 'report' | 'isReplay'> & {
  readonly frame: number;
  readonly report: Report;
};

export interface ResolveOptions
  extends CallOptions,
    Pick<StepOptions, 'include' | 'timeBudgetSeconds' | 'onBudget' | 'priority'> {
  readonly parameters?: Parameters;
}

export type ResolveResult = Omit<StepResult, 'frame'>;

export interface CheckOptions extends CallOptions, CheckQuestion {}
export type SessionCheckOptions = CheckOptions & Pick<SessionCheckRequest, 'positions'>;

export type { Contacts, VertexReport } from '../contract/report.js';
export type { CheckAnswer } from '../contract/requests.js';
export type { Limits, ServerInfo } from '../contract/server-info.js';
