import { type TransferListItem, Worker } from 'node:worker_threads';
import { IntersticeError } from '../../contract/errors.js';
import { QueueBound } from '../../lanes/queue-bound.js';
import {
  type CoderReply,
  type CoderTask,
  type DecodeTask,
  type Reading,
  readJson,
  type WrittenJson,
  writeJson,
} from './coder-work.js';
import { bulkBytes, copyInSlices } from './copy-in-slices.js';
import { Turns } from './turns.js';

/**
 * Bytes from which JSON is read and written on the coder's thread. Crossing over and back costs 0.1 ms; so much JSON takes
 * half a millisecond to read and one to write, and need not wait behind larger.
 */
const LARGE_BYTES = 128 * 1024;

/** Bodies that may wait for the thread, and their bytes together: some five seconds of its work. */
const MAX_WAITING = 256;
const MAX_WAITING_BYTES = 256 * 1024 * 1024;
const RETRY_AFTER_SECONDS = 1;

/** Characters of JSON for a byte of a bulk field: a float32 takes some 20 digits, in base64 three bytes take four. */
const CHARACTERS_A_BYTE = { arrays: 5, base64: 4 / 3 };

export interface CoderOptions {
  /** bytes of JSON from which a thread does it; default {@link LARGE_BYTES} */
  readonly largeBytes?: number;
  /** starts the thread; for tests */
  readonly thread?: () => Worker;
  /** bytes of bodies that may wait for the thread; one may always wait */
  readonly mostWaitingBytes?: number;
  /** told when the thread died: for the log */
  readonly onLost?: (reason: IntersticeError) => void;
}

/** Who asks, and until when it matters. */
export interface Asker {
  /** whose turn it is; default: one for all */
  readonly tenant?: string | undefined;
  /** aborted when nobody waits for it any more */
  readonly signal?: AbortSignal | undefined;
}

interface Job {
  readonly tenant: string;
  /** of a body that waits; an answer that waits keeps nothing that its request did not keep already */
  readonly bytes: number | undefined;
  /** made when its turn comes */
  readonly pack: () => Promise<{ readonly task: CoderTask; readonly transfer: TransferListItem[] }>;
  readonly settle: (reply: CoderReply) => void;
  readonly fail: (reason: unknown) => void;
  /** what a caller can do when the thread is lost with this */
  readonly hintOnLoss: string;
}

/**
 * Reads and writes JSON. What is large is done on a thread of its own, one thing at a time, tenants in turn: nobody else
 * waits for it. The thread starts with the first large text, does not keep the process alive when idle, and is replaced
 * when it dies; what it was doing is refused then and may be sent again.
 */
export class JsonCoder {
  private readonly largeBytes: number;
  private readonly startThread: () => Worker;
  private readonly waiting = new Turns<Job>();
  private readonly bound: QueueBound;
  private readonly onLost: NonNullable<CoderOptions['onLost']>;
  private thread: Worker | undefined;
  private running: Job | undefined;
  private isClosed = false;

  constructor(options: CoderOptions = {}) {
    this.largeBytes = options.largeBytes ?? LARGE_BYTES;
    this.startThread = options.thread ?? startThread;
    this.onLost = options.onLost ?? (() => {});
    this.bound = new QueueBound(MAX_WAITING, options.mostWaitingBytes ?? MAX_WAITING_BYTES);
  }

  /**
   * @param body its bytes are given away if they are many
   * @throws IntersticeError QUEUE_FULL, CANCELLED, DRAINING, DEVICE_LOST, OUT_OF_DEVICE_MEMORY; never what is wrong with
   *   the body, which is the answer
   */
  async read(body: Omit<DecodeTask, 'kind'>, asker: Asker = {}): Promise<Reading> {
    const { bytes } = body;
    if (bytes.byteLength < this.largeBytes) return readJson(body);
    const isWhole = bytes.byteLength === bytes.buffer.byteLength && !(bytes.buffer instanceof SharedArrayBuffer);
    const pack = async () => ({
      task: { kind: 'decode' as const, ...body },
      transfer: isWhole ? [bytes.buffer as ArrayBuffer] : [],
    });
    const reply = await this.run(pack, asker, bytes.byteLength, 'Nothing changed; send the request again.');
    if (reply.kind === 'decoded') return { decoded: reply.decoded };
    if (reply.kind === 'refused') return { refusal: IntersticeError.fromPlain(reply.error), isJson: reply.isJson };
    throw reply.kind === 'failed' ? reply.thrown : new Error(`a body was ${reply.kind}`);
  }

  /**
   * @param type message of the contract @param message as {@link encodeJson} takes it; its arrays stay the caller's
   * @throws IntersticeError CANCELLED, DRAINING, DEVICE_LOST, OUT_OF_DEVICE_MEMORY
   */
  async write(type: string, message: object, arrays: boolean, asker: Asker = {}): Promise<WrittenJson> {
    const characters = bulkBytes(message) * CHARACTERS_A_BYTE[arrays ? 'arrays' : 'base64'];
    if (characters < this.largeBytes) return writeJson(type, message, arrays);
    const pack = async () => {
      const { value, transfer } = await copyInSlices(message);
      return { task: { kind: 'encode' as const, type, message: value, arrays }, transfer };
    };
    const hint = 'The answer was computed and lost on its way: send the request again, a step with the same frame.';
    const reply = await this.run(pack, asker, undefined, hint);
    if (reply.kind === 'encoded') return reply.written;
    throw reply.kind === 'failed' ? reply.thrown : new Error(`an answer was ${reply.kind}`);
  }

  /** Ends the thread, and what still waits for it with DRAINING. */
  async close(): Promise<void> {
    this.isClosed = true;
    const reason = drained();
    this.running?.fail(reason);
    for (let job = this.waiting.take(); job; job = this.waiting.take()) job.fail(reason);
    const { thread } = this;
    this.thread = undefined;
    await thread?.terminate();
  }

  private run(pack: Job['pack'], asker: Asker, bytes: number | undefined, hintOnLoss: string): Promise<CoderReply> {
    const { tenant = '', signal } = asker;
    if (this.isClosed) throw drained();
    if (signal?.aborted) throw cancelled();
    if (bytes !== undefined && this.bound.enter(tenant, bytes) !== 'ADMITTED') {
      const reason = `${this.bound.count} large JSON bodies of ${this.bound.bytes} bytes are waiting to be read`;
      throw new IntersticeError('QUEUE_FULL', reason, { retryAfterSeconds: RETRY_AFTER_SECONDS });
    }
    return new Promise((resolve, reject) => {
      const end = () => signal?.removeEventListener('abort', onAbort);
      const job: Job = {
        tenant,
        bytes,
        pack,
        hintOnLoss,
        settle: (reply) => {
          end();
          resolve(reply);
        },
        fail: (reason) => {
          end();
          reject(reason);
        },
      };
      // What the thread is doing it does to its end; nobody hears of it.
      const onAbort = () => {
        if (this.waiting.remove(job)) this.leave(job);
        job.fail(cancelled());
      };
      signal?.addEventListener('abort', onAbort, { once: true });
      this.waiting.add(job);
      this.next();
    });
  }

  private leave({ tenant, bytes }: Job): void {
    if (bytes !== undefined) this.bound.leave(tenant, bytes);
  }

  /** Gives the thread what is next, if it is free. */
  private next(): void {
    if (this.running || this.isClosed) return;
    const job = this.waiting.take();
    if (!job) {
      this.thread?.unref();
      return;
    }
    this.leave(job);
    this.running = job;
    this.hand(job).catch((reason: unknown) => this.finish(job, () => job.fail(reason)));
  }

  private async hand(job: Job): Promise<void> {
    this.thread ??= this.start();
    // Whoever waits for an answer keeps the process alive until it is there.
    this.thread.ref();
    const { task, transfer } = await job.pack();
    // The thread may have been lost meanwhile, and the job with it.
    if (this.running === job) this.thread?.postMessage(task, transfer);
  }

  private finish(job: Job, tell: () => void): void {
    if (this.running === job) this.running = undefined;
    tell();
    this.next();
  }

  private start(): Worker {
    const thread = this.startThread();
    const lose = (cause: unknown) => {
      if (this.thread !== thread) return;
      this.thread = undefined;
      void thread.terminate();
      const job = this.running;
      const reason = lossOf(cause, job?.hintOnLoss);
      this.onLost(reason);
      if (job) this.finish(job, () => job.fail(reason));
    };
    thread.on('message', (reply: CoderReply) => {
      const job = this.running;
      if (this.thread === thread && job) this.finish(job, () => job.settle(reply));
    });
    // An error is what killed the thread; its exit follows, and comes alone when something ended the thread on purpose.
    thread.on('error', lose);
    thread.on('messageerror', lose);
    thread.on('exit', (code) => lose(new Error(`the thread ended with code ${code}`)));
    return thread;
  }
}

function startThread(): Worker {
  // A thread inherits the process's flags. --input-type (`node --input-type=module -e …`) is one that no file accepts.
  const isFromText = process.execArgv.some((flag) => flag.startsWith('--input-type'));
  return new Worker(new URL('./coder-thread.js', import.meta.url), isFromText ? { execArgv: [] } : {});
}

const drained = () => new IntersticeError('DRAINING', 'This server is shutting down.', { retryAfterSeconds: 1 });
const cancelled = () => new IntersticeError('CANCELLED', 'The caller went away.');

function lossOf(cause: unknown, hint: string | undefined): IntersticeError {
  if ((cause as NodeJS.ErrnoException | undefined)?.code === 'ERR_WORKER_OUT_OF_MEMORY') {
    return new IntersticeError('OUT_OF_DEVICE_MEMORY', 'the thread that reads and writes JSON ran out of memory', {
      cause,
      hint: 'Send protobuf, bare positions or files, which need a fraction of it; or give the process more memory.',
    });
  }
  // What killed it may quote what it was doing: that is for the log.
  return new IntersticeError('DEVICE_LOST', 'the thread that reads and writes JSON was lost', {
    cause,
    ...(hint === undefined ? {} : { hint }),
  });
}
