import { type Command, CommanderError } from 'commander';
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
  const openBackend: CliContext['openBackend'] = (choice) => cli.openBackend(choice, commandOf(argv, program));
  let running: Command | undefined;
  const program = buildProgram({ ...cli, openBackend }, (result) => {
    code = result;
  }).hook('preAction', (_program, command) => {
    running = command;
  });
  try {
    await program.parseAsync(wordsOf(argv, program), { from: 'user' });
    return code;
  } catch (thrown) {
    // Commander has already printed its message or the requested page.
    if (thrown instanceof CommanderError) {
      return endOfCommander(thrown, cli, commandOf(argv, program));
    }
    const { reportProblem } = await import('./problem.js');
    const { flagNamer } = await import('./flag-names.js');
    reportProblem(cli.terminal, thrown, argv.includes('--json'), running && flagNamer(running));
    return exitCodeOfError(thrown);
  }
}

/** The command that a command line names, if any. */
const commandOf = (argv: readonly string[], { commands }: Command): string | undefined =>
  argv.find((word) => commands.some((command) => command.name() === word));

/** `help` of a command that does not exist would be the page of all commands: the command itself is refused by name. */
function wordsOf(argv: readonly string[], { commands }: Command): string[] {
  const [first, named] = argv;
  const isWord = named !== undefined && named !== 'help' && !named.startsWith('-');
  const isUnknown = first === 'help' && isWord && !commands.some((command) => command.name() === named);
  return isUnknown ? [named] : [...argv];
}

function endOfCommander(error: CommanderError, cli: CliContext, command: string | undefined): number {
  if (error.exitCode === 0) return EXIT.OK;
  // `interstice` alone prints the help page itself; after any other mistake a line names the page.
  if (error.code !== 'commander.help') {
    cli.terminal.err.write(`See interstice ${command === undefined ? '' : `${command} `}--help.\n`);
  }
  return EXIT.USAGE;
}

/**
 * Opens an engine in this process or a connection to a running service; loads only the one requested.
 *
 * @param command of the user, for messages about its settings
 */
export async function openBackend(choice: BackendChoice, terminal: Terminal, command?: string): Promise<Backend> {
  if (choice.server !== undefined) {
    const { createRemote } = await import('./remote.js');
    const { readApiKey } = await import('./api-key.js');
    return createRemote(choice.server, readApiKey(choice.apiKeyFile, terminal.env));
  }
  const { openLocal } = await import('./local.js');
  return openLocal(choice, terminal.env, terminal.err, command);
}
