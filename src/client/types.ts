import type {
  CheckQuestion,
  CreateSessionRequest,
  SessionCheckRequest,
  StepAnswer,
  StepRequest,
} from '../session/types.js';

/** What callers of the service hand over and get back: the contract's names, typed arrays for its bulk fields. */

export type { CheckAnswer, Contacts, Limits, ServerInfo, VertexReport } from '../session/types.js';

/** [3·V], in the caller's unit; an answer has the scalar of its target. */
export type Positions = Float32Array | Float64Array;

export type Mesh = CreateSessionRequest['mesh'];
export type Parameters = CreateSessionRequest['parameters'];

type FullReport = StepAnswer['report'];
type ReportList = 'ignoredPairs' | 'limitingPairs' | 'warnings' | 'timings';
/** The fast path carries scalars and counts only: its report has no lists, and timings only where they fit. */
export type Report = Omit<FullReport, ReportList> & Partial<Pick<FullReport, ReportList>>;

/** For calls that can be cancelled. */
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
 * What may go with a target. With `start`, `kinematic`, `masses`, `include` or `priority` the step leaves the fast path
 * (bare positions) and travels as JSON with base64 arrays. `timeBudgetSeconds` covers all attempts of one step together.
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
