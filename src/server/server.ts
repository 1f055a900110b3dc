import { setTimeout } from 'node:timers/promises';
import type { Config } from '../config/config.js';
import { openFileLimit } from '../config/machine.js';
import { IntersticeError } from '../contract/errors.js';
import type { MeasuredOperations } from '../contract/events.js';
import type { Operations } from '../contract/operations.js';
import { createLogger, type Logger } from '../observe/log.js';
import { Metrics } from '../observe/metrics.js';
import { withTracing } from '../observe/tracing.js';
import type { SessionStore } from '../store/session-store.js';
import { Keyring } from '../transport/auth/keyring.js';
import type { HttpOptions } from '../transport/http/options.js';
import { BodyLedger } from '../transport/intake/body-ledger.js';
import { ServiceState } from '../transport/service-state.js';
import { serviceGuard } from './browser-guards.js';
import { connectionCap } from './connections.js';
import { DescriptorWatch } from './descriptors.js';
import { type Door, openAdmin, openCapacityDoor, openGrpc, openHttp } from './doors.js';
import { followStore } from './follow-store.js';
import { type DrainTimes, followSignals, type Reloadable, WRAP_UP_SECONDS } from './signals.js';

export interface Server {
  /** of HTTP, as in `http://127.0.0.1:8080` */
  readonly address: string;
  /** as in `127.0.0.1:50051`, the form that gRPC clients use; absent when gRPC is off */
  readonly grpcAddress?: string;
  /** as in `http://127.0.0.1:9090`; absent when the admin port is off */
  readonly adminAddress?: string;
  /** as in `127.0.0.1:9091`; absent when that port is off */
  readonly capacityAddress?: string;
  /** Refuses new requests, waits for the running ones (at most the drain time), then closes the doors and the operations. */
  close(): Promise<void>;
}

export interface ServerOptions {
  readonly log?: Logger;
  /** default true: SIGTERM and SIGINT drain and end the process, a second one ends it at once; SIGHUP reloads keys and TLS files */
  readonly handleSignals?: boolean;
  /** the metrics that observe the operations; default: new ones, which count only what reaches the doors */
  readonly metrics?: Metrics;
  /** the store of the sessions, for readiness, metrics and log */
  readonly store?: Pick<SessionStore, 'health' | 'durability' | 'warning' | 'watch'> | undefined;
  /** seconds after the drain time in which running work may return its state; default {@link WRAP_UP_SECONDS} */
  readonly wrapUpSeconds?: number;
}

/**
 * Opens all doors to the operations. The server owns the operations from now on: closing it closes them.
 *
 * @throws INVALID_PARAMETER if a setting does not work (an address in use, a file of keys with a mistake, TLS files
 *   that do not match); all doors and the operations are then closed
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
  log.info({ settings: givenSettings(config) }, 'These settings are set.');

  const stopFollowing = options.store ? followStore(options.store, config, { state, metrics, log }) : () => {};

  const doors: Door[] = [];
  const connections = connectionCap(config, metrics, log);
  const descriptors = new DescriptorWatch({
    limit: openFileLimit(),
    log,
    onShortage: metrics.countDescriptorShortage,
  });
  let keyring: Keyring | undefined;
  try {
    keyring = config.apiKeys === undefined ? undefined : Keyring.open(config.apiKeys);
    const bodies = new BodyLedger(config.maxBodyBytes, metrics.countBodyRefusal);
    metrics.watchBodies(bodies);
    const onServerError = descriptors.report;
    const doorOptions: HttpOptions = {
      operations: withTracing(operations),
      state,
      log,
      maxMessageBytes: config.limits.maxMessageBytes,
      maxJsonBytes: config.maxJsonBytes,
      bodies,
      connections: connections.cap,
      onServerError,
      authenticate: keyring?.authenticate,
      guard: serviceGuard(config),
      onAnswered: metrics.countAnswer,
    };
    // The admin port opens first and closes last, so that it shows the progress of start and shutdown.
    const openings = [
      () => openAdmin(config, metrics, state, onServerError),
      async () => ('stats' in operations ? openCapacityDoor(config, operations) : undefined),
      () => openHttp(config, doorOptions),
      () => openGrpc(config, doorOptions, metrics),
    ];
    for (const open of openings) {
      const door = await open();
      if (door) doors.push(door);
    }
  } catch (thrown) {
    for (const door of doors) await door.close(0);
    await operations.close();
    stopFollowing();
    descriptors.end();
    connections.flush();
    throw thrown;
  }
  const addressOf = (name: Door['name']) => doors.find((door) => door.name === name)?.address;
  const [address, grpcAddress, adminAddress] = [addressOf('http')!, addressOf('grpc'), addressOf('admin')];
  const capacityAddress = addressOf('capacity');
  let closing: Promise<void> | undefined;
  const { wrapUpSeconds = WRAP_UP_SECONDS } = options;
  const { drainNoticeSeconds: noticeSeconds, drainSeconds, drainJobSeconds } = config;
  const times = { noticeSeconds, drainSeconds, drainJobSeconds, wrapUpSeconds };
  const close = (): Promise<void> => (closing ??= drain(times, state, doors, operations, log));
  const files = [...(keyring ? [reloadableKeys(keyring)] : []), ...doors.flatMap((door) => door.files ?? [])];
  // Before the log says that the server listens: a reader of that line may send a signal.
  const stopSignals = options.handleSignals === false ? () => {} : followSignals(close, files, log, times);
  const engines = operations.info().engines.map((engine) => engine.name);
  log.info({ address, grpcAddress, adminAddress, engines, keys: keyring?.size }, 'The server is listening.');
  followReadiness(operations, state, log);
  const addresses = {
    address,
    ...(grpcAddress ? { grpcAddress } : {}),
    ...(adminAddress ? { adminAddress } : {}),
    ...(capacityAddress ? { capacityAddress } : {}),
  };
  const stopWatching = () => {
    stopSignals();
    stopFollowing();
    descriptors.end();
    connections.flush();
  };
  return { ...addresses, close: () => close().finally(stopWatching) };
}

function reloadableKeys(keyring: Keyring): Reloadable {
  return {
    name: 'API keys',
    reload: () => {
      keyring.reload();
      return { keys: keyring.size };
    },
  };
}

function followReadiness(operations: Operations, state: ServiceState, log: Logger): void {
  operations.ready().then(
    () => state.move('ready', 'The service takes requests.'),
    (reason: unknown) => {
      const { code, message } = IntersticeError.from(reason);
      // A server that is stopped before its engine has started reports no failure.
      if (code === 'DRAINING') return;
      state.move('failed', `The engine did not start: ${message}`);
      log.error({ err: reason }, 'The engine did not start.');
    },
  );
}

/** ms for answers that are being written when the doors close, even on a busy machine; then connections are ended. */
const FINAL_WRITES_MS = 1000;

/** Ends the work in progress step by step, so that every caller gets an answer or a refusal, not a reset. */
async function drain(
  { noticeSeconds, drainSeconds, drainJobSeconds, wrapUpSeconds }: DrainTimes,
  state: ServiceState,
  doors: readonly Door[],
  operations: Operations,
  log: Logger,
): Promise<void> {
  if (noticeSeconds > 0) {
    state.move('leaving', 'This server is about to shut down; it still serves new requests.');
    log.info({ noticeSeconds }, 'The server is leaving.');
    await setTimeout(noticeSeconds * 1000);
  }
  // Requests about jobs are answered as long as the server waits for them; otherwise results could not be fetched.
  if (drainJobSeconds > 0) state.keepAnsweringAboutJobs();
  state.move('draining', 'This server is shutting down.');
  log.info({ inFlight: state.inFlight, drainSeconds, drainJobSeconds }, 'The server is draining.');
  const endsAt = performance.now() + Math.max(drainSeconds, drainJobSeconds) * 1000;
  const [areJobsSettled] = await Promise.all([
    drainJobSeconds === 0 || within(operations.whenJobsSettled(), drainJobSeconds),
    within(state.idle(), drainSeconds),
  ]);
  if (!areJobsSettled) log.warn('The time for jobs is over; results that nobody has fetched are lost.');
  let isIdle = await within(state.idle(), Math.max(0, endsAt - performance.now()) / 1000);
  if (!isIdle) {
    log.warn(
      { inFlight: state.inFlight },
      'The drain time is over; running requests return the state that they have reached.',
    );
    state.refuseUnread();
    operations.wrapUp();
    isIdle = await within(state.idle(), wrapUpSeconds);
  }
  let closing: Promise<void> | undefined;
  if (!isIdle) {
    log.warn({ inFlight: state.inFlight }, 'The requests that still run are refused.');
    closing = operations.close();
    closing.catch(() => {});
    await within(state.idle(), FINAL_WRITES_MS / 1000);
  }
  const isAdmin = ({ name }: Door) => name === 'admin';
  const [last, first] = [doors.filter(isAdmin), doors.filter((door) => !isAdmin(door))];
  await Promise.all(first.map((door) => door.close(FINAL_WRITES_MS)));
  await (closing ?? operations.close());
  await Promise.all(last.map((door) => door.close(0)));
  log.info('The server is closed.');
}

/** Whether the promise resolves in time. */
async function within(promise: Promise<void>, seconds: number): Promise<boolean> {
  const timer = new AbortController();
  const late = setTimeout(seconds * 1000, false, { signal: timer.signal }).catch(() => false);
  const isIdle = await Promise.race([promise.then(() => true), late]);
  timer.abort();
  return isIdle;
}

/** Settings that are set, also to their defaults; the admin port shows all of them under /config. */
function givenSettings({ settings }: Config): Record<string, string | null> {
  const changed = settings.filter(({ source }) => source !== 'default');
  return Object.fromEntries(changed.map(({ name, value }) => [name, value]));
}
