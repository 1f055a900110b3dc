import { type ClientOptions, Connection } from './connection.js';
import { persist } from './retry.js';
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

/** A server of Interstice, over HTTP. Every call is tried again where that is safe, and throws {@link ServiceError}. */
export class Client {
  readonly #connection: Connection;

  /** @param url as in `http://127.0.0.1:8080` */
  constructor(url: string, options: ClientOptions = {}) {
    this.#connection = new Connection(url, options);
  }

  /** Opens a session on a mesh. @param start [3·V], free of intersections */
  session(mesh: Mesh, start: Positions, options: SessionOptions = {}): Promise<Session> {
    return Session.open(this.#connection, mesh, start, options);
  }

  /** One pair, no state kept. */
  resolve(mesh: Mesh, start: Positions, target: Positions, options: ResolveOptions = {}): Promise<ResolveResult> {
    const { parameters, signal, timeBudgetSeconds: budget } = options;
    const endsAt = budget === undefined ? undefined : performance.now() + budget * 1000;
    const attempt = async (): Promise<ResolveResult> => {
      const left = endsAt === undefined ? undefined : Math.max(0.001, (endsAt - performance.now()) / 1000);
      const work = workToJson(target, { ...options, start }, left);
      const body = JSON.stringify({ mesh: meshToJson(mesh), parameters, ...work });
      return motionFromJson(await this.#connection.ask('/v1/resolve', { body, signal }));
    };
    return persist(attempt, { policy: this.#connection.retry, signal, endsAt });
  }

  /** Does this state, or the straight path to `pathEnd`, intersect? */
  check(mesh: Mesh, positions: Positions, options: CheckOptions = {}): Promise<CheckAnswer> {
    const { signal } = options;
    const question = { mesh: meshToJson(mesh), positions: positionsToJson(positions), ...checkToJson(options) };
    const body = JSON.stringify(question);
    const attempt = () => this.#connection.ask('/v1/check', { body, signal }) as Promise<CheckAnswer>;
    return persist(attempt, { policy: this.#connection.retry, signal });
  }

  /** What the server can do: engines, limits, defaults. */
  info({ signal }: CallOptions = {}): Promise<ServerInfo> {
    const attempt = async () => infoFromJson(await this.#connection.ask('/v1', { method: 'GET', signal }));
    return persist(attempt, { policy: this.#connection.retry, signal });
  }
}
