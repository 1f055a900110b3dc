import { IntersticeError } from '../../contract/errors.js';
import type {
  JobInfo,
  JobQuestion,
  JobResult,
  JobTerms,
  ListJobsAnswer,
  ListJobsRequest,
  SolvedJobResult,
  SubmitJobRequest,
  WatchJobRequest,
} from '../../contract/long-jobs.js';
import { fromError, fromResolveAnswer, millisecondsToTimestamp } from './answers.js';
import { number, required, text, toJobId, toSeconds, withSet } from './fields.js';
import { type RequestOrigin, toResolveRequest, toStepRequest } from './requests.js';
import { fromUntangled, toUntangleRequest } from './untangle.js';
import type { WireMessage } from './wire-message.js';

/** Converts between the messages of jobs and their plain data. */

/** @throws MALFORMED_BODY (no work, or parts of it are missing), SIZE_MISMATCH, INVALID_PARAMETER (several) */
export function toSubmitJobRequest(message: WireMessage): SubmitJobRequest {
  const terms = withSet<JobTerms>({
    label: text(message.label),
    idempotencyKey: text(message.idempotencyKey),
    keepForSeconds: toSeconds(message.keepFor),
  });
  const { resolve, step, untangle } = message;
  const set = [resolve, step, untangle].filter((work) => work !== undefined && work !== null);
  if (set.length > 1)
    throw new IntersticeError('INVALID_PARAMETER', 'A job has one of resolve, step and untangle, not several.');
  if (set.length === 0)
    throw new IntersticeError('MALFORMED_BODY', 'The job has no work.', {
      hint: 'Set one of resolve, step and untangle; see /docs.',
    });
  if (step) return { ...terms, step: toStepRequest(step as WireMessage, { path: 'step' }) };
  if (untangle) return { ...terms, untangle: toUntangleRequest(untangle as WireMessage, { path: 'untangle' }) };
  return { ...terms, resolve: toResolveRequest(required(resolve, 'resolve'), { path: 'resolve' }) };
}

/** @throws MALFORMED_BODY (no job), INVALID_PARAMETER */
export function toWatchJobRequest(message: WireMessage, origin: RequestOrigin = {}): WatchJobRequest {
  return { jobId: toJobId(message.jobId, origin.jobId) };
}

/** @throws MALFORMED_BODY (no job), INVALID_PARAMETER */
export function toJobQuestion(message: WireMessage, origin: RequestOrigin = {}): JobQuestion {
  return withSet<JobQuestion>({
    jobId: toJobId(message.jobId, origin.jobId),
    waitSeconds: toSeconds(message.wait),
  });
}

export function toListJobsRequest(message: WireMessage): ListJobsRequest {
  return withSet<ListJobsRequest>({
    // Unset fields are 0 and "": default page size, first page, any label.
    pageSize: number(message.pageSize) || undefined,
    pageToken: text(message.pageToken),
    label: text(message.label),
  });
}

export function fromJob({ created, started, ended, expires, error, ...same }: JobInfo): object {
  return {
    ...same,
    created: millisecondsToTimestamp(created),
    ...(started === undefined ? {} : { started: millisecondsToTimestamp(started) }),
    ...(ended === undefined ? {} : { ended: millisecondsToTimestamp(ended) }),
    ...(expires === undefined ? {} : { expires: millisecondsToTimestamp(expires) }),
    // The request id of the error is that of the call which fetches the result.
    ...(error ? { error: fromError(error, '') } : {}),
  };
}

export const fromSolvedJob = ({ frame, ...answer }: SolvedJobResult) => ({
  ...fromResolveAnswer(answer),
  ...(frame === undefined ? {} : { frame }),
});

export const fromJobResult = (result: JobResult): object =>
  result.untangle ? { untangle: fromUntangled(result.untangle) } : fromSolvedJob(result);

export function fromListJobsAnswer({ jobs, ...same }: ListJobsAnswer): object {
  return { ...same, jobs: jobs.map(fromJob) };
}
