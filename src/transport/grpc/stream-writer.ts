import type { ServerDuplexStream } from '@grpc/grpc-js';
import type { CallState } from './call-state.js';

/** Writes to a stream only as fast as the caller reads. */
export class StreamWriter {
  constructor(
    private readonly call: Pick<ServerDuplexStream<Uint8Array, Uint8Array>, 'write' | 'writableLength'>,
    private readonly callState: CallState,
    private readonly answerStallMs: number,
  ) {}

  /** Resolves when the message has been written, or when the caller has disconnected. */
  async write(bytes: Uint8Array): Promise<void> {
    const { signal } = this.callState;
    if (signal.aborted) return;
    this.callState.bytesOut += bytes.byteLength;
    const { meter } = this.callState;
    meter?.beginAnswer(this.answerStallMs);
    await new Promise<void>((resolve) => {
      const done = () => {
        if (!signal.aborted) meter?.endAnswer();
        signal.removeEventListener('abort', done);
        resolve();
      };
      // The library drops the callback of a write whose call has ended.
      signal.addEventListener('abort', done);
      this.call.write(bytes, done);
    });
  }

  /** Writes unless other messages wait to be written. */
  writeIfIdle(bytes: Uint8Array): void {
    if (this.callState.signal.aborted || this.call.writableLength > 0) return;
    this.callState.bytesOut += bytes.byteLength;
    this.call.write(bytes);
  }
}
