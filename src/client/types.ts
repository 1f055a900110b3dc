import type { DiagnoseRequest } from '../contract/diagnosis.js';
import type { JobInfo, SubmitJobRequest } from '../contract/long-jobs.js';
import type { Progress } from '../contract/report.js';
import type { CheckQuestion, SessionCheckRequest } from '../contract/requests.js';
import type { CreateSessionRequest, StepAnswer, StepRequest } from '../contract/sessions.js';
import type { UntangleOptions, UntangleProgress, UntangleRequest } from '../contract/untangle.js';
import type { ServiceError } from './errors.js';

/** [3·V], in the caller's unit; an answer has the scalar of its target. */
export type Positions = Float32Array | Float64Array;

export type Mesh = CreateSessionRequest['mesh'];
export type Parameters = CreateSessionRequest['parameters'];

type FullReport = StepAnswer['report'];
type ReportList = 'ignoredPairs' | 'intersectingPairs' | 'limitingEdges' | 'limitingPairs' | 'warnings' | 'timings';
/** The report of the fast path has only scalars and counts: no lists, and timings only if they fit into the header. */
export type Report = Omit<FullReport, ReportList> & Partial<Pick<FullReport, ReportList>>;

/** Called several times while the server computes. An exception of it ends the call. */
export type ProgressListener = (progress: Progress) => void;

/** Options of every call. */
export interface CallOptions {
  readonly signal?: AbortSignal;
}

export interface SessionOptions extends CallOptions {
  readonly parameters?: Parameters;
  readonly label?: string;
  /** absent = the server's default; 0 = until deleted; at most 2,147,483 */
  readonly idleTimeoutSeconds?: number;
  /** with the parameter onIntersectingStart UNTANGLE */
  readonly untangle?: UntangleOptions;
  /**
   * What a step does if the service has lost answered frames (FRAME_LOST): `recreate` (default) = the client creates
   * the session again from the mesh and the last answer received, and makes the step there; `throw` = the step throws,
   * with `frame` = the last frame that the service still has, and the next step continues from that one: send the lost
   * frames again, and the answers have the same bytes. If the whole session is lost, `frame` is the one that it was
   * created from: 0, unless it was created again after a step of unknown outcome.
   */
  readonly onFrameLost?: 'recreate' | 'throw';
}

/** Frames that the service had answered and has lost: those after `kept`, up to `answered`. */
export interface FrameLoss {
  readonly kept: number;
  readonly answered: number;
}

/**
 * Options of a step. With `start`, `kinematic`, `masses`, `include`, `priority` or `onProgress` the step is not sent on
 * the fast path (raw positions) but as JSON with base64 arrays. `timeBudgetSeconds` covers all attempts of one step
 * together.
 */
export interface StepOptions
  extends CallOptions,
    Pick<
      StepRequest,
      'start' | 'kinematic' | 'masses' | 'override' | 'include' | 'timeBudgetSeconds' | 'onBudget' | 'priority'
    > {
  readonly onProgress?: ProgressListener;
}

export type StepResult = Omit<StepAnswer, 'frame' | 'report' | 'isReplay'> & {
  readonly frame: number;
  readonly report: Report;
};

export interface ResolveOptions
  extends CallOptions,
    Pick<StepOptions, 'include' | 'timeBudgetSeconds' | 'onBudget' | 'priority' | 'onProgress'> {
  readonly parameters?: Parameters;
}

export type ResolveResult = Omit<StepResult, 'frame'>;

export interface UntangleCallOptions extends CallOptions, Omit<UntangleRequest, 'mesh' | 'positions' | 'parameters'> {
  readonly parameters?: Parameters;
  /** called several times while the server computes; an exception of it ends the call */
  readonly onProgress?: (progress: UntangleProgress) => void;
}

export interface JobOptions
  extends Omit<ResolveOptions, 'onProgress'>,
    Pick<SubmitJobRequest, 'label' | 'keepForSeconds'> {}

export interface UntangleJobOptions
  extends Omit<UntangleCallOptions, 'onProgress'>,
    Pick<SubmitJobRequest, 'label' | 'keepForSeconds'> {}

export interface JobWaitOptions extends CallOptions {
  /** called about once a second */
  readonly onProgress?: (status: JobStatus) => void;
}

/** A job as the server describes it. */
export interface JobStatus
  extends Pick<JobInfo, 'id' | 'state' | 'label' | 'ahead' | 'phase' | 'progress' | 'untangleProgress' | 'bytes'> {
  readonly created: Date;
  readonly started?: Date;
  readonly ended?: Date;
  /** when the server forgets it */
  readonly expires?: Date;
  /** the error of a failed job */
  readonly error?: ServiceError;
}

export interface CheckOptions extends CallOptions, CheckQuestion {}
export interface DiagnoseOptions extends CallOptions, Omit<DiagnoseRequest, 'mesh' | 'positions' | 'parameters'> {
  readonly parameters?: Parameters;
}
export type SessionCheckOptions = CheckOptions & Pick<SessionCheckRequest, 'positions'>;

export type { Diagnosis, DiagnosisFinding } from '../contract/diagnosis.js';
export type { Path, Reasons } from '../contract/path.js';
export type { Contacts, Progress, VertexReport } from '../contract/report.js';
export type { CheckAnswer } from '../contract/requests.js';
export type { Limits, ServerInfo } from '../contract/server-info.js';
export type { UntangleOptions, UntangleProgress, UntangleReport } from '../contract/untangle.js';
export type { ServedUntangleReport, UntangledState } from '../contract/untangle-answer.js';
