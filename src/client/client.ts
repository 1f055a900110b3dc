import { type ClientOptions, Connection } from './connection.js';
import { withRetries } from './retry.js';
import { Session } from './session.js';
import type {
  CallOptions,
  CheckAnswer,
  CheckOptions,
  Mesh,
  Positions,
  ResolveOptions,
  ResolveResult,
  ServerInfo,
  SessionOptions,
} from './types.js';
import { checkToJson, infoFromJson, meshToJson, motionFromJson, positionsToJson, workToJson } from './wire.js';

/** A server of Interstice, over HTTP. Every call is retried where that is safe, and throws {@link ServiceError}. */
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
    const { parameters, signal, timeBudgetSeconds: budget } = options;
    const endsAt = budget === undefined ? undefined : performance.now() + budget * 1000;
    const attempt = async (): Promise<ResolveResult> => {
      const left = endsAt === undefined ? undefined : Math.max(0.001, (endsAt - performance.now()) / 1000);
      const work = workToJson(target, { ...options, start }, left);
      const body = JSON.stringify({ mesh: meshToJson(mesh), parameters, ...work });
      return motionFromJson(await this.#connection.requestJson('/v1/resolve', { body, signal }));
    };
    return withRetries(attempt, { policy: this.#connection.retry, signal, endsAt });
  }

  /** Tests whether this state, or the straight path to `pathEnd`, intersects. */
  check(mesh: Mesh, positions: Positions, options: CheckOptions = {}): Promise<CheckAnswer> {
    const { signal, timeBudgetSeconds: budget } = options;
    const endsAt = budget === undefined ? undefined : performance.now() + budget * 1000;
    const subject = { mesh: meshToJson(mesh), positions: positionsToJson(positions) };
    const attempt = () => {
      const left = endsAt === undefined ? undefined : Math.max(0.001, (endsAt - performance.now()) / 1000);
      const body = JSON.stringify({ ...subject, ...checkToJson(options, left) });
      return this.#connection.requestJson('/v1/check', { body, signal }) as Promise<CheckAnswer>;
    };
    return withRetries(attempt, { policy: this.#connection.retry, signal, endsAt });
  }

  /** Engines, limits and defaults of the server. */
  info({ signal }: CallOptions = {}): Promise<ServerInfo> {
    const attempt = async () => infoFromJson(await this.#connection.requestJson('/v1', { method: 'GET', signal }));
    return withRetries(attempt, { policy: this.#connection.retry, signal });
  }
}
