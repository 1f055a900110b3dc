import { writeSync } from 'node:fs';
import process from 'node:process';
import { EXIT } from './exit-codes.js';

/** An output stream as the command line uses it; tests pass one that records. */
export interface Sink {
  write(text: string): void;
  /** Whether lines may be redrawn. */
  readonly isTerminal: boolean;
  readonly columns: number;
  /** Whether it is the standard error of this process, which a log may open again. */
  readonly isStandardError?: boolean;
  /** From now on text that cannot be written (a full disk) is lost; otherwise the program fails. */
  tolerateLoss?(): void;
}

export interface Terminal {
  /** Results: reports, verdicts, help. */
  readonly out: Sink;
  /** Messages about the run: progress, errors. */
  readonly err: Sink;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Milliseconds on a monotonic clock. */
  readonly now: () => number;
  /** The folder to which relative paths on the command line refer. */
  readonly folder: string;
}

/** Width of an output that is not a terminal. */
const fallbackColumns = 100;

function sinkOf(stream: NodeJS.WriteStream): Sink {
  let isLossTolerated = false;
  // A reader like `| head` may close the pipe early. The answer is on disk anyway, so this is not an error.
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE' && !isLossTolerated) failWriting(stream, error);
  });
  return {
    tolerateLoss: () => {
      isLossTolerated = true;
    },
    write: (text) => {
      stream.write(text);
    },
    isStandardError: stream === process.stderr,
    isTerminal: stream.isTTY === true && process.env.TERM !== 'dumb',
    get columns() {
      return stream.columns ?? fallbackColumns;
    },
  };
}

/** Ends the program: the exit code of an error that nobody catches would be that of a verdict. */
function failWriting(stream: NodeJS.WriteStream, { message }: Error): never {
  try {
    if (stream !== process.stderr) writeSync(2, `error: The standard output cannot be written: ${message}.\n`);
  } finally {
    process.exit(EXIT.INTERNAL);
  }
}

export function processTerminal(): Terminal {
  return {
    out: sinkOf(process.stdout),
    err: sinkOf(process.stderr),
    env: process.env,
    now: () => performance.now(),
    folder: process.cwd(),
  };
}

/**
 * Runs a function that Ctrl-C cancels. The first signal aborts, and the run ends cleanly at its next step; it also
 * removes the handlers, so that a second signal ends the process at once. Calling `abort` has the same effect as the
 * first signal.
 */
export async function withInterrupt<T>(run: (signal: AbortSignal, abort: () => void) => Promise<T>): Promise<T> {
  const controller = new AbortController();
  const abort = (): void => {
    release();
    controller.abort();
  };
  const release = (): void => {
    process.off('SIGINT', abort);
    process.off('SIGTERM', abort);
  };
  process.on('SIGINT', abort);
  process.on('SIGTERM', abort);
  try {
    return await run(controller.signal, abort);
  } finally {
    release();
  }
}
