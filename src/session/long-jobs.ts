import { randomBytes } from 'node:crypto';
import type { CallContext } from '../contract/call-context.js';
import { cancelled, IntersticeError } from '../contract/errors.js';
import type {
  JobInfo,
  JobQuestion,
  JobResult,
  JobWork,
  ListJobsAnswer,
  ListJobsRequest,
  SubmitJobRequest,
  WatchJobRequest,
} from '../contract/long-jobs.js';
import { counted } from '../contract/quote.js';
import type { ResolveAnswer, ResolveRequest } from '../contract/requests.js';
import type { Limits } from '../contract/server-info.js';
import type { StepAnswer, StepRequest } from '../contract/sessions.js';
import type { UntangleRequest } from '../contract/untangle.js';
import type { UntangledState } from '../contract/untangle-answer.js';
import { bytesOf } from '../mesh/bytes.js';
import { admitJob, admitWait } from './admission.js';
import type { Call, SessionClock } from './call.js';
import { type JobAnswer, LongJob } from './long-job.js';
import { pageOf } from './pages.js';
import { digestOfJob, ownCopy } from './payload.js';

export interface JobQuotas {
  /** jobs of all tenants that wait, run or are kept */
  readonly maxJobs: number;
  readonly maxJobsPerTenant: number;
  /** bytes of requests that wait or run and of results that are kept; 0 = no limit */
  readonly maxJobBytes: number;
  /** for jobs that request no other time */
  readonly keepSeconds: number;
}

export interface LongJobsOptions {
  readonly clock: SessionClock;
  readonly limits: Limits;
  readonly quotas: JobQuotas;
  /** whether other processes may have jobs of the same tenants */
  readonly hasOtherProcesses: boolean;
  /** computes one; it is counted and refused like a resolve or a step */
  readonly resolve: (request: ResolveRequest, context: CallContext) => Promise<ResolveAnswer>;
  readonly step: (request: StepRequest, context: CallContext) => Promise<StepAnswer>;
  readonly untangle: (request: UntangleRequest, context: CallContext) => Promise<UntangledState>;
}

/** Seconds. Nobody knows when a job is fetched and deleted, so this only spreads the retries. */
const RETRY_AFTER_SECONDS = 5;

/**
 * Resolves, steps and untanglings that no connection waits for, and their results until they expire. A job goes through
 * the queue like any other request, with the quotas and the priority of its tenant; what is kept of it is limited in
 * number, bytes and time.
 */
export class LongJobs {
  private readonly jobs = new Map<string, LongJob>();
  private readonly ofKey = new Map<string, LongJob>();
  private readonly settledListeners = new Set<() => void>();
  /** of each tenant: page tokens contain it, and would tell of the jobs of others */
  private readonly lastOrders = new Map<string, number>();

  constructor(private readonly options: LongJobsOptions) {}

  /** Jobs that wait or run. */
  get pendingCount(): number {
    return [...this.jobs.values()].filter((job) => !job.hasEnded).length;
  }

  /** Jobs that have ended and are kept. */
  get endedCount(): number {
    return this.jobs.size - this.pendingCount;
  }

  get bytes(): number {
    let sum = 0;
    for (const { bytes } of this.jobs.values()) sum += bytes;
    return sum;
  }

  /** Refuses a job of unknown size if there is no room for any. @throws QUOTA_EXCEEDED, UNIMPLEMENTED */
  preflight(tenant: string): void {
    // The body may contain the key of an existing job, which needs no further room.
    for (const job of this.ofKey.values()) if (job.tenant === tenant) return;
    this.refuseOneMore(tenant, 1);
  }

  /**
   * @returns once the queue has accepted the job; a step whose session is looked up in a store has yet to enter it, and a
   *   refusal is then the error of the job
   * @throws what admission of a resolve refuses, QUEUE_FULL, QUOTA_EXCEEDED, UNIMPLEMENTED, INVALID_PARAMETER (a key of
   *   another payload), CANCELLED
   */
  async submit(request: SubmitJobRequest, { tenant, context, receivedAt }: Call): Promise<JobInfo> {
    const { clock, limits, quotas } = this.options;
    admitJob(request, limits);
    if (context.signal?.aborted) throw cancelled();
    const { label = '', keepForSeconds = quotas.keepSeconds, idempotencyKey } = request;
    const key = idempotencyKey === undefined ? undefined : JSON.stringify([tenant, idempotencyKey]);
    const payload = key === undefined ? '' : digestOfJob(request);
    const known = key === undefined ? undefined : this.ofKey.get(key);
    if (known) return this.again(known, payload);
    const work: JobWork = request.step
      ? { step: ownCopy(request.step, context.isHandedOver) }
      : request.untangle
        ? { untangle: ownCopy(request.untangle, context.isHandedOver) }
        : { resolve: ownCopy(request.resolve, context.isHandedOver) };
    const bytes = bytesOf(work.step ?? work.untangle ?? work.resolve) + bytesOfAnswer(work);
    this.refuseOneMore(tenant, bytes);
    const order = (this.lastOrders.get(tenant) ?? 0) + 1;
    this.lastOrders.set(tenant, order);
    const job = new LongJob({
      // 128 random bits cannot be guessed.
      id: randomBytes(16).toString('hex'),
      order,
      ...{ tenant, label, keepForSeconds, key, payload, bytes, receivedAt },
      sessionId: work.step?.sessionId,
      firstPhase: work.untangle ? 'SOLVING' : 'START_CHECK',
      clock,
      onExpired: () => this.forget(job),
      onSettled: () => this.tellIfSettled(),
    });
    this.jobs.set(job.id, job);
    if (key !== undefined) this.ofKey.set(key, job);
    const { caller, requestId } = context;
    // In the clock of the measuring thread: the budget of the resolve counts from the receipt of the job.
    const own = { caller, requestId, receivedAt: context.receivedAt, isHandedOver: true };
    const compute = (hooks: CallContext) => this.compute(work, { ...withSet(own), ...hooks });
    job.run(compute, this.roomFor(job));
    const refusal = await job.admission;
    // The caller has gone without the id. If no key leads back to the job, no caller could fetch it.
    const isLost = context.signal?.aborted === true && key === undefined;
    if (refusal === undefined && !isLost) return job.describe();
    this.forget(job);
    throw refusal ?? cancelled();
  }

  /** @throws JOB_NOT_FOUND, INVALID_PARAMETER, CANCELLED */
  async get(question: JobQuestion, call: Call): Promise<JobInfo> {
    return (await this.await(question, call)).describe();
  }

  /** @returns the job after its end @throws JOB_NOT_FOUND, CANCELLED */
  async watch({ jobId }: WatchJobRequest, { tenant, context }: Call): Promise<JobInfo> {
    await this.find(jobId, tenant).watch((job) => context.onJob?.(job), context.signal);
    if (context.signal?.aborted) throw cancelled();
    // It may have been deleted meanwhile.
    return this.find(jobId, tenant).describe();
  }

  /** Resolves when every job has failed, or has a result that was fetched. */
  whenSettled(): Promise<void> {
    return new Promise((resolve) => {
      this.settledListeners.add(resolve);
      this.tellIfSettled();
    });
  }

  /** Oldest first. @throws INVALID_PARAMETER */
  list(request: ListJobsRequest, { tenant }: Call): ListJobsAnswer {
    const own = [...this.jobs.values()].filter((job) => job.tenant === tenant);
    const ordered = own.map((job) => [job.order, job] as const);
    const { page, nextPageToken } = pageOf(ordered, request, 'ListJobs');
    return { jobs: page.map((job) => job.describe()), nextPageToken, ofOneProcess: this.options.hasOtherProcesses };
  }

  /** @throws JOB_NOT_FOUND, JOB_NOT_ENDED, INVALID_PARAMETER, CANCELLED, and the refusal of the resolve */
  async result(question: JobQuestion, call: Call): Promise<JobResult> {
    const job = await this.await(question, call);
    if (job.hasEnded) return job.result();
    throw new IntersticeError('JOB_NOT_ENDED', `The job ${job.id} has not ended yet.`, { retryAfterSeconds: 1 });
  }

  /** @throws JOB_NOT_FOUND */
  delete(id: string, { tenant }: Call): void {
    this.forget(this.find(id, tenant));
  }

  /** Forgets all jobs without another answer; the scheduler ends those that run. */
  close(): void {
    for (const job of this.jobs.values()) job.stopTimer();
  }

  private async again(known: LongJob, payload: string): Promise<JobInfo> {
    if (known.payload !== payload) {
      throw new IntersticeError('INVALID_PARAMETER', 'Field idempotencyKey was used for a job with another payload.', {
        hint: 'Send the same request to get that job, or use a new key for a new job.',
      });
    }
    const refusal = await known.admission;
    if (refusal !== undefined) throw refusal;
    return known.describe();
  }

  private async await({ jobId, waitSeconds = 0 }: JobQuestion, { tenant, context }: Call): Promise<LongJob> {
    admitWait({ jobId, waitSeconds });
    const job = this.find(jobId, tenant);
    if (waitSeconds > 0) await job.whenEnded(waitSeconds, context.signal);
    if (context.signal?.aborted) throw cancelled();
    // It may have been deleted meanwhile.
    return this.find(jobId, tenant);
  }

  /** The refusal does not reveal whether another tenant has a job of this id. */
  private find(id: string, tenant: string): LongJob {
    const job = this.jobs.get(id);
    if (job?.tenant === tenant) return job;
    const shown = /^[0-9a-f]{32}$/.test(id) ? id : 'with this id; ids are 32 hexadecimal digits';
    throw new IntersticeError('JOB_NOT_FOUND', `There is no job ${shown}.`);
  }

  private forget(job: LongJob): void {
    this.jobs.delete(job.id);
    if (job.key !== undefined && this.ofKey.get(job.key) === job) this.ofKey.delete(job.key);
    job.drop();
    this.tellIfSettled();
  }

  private tellIfSettled(): void {
    if (this.settledListeners.size === 0) return;
    for (const job of this.jobs.values()) if (!job.isSettled) return;
    for (const listener of this.settledListeners) listener();
    this.settledListeners.clear();
  }

  private async compute(work: JobWork, context: CallContext): Promise<JobAnswer> {
    const { resolve, step, untangle } = this.options;
    if (work.step) return step({ priority: 'BATCH', ...work.step }, context);
    if (work.untangle) return { untangle: await untangle({ priority: 'BATCH', ...work.untangle }, context) };
    return resolve({ priority: 'BATCH', ...work.resolve }, context);
  }

  /** Whether there is room for the result of the job, in place of its request. */
  private roomFor(job: LongJob): (bytes: number) => void {
    return (bytes) => {
      const { maxJobBytes: limit } = this.options.quotas;
      const demand = this.bytes - job.bytes + bytes;
      if (limit === 0 || demand <= limit) return;
      if (bytes > limit) refuseSize('result', bytes, limit);
      throw new IntersticeError(
        'QUOTA_EXCEEDED',
        `The result has ${bytes} bytes; all jobs together would hold ${demand}, and the limit is ${limit}.`,
        { hint: 'Delete jobs whose results you have, include less in the answer, and submit it again.' },
      );
    };
  }

  private refuseOneMore(tenant: string, bytes: number): void {
    const { maxJobs, maxJobsPerTenant, maxJobBytes } = this.options.quotas;
    let own = 0;
    for (const job of this.jobs.values()) if (job.tenant === tenant) own++;
    const demand = this.bytes + bytes;
    // No time makes room for one, so this is no quota that is used up.
    if (maxJobs === 0)
      throw new IntersticeError('UNIMPLEMENTED', 'This service accepts no jobs (INTERSTICE_MAX_JOBS is 0).', {
        hint: 'Send the work itself, and wait for its answer.',
      });
    if (own >= maxJobsPerTenant)
      refuse(`You have ${counted(own, 'job')}, and the limit for one tenant is ${maxJobsPerTenant}.`);
    if (this.jobs.size >= maxJobs) refuse(`This server holds ${counted(maxJobs, 'job')} already, which is its limit.`);
    if (maxJobBytes > 0 && bytes > maxJobBytes) refuseSize('job', bytes, maxJobBytes);
    if (maxJobBytes > 0 && demand > maxJobBytes)
      refuse(`The job needs ${bytes} bytes; all jobs would hold ${demand}, and the limit is ${maxJobBytes}.`);
  }
}

/** The bytes of its positions, which the job keeps after its end. */
function bytesOfAnswer({ resolve, step, untangle }: JobWork): number {
  if (untangle) return untangle.positions.byteLength;
  const { target, start } = step ?? resolve;
  return (target ?? start)?.byteLength ?? 0;
}

/** There would be no room if no other job were there. */
function refuseSize(what: string, bytes: number, limit: number): never {
  const message = `The ${what} has ${bytes} bytes, and all jobs together may hold ${limit} (INTERSTICE_MAX_JOB_BYTES).`;
  throw new IntersticeError('TOO_LARGE', message);
}

function refuse(message: string): never {
  throw new IntersticeError('QUOTA_EXCEEDED', message, {
    hint: 'Delete jobs whose results you have, or retry later.',
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  });
}

/** The members of the context that are set: an absent one has its default. */
const withSet = (context: { [K in keyof CallContext]: CallContext[K] | undefined }): CallContext =>
  Object.fromEntries(Object.entries(context).filter(([, value]) => value !== undefined));
