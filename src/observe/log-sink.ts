import { closeSync, constants, fstatSync, openSync, writeSync } from 'node:fs';

/** Bytes of lines that wait to be written; lines beyond that are lost. Some thousand lines. */
const MAX_WAITING_BYTES = 256 * 1024;

/** Milliseconds between attempts while lines wait and no new one arrives. */
const RETRY_MS = 100;

/** Milliseconds that the process waits at its end for a reader of the last lines. */
const LAST_LINES_MS = 250;

/** Why lines are lost: label values of the metric. */
export const LOSS_REASONS = ['DISK_FULL', 'READER_GONE', 'SLOW_READER', 'ERROR'] as const;
export type LossReason = (typeof LOSS_REASONS)[number];

const REASONS: Readonly<Record<string, LossReason>> = {
  ENOSPC: 'DISK_FULL',
  EDQUOT: 'DISK_FULL',
  EFBIG: 'DISK_FULL',
  EPIPE: 'READER_GONE',
  EAGAIN: 'SLOW_READER',
};

/** Writes bytes without waiting. @returns how many were written @throws an error with a `code` such as EAGAIN */
export type WriteNow = (bytes: Buffer) => number;

export interface LogSinkOptions {
  /** default: standard error */
  readonly write?: WriteNow;
  readonly maxWaitingBytes?: number;
  /** converts a line, including its end, before it is written; default: unchanged */
  readonly format?: (line: string) => string;
  /** Called when a line was lost. */
  readonly onLost?: (reason: LossReason) => void;
}

/**
 * Where log lines go. A log must not block its service: a line is written at once or waits in a bounded buffer,
 * whatever is wrong with the file, pipe or terminal (a full disk, a slow or closed reader). Further lines are lost and
 * counted; when all waiting lines have been written, one line says how many were lost. A line is never cut: its rest is
 * written before anything else.
 */
export class LogSink {
  /** Called once lines can be written again, with the number of lost lines by reason. */
  onRecovered: ((lost: Readonly<Partial<Record<LossReason, number>>>) => void) | undefined;

  readonly #write: WriteNow;
  readonly #maxWaitingBytes: number;
  readonly #format: (line: string) => string;
  readonly #onLost: (reason: LossReason) => void;
  /** the first may be the rest of a line */
  #waiting: Buffer[] = [];
  #waitingBytes = 0;
  #reason: LossReason = 'ERROR';
  #lost = new Map<LossReason, number>();
  #timer: NodeJS.Timeout | undefined;

  constructor(options: LogSinkOptions = {}) {
    const { write, maxWaitingBytes = MAX_WAITING_BYTES, format = (line) => line, onLost = () => {} } = options;
    this.#write = write ?? openStandardError();
    this.#maxWaitingBytes = maxWaitingBytes;
    this.#format = format;
    this.#onLost = onLost;
  }

  /** Accepts a line with its end. Does not wait and does not throw. */
  write(line: string): void {
    const bytes = Buffer.from(this.#format(line));
    if (this.#waiting.length > 0) this.#flush();
    if (this.#waitingBytes + bytes.length > this.#maxWaitingBytes && this.#waiting.length > 0) {
      this.#lost.set(this.#reason, (this.#lost.get(this.#reason) ?? 0) + 1);
      this.#onLost(this.#reason);
      return;
    }
    const isFirst = this.#waiting.length === 0;
    this.#waiting.push(bytes);
    this.#waitingBytes += bytes.length;
    if (isFirst) this.#flush();
  }

  /** Waits briefly for the last lines; for the end of the process. */
  end(): void {
    const until = performance.now() + LAST_LINES_MS;
    this.#flush();
    while (this.#waiting.length > 0 && this.#reason === 'SLOW_READER' && performance.now() < until) {
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5);
      this.#flush();
    }
    clearTimeout(this.#timer);
  }

  #flush(): void {
    try {
      while (this.#waiting.length > 0) {
        const [first] = this.#waiting;
        const taken = this.#write(first);
        this.#waitingBytes -= taken;
        if (taken < first.length) this.#waiting[0] = first.subarray(taken);
        else this.#waiting.shift();
      }
    } catch (thrown) {
      this.#reason = REASONS[String((thrown as NodeJS.ErrnoException).code)] ?? 'ERROR';
      // The timer must not keep an idle process alive.
      this.#timer ??= setTimeout(() => {
        this.#timer = undefined;
        this.#flush();
      }, RETRY_MS).unref();
      return;
    }
    if (this.#lost.size === 0) return;
    const lost = Object.fromEntries(this.#lost);
    this.#lost = new Map();
    this.onRecovered?.(lost);
  }
}

/**
 * Opens standard error again so that writes to it do not block: the flag belongs to the open file description, which
 * other programs may share with this one. A socket cannot be opened again; for it, the stream of Node sets the flag.
 * Writes to a file on disk never block, so it is not opened again: the new descriptor would have its own write
 * position, and standard output, which may be the same file, would overwrite lines of the log.
 */
function openStandardError(): WriteNow {
  const stderr = 2;
  if (fstatSync(stderr).isFile()) return (bytes) => writeSync(stderr, bytes);
  let fd: number = stderr;
  try {
    fd = openSync('/proc/self/fd/2', constants.O_WRONLY | constants.O_APPEND | constants.O_NONBLOCK);
    // On systems other than Linux the path may lead to something else.
    if (!isSameFile(fd, stderr)) {
      closeSync(fd);
      fd = stderr;
    }
  } catch {
    fd = stderr;
  }
  if (fd === stderr) void process.stderr;
  return (bytes) => writeSync(fd, bytes);
}

function isSameFile(a: number, b: number): boolean {
  const [one, other] = [fstatSync(a), fstatSync(b)];
  return one.dev === other.dev && one.ino === other.ino;
}
