import { IntersticeError } from '../../contract/errors.js';

/**
 * The memory of request bodies, for both transports: one account for every body that arrives, waits or is computed. A
 * body is charged with the announced size or, without one, with the bytes that have arrived, before that memory is
 * used. The charge is released when its request is answered or its connection ends, and never because time has passed.
 * An encoded answer that waits for its reader takes the place of its body: the account is charged with the larger of
 * the two.
 *
 * Let C be the capacity. With b bytes charged in all, a body may grow by d to s bytes
 *
 * - if s ≤ {@link SMALL_BODY_BYTES}: when b + d ≤ C, or when all small bodies have at most C/8 afterwards;
 * - otherwise, if it is the only larger body: always, because a capacity below one message would never admit it;
 * - otherwise: when b + d ≤ C − C/8, and its client has at most C/2 in larger bodies, or only this one.
 *
 * So b exceeds C only by one message, and then by at most C/8 more. An eighth is reserved for small bodies: even if one
 * client fills the rest, the small steps of all others still arrive.
 */
export class BodyLedger {
  /** bytes of all bodies */
  private total = 0;
  /** bytes of the bodies above {@link SMALL_BODY_BYTES}, by client */
  private readonly largeByClient = new Map<string, number>();
  private largeTotal = 0;
  /** Answers for which there is no room yet, in the order in which they were ready; each tries once more. */
  private readonly waiting = new Set<() => void>();

  /**
   * @param maxBytes the capacity C; 0 = no limit
   * @param onRefused called for every refusal; metrics count them
   */
  constructor(
    readonly maxBytes: number,
    private readonly onRefused: (reason: BodyRefusal) => void = () => {},
    /** ms that an answer waits for room while other answers are not read */
    readonly answerWaitMs = 20_000,
  ) {}

  /** Bytes that are charged now. */
  get bytes(): number {
    return this.total;
  }

  /** An empty account for one body. @param client the tenant, or else the address */
  open(client: string): BodyAccount {
    return new BodyAccount(this, client);
  }

  /** For {@link BodyAccount}. @param client of the body @param from its bytes so far @throws QUEUE_FULL */
  charge(client: string, from: number, to: number): void {
    if (to > from) {
      const reason = this.objectionTo(client, from, to);
      if (reason) throw this.refusal(reason, `a body of ${to} bytes`);
    }
    this.total += to - from;
    const large = largePart(to) - largePart(from);
    if (large !== 0) {
      this.largeTotal += large;
      const own = this.largeOf(client) + large;
      if (own > 0) this.largeByClient.set(client, own);
      else this.largeByClient.delete(client);
    }
    if (to < from) for (const retry of [...this.waiting]) retry();
  }

  /** For {@link BodyAccount}. Calls back whenever something was released. @returns a function that ends this */
  onRelease(retry: () => void): () => void {
    this.waiting.add(retry);
    return () => this.waiting.delete(retry);
  }

  /** For {@link BodyAccount}. @returns why a body may not grow; undefined if it may */
  objectionTo(client: string, from: number, to: number): BodyRefusal | undefined {
    const { maxBytes, total } = this;
    if (maxBytes === 0) return undefined;
    const after = total + to - from;
    if (to <= SMALL_BODY_BYTES) {
      const small = total - this.largeTotal + to - from;
      return after > maxBytes && small > maxBytes / 8 && total > from ? 'capacity' : undefined;
    }
    if (this.largeTotal === largePart(from)) return undefined;
    if (after > maxBytes - maxBytes / 8) return 'capacity';
    const others = this.largeOf(client) - largePart(from);
    return others > 0 && others + to > maxBytes / 2 ? 'share' : undefined;
  }

  /** For {@link BodyAccount}. @param what a body or an answer, with its size */
  refusal(reason: BodyRefusal, what: string, hint = BODY_HINT): IntersticeError {
    this.onRefused(reason);
    const taken =
      reason === 'capacity'
        ? `${this.total} of ${this.maxBytes} bytes for the bodies of all requests are taken`
        : `this client already holds its share, half of the ${this.maxBytes} bytes for the bodies of all requests`;
    return new IntersticeError('QUEUE_FULL', `There is no room for ${what}: ${taken}.`, {
      hint,
      retryAfterSeconds: RETRY_AFTER_SECONDS,
    });
  }

  private largeOf(client: string): number {
    return this.largeByClient.get(client) ?? 0;
  }
}

const BODY_HINT =
  'Retry after the stated time, with fewer large requests at once. The operator can raise INTERSTICE_MAX_BODY_BYTES.';
const ANSWER_HINT =
  'Read earlier answers, then send the request again: a step with a number of its own (frame) gets its stored answer. The operator can raise INTERSTICE_MAX_BODY_BYTES.';

/** The exceeded limit: of all bodies together, or of one client. A fixed set, because it is a label of a metric. */
export type BodyRefusal = 'capacity' | 'share';

/**
 * Bytes up to which a body is small: a step of 2,700 vertices in doubles. 128 of them fit into an eighth of the
 * smallest default capacity.
 */
export const SMALL_BODY_BYTES = 64 * 1024;

/** Seconds; an upload takes about that long, and a body that stalls is removed automatically. */
const RETRY_AFTER_SECONDS = 1;

const largePart = (bytes: number): number => (bytes > SMALL_BODY_BYTES ? bytes : 0);

/** The bytes of one body in a {@link BodyLedger}. */
export class BodyAccount {
  private held = 0;
  private isReleased = false;

  constructor(
    private readonly ledger: BodyLedger,
    private readonly client: string,
  ) {}

  get bytes(): number {
    return this.held;
  }

  /** Charges this body with `bytes`, if they are more than before. @throws QUEUE_FULL; the charge is then unchanged */
  growTo(bytes: number): void {
    if (bytes <= this.held || this.isReleased) return;
    this.ledger.charge(this.client, this.held, bytes);
    this.held = bytes;
  }

  /**
   * Charges the answer in place of the body. It waits while there is no room, because its work is done.
   *
   * @param bytes of the encoded answer
   * @param signal aborted when the answer is no longer needed: the wait ends
   * @throws QUEUE_FULL after {@link BodyLedger.answerWaitMs}; the charge is then unchanged
   */
  async growToAnswer(bytes: number, signal: AbortSignal): Promise<void> {
    const { ledger, client } = this;
    const objection = () =>
      bytes <= this.held || this.isReleased ? undefined : ledger.objectionTo(client, this.held, bytes);
    if (objection() && !signal.aborted) {
      await new Promise<void>((resolve) => {
        const end = () => {
          clearTimeout(timer);
          stopWaiting();
          signal.removeEventListener('abort', end);
          resolve();
        };
        const timer = setTimeout(end, ledger.answerWaitMs);
        // The room is taken at once, because another answer may wait for it too.
        const stopWaiting = ledger.onRelease(() => {
          if (objection()) return;
          this.growTo(bytes);
          end();
        });
        signal.addEventListener('abort', end);
      });
    }
    const reason = objection();
    if (!reason) this.growTo(bytes);
    else if (!signal.aborted) throw ledger.refusal(reason, `an answer of ${bytes} bytes`, ANSWER_HINT);
  }

  /** Releases the whole charge; the account cannot grow again. Further calls do nothing. */
  release(): void {
    const { held } = this;
    // First, because the ledger then offers the room to answers that wait, and this one's may be among them.
    this.held = 0;
    this.isReleased = true;
    if (held > 0) this.ledger.charge(this.client, held, 0);
  }
}
