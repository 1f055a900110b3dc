import { type TransferListItem, Worker } from 'node:worker_threads';
import { cancelled, IntersticeError } from '../../contract/errors.js';
import { QueueBound } from '../../lanes/queue-bound.js';
import { bulkBytes, copyInSlices } from '../in-slices.js';
import { drainingError } from '../service-state.js';
import {
  type CoderReply,
  type CoderTask,
  type DecodeTask,
  type Reading,
  readJson,
  type WrittenJson,
  writeJson,
} from './coder-work.js';

/**
 * Size of JSON from which a thread decodes or encodes it. The transfer costs 0.1 ms; JSON below this size takes at most
 * 0.5 ms to decode and 1 ms to encode, and need not wait behind larger JSON.
 */
const LARGE_BYTES = 128 * 1024;

/** Number and total size of bodies that may wait for the thread: some five seconds of its work. */
const MAX_WAITING = 256;
const MAX_WAITING_BYTES = 256 * 1024 * 1024;
const RETRY_AFTER_SECONDS = 1;

/** Characters of JSON per byte of a bulk field: about 20 for a float32; base64 has four characters for three bytes. */
const CHARACTERS_PER_BYTE = { arrays: 5, base64: 4 / 3 };

export interface CoderOptions {
  /** Size from which the thread is used; default {@link LARGE_BYTES}. */
  readonly largeBytes?: number;
  /** Starts the thread; for tests. */
  readonly thread?: () => Worker;
  /** Total size of bodies that may wait for the thread; one body may always wait. */
  readonly maxWaitingBytes?: number;
  /** Called when the thread has died, or cannot be started. */
  readonly onLost?: (reason: IntersticeError) => void;
}

/** The client for which the coder works. */
export interface CoderClient {
  /** Tenants take turns. Default: one tenant for all. */
  readonly tenant?: string | undefined;
  /** Aborted when the result is no longer needed. */
  readonly signal?: AbortSignal | undefined;
}

interface Job {
  readonly tenant: string;
  /** Size of a body; undefined for an answer, which holds no memory beyond that of its request while it waits. */
  readonly bytes: number | undefined;
  /** Prepares the task when it is about to run. */
  readonly pack: () => Promise<{ readonly task: CoderTask; readonly transfer: TransferListItem[] }>;
  readonly settle: (reply: CoderReply) => void;
  readonly fail: (reason: unknown) => void;
  /** What the caller can do if the thread dies during this job. */
  readonly hintOnLoss: string;
}

/**
 * Decodes and encodes JSON. Large JSON goes to a thread, one job at a time, with tenants in turn, so that it does not
 * block the event loop. The thread starts with the first large JSON, does not keep an idle process alive, and is
 * replaced when it dies; its current job then fails with a retryable error, as a job does for which it cannot start: on
 * the event loop large JSON would block everybody for seconds.
 */
export class JsonCoder {
  private readonly largeBytes: number;
  private readonly startThread: () => Worker;
  private readonly waiting = new TenantQueue<Job>();
  private readonly bound: QueueBound;
  private readonly onLost: NonNullable<CoderOptions['onLost']>;
  private thread: Worker | undefined;
  private running: Job | undefined;
  private isClosed = false;

  constructor(options: CoderOptions = {}) {
    this.largeBytes = options.largeBytes ?? LARGE_BYTES;
    this.startThread = options.thread ?? startThread;
    this.onLost = options.onLost ?? (() => {});
    this.bound = new QueueBound(MAX_WAITING, options.maxWaitingBytes ?? MAX_WAITING_BYTES);
  }

  /**
   * @param body its bytes are transferred to the thread if they are large
   * @returns the decoded message, or the error that the body causes
   * @throws IntersticeError QUEUE_FULL, CANCELLED, DRAINING, DEVICE_LOST, OUT_OF_DEVICE_MEMORY
   */
  async read(body: Omit<DecodeTask, 'kind'>, client: CoderClient = {}): Promise<Reading> {
    const { bytes } = body;
    if (bytes.byteLength < this.largeBytes) return readJson(body);
    const isWhole = bytes.byteLength === bytes.buffer.byteLength && !(bytes.buffer instanceof SharedArrayBuffer);
    const pack = async () => ({
      task: { kind: 'decode' as const, ...body },
      transfer: isWhole ? [bytes.buffer as ArrayBuffer] : [],
    });
    const reply = await this.run(pack, client, bytes.byteLength, 'Nothing was changed; send the request again.');
    if (reply.kind === 'decoded') return { decoded: reply.decoded };
    if (reply.kind === 'refused') return { error: IntersticeError.fromPlain(reply.error), isJson: reply.isJson };
    throw reply.kind === 'failed' ? reply.thrown : new Error(`The thread answered "${reply.kind}" to a body.`);
  }

  /**
   * @param type message of the contract
   * @param message as for {@link encodeJson}; its arrays are copied
   * @throws IntersticeError CANCELLED, DRAINING, DEVICE_LOST, OUT_OF_DEVICE_MEMORY
   */
  async write(type: string, message: object, arrays: boolean, client: CoderClient = {}): Promise<WrittenJson> {
    const characters = bulkBytes(message) * CHARACTERS_PER_BYTE[arrays ? 'arrays' : 'base64'];
    if (characters < this.largeBytes) return writeJson(type, message, arrays);
    const pack = async () => {
      const { value, transfer } = await copyInSlices(message);
      return { task: { kind: 'encode' as const, type, message: value, arrays }, transfer };
    };
    const hint = 'The answer was computed and then lost. Send the request again, a step with the same frame.';
    const reply = await this.run(pack, client, undefined, hint);
    if (reply.kind === 'encoded') return reply.written;
    throw reply.kind === 'failed' ? reply.thrown : new Error(`The thread answered "${reply.kind}" to an answer.`);
  }

  /** Ends the thread; all jobs fail with DRAINING. */
  async close(): Promise<void> {
    this.isClosed = true;
    const reason = draining();
    this.running?.fail(reason);
    for (let job = this.waiting.take(); job; job = this.waiting.take()) job.fail(reason);
    const { thread } = this;
    this.thread = undefined;
    await thread?.terminate();
  }

  private run(
    pack: Job['pack'],
    client: CoderClient,
    bytes: number | undefined,
    hintOnLoss: string,
  ): Promise<CoderReply> {
    const { tenant = '', signal } = client;
    if (this.isClosed) throw draining();
    if (signal?.aborted) throw cancelled();
    if (bytes !== undefined && this.bound.enter(tenant, bytes) !== 'ADMITTED') {
      const reason = `${this.bound.count} large JSON bodies of ${this.bound.bytes} bytes are waiting to be decoded.`;
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
      // A running job is not interrupted; its result is ignored.
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

  /** Starts the next job if the thread is free. */
  private next(): void {
    if (this.running || this.isClosed) return;
    const job = this.waiting.take();
    if (!job) {
      this.thread?.unref();
      return;
    }
    this.leave(job);
    this.running = job;
    this.send(job).catch((reason: unknown) => this.finish(job, () => job.fail(reason)));
  }

  private async send(job: Job): Promise<void> {
    this.thread ??= this.start(job);
    // A job keeps the process alive until it is done.
    this.thread.ref();
    const { task, transfer } = await job.pack();
    // The thread may have died meanwhile, and the job with it.
    if (this.running === job) this.thread?.postMessage(task, transfer);
  }

  private finish(job: Job, settle: () => void): void {
    if (this.running === job) this.running = undefined;
    settle();
    this.next();
  }

  /** @throws DEVICE_LOST if the system has no thread to give now */
  private start({ hintOnLoss }: Job): Worker {
    const thread = this.created(hintOnLoss);
    const lose = (cause: unknown) => {
      if (this.thread !== thread) return;
      this.thread = undefined;
      void thread.terminate();
      const job = this.running;
      const reason = lossOf('The JSON thread was lost.', cause, job?.hintOnLoss);
      this.onLost(reason);
      if (job) this.finish(job, () => job.fail(reason));
    };
    thread.on('message', (reply: CoderReply) => {
      const job = this.running;
      if (this.thread === thread && job) this.finish(job, () => job.settle(reply));
    });
    // An error kills the thread and precedes its exit; an exit without error means that the thread was terminated.
    thread.on('error', lose);
    thread.on('messageerror', lose);
    thread.on('exit', (code) => lose(new Error(`The thread ended with code ${code}.`)));
    return thread;
  }

  private created(hintOnLoss: string): Worker {
    try {
      return this.startThread();
    } catch (cause) {
      const reason = lossOf('The JSON thread could not be started.', cause, hintOnLoss);
      this.onLost(reason);
      throw reason;
    }
  }
}

function startThread(): Worker {
  // A thread inherits the flags of the process, but --input-type (`node --input-type=module -e …`) allows no file.
  const hasInputType = process.execArgv.some((flag) => flag.startsWith('--input-type'));
  return new Worker(new URL('./coder-thread.js', import.meta.url), hasInputType ? { execArgv: [] } : {});
}

const draining = () => drainingError('This server is shutting down.');

function lossOf(message: string, cause: unknown, hint: string | undefined): IntersticeError {
  if ((cause as NodeJS.ErrnoException | undefined)?.code === 'ERR_WORKER_OUT_OF_MEMORY') {
    return new IntersticeError('OUT_OF_DEVICE_MEMORY', 'The JSON thread ran out of memory.', {
      cause,
      hint: 'Send protobuf, bare positions or files, which need a fraction of the memory, or give the process more memory.',
    });
  }
  // The cause may quote the request, so it is only logged.
  return new IntersticeError('DEVICE_LOST', message, {
    cause,
    ...(hint === undefined ? {} : { hint }),
  });
}

/** A queue that serves tenants in turn, so that no tenant waits for all jobs of another one. */
class TenantQueue<T extends { readonly tenant: string }> {
  private readonly waiting = new Map<string, T[]>();

  add(item: T): void {
    const own = this.waiting.get(item.tenant);
    if (own) own.push(item);
    else this.waiting.set(item.tenant, [item]);
  }

  /** Removes the next item; undefined if the queue is empty. */
  take(): T | undefined {
    const [first] = this.waiting;
    if (!first) return undefined;
    const [tenant, own] = first;
    const item = own.shift();
    // A tenant with more items goes to the end.
    this.waiting.delete(tenant);
    if (own.length > 0) this.waiting.set(tenant, own);
    return item;
  }

  /** @returns whether the item was in the queue */
  remove(item: T): boolean {
    const own = this.waiting.get(item.tenant);
    const at = own?.indexOf(item) ?? -1;
    if (!own || at < 0) return false;
    own.splice(at, 1);
    if (own.length === 0) this.waiting.delete(item.tenant);
    return true;
  }
}
