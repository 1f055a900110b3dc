import type { Connection } from './connection.js';
import { ServiceError, type ServiceErrorFields } from './errors.js';
import { withRetries } from './retry.js';
import { errorFromJson } from './streamed.js';
import type { CallOptions, JobOptions, JobStatus, JobWaitOptions, Mesh, Positions, ResolveResult } from './types.js';
import { durationToJson, meshToJson, motionFromJson, workToJson } from './wire.js';

/** Seconds of one question for the end of a job: with a listener for progress, and without. */
const SHORT_WAIT = 1;
const LONG_WAIT = 20;

/** A resolve that the server computes on its own: no connection waits for it, and its result is fetched when it has ended. */
export class Job {
  readonly id: string;
  readonly #connection: Connection;

  /** Used by the client; see `Client.submit` and `Client.job`. */
  constructor(connection: Connection, id: string) {
    this.#connection = connection;
    this.id = id;
  }

  /** Used by the client. A submission whose answer was lost is sent again under its key, and gives one job. */
  static async submit(
    connection: Connection,
    mesh: Mesh,
    start: Positions,
    target: Positions,
    options: JobOptions,
  ): Promise<Job> {
    const { parameters, label, keepForSeconds, timeBudgetSeconds, signal } = options;
    const resolve = {
      mesh: meshToJson(mesh),
      parameters,
      ...workToJson(target, { ...options, start }, timeBudgetSeconds),
    };
    const keepFor = durationToJson(keepForSeconds);
    const body = JSON.stringify({ resolve, label, keepFor, idempotencyKey: crypto.randomUUID() });
    const attempt = () => connection.requestJson('/v1/jobs', { body, signal });
    const { id } = (await withRetries(attempt, { policy: connection.retry, signal })) as { id: string };
    return new Job(connection, id);
  }

  /** State, progress and times, as they are now. @throws ServiceError JOB_NOT_FOUND */
  status({ signal }: CallOptions = {}): Promise<JobStatus> {
    return this.#ask('?wait=0s', signal);
  }

  /** Waits for the end of the job, whether it succeeds or fails. @throws ServiceError JOB_NOT_FOUND, CANCELLED (of the wait) */
  async wait({ onProgress, signal }: JobWaitOptions = {}): Promise<JobStatus> {
    for (;;) {
      const status = await this.#ask(`?wait=${onProgress ? SHORT_WAIT : LONG_WAIT}s`, signal);
      onProgress?.(status);
      if (status.ended) return status;
    }
  }

  /**
   * Waits for the end and fetches the answer, which the server keeps until `expires`, or until `delete`.
   *
   * @throws ServiceError with the error that the job ended with
   */
  async result(options: JobWaitOptions = {}): Promise<ResolveResult> {
    await this.wait(options);
    const { signal } = options;
    const attempt = () => this.#connection.requestJson(`${this.#path}/result`, { method: 'GET', signal });
    return motionFromJson(await withRetries(attempt, { policy: this.#connection.retry, signal }));
  }

  /** Stops the job, if it has not ended, and forgets it. One that is gone already is no error. */
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

  async #ask(query: string, signal: AbortSignal | undefined): Promise<JobStatus> {
    const attempt = () => this.#connection.requestJson(`${this.#path}${query}`, { method: 'GET', signal });
    return statusFromJson(await withRetries(attempt, { policy: this.#connection.retry, signal }));
  }
}

interface JobJson extends Omit<JobStatus, 'created' | 'started' | 'ended' | 'expires' | 'error'> {
  readonly created: string;
  readonly started?: string;
  readonly ended?: string;
  readonly expires?: string;
  readonly error?: ServiceErrorFields;
}

function statusFromJson(answer: unknown): JobStatus {
  const { created, started, ended, expires, error, ...same } = answer as JobJson;
  return {
    ...same,
    created: new Date(created),
    ...(started ? { started: new Date(started) } : {}),
    ...(ended ? { ended: new Date(ended) } : {}),
    ...(expires ? { expires: new Date(expires) } : {}),
    ...(error ? { error: errorFromJson(error) } : {}),
  };
}
