import type { ServerHttp2Stream } from 'node:http2';
import { IntersticeError } from '../../contract/errors.js';
import { ANSWER_STALL_MS, Arrival, type ArrivalTimes } from '../intake/arrival.js';
import { type BodyAccount, BodyLedger } from '../intake/body-ledger.js';
import { DISCARD_LIMITS } from '../intake/discarding.js';
import { AnswerStall } from './answer-stall.js';
import { resetStream } from './reset-stream.js';

/** Bytes before a message: whether it is compressed, and its length (big-endian). */
const PREFIX_BYTES = 5;

/**
 * ms from the status of a call to the reset of its stream. A reset overtakes frames that wait to be written, so a
 * client on a busy connection would not read the status.
 */
const GRACE_MS = 1000;

export interface MeterOptions {
  readonly bodies: BodyLedger;
  readonly arrivalTimes?: ArrivalTimes | undefined;
  /** The library refuses larger messages when it reads their length. */
  readonly maxMessageBytes: number;
  /**
   * Whether a message without room gets its own answer, so that the call continues: its bytes are dropped, and an empty
   * message takes its place. Messages beyond `discardBytes` end the call nevertheless.
   */
  readonly answersRefusals?: boolean;
  /** Bytes that are still received and dropped after a refusal; default {@link DISCARD_LIMITS}. */
  readonly discardBytes?: number | undefined;
  /** ms within which a status, and then a reset, must be sent; default {@link ANSWER_STALL_MS} */
  readonly answerStallMs?: number | undefined;
}

/** One message, from its prefix on. */
interface Message {
  readonly arrival: Arrival;
  /** bytes that have not arrived */
  missing: number;
  /** whether it was refused, so that its bytes are dropped */
  readonly isDropped: boolean;
}

/** The prefix of an empty message. */
const EMPTY_MESSAGE = Buffer.alloc(PREFIX_BYTES);

/**
 * Charges the messages of a call to the ledger as soon as their length is known, before the library collects them. It
 * sees the bytes where Node receives them, so it also counts those that wait in a paused stream: HTTP/2 lets a client
 * send a window of bytes to every stream, read or not.
 */
export class MessageMeter {
  private readonly prefix = Buffer.alloc(PREFIX_BYTES);
  private prefixLength = 0;
  private current: Message | undefined;
  /** The messages whose bytes are in memory, oldest first. */
  private readonly messages: Message[] = [];
  /** Messages of this call that have begun; below, those that were unpacked and those that are no longer needed. */
  private begun = 0;
  private unpacked = 0;
  private released = 0;
  /** Why messages were dropped, by their place in the call, from 0. */
  private readonly refusals = new Map<number, IntersticeError>();
  /** Whether further bytes are dropped. */
  private isStopped = false;
  private droppedBytes = 0;
  private readonly answerStall: AnswerStall;

  /**
   * @param client the client whose share of the ledger the messages take; may change until the first byte
   * @param refuse ends the call; called at most once, and not while Node reads from the connection
   */
  constructor(
    private readonly stream: ServerHttp2Stream,
    private readonly options: MeterOptions,
    private readonly client: () => string,
    private readonly refuse: (reason: IntersticeError) => void,
  ) {
    this.answerStall = new AnswerStall(stream);
    const push = stream.push;
    stream.push = (chunk: Buffer | null, encoding?: BufferEncoding) => {
      if (chunk === null) return push.call(stream, chunk, encoding);
      this.answerStall.refresh();
      let wantsMore = true;
      if (this.isStopped) this.droppedBytes += chunk.byteLength;
      else for (const piece of this.receive(chunk)) wantsMore = push.call(stream, piece, encoding);
      // The client may send until it has read its status. Then the window closes: Node requests no more bytes.
      return this.isStopped ? this.droppedBytes <= this.discardBytes : wantsMore;
    };
    stream.once('close', () => this.release());
  }

  /** An answer is being written. If nothing of it is sent for `stallMs`, the stream is reset. */
  beginAnswer(stallMs: number): void {
    this.answerStall.begin(stallMs);
  }

  /** The answer has been sent. */
  endAnswer(): void {
    this.answerStall.end();
  }

  /** The oldest message is no longer needed. */
  releaseOldest(): void {
    const oldest = this.messages.shift();
    oldest?.arrival.account.release();
    this.released++;
  }

  /** The account of the oldest message whose bytes are in memory; undefined once the call has ended. */
  get oldestAccount(): BodyAccount | undefined {
    return this.messages[0]?.arrival.account;
  }

  /** Whether a message has begun and not arrived as a whole. */
  get isWithinMessage(): boolean {
    return this.current !== undefined || this.prefixLength > 0;
  }

  /** Why there is no room for a message, if it was dropped. @param place in the call, from 0 */
  refusalOf(place: number): IntersticeError | undefined {
    const refusal = this.refusals.get(place);
    this.refusals.delete(place);
    return refusal;
  }

  /**
   * The next message is about to be unpacked.
   * @returns `charge`: charges the size that it has unpacked to so far; throws QUEUE_FULL. `drop`: records that refusal
   *   as the answer to the message; false if it has to end the call
   */
  unpackNext(): { charge: (bytes: number) => void; drop: (refusal: unknown) => boolean } {
    const place = this.unpacked++;
    const account = this.messages[place - this.released]?.arrival.account;
    return {
      charge: (bytes) => account?.growTo(bytes),
      drop: (refusal) => {
        if (!this.options.answersRefusals || !(refusal instanceof IntersticeError)) return false;
        this.refusals.set(place, refusal);
        return true;
      },
    };
  }

  /**
   * The call has ended. A client that has not sent the whole message is told to stop; the bytes that it has sent are
   * charged until the stream is closed, because the library keeps them until then.
   */
  end(): void {
    this.isStopped = true;
    this.current?.arrival.end();
    if (!this.current || this.stream.closed) this.release();
    else setTimeout(() => resetStream(this.stream, this.answerStallMs), GRACE_MS).unref();
  }

  private release(): void {
    this.isStopped = true;
    this.current?.arrival.end();
    for (const { arrival } of this.messages.splice(0)) arrival.account.release();
  }

  private get answerStallMs(): number {
    return this.options.answerStallMs ?? ANSWER_STALL_MS;
  }

  private get discardBytes(): number {
    return this.options.discardBytes ?? DISCARD_LIMITS.bytes;
  }

  /** @returns the bytes that the library gets */
  private receive(chunk: Buffer): readonly Buffer[] {
    const pieces: Buffer[] = [];
    try {
      this.scan(chunk, pieces);
    } catch (reason) {
      this.stop(reason as IntersticeError);
    }
    return pieces;
  }

  private stop(reason: IntersticeError): void {
    if (this.isStopped) return;
    this.isStopped = true;
    this.current?.arrival.end();
    // The status of a stream may wait behind its answers.
    this.answerStall.begin(this.answerStallMs);
    process.nextTick(this.refuse, reason);
  }

  private scan(chunk: Buffer, pieces: Buffer[]): void {
    for (let at = 0; at < chunk.byteLength; ) {
      if (!this.current) {
        const taken = Math.min(PREFIX_BYTES - this.prefixLength, chunk.byteLength - at);
        chunk.copy(this.prefix, this.prefixLength, at, at + taken);
        this.prefixLength += taken;
        at += taken;
        // A prefix is passed on as a whole, because another one may have to take its place.
        if (this.prefixLength === PREFIX_BYTES) pieces.push(this.begin(this.prefix.readUInt32BE(1)));
        continue;
      }
      const taken = Math.min(this.current.missing, chunk.byteLength - at);
      if (!this.current.isDropped) pieces.push(chunk.subarray(at, at + taken));
      at += taken;
      this.current.missing -= taken;
      this.current.arrival.receive(taken);
      if (this.current.missing === 0) this.complete();
    }
  }

  /** @returns the prefix of the message that the library gets @throws QUEUE_FULL if the call cannot go on */
  private begin(bytes: number): Buffer {
    const { arrivalTimes, maxMessageBytes } = this.options;
    const place = this.begun++;
    const account = this.options.bodies.open(this.client());
    let refusal: IntersticeError | undefined;
    try {
      if (bytes <= maxMessageBytes) account.growTo(bytes);
    } catch (thrown) {
      refusal = thrown as IntersticeError;
    }
    // Dropped bytes take no memory, but their arrival must still end in time.
    const arrival = new Arrival(refusal ? UNLIMITED.open('') : account, arrivalTimes);
    this.current = { arrival, missing: bytes, isDropped: refusal !== undefined };
    this.messages.push(this.current);
    if (refusal && (!this.options.answersRefusals || bytes > this.discardBytes)) throw refusal;
    if (refusal) this.refusals.set(place, refusal);
    if (bytes === 0) this.complete();
    else arrival.start((reason) => this.stop(reason));
    return refusal ? EMPTY_MESSAGE : Buffer.from(this.prefix);
  }

  private complete(): void {
    this.current?.arrival.end();
    this.current = undefined;
    this.prefixLength = 0;
  }
}

/** For bytes that are not kept. */
const UNLIMITED = new BodyLedger(0);
