import type { Config } from '../../config/config.js';
import { SETTINGS } from '../../config/settings.js';
import { IntersticeError } from '../../contract/errors.js';
import type { Operations } from '../../contract/operations.js';
import type { Logger } from '../../observe/log.js';
import type { Server, ServerOptions } from '../../server/server.js';
import type { CliContext } from '../context.js';
import { EXIT, UsageError } from '../exit-codes.js';
import { openOperations, readSettings } from '../local.js';
import { readableLog } from '../readable-log.js';
import { pickSettings } from '../serve-flags.js';
import { exampleCommand, renderFacts, renderWelcome } from '../welcome.js';

/**
 * `interstice serve`: returns when the service takes requests. The open door keeps the process alive from then on, and a
 * signal ends it.
 *
 * @throws when it never will take requests; everything is closed by then
 */
export async function runServe(values: Readonly<Record<string, unknown>>, cli: CliContext): Promise<number> {
  const { terminal } = cli;
  const config = readSettings(terminal.env, pickSettings(values), 'serve');
  if (values.printConfig === true) {
    terminal.out.write(renderSettings(config));
    return EXIT.OK;
  }
  // Imported only now, so that the other commands do not load the service.
  const { createLogger } = await import('../../observe/log.js');
  const { Metrics } = await import('../../observe/metrics.js');
  const log = terminal.err.isTerminal
    ? createLogger(config.logLevel, readableLog(terminal.err))
    : createLogger(config.logLevel);
  const metrics = new Metrics();
  const operations = await openOperations(config, (event, message) => logEvent(log, event, message), {
    onEvent: metrics.observe,
    features: ['http', ...(config.grpcPort === 'off' ? [] : ['grpc']), ...(config.apiKeys ? ['api-keys'] : [])],
  });
  const { address, grpcAddress, adminAddress } = await listen(config, operations, { log, metrics });
  const facts = {
    address,
    grpc: grpcAddress,
    admin: adminAddress,
    engine: operations.info().engines.map(describeEngine).join(', '),
    command: exampleCommand(address, terminal.folder),
  };
  terminal.out.write(terminal.out.isTerminal ? renderWelcome(facts) : renderFacts(facts));
  return EXIT.OK;
}

async function listen(config: Config, operations: Operations, options: ServerOptions): Promise<Server> {
  const { startServer } = await import('../../server/server.js');
  const server = await startServer(config, operations, options).catch((error: unknown) => {
    // An address that is taken is a mistake in the settings, like any other value that does not work.
    if (!(error instanceof IntersticeError) || error.code !== 'INVALID_PARAMETER') throw error;
    throw new UsageError(`${error.message} ${error.hint}`, 'serve');
  });
  try {
    await operations.ready();
  } catch (error) {
    await server.close();
    throw error;
  }
  return server;
}

/** NAME=value a line, as a settings file takes it; where a value comes from is a comment, since it is not part of it. */
function renderSettings({ settings }: Config): string {
  const lines = settings.map(({ name, value, source }) => {
    const isNoneOfFile = value === null || name === SETTINGS.config.name;
    return `${isNoneOfFile ? '# ' : ''}${name}=${value ?? ''}\n# from: ${source}`;
  });
  return `${lines.join('\n')}\n`;
}

/** The engine's own name says what computes; the adapter tells which hardware, and what `auto` fell back to. */
function describeEngine(engine: { readonly name: string; readonly adapter: string }): string {
  return engine.adapter === '' || engine.adapter === engine.name ? engine.name : `${engine.name} on ${engine.adapter}`;
}

function logEvent(log: Logger, event: object, message: string): void {
  const { level, ...facts } = event as { level?: unknown };
  if (level === 'error') log.error(facts, message);
  else log.info(facts, message);
}
