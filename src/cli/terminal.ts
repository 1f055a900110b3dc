/** The part of a terminal that the command line needs; tests pass one that records. */
export interface Sink {
  write(text: string): void;
  /** A person is looking: redrawn lines are welcome here, and nowhere else. */
  readonly isTerminal: boolean;
  readonly columns: number;
}

export interface Terminal {
  /** Results: reports, verdicts, help. */
  readonly out: Sink;
  /** Everything about the run: progress, errors. */
  readonly err: Sink;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Milliseconds on a clock that never jumps. */
  readonly now: () => number;
  /** The folder that relative paths on the command line start from. */
  readonly folder: string;
}

/** Of what is no terminal: a file or a pager, read on a screen of today. */
const fallbackColumns = 100;

function sinkOf(stream: NodeJS.WriteStream): Sink {
  // A reader that has seen enough (`| head`) closes the pipe; the answer is on disk all the same, so that is no error.
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
  });
  return {
    write: (text) => {
      stream.write(text);
    },
    isTerminal: stream.isTTY === true && process.env.TERM !== 'dumb',
    get columns() {
      return stream.columns ?? fallbackColumns;
    },
  };
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
