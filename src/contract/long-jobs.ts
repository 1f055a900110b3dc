import type { IntersticeError } from './errors.js';
import type { Progress } from './report.js';
import type { ResolveAnswer, ResolveRequest } from './requests.js';
import type { StepRequest } from './sessions.js';
import type { UntangleProgress, UntangleRequest } from './untangle.js';
import type { UntangledState } from './untangle-answer.js';

/** Requests and answers of the operations on jobs, as plain data; conventions as in requests.ts. */

/** Seconds that a job is kept after its end: an hour, for a caller who returns later. */
export const DEFAULT_JOB_KEEP_SECONDS = 3600;

/** Seconds in a day. */
export const MAX_JOB_KEEP_SECONDS = 86_400;

/** Seconds that one call may wait for the end of a job: less than proxies commonly allow a silent connection. */
export const MAX_JOB_WAIT_SECONDS = 60;

/** What a job computes: one of these. */
export type JobWork =
  | { readonly resolve: ResolveRequest; readonly step?: undefined; readonly untangle?: undefined }
  | { readonly step: StepRequest; readonly resolve?: undefined; readonly untangle?: undefined }
  | { readonly untangle: UntangleRequest; readonly resolve?: undefined; readonly step?: undefined };

export type SubmitJobRequest = JobWork & JobTerms;

export interface JobTerms {
  readonly label?: string;
  /** The same key with the same payload from the same tenant returns the same job. */
  readonly idempotencyKey?: string;
  /** Absent = default of the server. */
  readonly keepForSeconds?: number;
}

export type JobState = 'JOB_WAITING' | 'JOB_RUNNING' | 'JOB_DONE' | 'JOB_FAILED';

/** Phases of a running job: exact test of a new start; steps; test and report of the answer. */
export type JobPhase = 'START_CHECK' | 'SOLVING' | 'ANSWER_CHECK';

/** A job as its owner sees it. Times are milliseconds since 1970. */
export interface JobInfo {
  readonly id: string;
  readonly state: JobState;
  readonly label: string;
  readonly created: number;
  /** Absent while it waits. */
  readonly started?: number;
  /** Absent until it has ended. */
  readonly ended?: number;
  /** Absent until it has ended. */
  readonly expires?: number;
  /** Of a waiting job: requests that arrived before it and wait for the same threads, or for the same session. */
  readonly ahead?: number;
  /** Of a running job. */
  readonly phase?: JobPhase;
  /** Absent before the first step. */
  readonly progress?: Progress;
  /** The same for an untangling. */
  readonly untangleProgress?: UntangleProgress;
  /** Present if it failed. */
  readonly error?: IntersticeError;
  /** Memory that is reserved for it, or that its result takes. */
  readonly bytes: number;
  /** Of a step. */
  readonly sessionId?: string;
}

export interface WatchJobRequest {
  readonly jobId: string;
}

export interface JobQuestion {
  readonly jobId: string;
  /** Default 0. */
  readonly waitSeconds?: number;
}

export interface ListJobsRequest {
  readonly pageSize?: number;
  readonly pageToken?: string;
  /** Only jobs with this label. */
  readonly label?: string;
}

export interface ListJobsAnswer {
  readonly jobs: readonly JobInfo[];
  /** Empty on the last page. */
  readonly nextPageToken: string;
  /** Whether the service may have other processes, whose jobs are not listed. */
  readonly ofOneProcess: boolean;
}

/** The answer of a resolve or of a step, with the times of its computation. */
export interface SolvedJobResult extends ResolveAnswer {
  readonly isReplay: true;
  /** Of a step: the frame that was accepted. */
  readonly frame?: bigint;
  readonly untangle?: undefined;
}

/** The answer of an untangling. */
export interface UntangledJobResult {
  readonly isReplay: true;
  readonly untangle: UntangledState;
}

export type JobResult = SolvedJobResult | UntangledJobResult;
