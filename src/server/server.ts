import { setTimeout } from 'node:timers/promises';
import type { Config } from '../config/config.js';
import { IntersticeError } from '../contract/errors.js';
import type { MeasuredOperations } from '../contract/events.js';
import type { Operations } from '../contract/operations.js';
import { createLogger, type Logger } from '../observe/log.js';
import { Metrics } from '../observe/metrics.js';
import { withTracing } from '../observe/tracing.js';
import { Keyring } from '../transport/auth/keyring.js';
import { ServiceState } from '../transport/http/state.js';
import { type Door, openAdmin, openGrpc, openHttp } from './doors.js';
import { followSignals, type Reloadable } from './signals.js';

export interface Server {
  /** of the HTTP door, as in `http://127.0.0.1:8080` */
  readonly address: string;
  /** as in `127.0.0.1:50051`, which is what gRPC clients take; absent when the door is off */
  readonly grpcAddress?: string;
  /** as in `http://127.0.0.1:9090`; absent when it is off */
  readonly adminAddress?: string;
  /** Stops taking work, waits for what is at work (at most the drain time), then closes the doors and the operations. */
  close(): Promise<void>;
}

export interface ServerOptions {
  readonly log?: Logger;
  /** default true: SIGTERM and SIGINT drain and end the process, a second one ends it at once; SIGHUP reads keys and TLS files again */
  readonly handleSignals?: boolean;
  /** those that observe the operations; default: new ones, which then count only what the doors see */
  readonly metrics?: Metrics;
}

/**
 * Opens every door on the operations, which belong to the server from now on: closing it closes them.
 * @throws IntersticeError INVALID_PARAMETER when a setting does not work (an address that is taken, a file of keys with a
 *   mistake, TLS files that do not fit); the doors that were open and the operations are closed then
 */
export async function startServer(
  config: Config,
  operations: Operations | MeasuredOperations,
  options: ServerOptions = {},
): Promise<Server> {
  const log = options.log ?? createLogger(config.logLevel);
  const metrics = options.metrics ?? new Metrics();
  const state = new ServiceState();
  metrics.watchState(state);
  if ('stats' in operations) metrics.watch(() => operations.stats());
  for (const warning of config.warnings) log.warn(warning);
  log.info({ settings: changedSettings(config) }, 'settings');

  const open: Door[] = [];
  const keys = { ring: undefined as Keyring | undefined };
  try {
    keys.ring = config.apiKeys === undefined ? undefined : Keyring.open(config.apiKeys);
    const shared = {
      operations: withTracing(operations),
      state,
      log,
      maxMessageBytes: config.limits.maxMessageBytes,
      maxJsonBytes: config.maxJsonBytes,
      authenticate: keys.ring?.authenticate,
      onAnswered: metrics.countAnswer,
    };
    // Admin first, closed last: it tells how start and end go.
    for (const opening of [
      openAdmin(config, metrics, state),
      openHttp(config, shared),
      openGrpc(config, shared, metrics),
    ]) {
      const door = await opening();
      if (door) open.push(door);
    }
  } catch (thrown) {
    for (const door of open) await door.close(0);
    await operations.close();
    throw thrown;
  }
  const addressOf = (name: Door['name']) => open.find((door) => door.name === name)?.address;
  const [address, grpcAddress, adminAddress] = [addressOf('http')!, addressOf('grpc'), addressOf('admin')];
  let closing: Promise<void> | undefined;
  const close = (): Promise<void> => (closing ??= drain(config, state, open, operations, log));
  const files = [keysOf(keys.ring), ...open.map((door) => door.files)].filter((one) => one !== undefined);
  // Before anybody is told that it listens: who has read that may send a signal.
  const stopSignals =
    options.handleSignals === false ? () => {} : followSignals(close, files, log, config.drainSeconds);
  const engines = operations.info().engines.map((engine) => engine.name);
  log.info({ address, grpcAddress, adminAddress, engines, keys: keys.ring?.size }, 'listening');
  followReadiness(operations, state, log);
  const addresses = { address, ...(grpcAddress ? { grpcAddress } : {}), ...(adminAddress ? { adminAddress } : {}) };
  return { ...addresses, close: () => close().finally(stopSignals) };
}

const keysOf = (ring: Keyring | undefined): Reloadable | undefined =>
  ring && {
    name: 'the API keys',
    reload: () => {
      ring.reload();
      return { keys: ring.size };
    },
  };

function followReadiness(operations: Operations, state: ServiceState, log: Logger): void {
  operations.ready().then(
    () => state.move('ready', 'The service takes requests.'),
    (reason: unknown) => {
      state.move('failed', `The engine did not start: ${IntersticeError.from(reason).message}`);
      log.error({ err: reason }, 'the engine did not start');
    },
  );
}

/** Room for answers that are written when the drain time ends, ms: beyond it connections are cut. */
const LAST_WORDS_MS = 250;

async function drain(
  config: Config,
  state: ServiceState,
  open: readonly Door[],
  operations: Operations,
  log: Logger,
): Promise<void> {
  state.move('draining', 'This server is shutting down.');
  log.info({ inFlight: state.inFlight, drainSeconds: config.drainSeconds }, 'draining');
  const isIdle = await within(state.idle(), config.drainSeconds);
  if (!isIdle) log.warn({ inFlight: state.inFlight }, 'the drain time is over: ending the requests at work');
  const isWorking = ({ name }: Door) => name !== 'admin';
  await Promise.all(open.filter(isWorking).map((door) => door.close(isIdle ? LAST_WORDS_MS : 0)));
  await operations.close();
  await Promise.all(open.filter((door) => !isWorking(door)).map((door) => door.close(0)));
  log.info('closed');
}

/** Whether the promise settled in time. */
async function within(promise: Promise<void>, seconds: number): Promise<boolean> {
  const timer = new AbortController();
  const late = setTimeout(seconds * 1000, false, { signal: timer.signal }).catch(() => false);
  const isIdle = await Promise.race([promise.then(() => true), late]);
  timer.abort();
  return isIdle;
}

/** What somebody has set: the defaults are in the reference, and on the admin port's /config. */
function changedSettings({ settings }: Config): Record<string, string | null> {
  const changed = settings.filter(({ source }) => source !== 'default');
  return Object.fromEntries(changed.map(({ name, value }) => [name, value]));
}
