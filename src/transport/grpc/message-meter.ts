import type { ServerHttp2Stream } from 'node:http2';
import { constants } from 'node:http2';
import type { IntersticeError } from '../../contract/errors.js';
import { Arrival, type ArrivalTimes } from '../intake/arrival.js';
import type { BodyLedger } from '../intake/body-ledger.js';

/** Bytes in front of a message: whether it is compressed, and its length (big endian). */
const PREFIX_BYTES = 5;

/**
 * ms from the status of a call to the reset of its stream. A reset overtakes what waits to be written, so a client on a busy
 * connection would not read the status.
 */
const GRACE_MS = 1000;

export interface MeterOptions {
  readonly bodies: BodyLedger;
  readonly arrivalTimes?: ArrivalTimes | undefined;
  /** Messages beyond it are left to the library, which refuses them when it reads their length. */
  readonly maxMessageBytes: number;
}

/** One message, from its prefix on. */
interface Message {
  readonly arrival: Arrival;
  /** bytes that have not arrived */
  missing: number;
}

/**
 * Charges the messages of a call to the ledger as soon as their length is known, before the library collects them. It sees the
 * bytes where Node receives them, so it counts what waits in a paused stream as well: HTTP/2 lets a client send a window of
 * bytes to every stream, read or not.
 */
export class MessageMeter {
  private readonly prefix = Buffer.alloc(PREFIX_BYTES);
  private prefixLength = 0;
  private current: Message | undefined;
  /** Those whose bytes are in memory, the oldest first. */
  private readonly messages: Message[] = [];
  /** Index in {@link messages} of the next message that is unpacked. */
  private unpacked = 0;
  /** Whether further bytes are dropped. */
  private isStopped = false;

  /**
   * @param client whose share of the ledger the messages take; may change until the first byte
   * @param refuse ends the call; called at most once, and not while Node reads from the connection
   */
  constructor(
    private readonly stream: ServerHttp2Stream,
    private readonly options: MeterOptions,
    private readonly client: () => string,
    private readonly refuse: (reason: IntersticeError) => void,
  ) {
    const push = stream.push;
    stream.push = (chunk: Buffer | null, encoding?: BufferEncoding) => {
      if (chunk === null) return push.call(stream, chunk, encoding);
      // What arrives after the end is dropped, and the client may send on.
      if (!this.isStopped) this.receive(chunk);
      return this.isStopped || push.call(stream, chunk, encoding);
    };
    stream.once('close', () => this.release());
  }

  /** An answer is being written. If nothing of it leaves for so many ms, because the client reads nothing, its stream is reset. */
  beginAnswer(stallMs: number): void {
    this.stream.setTimeout(stallMs, () => this.stream.close(constants.NGHTTP2_CANCEL));
  }

  /** It has left. */
  endAnswer(): void {
    this.stream.setTimeout(0);
  }

  /** The oldest message is no longer needed. */
  releaseOldest(): void {
    const oldest = this.messages.shift();
    oldest?.arrival.account.release();
    this.unpacked = Math.max(0, this.unpacked - 1);
  }

  /** @returns charges the next compressed message with what it has unpacked to so far @throws QUEUE_FULL */
  unpackNext(): (bytes: number) => void {
    const account = this.messages[this.unpacked++]?.arrival.account;
    return (bytes) => account?.growTo(bytes);
  }

  /**
   * The call has ended. A client that has not sent the whole message is told to stop; what it has sent is charged until the
   * stream is closed, because the library keeps it so long.
   */
  end(): void {
    this.isStopped = true;
    this.current?.arrival.end();
    if (!this.current || this.stream.closed) this.release();
    else setTimeout(() => this.stream.close(constants.NGHTTP2_NO_ERROR), GRACE_MS).unref();
  }

  private release(): void {
    this.isStopped = true;
    this.current?.arrival.end();
    for (const { arrival } of this.messages.splice(0)) arrival.account.release();
  }

  private receive(chunk: Buffer): void {
    try {
      this.scan(chunk);
    } catch (reason) {
      this.stop(reason as IntersticeError);
    }
  }

  private stop(reason: IntersticeError): void {
    if (this.isStopped) return;
    this.isStopped = true;
    this.current?.arrival.end();
    process.nextTick(this.refuse, reason);
  }

  private scan(chunk: Buffer): void {
    for (let at = 0; at < chunk.byteLength; ) {
      if (!this.current) {
        const taken = Math.min(PREFIX_BYTES - this.prefixLength, chunk.byteLength - at);
        chunk.copy(this.prefix, this.prefixLength, at, at + taken);
        this.prefixLength += taken;
        at += taken;
        if (this.prefixLength === PREFIX_BYTES) this.begin(this.prefix.readUInt32BE(1));
        continue;
      }
      const taken = Math.min(this.current.missing, chunk.byteLength - at);
      at += taken;
      this.current.missing -= taken;
      this.current.arrival.receive(taken);
      if (this.current.missing === 0) this.complete();
    }
  }

  private begin(bytes: number): void {
    const { bodies, arrivalTimes, maxMessageBytes } = this.options;
    const account = bodies.open(this.client());
    const arrival = new Arrival(account, arrivalTimes);
    this.current = { arrival, missing: bytes };
    this.messages.push(this.current);
    if (bytes === 0) {
      this.complete();
      return;
    }
    arrival.start((reason) => this.stop(reason));
    if (bytes <= maxMessageBytes) account.growTo(bytes);
  }

  private complete(): void {
    this.current?.arrival.end();
    this.current = undefined;
    this.prefixLength = 0;
  }
}
