import { Worker } from 'node:worker_threads';

/**
 * An echo that answers as late as the service does: the bytes go to another thread, which works for a while, and back.
 * By then client and server sleep, and the caches contain other data. One message at a time.
 */
export class LateAnswers {
  private readonly thread = new Worker(new URL('./late-thread.js', import.meta.url));
  private memory = new SharedArrayBuffer(0);

  constructor() {
    this.thread.unref();
  }

  /** @returns the same bytes in other memory, except for {@link readWork} @throws the error that ended the thread */
  make(bytes: Uint8Array): Promise<Buffer> {
    if (this.memory.byteLength < bytes.byteLength) this.memory = new SharedArrayBuffer(bytes.byteLength);
    const shared = new Uint8Array(this.memory, 0, bytes.byteLength);
    shared.set(bytes);
    return new Promise((resolve, reject) => {
      this.thread.once('error', reject);
      this.thread.once('message', (answer: Uint8Array<ArrayBuffer>) => {
        this.thread.off('error', reject);
        resolve(Buffer.from(answer.buffer, answer.byteOffset, answer.byteLength));
      });
      this.thread.postMessage(shared);
    });
  }

  async close(): Promise<void> {
    await this.thread.terminate();
  }
}

const WORK_BYTES = Float64Array.BYTES_PER_ELEMENT;

const endOf = ({ buffer, byteOffset, byteLength }: Uint8Array): DataView =>
  new DataView(buffer, byteOffset + byteLength - WORK_BYTES, WORK_BYTES);

/**
 * Writes the time for which the thread worked to the last bytes of a late answer, the only place that is the same in
 * every protocol.
 */
export function writeWork(answer: Uint8Array, ms: number): void {
  endOf(answer).setFloat64(0, ms);
}

/** @returns ms */
export const readWork = (answer: Uint8Array): number => endOf(answer).getFloat64(0);
