import type { Config } from '../../config.js';
import { IntersticeError } from '../../errors.js';
import type { Logger } from '../../observe/log.js';
import type { Operations } from '../../session/types.js';
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
  // Imported only now, so that the other commands do not load the service.
  const { createLogger } = await import('../../observe/log.js');
  const log = terminal.err.isTerminal
    ? createLogger(config.logLevel, readableLog(terminal.err))
    : createLogger(config.logLevel);
  const operations = await openOperations(config, (event, message) => logEvent(log, event, message));
  const address = await listen(config, operations, log);
  const facts = {
    address,
    engine: operations.info().engines.map(describeEngine).join(', '),
    command: exampleCommand(address, terminal.folder),
  };
  terminal.out.write(terminal.out.isTerminal ? renderWelcome(facts) : renderFacts(facts));
  return EXIT.OK;
}

async function listen(config: Config, operations: Operations, log: Logger): Promise<string> {
  const { startServer } = await import('../../server.js');
  const server = await startServer(config, operations, { log }).catch((error: unknown) => {
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
  return server.address;
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
