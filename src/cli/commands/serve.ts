import { accessSync, constants } from 'node:fs';
import type { Config } from '../../config/config.js';
import { SETTINGS } from '../../config/settings.js';
import type { StoreConfig } from '../../config/store-config.js';
import { IntersticeError } from '../../contract/errors.js';
import type { Operations } from '../../contract/operations.js';
import { makeFolder } from '../../folders.js';
import type { Logger } from '../../observe/log.js';
import { projectRoot } from '../../paths.js';
import type { Server, ServerOptions } from '../../server/server.js';
import { onStopSignals } from '../../server/stop-signals.js';
import type { SessionStore } from '../../store/session-store.js';
import type { CliContext } from '../backend.js';
import { EXIT, UsageError } from '../exit-codes.js';
import { openOperations, readSettings } from '../local.js';
import { pickSettings } from '../serve-flags.js';
import type { Sink } from '../terminal.js';
import { exampleCommand, renderFacts, renderWelcome } from '../welcome.js';

/**
 * `interstice serve`: returns when the service accepts requests. From then on the open port keeps the process alive
 * until a signal ends it.
 *
 * @throws if the service cannot start; everything is closed by then
 */
export async function runServe(values: Readonly<Record<string, unknown>>, cli: CliContext): Promise<number> {
  const { terminal } = cli;
  const config = readSettings(terminal.env, pickSettings(values), 'serve');
  if (values.printConfig === true) {
    terminal.out.write(renderSettings(config));
    return EXIT.OK;
  }
  assertWritable(SETTINGS.findings.name, config.findingsFolder);
  assertWritable(SETTINGS.trace.name, config.traceFolder);
  // The first process of a container has no default reaction to a signal: it would start to the end, and be killed later.
  const forgetSignals = onStopSignals(
    () => process.exit(EXIT.OK),
    () => {},
  );
  try {
    return await serve(config, cli, forgetSignals);
  } finally {
    forgetSignals();
  }
}

/**
 * A folder for what is rarely written is tested now: otherwise the first finding would be lost.
 *
 * @throws UsageError
 */
function assertWritable(setting: string, folder: string | undefined): void {
  if (folder === undefined) return;
  try {
    // Only the owner may read: it will hold geometry of callers.
    makeFolder(folder, 0o700);
    accessSync(folder, constants.W_OK | constants.X_OK);
  } catch (thrown) {
    const { code = String(thrown) } = thrown as NodeJS.ErrnoException;
    throw new UsageError(`${setting} names the folder ${folder}, which cannot be written (${code}).`, 'serve');
  }
}

/** @param onServer called when the server has handlers of its own for the signals */
async function serve(config: Config, { terminal }: CliContext, onServer: () => void): Promise<number> {
  // Imported only now, so that the other commands do not load the service.
  const { createLogger } = await import('../../observe/log.js');
  const { LogSink } = await import('../../observe/log-sink.js');
  const { Metrics } = await import('../../observe/metrics.js');
  const metrics = new Metrics();
  const isForeign = terminal.err.isTerminal && terminal.err.isStandardError !== true;
  const log = createLogger(config.logLevel, isForeign ? readableLog(terminal.err) : openLog());
  // The log contains the addresses too, so the service need not end if its output cannot be written.
  terminal.out.tolerateLoss?.();
  terminal.err.tolerateLoss?.();

  function openLog(): InstanceType<typeof LogSink> {
    const format = terminal.err.isTerminal ? { format: readableText } : {};
    const sink = new LogSink({ ...format, onLost: metrics.countLostLogLine });
    process.once('exit', () => sink.end());
    return sink;
  }

  const store = config.store && (await openStore(config.store));
  const operations = await openOperations(config, (event, message) => logEvent(log, event, message), {
    onEvent: metrics.observe,
    ...(store ? { store: { sessions: store, onFailure: config.store!.onFailure } } : {}),
    features: ['http', ...(config.grpcPort === 'off' ? [] : ['grpc']), ...(config.apiKeys ? ['api-keys'] : [])],
  });
  const { address, grpcAddress, adminAddress } = await listen(config, operations, { log, metrics, store }, onServer);
  const { engines } = operations.info();
  if (engines.some(({ name }) => name.startsWith('webgpu'))) {
    log.info(DAWN_LINES);
  }
  const needsKey = config.apiKeys !== undefined;
  const facts = {
    address,
    grpc: grpcAddress,
    admin: adminAddress,
    engine: engines.map(describeEngine).join(', '),
    command: exampleCommand(address, terminal.folder, projectRoot, needsKey),
    needsKey,
  };
  terminal.out.write(terminal.out.isTerminal ? renderWelcome(facts) : renderFacts(facts));
  return EXIT.OK;
}

/** Dawn writes these lines to file descriptor 2 from native code, with neither a switch nor a callback for them. */
const DAWN_LINES =
  'Lines "Warning: maxDynamic... artificially reduced" on standard error are no fault: the driver allows more buffers with dynamic offsets ' +
  'in one pipeline than the 16 that the WebGPU library (Dawn) supports, so Dawn takes its own limit; the engine uses one. Each thread that ' +
  'opens an adapter leaves four such lines: two when it lists the adapters, two when it opens one.';

/** @throws UsageError: a store that cannot be used is a mistake in the settings, like a port that is in use */
async function openStore(config: StoreConfig): Promise<SessionStore> {
  const { RedisStore } = await import('../../store/redis-store.js');
  return RedisStore.open(config).catch((error: unknown) => {
    if (!(error instanceof IntersticeError) || error.code !== 'INVALID_PARAMETER') throw error;
    throw new UsageError(`${error.message} ${error.hint}`, 'serve');
  });
}

async function listen(
  config: Config,
  operations: Operations,
  options: ServerOptions,
  onServer: () => void,
): Promise<Server> {
  const { startServer } = await import('../../server/server.js');
  const server = await startServer(config, operations, options).catch((error: unknown) => {
    // A port that is in use is a configuration mistake, like any other invalid setting.
    if (!(error instanceof IntersticeError) || error.code !== 'INVALID_PARAMETER') throw error;
    throw new UsageError(`${error.message} ${error.hint}`, 'serve');
  });
  onServer();
  try {
    await operations.ready();
  } catch (error) {
    await server.close();
    throw error;
  }
  return server;
}

/** One NAME=value per line, as a settings file accepts it; the source of each value follows as a comment. */
function renderSettings({ settings }: Config): string {
  const lines = settings.map(({ name, value, source }) => {
    const isComment = value === null || name === SETTINGS.config.name;
    return `${isComment ? '# ' : ''}${name}=${value ?? ''}\n# from: ${source}`;
  });
  return `${lines.join('\n')}\n`;
}

/** The engine's name, and the adapter if it adds something: which hardware computes, and what `auto` selected. */
function describeEngine(engine: { readonly name: string; readonly adapter: string }): string {
  return engine.adapter === '' || engine.adapter === engine.name ? engine.name : `${engine.name} on ${engine.adapter}`;
}

function logEvent(log: Logger, event: object, message: string): void {
  const { level, ...facts } = event as { level?: unknown };
  if (level === 'error') log.error(facts, message);
  else log.info(facts, message);
}

/** Fields of every line that are redundant at a terminal. */
const KNOWN = new Set(['level', 'time', 'msg', 'service', 'version', 'event']);

/**
 * A log line of the service as readable text: "14:03:27 info  request method=POST path=/v1/resolve status=200 ms=12".
 * A line that is not JSON is returned unchanged.
 */
export function readableLine(line: string): string {
  let entry: Record<string, unknown>;
  try {
    entry = JSON.parse(line) as Record<string, unknown>;
  } catch {
    return line;
  }
  const { time, level, msg } = entry;
  const facts = Object.entries(entry).filter(([name]) => !KNOWN.has(name));
  const words = facts.map(([name, value]) => `${name}=${typeof value === 'string' ? value : readableValue(value)}`);
  return [String(time).slice(11, 19), String(level).padEnd(5), String(msg), ...words].join(' ');
}

/** An error is shown by its message; the JSON log, which a pipe receives, has its stack. */
function readableValue(value: unknown): string {
  if (typeof value === 'object' && value !== null && 'stack' in value && 'message' in value) {
    return String(value.message);
  }
  return JSON.stringify(value);
}

const readableText = (line: string): string => `${readableLine(line.trimEnd())}\n`;

/** A destination of the logger that writes readable lines. */
export function readableLog(sink: Sink): { write(line: string): void } {
  return { write: (line) => sink.write(readableText(line)) };
}
