import { type ClientOptions, Connection } from './connection.js';
import type { Deadline } from './deadline.js';
import { Job } from './job.js';
import { withRetries } from './retry.js';
import { Session } from './session.js';
import type {
  CallOptions,
  CheckAnswer,
  CheckOptions,
  DiagnoseOptions,
  Diagnosis,
  JobOptions,
  Mesh,
  Positions,
  ResolveOptions,
  ResolveResult,
  ServerInfo,
  SessionOptions,
  UntangleCallOptions,
  UntangledState,
  UntangleJobOptions,
} from './types.js';
import {
  checkedFromJson,
  checkToJson,
  diagnoseToJson,
  diagnosisFromJson,
  infoFromJson,
  meshToJson,
  motionTo,
  positionsToJson,
  untangledFromJson,
  untangleToJson,
  workToJson,
} from './wire.js';

/** A server of Interstice, over HTTP. Every call is retried if that is safe, and throws {@link ServiceError}. */
export class Client {
  readonly #connection: Connection;

  /** @param url for example `http://127.0.0.1:8080` */
  constructor(url: string, options: ClientOptions = {}) {
    this.#connection = new Connection(url, options);
  }

  /** Opens a session on a mesh. @param start [3·V], free of intersections */
  session(mesh: Mesh, start: Positions, options: SessionOptions = {}): Promise<Session> {
    return Session.open(this.#connection, mesh, start, options);
  }

  /** Resolves one pair of start and target; the server keeps no state. */
  resolve(mesh: Mesh, start: Positions, target: Positions, options: ResolveOptions = {}): Promise<ResolveResult> {
    const { parameters, signal, onProgress } = options;
    return this.#within(options, async (deadline): Promise<ResolveResult> => {
      const work = workToJson(target, { ...options, start }, deadline.left);
      const body = JSON.stringify({ mesh: meshToJson(mesh), parameters, ...work });
      const request = { body, signal, limitSeconds: deadline.limit };
      return this.#connection.requestJson('/v1/resolve', request, motionTo(target), onProgress);
    });
  }

  /**
   * Submits a resolve as a job that no connection waits for; it outlives this process. Its priority is BATCH unless the
   * options say otherwise.
   */
  submit(mesh: Mesh, start: Positions, target: Positions, options: JobOptions = {}): Promise<Job> {
    return Job.submit(this.#connection, mesh, start, target, options);
  }

  /** Submits an untangling as a job; its answer is fetched by `Job.untangled`. Otherwise like `submit`. */
  submitUntangling(mesh: Mesh, positions: Positions, options: UntangleJobOptions = {}): Promise<Job> {
    return Job.submitUntangling(this.#connection, mesh, positions, options);
  }

  /** A job that was submitted earlier, perhaps by another process of the same tenant. Sends no request yet. */
  job(id: string): Job {
    return new Job(this.#connection, id);
  }

  /** Tests whether this state, or the straight path to `pathEnd`, intersects. */
  async check(mesh: Mesh, positions: Positions, options: CheckOptions = {}): Promise<CheckAnswer> {
    const { signal } = options;
    const subject = subjectOf(mesh, positions);
    return this.#within(options, (deadline) => {
      const body = JSON.stringify({ ...subject, ...checkToJson(options, deadline.left) });
      const request = { body, signal, limitSeconds: deadline.limit };
      return this.#connection.requestJson('/v1/check', request, checkedFromJson);
    });
  }

  /** Diagnoses a mesh, even one that other calls refuse. */
  async diagnose(mesh: Mesh, positions: Positions, options: DiagnoseOptions = {}): Promise<Diagnosis> {
    const { signal } = options;
    const subject = subjectOf(mesh, positions);
    return this.#within(options, (deadline) => {
      const body = JSON.stringify({ ...subject, ...diagnoseToJson(options, deadline.left) });
      const request = { body, signal, limitSeconds: deadline.limit };
      return this.#connection.requestJson('/v1/diagnose', request, diagnosisFromJson);
    });
  }

  /**
   * Brings positions that may intersect to a state that does not. `report.status` says whether it is free; a time
   * budget ends it with the best state found so far.
   */
  async untangle(mesh: Mesh, positions: Positions, options: UntangleCallOptions = {}): Promise<UntangledState> {
    const { signal, onProgress } = options;
    const subject = subjectOf(mesh, positions);
    return this.#within(options, async (deadline) => {
      const body = JSON.stringify({ ...subject, ...untangleToJson(options, deadline.left) });
      const request = { body, signal, limitSeconds: deadline.limit };
      return this.#connection.requestJson('/v1/untangle', request, untangledFromJson, onProgress);
    });
  }

  /** Engines, limits and defaults of the server. */
  info({ signal }: CallOptions = {}): Promise<ServerInfo> {
    const attempt = () => this.#connection.requestJson('/v1', { method: 'GET', signal }, infoFromJson);
    return withRetries(attempt, { policy: this.#connection.retry, signal });
  }

  /** Retries a call within its time budget. */
  async #within<T>(
    { signal, timeBudgetSeconds }: CallOptions & { readonly timeBudgetSeconds?: number },
    attempt: (deadline: Deadline) => Promise<T>,
  ): Promise<T> {
    const deadline = this.#connection.deadline(timeBudgetSeconds);
    const { endsAt } = deadline;
    return withRetries(() => attempt(deadline), { policy: this.#connection.retry, signal, endsAt });
  }
}

const subjectOf = (mesh: Mesh, positions: Positions) => ({
  mesh: meshToJson(mesh),
  positions: positionsToJson(positions),
});
