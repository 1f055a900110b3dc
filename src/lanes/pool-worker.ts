import { type ResourceLimits, Worker } from 'node:worker_threads';
import { IntersticeError } from '../contract/errors.js';
import type { EngineDescription } from '../contract/server-info.js';
import type { EndMessage, JobMessage, WorkerMessage, WorkerSetup } from './messages.js';
import { Mailbox, packCopies } from './transfer.js';

/** What the job that a worker is doing wants to hear. */
export interface Listener {
  receive(message: Exclude<WorkerMessage, { type: 'hello' | 'refused' | 'ended' }>): void;
  /** the thread is gone, and the job with it */
  lose(reason: IntersticeError): void;
}

/** One thread and the job it is doing. An idle thread does not keep the process alive. */
export class PoolWorker {
  /** resolves with the engine's description once the thread has opened it; rejects if the thread dies before */
  readonly hello: Promise<EngineDescription>;
  private readonly thread: Worker;
  private readonly closesFirst: boolean;
  /** resolves once the engine is closed, or the thread gone */
  private readonly ended: Promise<void>;
  /** the target of the step that it is doing */
  private readonly mailbox = new Mailbox();
  private listener: Listener | undefined;
  /** of the thread, as it said at the end of its last job */
  private keptBytes = 0;
  private isGone = false;
  /** terminate() holds the process until the thread is gone; a last message of its job must not let go of it before */
  private isEnding = false;

  /** @param onGone called once, after the job has been told */
  constructor(setup: WorkerSetup, resourceLimits: ResourceLimits, onGone: (reason: IntersticeError) => void) {
    // A thread inherits the process's flags. --input-type (`node --input-type=module -e …`) is one that no file accepts.
    this.thread = new Worker(new URL('./worker.js', import.meta.url), {
      workerData: setup,
      resourceLimits,
      ...(process.execArgv.some((flag) => flag.startsWith('--input-type')) ? { execArgv: [] } : {}),
    });
    this.closesFirst = setup.engine.closesFirst ?? false;
    let noteEnd: () => void = () => {};
    this.ended = new Promise((resolve) => {
      noteEnd = resolve;
    });
    let greet: (engine: EngineDescription) => void = () => {};
    let giveUp: (reason: IntersticeError) => void = () => {};
    this.hello = new Promise((resolve, reject) => {
      greet = resolve;
      giveUp = reject;
    });
    // Whoever needs the greeting awaits it; nobody awaits it when the thread was started for a job, which is told itself.
    this.hello.catch(() => {});
    const die = (reason: IntersticeError) => {
      if (this.isGone) return;
      this.isGone = true;
      noteEnd();
      void this.thread.terminate();
      giveUp(reason);
      this.listener?.lose(reason);
      this.listener = undefined;
      onGone(reason);
    };
    this.thread.on('message', (message: WorkerMessage) => {
      if (message.type === 'hello') greet(message.engine);
      else if (message.type === 'ended') noteEnd();
      else if (message.type === 'refused') die(IntersticeError.fromPlain(message.error));
      else {
        if (message.type === 'done' || message.type === 'failed') this.keptBytes = message.sharedBytes;
        this.listener?.receive(message);
      }
    });
    // An error is what killed the thread; its exit follows, and comes alone when something ended the thread on purpose.
    this.thread.on('error', (error) => die(explain(error)));
    this.thread.on('messageerror', (error) => die(explain(error)));
    // What it computed is lost and nothing was committed: another thread takes the same request again.
    this.thread.on('exit', (code) =>
      die(
        new IntersticeError('DEVICE_LOST', `the thread that computed this ended with code ${code}`, {
          hint: 'Nothing changed; send the request again.',
        }),
      ),
    );
    this.thread.unref();
  }

  /** bytes kept for whatever job is next, on both sides */
  get sharedBytes(): number {
    return this.keptBytes + this.mailbox.bytes;
  }

  get isBusy(): boolean {
    return this.listener !== undefined;
  }

  /** Keeps the process alive until {@link release}, as long as a job or a greeting is awaited. */
  hold(): void {
    this.thread.ref();
  }

  release(): void {
    if (!this.listener && !this.isEnding) this.thread.unref();
  }

  /** @param job copied: the caller keeps its arrays @param listener until it calls {@link finish} */
  start(job: JobMessage, listener: Listener): void {
    this.listener = listener;
    this.hold();
    // A step's target is read until its job ends and not kept; everything else may be, and needs memory of its own.
    // A scene goes, and it may be the one that needed so much; the next step takes what it needs.
    if (job.kind === 'park') this.mailbox.release();
    const input = job.kind === 'step' ? { ...job.input, target: this.mailbox.put(job.input.target) } : job.input;
    const { value, transfer } = packCopies(input);
    this.thread.postMessage({ ...job, input: value }, transfer);
  }

  /** The job is over; the thread may be given another one. */
  finish(): void {
    this.listener = undefined;
    this.release();
  }

  async terminate(): Promise<void> {
    this.isEnding = true;
    this.hold();
    if (this.closesFirst && !this.isGone) await this.closeEngine();
    await this.thread.terminate();
  }

  /** Waits for the engine's end; for one that is still being opened too, and for a job that stops at its next step. */
  private async closeEngine(): Promise<void> {
    const message: EndMessage = { kind: 'end' };
    this.thread.postMessage(message);
    let timer: NodeJS.Timeout | undefined;
    const patience = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, CLOSE_LIMIT_MS);
    });
    await Promise.race([this.ended, patience]);
    clearTimeout(timer);
  }
}

/**
 * ms; a thread whose engine takes longer is ended regardless. A software driver may be compiling its kernels: ten seconds
 * for one thread alone, most of a minute beside seven others on two cores.
 */
const CLOSE_LIMIT_MS = 60_000;

function explain(error: unknown): IntersticeError {
  const message = error instanceof Error ? error.message : String(error);
  if ((error as NodeJS.ErrnoException | undefined)?.code === 'ERR_WORKER_OUT_OF_MEMORY') {
    return new IntersticeError('OUT_OF_DEVICE_MEMORY', 'the thread that computed this ran out of memory', {
      cause: error,
      hint: 'Send a smaller mesh, try again when others are done, or give the process more memory.',
    });
  }
  return new IntersticeError('INTERNAL', `a worker thread died: ${message}`, { cause: error });
}
