import { type ChildProcess, type StdioOptions, spawn, spawnSync } from 'node:child_process';

/** Whether the system ends a program when the process that started it ends, for whatever reason (Linux, util-linux). */
const canBind = spawnSync('setpriv', ['--pdeathsig', 'KILL', 'true']).status === 0;

/**
 * Starts a program that does not outlive this process: it ends when this process exits and, if the system supports it,
 * when this process is killed.
 */
export function spawnBound(program: string, args: readonly string[], stdio: StdioOptions = 'ignore'): ChildProcess {
  // setpriv becomes the program, so the child is the program itself.
  const [command, ...words] = canBind ? ['setpriv', '--pdeathsig', 'KILL', program, ...args] : [program, ...args];
  const child = spawn(command!, words, { stdio });
  const kill = () => void child.kill('SIGKILL');
  process.once('exit', kill);
  child.once('exit', () => process.off('exit', kill));
  return child;
}
