import type { Connection, RequestOptions } from './connection.js';
import { Deadline } from './deadline.js';
import { ServiceError } from './errors.js';
import { randomId } from './random-id.js';
import { withRetries } from './retry.js';
import { checkPause } from './settings.js';
import { sendStep } from './step.js';
import type {
  CallOptions,
  CheckAnswer,
  FrameLoss,
  Mesh,
  Positions,
  SessionCheckOptions,
  SessionOptions,
  StepOptions,
  StepResult,
  UntangledState,
} from './types.js';
import { checkedFromJson, checkToJson, openedFromJson, positionsToJson, sessionToJson } from './wire.js';

/** Attempts of a deletion: the session of an unavailable server ends by its idle timeout. */
const CLOSE_ATTEMPTS = 3;

/** Seconds for the deletion of a session that was given up after a failure. */
const FORGET_SECONDS = 5;

/** What ends a request early. */
type Limits = Pick<RequestOptions, 'signal' | 'limitSeconds'>;

/** The request that creates a session, until it is answered. */
interface Creation {
  readonly key: string;
  readonly body: string;
  /** an attempt has ended without an answer, so the server may have the session */
  isUncertain: boolean;
}

/** The state that the server's session was created from. */
interface Base {
  /** the frame whose answer is `start`; 0 = the start of the caller */
  readonly frame: number;
  readonly mesh: Mesh;
  readonly start: Positions;
}

/**
 * A mesh that a server keeps from step to step. If the server loses the session (it was restarted, or removed the
 * session), the client recreates it from the mesh and the last answer received.
 */
export class Session {
  readonly #connection: Connection;
  #options: SessionOptions;
  /** a proxy may hash on this header, so that all requests of this session go to one server */
  readonly #routing = { 'x-session-id': randomId() };
  #mesh: Mesh;
  /** a copy of the last answer received: callers may modify the array that they received */
  #last: Positions;
  /** undefined if the server has no session, or one in an unknown state */
  #id: string | undefined;
  #creation: Creation | undefined;
  /** kept only if the caller sends lost frames again */
  #base: Base | undefined;
  #frame = 0;
  /** of the last answer received */
  #lastFrame = 0;
  /** the last frame that the server's session has answered; 0 = none */
  #answered = 0;
  /** whether the service has lost frames that the caller sends again: `#last` is the answer of one of them */
  #isBehind = false;
  #lastLoss: FrameLoss | undefined;
  #recreations = 0;
  #untangled: UntangledState | undefined;
  #isClosed = false;
  #queue: Promise<unknown> = Promise.resolve();

  private constructor(connection: Connection, mesh: Mesh, start: Positions, options: SessionOptions) {
    const { idleTimeoutSeconds, onFrameLost = 'recreate' } = options;
    if (idleTimeoutSeconds !== undefined) checkPause('idleTimeoutSeconds', idleTimeoutSeconds);
    if (onFrameLost !== 'recreate' && onFrameLost !== 'throw')
      throw new TypeError(`onFrameLost is ${JSON.stringify(onFrameLost)}; "recreate" or "throw" is expected.`);
    this.#connection = connection;
    this.#mesh = mesh;
    this.#last = start.slice();
    this.#options = options;
  }

  /** @throws ServiceError */
  static async open(connection: Connection, mesh: Mesh, start: Positions, options: SessionOptions): Promise<Session> {
    const session = new Session(connection, mesh, start, options);
    const { retry: policy } = connection;
    try {
      await withRetries(() => session.#create({ signal: options.signal }), { policy, signal: options.signal });
    } catch (thrown) {
      session.#forget();
      throw thrown;
    }
    return session;
  }

  /** The server's id of the session; it changes when the session is recreated. */
  get id(): string | undefined {
    return this.#id;
  }

  /** How the start was untangled; undefined unless onIntersectingStart requested it. Its positions are frame 0. */
  get untangled(): UntangledState | undefined {
    return this.#untangled;
  }

  /** How often the session was lost and recreated. */
  get recreations(): number {
    return this.#recreations;
  }

  /** The frames that were lost when the service last refused a step with FRAME_LOST; undefined = none so far. */
  get lastLoss(): FrameLoss | undefined {
    return this.#lastLoss;
  }

  /**
   * Moves towards the target. Concurrent steps run one after another. The target must not change until the answer has
   * arrived; the answer's array belongs to the caller.
   * @throws ServiceError; the session then keeps the state of the last answer, and the next step may follow
   */
  step(target: Positions, options: StepOptions = {}): Promise<StepResult> {
    return this.#enqueue(() => this.#step(target, options));
  }

  /** Tests the last answer, or other positions of this mesh, for intersections. @throws ServiceError */
  check(options: SessionCheckOptions = {}): Promise<CheckAnswer> {
    return this.#enqueue(() => {
      const { signal } = options;
      const deadline = this.#connection.deadline(options.timeBudgetSeconds);
      return this.#withSession(signal, deadline, (sessionId) => {
        const positions = positionsToJson(options.positions);
        const body = JSON.stringify({ sessionId, positions, ...checkToJson(options, deadline.left) });
        const request = { headers: this.#routing, body, signal, limitSeconds: deadline.limit };
        return this.#connection.requestJson('/v1/check', request, checkedFromJson);
      });
    });
  }

  /** Ends the session. Returns false if an unavailable server ends it by its idle timeout. @throws ServiceError */
  async close({ signal }: CallOptions = {}): Promise<boolean> {
    return this.#enqueue(async () => {
      this.#isClosed = true;
      const [id, unseen] = [this.#id, this.#unseen];
      this.#id = undefined;
      this.#creation = undefined;
      if (id !== undefined) return this.#delete(id, { signal });
      return unseen === undefined || this.#delete(unseen, { signal, limitSeconds: FORGET_SECONDS });
    });
  }

  async #step(target: Positions, options: StepOptions): Promise<StepResult> {
    // Every step has a new number, answered or not: a frame that may have been computed must not get another target.
    const frame = ++this.#frame;
    const deadline = this.#connection.deadline(options.timeBudgetSeconds);
    let isUncertain = false;
    try {
      const result = await this.#withSession(options.signal, deadline, (id) => {
        const place = { id, frame, afterFrame: this.#answered, headers: this.#routing };
        const work = { ...place, target, budgetSeconds: deadline.left, limitSeconds: deadline.limit };
        return sendStep(this.#connection, work, options).catch((thrown: unknown) => {
          // An exception of a listener occurs while the server computes.
          isUncertain ||= !(thrown instanceof ServiceError) || thrown.isUncertain;
          throw thrown;
        });
      });
      this.#keep(result.positions, options);
      this.#answered = frame;
      this.#lastFrame = frame;
      return result;
    } catch (thrown) {
      // The server may have computed the step. The next one starts from the last answer received, in a new session.
      if (isUncertain) this.#abandon();
      throw thrown;
    }
  }

  /** Does the work on a session that exists; recreates the session if necessary. */
  #withSession<T>(signal: AbortSignal | undefined, deadline: Deadline, work: (id: string) => Promise<T>): Promise<T> {
    if (this.#isClosed) throw new ServiceError({ code: 'CANCELLED', message: 'This session is closed.' });
    const attempt = async (hasLost = false): Promise<T> => {
      if (this.#id === undefined) {
        if (this.#base && this.#isBehind) throw this.#goBack(this.#base);
        await this.#create({ signal, limitSeconds: deadline.limit });
        this.#recreations++;
      }
      const id = this.#id as string;
      try {
        return await work(id);
      } catch (thrown) {
        if (!(thrown instanceof ServiceError)) throw thrown;
        // Without any frame the session is at its base, whose number the service does not know.
        const isAtBase = thrown.code === 'FRAME_LOST' && !thrown.frame;
        if (this.#base && isAtBase) throw this.#goBack(this.#base, thrown);
        if (!this.#isLost(thrown)) throw thrown;
        if (this.#base && (this.#isBehind || this.#answered > 0)) throw this.#goBack(this.#base, thrown);
        // The attempt that reaches a restarted server may be the last one, so it continues at once in a new session.
        if (!hasLost && performance.now() < (deadline.endsAt ?? Infinity)) return attempt(true);
        const { code, message, hint, requestId } = thrown;
        throw new ServiceError({ code, message, hint, requestId, retryable: true, cause: thrown });
      }
    };
    return withRetries(() => attempt(), { policy: this.#connection.retry, signal, endsAt: deadline.endsAt });
  }

  /** Whether the session must be created again; its id is then unset. */
  #isLost({ code, frame = 0 }: ServiceError): boolean {
    if (code === 'FRAME_LOST') {
      this.#lastLoss = { kept: frame, answered: this.#answered };
      this.#isBehind = this.#options.onFrameLost === 'throw';
      if (this.#isBehind) this.#answered = frame;
      else this.#abandon();
    }
    // The service accepted a step whose answer never arrived: no step may continue from a state unknown to the caller.
    if (code === 'FRAME_CONFLICT' && frame > this.#answered) this.#abandon();
    if (code === 'SESSION_NOT_FOUND') this.#id = undefined;
    return this.#id === undefined;
  }

  /** Makes the next step continue from the base of the session. @returns the refusal of this step */
  #goBack({ frame, mesh, start }: Base, cause?: ServiceError): ServiceError {
    this.#lastLoss = { kept: frame, answered: this.#lastFrame };
    this.#mesh = mesh;
    this.#last = start.slice();
    this.#lastFrame = frame;
    this.#answered = 0;
    this.#isBehind = false;
    return new ServiceError({
      code: 'FRAME_LOST',
      message: `The server has lost the frames after ${frame}, or the session with them.`,
      hint: 'Send those frames again: they are computed to the same answers, in a new session if it is lost.',
      frame,
      ...(cause ? { requestId: cause.requestId, cause } : {}),
    });
  }

  #keep(positions: Positions, { kinematic, masses }: StepOptions): void {
    this.#isBehind = false;
    if (this.#last.constructor === positions.constructor) this.#last.set(positions);
    else this.#last = positions.slice();
    if (masses) this.#mesh = { ...this.#mesh, masses: masses.slice() };
    if (!kinematic) return;
    // The kinematic flags of a step, one per vertex, replace those of the parts.
    const parts = this.#mesh.parts?.map((part) => ({ ...part, kinematic: false }));
    this.#mesh = { ...this.#mesh, ...(parts ? { parts } : {}), kinematic: kinematic.slice() };
  }

  async #create(limits: Limits): Promise<void> {
    // The idempotency key is kept until the answer: repeating a creation after a lost answer returns the same session.
    if (!this.#creation) {
      const key = randomId();
      this.#creation = { key, body: sessionToJson(this.#mesh, this.#last, this.#options, key), isUncertain: false };
    }
    const creation = this.#creation;
    const request = { headers: this.#routing, body: creation.body, ...limits };
    const session = await this.#connection
      .requestJson('/v1/sessions', request, openedFromJson)
      .catch((thrown: unknown) => {
        creation.isUncertain ||= !(thrown instanceof ServiceError) || thrown.isUncertain;
        throw thrown;
      });
    const { id, untangled } = session;
    this.#id = id;
    this.#answered = 0;
    this.#creation = undefined;
    if (untangled) this.#begin(untangled);
    if (this.#options.onFrameLost === 'throw')
      this.#base = { frame: this.#lastFrame, mesh: this.#mesh, start: this.#last.slice() };
  }

  /** If the session is lost from now on, it is created again from the untangled state, with nothing to untangle. */
  #begin(untangled: UntangledState): void {
    this.#untangled = untangled;
    this.#last = untangled.positions.slice();
    const { untangle: _, parameters, ...others } = this.#options;
    this.#options = { ...others, parameters: { ...parameters, onIntersectingStart: 'REJECT' } };
  }

  #abandon(): void {
    const id = this.#id;
    this.#id = undefined;
    // Best effort: the session also ends by its idle timeout.
    if (id !== undefined) this.#deleteOnce(id, { limitSeconds: FORGET_SECONDS }).catch(() => {});
  }

  /** Identifies the session of a creation that was abandoned while its answer might still have arrived. */
  get #unseen(): string | undefined {
    return this.#creation?.isUncertain ? `key:${this.#creation.key}` : undefined;
  }

  #forget(): void {
    // Best effort, as above: the server deletes a session that it has created, or stops creating it.
    if (this.#unseen !== undefined) this.#deleteOnce(this.#unseen, { limitSeconds: FORGET_SECONDS }).catch(() => {});
  }

  async #delete(id: string, { signal, limitSeconds }: Limits): Promise<boolean> {
    const policy = { ...this.#connection.retry, attempts: CLOSE_ATTEMPTS };
    const deadline = new Deadline(limitSeconds, 0);
    try {
      const attempt = () => this.#deleteOnce(id, { signal, limitSeconds: deadline.left });
      await withRetries(attempt, { policy, signal, endsAt: deadline.endsAt });
      return true;
    } catch (thrown) {
      if (!(thrown instanceof ServiceError)) throw thrown;
      if (thrown.code === 'SESSION_NOT_FOUND') return true;
      if (thrown.retryable || thrown.code === 'TIMEOUT') return false;
      throw thrown;
    }
  }

  #deleteOnce(id: string, limits: Limits): Promise<void> {
    const request = { method: 'DELETE', headers: this.#routing, ...limits } as const;
    return this.#connection.request(`/v1/sessions/${encodeURIComponent(id)}`, request, async () => {});
  }

  #enqueue<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#queue.then(work);
    this.#queue = result.catch(() => {});
    return result;
  }
}
