import type { Backend, BackendChoice, CliContext } from './backend.js';
import { StatusLine } from './progress.js';

/**
 * Runs work on a backend that it opens and closes, with a line of progress on the terminal. The line is gone before the
 * backend closes, which writes its notes to the same stream, and before an error is reported there.
 *
 * @param waiting the text of the line until the work says another
 * @throws what opening, the work or closing throws
 */
export async function withBackend<T>(
  cli: CliContext,
  flags: BackendChoice & { readonly quiet?: boolean },
  waiting: string,
  work: (backend: Backend, line: StatusLine) => Promise<T>,
): Promise<T> {
  const line = new StatusLine(cli.terminal.err, cli.terminal.now, waiting, flags.quiet !== true).start();
  try {
    const backend = await cli.openBackend(flags);
    try {
      return await work(backend, line);
    } finally {
      line.clear();
      await backend.close();
    }
  } finally {
    line.clear();
  }
}
