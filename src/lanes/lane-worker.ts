import { type ResourceLimits, Worker } from 'node:worker_threads';
import { IntersticeError } from '../contract/errors.js';
import type { EngineDescription } from '../contract/server-info.js';
import type { ConvoyCounts, JobsTogether } from '../solver/engine.js';
import type { CloseMessage, JobMessage, JobReport, NumberedJob, WorkerMessage, WorkerSetup } from './messages.js';
import { Mailbox, packCopies } from './transfer.js';

/** Receives what a thread sends during a job. */
export interface Listener {
  receive(message: JobReport): void;
  /** the thread is gone, and the job with it */
  lose(reason: IntersticeError): void;
}

/** What happens to a worker thread besides its jobs. */
export interface WorkerEvents {
  /** called once, after the listeners of its jobs */
  onGone(reason: IntersticeError): void;
  /** its engine has lost its device, and replaces it */
  onDeviceLost(reason: string): void;
}

/** A job that the thread runs. */
interface RunningJob {
  readonly listener: Listener;
  /** holds the target of the step */
  readonly mailbox: Mailbox;
}

/** The main thread's side of a worker thread and the jobs that it runs. An idle thread does not keep the process alive. */
export class LaneWorker {
  /** resolves with the engine's description when the thread has opened it; rejects if the thread dies before */
  readonly hello: Promise<EngineDescription>;
  private readonly thread: Worker;
  private readonly closesFirst: boolean;
  /** resolves when the engine is closed or the thread is gone */
  private readonly closed: Promise<void>;
  /** by number */
  private readonly jobs = new Map<number, RunningJob>();
  private nextId = 0;
  /** mailboxes of jobs that have ended */
  private readonly mailboxes: Mailbox[] = [];
  /** like isCostlyToOpen of the engine, known once `hello` has resolved */
  isCostly = false;
  /** as of the engine, known from then on, too */
  together: JobsTogether | undefined;
  /** counts of its engine, as the thread reported them at the end of its last job */
  convoy: ConvoyCounts | undefined;
  /** bytes of the thread, as it reported them at the end of its last job */
  private threadBytes = 0;
  private isGone = false;
  /** terminate() keeps the process alive until the thread is gone; the end of the last job must not release it before */
  private isEnding = false;

  constructor(setup: WorkerSetup, resourceLimits: ResourceLimits, events: WorkerEvents) {
    // A thread inherits the flags of the process. --input-type (`node --input-type=module -e …`) does not allow a file.
    this.thread = new Worker(new URL('./thread-entry.js', import.meta.url), {
      workerData: setup,
      transferList: [setup.helpers.port],
      resourceLimits,
      ...(process.execArgv.some((flag) => flag.startsWith('--input-type')) ? { execArgv: [] } : {}),
    });
    this.closesFirst = setup.engine.closesFirst ?? false;
    let onClosed: () => void = () => {};
    this.closed = new Promise((resolve) => {
      onClosed = resolve;
    });
    let onHello: (engine: EngineDescription) => void = () => {};
    let onFailure: (reason: IntersticeError) => void = () => {};
    this.hello = new Promise((resolve, reject) => {
      onHello = resolve;
      onFailure = reject;
    });
    // If the thread is started for a job, nothing awaits `hello`, and the listener receives the failure.
    this.hello.catch(() => {});
    const die = (reason: IntersticeError) => {
      if (this.isGone) return;
      this.isGone = true;
      onClosed();
      void this.thread.terminate();
      onFailure(reason);
      for (const { listener } of this.jobs.values()) listener.lose(reason);
      this.jobs.clear();
      events.onGone(reason);
    };
    this.thread.on('message', (message: WorkerMessage) => {
      if (message.type === 'hello') {
        this.isCostly = message.isCostly;
        this.together = message.together;
        onHello(message.engine);
      } else if (message.type === 'closed') onClosed();
      else if (message.type === 'device-lost') events.onDeviceLost(message.reason);
      else if (message.type === 'refused') die(IntersticeError.fromPlain(message.error));
      else {
        const { id, report } = message;
        if (report.type === 'done' || report.type === 'failed') {
          this.threadBytes = report.sharedBytes;
          this.convoy = report.convoy;
        }
        this.jobs.get(id)?.listener.receive(report);
      }
    });
    // After an error the thread exits; an exit without an error means that something ended the thread on purpose.
    this.thread.on('error', (error) => die(explain(error)));
    this.thread.on('messageerror', (error) => die(explain(error)));
    // The computation is lost and nothing was committed: another thread can take the same request.
    this.thread.on('exit', (code) =>
      die(
        new IntersticeError('DEVICE_LOST', `The thread that computed this ended with code ${code}.`, {
          hint: 'Nothing changed; send the request again.',
        }),
      ),
    );
    this.thread.unref();
  }

  /** bytes that both sides keep for the next job */
  get sharedBytes(): number {
    const used = [...this.jobs.values()].map(({ mailbox }) => mailbox);
    return [...used, ...this.mailboxes].reduce((sum, { bytes }) => sum + bytes, this.threadBytes);
  }

  /** Keeps the process alive until {@link release}, while a job or `hello` is awaited. */
  hold(): void {
    this.thread.ref();
  }

  release(): void {
    if (this.jobs.size === 0 && !this.isEnding) this.thread.unref();
  }

  /** @param job is copied: the caller keeps its arrays @param listener receives messages until {@link finish} */
  start(job: JobMessage, listener: Listener): void {
    const mailbox = this.mailboxes.pop() ?? new Mailbox();
    const id = this.nextId++;
    this.jobs.set(id, { listener, mailbox });
    this.hold();
    // The parked scene may have been the largest; the next step allocates what it needs.
    if (job.kind === 'park') for (const free of [mailbox, ...this.mailboxes]) free.release();
    // A thread reads the target of a step until the job ends. It may keep other arrays, which need memory of their own.
    const input = job.kind === 'step' ? { ...job.input, target: mailbox.put(job.input.target) } : job.input;
    const { value, transfer } = packCopies(input);
    this.thread.postMessage({ ...job, input: value, id } as NumberedJob, transfer);
  }

  /** The job of this listener is over; the thread can take another one. */
  finish(listener: Listener): void {
    for (const [id, job] of this.jobs) {
      if (job.listener !== listener) continue;
      this.jobs.delete(id);
      this.mailboxes.push(job.mailbox);
    }
    this.release();
  }

  async terminate(): Promise<void> {
    this.isEnding = true;
    this.hold();
    if (this.closesFirst && !this.isGone) await this.closeEngine();
    await this.thread.terminate();
  }

  /** Waits until the engine is closed, even if it is still being opened or a job has yet to stop at its next step. */
  private async closeEngine(): Promise<void> {
    const message: CloseMessage = { kind: 'close' };
    this.thread.postMessage(message);
    let timer: NodeJS.Timeout | undefined;
    const timeout = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, MAX_CLOSE_MS);
    });
    await Promise.race([this.closed, timeout]);
    clearTimeout(timer);
  }
}

/**
 * ms; a thread whose engine takes longer to close is terminated. A software driver may be compiling its kernels: that takes
 * ten seconds for one thread alone, and most of a minute beside seven others on two cores.
 */
const MAX_CLOSE_MS = 60_000;

function explain(error: unknown): IntersticeError {
  const message = error instanceof Error ? error.message : String(error);
  if ((error as NodeJS.ErrnoException | undefined)?.code === 'ERR_WORKER_OUT_OF_MEMORY') {
    return new IntersticeError('OUT_OF_DEVICE_MEMORY', 'The thread that computed this ran out of memory.', {
      cause: error,
      hint: 'Send a smaller mesh, try again when other jobs have ended, or give the process more memory.',
    });
  }
  return new IntersticeError('INTERNAL', `A worker thread died: ${message}`, { cause: error });
}
