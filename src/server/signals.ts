import closeWithGrace from 'close-with-grace';
import { IntersticeError } from '../contract/errors.js';
import type { Logger } from '../observe/log.js';

/** Time beyond the drain for closing doors and threads, before the process ends by force. */
const CLOSE_SECONDS = 5;

/**
 * SIGTERM, SIGINT and the like drain; the second one ends the process at once. SIGHUP reads the files again; it drains too
 * where there are none.
 *
 * @returns leaves the signals to others
 */
export function followSignals(
  close: () => Promise<void>,
  files: readonly Reloadable[],
  log: Logger,
  drainSeconds: number,
): () => void {
  const grace = closeWithGrace(
    {
      delay: (drainSeconds + CLOSE_SECONDS) * 1000,
      logger: { error: (message?: unknown) => log.error(String(message)) },
      // The end of all work is no reason to close, and a terminal that goes away sends SIGHUP to what it started.
      skip: files.length > 0 ? ['beforeExit', 'SIGHUP'] : ['beforeExit'],
    },
    async ({ signal, err }) => {
      if (err) log.fatal({ err }, 'closing after an unforeseen error');
      else log.info({ signal }, 'closing');
      await close();
    },
  );
  const stopReloading = reloadOnSighup(files, log);
  return () => {
    grace.uninstall();
    stopReloading();
  };
}

/** What stands in files and can be read again while the service runs. */
export interface Reloadable {
  /** as in "the API keys" */
  readonly name: string;
  /** @returns what is worth telling of what was read @throws when the files cannot be used; nothing changes then */
  reload(): object;
}

/** A file with a mistake changes nothing of its own kind, and keeps nothing else from being read. @returns stops listening */
function reloadOnSighup(files: readonly Reloadable[], log: Logger): () => void {
  if (files.length === 0) return () => {};
  const reloadAll = () => {
    for (const { name, reload } of files) {
      try {
        log.info(reload(), `${name} were read again`);
      } catch (thrown) {
        log.error({ reason: IntersticeError.from(thrown).message }, `${name} stay as they were`);
      }
    }
  };
  process.on('SIGHUP', reloadAll);
  return () => void process.off('SIGHUP', reloadAll);
}
