import { openBackend, runCli } from '../../src/cli/run.js';
import { recordTerminal } from './fakes.js';

export interface Ran {
  readonly status: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** A command line as `main` runs it, in this process: the same program without the half second that a new one costs. */
export async function run(
  argv: readonly string[],
  settings: { cwd?: string; env?: Record<string, string>; isTerminal?: boolean } = {},
): Promise<Ran> {
  if (settings.cwd !== undefined) process.chdir(settings.cwd);
  const { env, isTerminal = false } = settings;
  const recorded = recordTerminal({ folder: process.cwd(), isTerminal, ...(env ? { env } : {}) });
  // A second a look: every progress is drawn.
  const terminal = isTerminal ? { ...recorded, now: () => (recorded.clock += 1000) } : recorded;
  const status = await runCli(argv, {
    terminal,
    openBackend: (choice, command) => openBackend(choice, terminal, command),
  });
  return { status, stdout: terminal.written.out, stderr: terminal.written.err };
}
