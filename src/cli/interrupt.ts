import process from 'node:process';

/**
 * Runs something that Ctrl-C cancels. The first signal aborts, and the run ends cleanly at its next step; the handlers are
 * gone by then, so a second one ends the process at once. `abort` does the same from within.
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
