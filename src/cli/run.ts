import { CommanderError } from 'commander';
import type { CliContext } from './context.js';
import { EXIT, exitCodeOfError } from './exit-codes.js';
import { reportProblem } from './problem.js';
import { buildProgram } from './program.js';

/**
 * Runs one command line.
 *
 * @param argv without the interpreter and the script
 * @returns the exit code; every error has been told by then
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
    // Commander has printed its message, or the page that was asked for, already.
    if (thrown instanceof CommanderError) return endOfCommander(thrown, argv, cli);
    await reportProblem(cli.terminal, thrown, argv.includes('--json'));
    return exitCodeOfError(thrown);
  }
}

function endOfCommander(error: CommanderError, argv: readonly string[], cli: CliContext): number {
  if (error.exitCode === 0) return EXIT.OK;
  // A bare `interstice` gets the help itself; every other mistake is told where to find it.
  if (error.code !== 'commander.help') {
    const command = argv.find((word) => ['resolve', 'check', 'serve', 'key', 'bench'].includes(word));
    cli.terminal.err.write(`See interstice ${command === undefined ? '' : `${command} `}--help.\n`);
  }
  return EXIT.USAGE;
}
