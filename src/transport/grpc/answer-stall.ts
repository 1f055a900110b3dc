import type { ServerHttp2Stream } from 'node:http2';
import { constants } from 'node:http2';
import { resetStream } from './reset-stream.js';

/** Bytes of an answer that are written at once: the window of a stream, so that whoever reads takes one soon. */
const PIECE_BYTES = 64 * 1024;

/**
 * Resets the stream of a client that does not read its answer. The timeout of Node takes whatever is sent on the
 * connection for progress, also a ping and the answers of other calls. So answers are written in pieces, and each piece
 * that is sent shows that the client reads.
 */
export class AnswerStall {
  #timer: NodeJS.Timeout | undefined;
  #isReset = false;

  constructor(private readonly stream: ServerHttp2Stream) {
    const write = stream.write.bind(stream) as (bytes: Buffer, done: WriteCallback) => boolean;
    const end = stream.end.bind(stream);
    let isWriting = false;
    let isEndAsked = false;
    // The library writes one message after the other, but may end the stream within one.
    stream.write = ((message: Buffer, done: WriteCallback) => {
      isWriting = true;
      let at = 0;
      const next: WriteCallback = (error) => {
        // The library would call it a fault of the service. It needs no callback from a call that has ended.
        if (this.#isReset) return;
        this.refresh();
        if (!error && at < message.byteLength) {
          const from = at;
          at += PIECE_BYTES;
          write(message.subarray(from, at), next);
          return;
        }
        isWriting = false;
        done(error);
        if (isEndAsked) end();
      };
      next();
      return true;
    }) as typeof stream.write;
    stream.end = (() => {
      if (isWriting) isEndAsked = true;
      else end();
      return stream;
    }) as typeof stream.end;
    stream.once('close', () => this.end());
  }

  /** An answer is being written: from now on the stream is reset after `stallMs` without progress. */
  begin(stallMs: number): void {
    this.end();
    this.#timer = setTimeout(() => {
      this.#isReset = true;
      resetStream(this.stream, stallMs, constants.NGHTTP2_CANCEL);
    }, stallMs).unref();
  }

  /** A piece of the answer was sent, or the client has sent something. */
  refresh(): void {
    this.#timer?.refresh();
  }

  /** The answer has been sent. */
  end(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }
}

type WriteCallback = (error?: Error | null) => void;
