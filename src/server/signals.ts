import closeWithGrace from 'close-with-grace';
import { IntersticeError } from '../errors.js';
import type { Logger } from '../observe/log.js';
import type { Keyring } from '../transport/auth/keyring.js';

/** Time beyond the drain for closing doors and threads, before the process ends by force. */
const CLOSE_SECONDS = 5;

interface SignalOptions {
  readonly drainSeconds: number;
  /** SIGHUP means something else than the end */
  readonly isHangUpOurs: boolean;
}

/** SIGTERM, SIGINT and the like drain; the second one ends the process at once. */
export function handleSignals(
  close: () => Promise<void>,
  log: Logger,
  { drainSeconds, isHangUpOurs }: SignalOptions,
): { uninstall: () => void } {
  return closeWithGrace(
    {
      delay: (drainSeconds + CLOSE_SECONDS) * 1000,
      logger: { error: (message?: unknown) => log.error(String(message)) },
      // The end of all work is no reason to close, and a terminal that goes away sends SIGHUP to what it started.
      skip: isHangUpOurs ? ['beforeExit', 'SIGHUP'] : ['beforeExit'],
    },
    async ({ signal, err }) => {
      if (err) log.fatal({ err }, 'closing after an unforeseen error');
      else log.info({ signal }, 'closing');
      await close();
    },
  );
}

/** A file with a mistake changes nothing: whoever had a key keeps it. @returns stops listening */
export function reloadKeysOnSighup(keys: Keyring, log: Logger): () => void {
  const reload = () => {
    try {
      keys.reload();
      log.info({ keys: keys.size }, 'the API keys were read again');
    } catch (thrown) {
      const { message } = IntersticeError.from(thrown);
      log.error({ keys: keys.size, reason: message }, 'the API keys stay as they were');
    }
  };
  process.on('SIGHUP', reload);
  return () => void process.off('SIGHUP', reload);
}
