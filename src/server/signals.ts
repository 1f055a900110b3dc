import closeWithGrace from 'close-with-grace';
import { IntersticeError } from '../contract/errors.js';
import type { Logger } from '../observe/log.js';
import { onStopSignals, STOP_SIGNALS } from './stop-signals.js';

/**
 * Time after the drain time in which running work returns the state that it has reached: the engine stops within a
 * step, and the test of the state takes about a second for a hundred thousand vertices.
 */
export const WRAP_UP_SECONDS = 10;

/** Time for closing doors and threads after that, and for copying scenes to the store; then the process is ended. */
const CLOSE_SECONDS = 10;

/** Seconds for running work to finish, and then to return the state that it has reached. */
export interface DrainTimes {
  /** in which requests are still served, while the server announces its shutdown */
  readonly noticeSeconds: number;
  readonly drainSeconds: number;
  /** Seconds for jobs to end and for their results to be fetched; running work may take as long. */
  readonly drainJobSeconds: number;
  readonly wrapUpSeconds: number;
}

/**
 * SIGTERM, SIGINT and similar signals drain; a second one half a second later ends the process at once. SIGHUP reloads
 * the files; without any file it drains, too.
 *
 * @returns a function that removes the handlers
 */
export function followSignals(
  close: () => Promise<void>,
  files: readonly Reloadable[],
  log: Logger,
  { noticeSeconds, drainSeconds, drainJobSeconds, wrapUpSeconds }: DrainTimes,
): () => void {
  let stopSignal: NodeJS.Signals | undefined;
  const grace = closeWithGrace(
    {
      delay: (noticeSeconds + Math.max(drainSeconds, drainJobSeconds) + wrapUpSeconds + CLOSE_SECONDS) * 1000,
      logger: { error: (message?: unknown) => log.error(String(message)) },
      // An empty event loop is no reason to close. SIGHUP closes only if there is nothing to reload: a terminal sends
      // it to its programs when it is closed.
      skip: ['beforeExit', ...STOP_SIGNALS, ...(files.length > 0 ? ['SIGHUP' as const] : [])],
    },
    async ({ signal = stopSignal, err }) => {
      if (err) log.fatal({ err }, 'The server closes after an unexpected error.');
      else log.info({ signal }, 'The server closes after a signal.');
      await close();
    },
  );
  const stopListening = onStopSignals(
    (signal) => {
      stopSignal = signal;
      void grace.close();
    },
    (signal) => {
      log.error({ signal }, 'A second signal ends the process.');
      process.exit(1);
    },
  );
  const stopReloading = reloadOnSighup(files, log);
  return () => {
    stopListening();
    grace.uninstall();
    stopReloading();
  };
}

/** Files that can be reloaded while the service runs. */
export interface Reloadable {
  /** a plural, as in "API keys" */
  readonly name: string;
  /** @returns a description of the new content for the log @throws if the files cannot be used; nothing has changed */
  reload(): object;
}

/** A file with a mistake keeps its old content and does not affect the others. @returns removes the handler */
function reloadOnSighup(files: readonly Reloadable[], log: Logger): () => void {
  if (files.length === 0) return () => {};
  const reloadAll = () => {
    for (const { name, reload } of files) {
      try {
        log.info(reload(), `The ${name} were reloaded.`);
      } catch (thrown) {
        log.error(
          { reason: IntersticeError.from(thrown).message },
          `The ${name} are unchanged, because a file could not be used.`,
        );
      }
    }
  };
  process.on('SIGHUP', reloadAll);
  return () => void process.off('SIGHUP', reloadAll);
}
