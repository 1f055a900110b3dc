import type { Connection } from './connection.js';
import { ServiceError, type ServiceErrorFields } from './errors.js';
import { randomId } from './random-id.js';
import { withRetries } from './retry.js';
import { timeOf } from './settings.js';
import { errorFromJson } from './streamed.js';
import type {
  CallOptions,
  JobOptions,
  JobStatus,
  JobWaitOptions,
  Mesh,
  Positions,
  ResolveResult,
  UntangledState,
  UntangleJobOptions,
} from './types.js';
import {
  durationToJson,
  identifiedFromJson,
  meshToJson,
  motionFromJson,
  objectFromJson,
  positionsToJson,
  untangledFromJson,
  untangleToJson,
  workToJson,
} from './wire.js';

/** Seconds that one request waits for the end of a job: with a progress listener, and without. */
const SHORT_WAIT = 1;
const LONG_WAIT = 20;

/** A resolve or an untangling that no connection waits for; its result is fetched when the server has computed it. */
export class Job {
  readonly id: string;
  readonly #connection: Connection;

  /** Used by the client; see `Client.submit` and `Client.job`. */
  constructor(connection: Connection, id: string) {
    this.#connection = connection;
    this.id = id;
  }

  /** Used by the client. */
  static async submit(
    connection: Connection,
    mesh: Mesh,
    start: Positions,
    target: Positions,
    options: JobOptions,
  ): Promise<Job> {
    const work = workToJson(target, { ...options, start }, budgetOf(options));
    return Job.#begin(
      connection,
      { resolve: { mesh: meshToJson(mesh), parameters: options.parameters, ...work } },
      options,
    );
  }

  /** Used by the client. */
  static async submitUntangling(
    connection: Connection,
    mesh: Mesh,
    positions: Positions,
    options: UntangleJobOptions,
  ): Promise<Job> {
    const subject = { mesh: meshToJson(mesh), positions: positionsToJson(positions) };
    return Job.#begin(connection, { untangle: { ...subject, ...untangleToJson(options, budgetOf(options)) } }, options);
  }

  /** A submission whose answer was lost is sent again with its key, so that there is only one job. */
  static async #begin(
    connection: Connection,
    work: object,
    { label, keepForSeconds, signal }: Pick<JobOptions, 'label' | 'keepForSeconds' | 'signal'>,
  ): Promise<Job> {
    const keepFor = keepForSeconds === undefined ? undefined : durationToJson(timeOf('keepForSeconds', keepForSeconds));
    const idempotencyKey = randomId();
    const body = JSON.stringify({ ...work, label, keepFor, idempotencyKey });
    // A proxy may hash on it, so that a submission that is sent again reaches the server that knows the key.
    const headers = { 'x-session-id': idempotencyKey };
    const attempt = () => connection.requestJson('/v1/jobs', { body, headers, signal }, identifiedFromJson);
    const { id } = await withRetries(attempt, { policy: connection.retry, signal });
    return new Job(connection, id);
  }

  /** The current state, progress and times. @throws ServiceError JOB_NOT_FOUND */
  status({ signal }: CallOptions = {}): Promise<JobStatus> {
    return this.#ask('?wait=0s', signal);
  }

  /** Waits for the end of the job, successful or not. @throws ServiceError JOB_NOT_FOUND, CANCELLED (of the wait) */
  async wait({ onProgress, signal }: JobWaitOptions = {}): Promise<JobStatus> {
    // A request must be answered well before its attempt times out.
    const seconds = Math.min(onProgress ? SHORT_WAIT : LONG_WAIT, this.#connection.timeoutSeconds / 2);
    for (;;) {
      const status = await this.#ask(`?wait=${seconds.toFixed(3)}s`, signal);
      onProgress?.(status);
      if (status.ended) return status;
    }
  }

  /**
   * Waits for the end of a resolve and fetches the answer, which the server keeps until `expires`, or until `delete`.
   *
   * @throws ServiceError with the error that the job ended with; TypeError if the job is an untangling
   */
  async result(options: JobWaitOptions = {}): Promise<ResolveResult> {
    const { motion } = await this.#fetch(options);
    if (motion === undefined) throw new TypeError(`Job ${this.id} is an untangling; untangled() has its answer.`);
    return motion;
  }

  /** The same for an untangling. @throws ServiceError with the error of the job; TypeError if the job is a resolve */
  async untangled(options: JobWaitOptions = {}): Promise<UntangledState> {
    const { untangled } = await this.#fetch(options);
    if (untangled === undefined) throw new TypeError(`Job ${this.id} is no untangling; result() has its answer.`);
    return untangled;
  }

  /** Stops the job if it has not ended, and forgets it. It is not an error if the job no longer exists. */
  async delete({ signal }: CallOptions = {}): Promise<void> {
    const attempt = () =>
      this.#connection.request(this.#path, { method: 'DELETE', signal }, async (answer) => void (await answer.text()));
    try {
      await withRetries(attempt, { policy: this.#connection.retry, signal });
    } catch (thrown) {
      if (!(thrown instanceof ServiceError) || thrown.code !== 'JOB_NOT_FOUND') throw thrown;
    }
  }

  get #path(): string {
    return `/v1/jobs/${encodeURIComponent(this.id)}`;
  }

  async #fetch(options: JobWaitOptions): Promise<JobAnswer> {
    await this.wait(options);
    const { signal } = options;
    const request = { method: 'GET', signal } as const;
    const attempt = () => this.#connection.requestJson(`${this.#path}/result`, request, answerFromJson);
    return withRetries(attempt, { policy: this.#connection.retry, signal });
  }

  async #ask(query: string, signal: AbortSignal | undefined): Promise<JobStatus> {
    const request = { method: 'GET', signal } as const;
    const attempt = () => this.#connection.requestJson(`${this.#path}${query}`, request, statusFromJson);
    return withRetries(attempt, { policy: this.#connection.retry, signal });
  }
}

/** The time budget of a job covers all of it; sending it has none. @throws TypeError */
const budgetOf = ({ timeBudgetSeconds }: Pick<JobOptions, 'timeBudgetSeconds'>): number | undefined =>
  timeBudgetSeconds === undefined ? undefined : timeOf('timeBudgetSeconds', timeBudgetSeconds);

/** One of the two. */
interface JobAnswer {
  readonly motion?: ResolveResult;
  readonly untangled?: UntangledState;
}

function answerFromJson(answer: unknown): JobAnswer {
  const { untangle } = objectFromJson(answer) as { readonly untangle?: unknown };
  return untangle === undefined ? { motion: motionFromJson(answer) } : { untangled: untangledFromJson(untangle) };
}

interface JobJson extends Omit<JobStatus, 'created' | 'started' | 'ended' | 'expires' | 'error'> {
  readonly created: string;
  readonly started?: string;
  readonly ended?: string;
  readonly expires?: string;
  readonly error?: ServiceErrorFields;
}

function statusFromJson(answer: unknown): JobStatus {
  const { created, started, ended, expires, error, ...same } = identifiedFromJson(answer) as JobJson;
  if (typeof same.state !== 'string') throw new TypeError('it has no state');
  return {
    ...same,
    created: new Date(created),
    ...(started ? { started: new Date(started) } : {}),
    ...(ended ? { ended: new Date(ended) } : {}),
    ...(expires ? { expires: new Date(expires) } : {}),
    ...(error ? { error: errorFromJson(error) } : {}),
  };
}
