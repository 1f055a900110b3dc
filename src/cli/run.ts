import { CommanderError } from 'commander';
import type { Backend, BackendChoice, CliContext } from './backend.js';
import { EXIT, exitCodeOfError } from './exit-codes.js';
import { buildProgram } from './program.js';
import type { Terminal } from './terminal.js';

/**
 * Runs one command line.
 *
 * @param argv without the interpreter and the script
 * @returns the exit code; every error has been reported by then
 */
export async function runCli(argv: readonly string[], cli: CliContext): Promise<number> {
  let code: number = EXIT.OK;
  const program = buildProgram(cli, (result) => {
    code = result;
  });
  try {
    await program.parseAsync([...argv], { from: 'user' });
    return code;
  } catch (thrown) {
    // Commander has already printed its message or the requested page.
    if (thrown instanceof CommanderError) {
      const names = program.commands.map((command) => command.name());
      return endOfCommander(thrown, argv, cli, names);
    }
    const { reportProblem } = await import('./problem.js');
    reportProblem(cli.terminal, thrown, argv.includes('--json'));
    return exitCodeOfError(thrown);
  }
}

function endOfCommander(
  error: CommanderError,
  argv: readonly string[],
  cli: CliContext,
  commands: readonly string[],
): number {
  if (error.exitCode === 0) return EXIT.OK;
  // `interstice` alone prints the help page itself; after any other mistake a line names the page.
  if (error.code !== 'commander.help') {
    const command = argv.find((word) => commands.includes(word));
    cli.terminal.err.write(`See interstice ${command === undefined ? '' : `${command} `}--help.\n`);
  }
  return EXIT.USAGE;
}

/** Opens an engine in this process or a connection to a running service; loads only the one requested. */
export async function openBackend(choice: BackendChoice, terminal: Terminal): Promise<Backend> {
  if (choice.server !== undefined) {
    const { createRemote } = await import('./remote.js');
    const { readApiKey } = await import('./api-key.js');
    return createRemote(choice.server, readApiKey(choice.apiKeyFile, terminal.env));
  }
  const { openLocal } = await import('./local.js');
  return openLocal(choice, terminal.env, terminal.err);
}
