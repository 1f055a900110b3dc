import type { ServerDuplexStream } from '@grpc/grpc-js';
import type { Visit } from './visit.js';

type ByteStream = ServerDuplexStream<Uint8Array, Uint8Array>;

/** Writes to a stream no faster than the caller reads. */
export class StreamWriter {
  constructor(
    private readonly call: ByteStream,
    private readonly visit: Visit,
  ) {}

  /** Resolves when the message is on its way, or nobody is there any more to read it. */
  async write(bytes: Uint8Array): Promise<void> {
    const { signal } = this.visit;
    if (signal.aborted) return;
    this.visit.bytesOut += bytes.byteLength;
    await new Promise<void>((resolve) => {
      const done = () => {
        signal.removeEventListener('abort', done);
        resolve();
      };
      // The library forgets the callback of a write whose call has ended.
      signal.addEventListener('abort', done);
      this.call.write(bytes, done);
    });
  }

  /** Writes if nothing waits to be written. @returns whether it did */
  offer(bytes: Uint8Array): boolean {
    if (this.visit.signal.aborted || this.call.writableLength > 0) return false;
    this.visit.bytesOut += bytes.byteLength;
    return this.call.write(bytes);
  }
}
