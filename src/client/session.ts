import type { Connection } from './connection.js';
import { ServiceError } from './errors.js';
import { persist } from './retry.js';
import { sendStep } from './step.js';
import type {
  CallOptions,
  CheckAnswer,
  Mesh,
  Positions,
  SessionCheckOptions,
  SessionOptions,
  StepOptions,
  StepResult,
} from './types.js';
import { checkToJson, positionsToJson, sessionToJson } from './wire.js';

/** Tries of a deletion: the session of a server that is away ends by its idle timeout. */
const CLOSE_ATTEMPTS = 3;

/**
 * A mesh that a server keeps from step to step. What the server forgets (it was restarted, or dropped the session) is
 * made again here from the mesh and the last answer received, without the caller's help.
 */
export class Session {
  readonly #connection: Connection;
  readonly #options: SessionOptions;
  /** for a proxy to hash on: all requests of this session go to one server */
  readonly #routing = { 'x-session-id': crypto.randomUUID() };
  #mesh: Mesh;
  /** last answer received, a copy: callers may go on computing in the array that they got */
  #last: Positions;
  /** undefined: the server has none, or nobody knows in what state */
  #id: string | undefined;
  /** the request for one, while it has no answer */
  #creation: string | undefined;
  #frame = 0;
  #recreations = 0;
  #isClosed = false;
  #turn: Promise<unknown> = Promise.resolve();

  private constructor(connection: Connection, mesh: Mesh, start: Positions, options: SessionOptions) {
    this.#connection = connection;
    this.#mesh = mesh;
    this.#last = start.slice();
    this.#options = options;
  }

  /** @throws ServiceError */
  static async open(connection: Connection, mesh: Mesh, start: Positions, options: SessionOptions): Promise<Session> {
    const session = new Session(connection, mesh, start, options);
    const { retry: policy } = connection;
    await persist(() => session.#create(options.signal), { policy, signal: options.signal });
    return session;
  }

  /** The server's name for it; another one after the session was made again. */
  get id(): string | undefined {
    return this.#id;
  }

  /** How often the session was lost and made again. */
  get recreations(): number {
    return this.#recreations;
  }

  /**
   * Moves towards the target. Steps asked for at once are done one after the other. The target must stay as it is until
   * the answer has come; the answer's array is the caller's own.
   * @throws ServiceError; the session is where the last answer left it, and the next step may be asked for
   */
  step(target: Positions, options: StepOptions = {}): Promise<StepResult> {
    return this.#inTurn(() => this.#step(target, options));
  }

  /** Tests the last answer, or other positions of this mesh, for intersections. @throws ServiceError */
  check(options: SessionCheckOptions = {}): Promise<CheckAnswer> {
    return this.#inTurn(() =>
      this.#withSession(options.signal, undefined, (sessionId) => {
        const positions = positionsToJson(options.positions);
        const body = JSON.stringify({ sessionId, positions, ...checkToJson(options) });
        const sending = { headers: this.#routing, body, signal: options.signal };
        return this.#connection.ask('/v1/check', sending) as Promise<CheckAnswer>;
      }),
    );
  }

  /** Ends the session. False: the server could not be told and will end it by its idle timeout. @throws ServiceError */
  async close({ signal }: CallOptions = {}): Promise<boolean> {
    return this.#inTurn(async () => {
      this.#isClosed = true;
      const id = this.#id;
      this.#id = undefined;
      return id === undefined || this.#delete(id, signal);
    });
  }

  async #step(target: Positions, options: StepOptions): Promise<StepResult> {
    // A new number for every step, answered or not: a frame whose fate is unknown must never meet another target.
    const frame = ++this.#frame;
    const { timeBudgetSeconds: budget } = options;
    const endsAt = budget === undefined ? undefined : performance.now() + budget * 1000;
    let isUncertain = false;
    try {
      const result = await this.#withSession(options.signal, endsAt, (id) => {
        const left = endsAt === undefined ? undefined : Math.max(0.001, (endsAt - performance.now()) / 1000);
        const work = { id, frame, target, budgetSeconds: left, headers: this.#routing };
        return sendStep(this.#connection, work, options).catch((thrown: unknown) => {
          isUncertain ||= thrown instanceof ServiceError && thrown.isUncertain;
          throw thrown;
        });
      });
      this.#keep(result.positions, options);
      return result;
    } catch (thrown) {
      // Perhaps the server went on without us. The next step starts from what was received, in a session made for it.
      if (isUncertain) this.#abandon();
      throw thrown;
    }
  }

  /** Does the work on a session that exists, which may have to be made again for it. */
  #withSession<T>(
    signal: AbortSignal | undefined,
    endsAt: number | undefined,
    work: (id: string) => Promise<T>,
  ): Promise<T> {
    if (this.#isClosed) throw new ServiceError({ code: 'CANCELLED', message: 'This session is closed.' });
    const attempt = async (): Promise<T> => {
      if (this.#id === undefined) {
        await this.#create(signal);
        this.#recreations++;
      }
      const id = this.#id as string;
      try {
        return await work(id);
      } catch (thrown) {
        if (!(thrown instanceof ServiceError) || thrown.code !== 'SESSION_NOT_FOUND') throw thrown;
        this.#id = undefined;
        const { code, message, hint, requestId } = thrown;
        throw new ServiceError({ code, message, hint, requestId, retryable: true, cause: thrown });
      }
    };
    return persist(attempt, { policy: this.#connection.retry, signal, endsAt });
  }

  #keep(positions: Positions, { kinematic, masses }: StepOptions): void {
    if (this.#last.constructor === positions.constructor) this.#last.set(positions);
    else this.#last = positions.slice();
    if (masses) this.#mesh = { ...this.#mesh, masses: masses.slice() };
    if (!kinematic) return;
    // What a step says of every vertex replaces what the parts said of theirs.
    const parts = this.#mesh.parts?.map((part) => ({ ...part, kinematic: false }));
    this.#mesh = { ...this.#mesh, ...(parts ? { parts } : {}), kinematic: kinematic.slice() };
  }

  async #create(signal: AbortSignal | undefined): Promise<void> {
    // The key stays until it is answered: a creation whose answer was lost gives the same session again.
    this.#creation ??= sessionToJson(this.#mesh, this.#last, this.#options, crypto.randomUUID());
    const sending = { headers: this.#routing, body: this.#creation, signal };
    const session = await this.#connection.ask('/v1/sessions', sending);
    this.#id = (session as { id: string }).id;
    this.#creation = undefined;
  }

  #abandon(): void {
    const id = this.#id;
    this.#id = undefined;
    // Only a courtesy, since the session ends by its idle timeout as well.
    if (id !== undefined) this.#deleteOnce(id, undefined).catch(() => {});
  }

  async #delete(id: string, signal: AbortSignal | undefined): Promise<boolean> {
    const policy = { ...this.#connection.retry, attempts: CLOSE_ATTEMPTS };
    try {
      await persist(() => this.#deleteOnce(id, signal), { policy, signal });
      return true;
    } catch (thrown) {
      if (!(thrown instanceof ServiceError)) throw thrown;
      if (thrown.code === 'SESSION_NOT_FOUND') return true;
      if (thrown.retryable || thrown.code === 'TIMEOUT') return false;
      throw thrown;
    }
  }

  #deleteOnce(id: string, signal: AbortSignal | undefined): Promise<void> {
    const sending = { method: 'DELETE', headers: this.#routing, signal } as const;
    return this.#connection.send(`/v1/sessions/${encodeURIComponent(id)}`, sending, async () => {});
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const mine = this.#turn.then(work);
    this.#turn = mine.catch(() => {});
    return mine;
  }
}
