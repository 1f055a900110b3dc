import type { AddressInfo } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import closeWithGrace from 'close-with-grace';
import type { Config } from './config.js';
import { IntersticeError } from './errors.js';
import { createLogger, type Logger } from './observe/log.js';
import type { Operations } from './session/types.js';
import { buildHttpApp } from './transport/http/app.js';
import { ServiceState } from './transport/http/state.js';

export interface Server {
  /** as in `http://127.0.0.1:8080` */
  readonly address: string;
  /** Stops taking work, waits for what is at work (at most the drain time), then closes the door and the operations. */
  close(): Promise<void>;
}

export interface ServerOptions {
  readonly log?: Logger;
  /** default true: SIGTERM and SIGINT drain and end the process; a second one ends it at once */
  readonly handleSignals?: boolean;
}

/**
 * Opens every door on the operations, which belong to the server from now on: closing it closes them.
 * @throws IntersticeError INVALID_PARAMETER when the address cannot be listened on; the operations are closed then
 */
export async function startServer(
  config: Config,
  operations: Operations,
  options: ServerOptions = {},
): Promise<Server> {
  const log = options.log ?? createLogger(config.logLevel);
  const state = new ServiceState();
  for (const warning of config.warnings) log.warn(warning);
  const app = await buildHttpApp({ operations, state, maxMessageBytes: config.limits.maxMessageBytes, log });
  try {
    await app.listen({ host: config.host, port: config.httpPort });
  } catch (cause) {
    await operations.close();
    throw new IntersticeError(
      'INVALID_PARAMETER',
      `Cannot listen on ${config.host}:${config.httpPort} (${(cause as Error).message}).`,
      { cause, hint: 'Choose another INTERSTICE_HTTP_PORT, or stop what listens there.' },
    );
  }
  const address = addressOf(app.server.address() as AddressInfo);
  log.info({ address, engines: operations.info().engines.map((engine) => engine.name) }, 'listening');
  operations.ready().then(
    () => state.move('ready', 'The service takes requests.'),
    (reason: unknown) => {
      state.move('failed', `The engine did not start: ${IntersticeError.from(reason).message}`);
      log.error({ err: reason }, 'the engine did not start');
    },
  );

  let closing: Promise<void> | undefined;
  const drain = async (): Promise<void> => {
    state.move('draining', 'This server is shutting down.');
    log.info({ inFlight: state.inFlight, drainSeconds: config.drainSeconds }, 'draining');
    const isIdle = await within(state.idle(), config.drainSeconds);
    if (!isIdle) {
      log.warn({ inFlight: state.inFlight }, 'the drain time is over: ending the requests at work');
      app.server.closeAllConnections();
    }
    await app.close();
    await operations.close();
    log.info('closed');
  };
  const close = (): Promise<void> => (closing ??= drain());
  if (options.handleSignals !== false) {
    const grace = handleSignals(close, log, config.drainSeconds);
    return { address, close: () => close().finally(() => grace.uninstall()) };
  }
  return { address, close };
}

/** Time beyond the drain for closing doors and threads, before the process ends by force. */
const CLOSE_SECONDS = 5;

function handleSignals(close: () => Promise<void>, log: Logger, drainSeconds: number) {
  return closeWithGrace(
    {
      delay: (drainSeconds + CLOSE_SECONDS) * 1000,
      logger: { error: (message?: unknown) => log.error(String(message)) },
      // The end of all work is no reason to close, and a terminal that goes away sends SIGHUP to what it started.
      skip: ['beforeExit'],
    },
    async ({ signal, err }) => {
      if (err) log.fatal({ err }, 'closing after an unforeseen error');
      else log.info({ signal }, 'closing');
      await close();
    },
  );
}

function addressOf({ address, family, port }: AddressInfo): string {
  return family === 'IPv6' ? `http://[${address}]:${port}` : `http://${address}:${port}`;
}

/** Whether the promise settled in time. */
async function within(promise: Promise<void>, seconds: number): Promise<boolean> {
  const timer = new AbortController();
  const late = setTimeout(seconds * 1000, false, { signal: timer.signal }).catch(() => false);
  const isIdle = await Promise.race([promise.then(() => true), late]);
  timer.abort();
  return isIdle;
}
