import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { EchoAddresses } from './echo.js';

export interface Echoes {
  /** answers at once */
  readonly echo: EchoAddresses;
  /** answers as late as a service with work to do */
  readonly late: EchoAddresses;
}

/** Starts both echoes in a process of its own, so that it shares no event loop with the client, like the service. */
export async function startEcho(): Promise<Echoes & { stop(): Promise<void> }> {
  const main = fileURLToPath(new URL('./echo-main.js', import.meta.url));
  const child = spawn(process.execPath, [main], { stdio: ['pipe', 'pipe', 'inherit'] });
  const lines = createInterface({ input: child.stdout });
  const ended = once(child, 'exit').then(([code]) => {
    throw new Error(`The echo ended with ${code}.`);
  });
  ended.catch(() => {});
  const [line] = (await Promise.race([once(lines, 'line'), ended])) as [string];
  return {
    ...(JSON.parse(line) as Echoes),
    stop: async () => {
      child.stdin.end();
      await ended.catch(() => {});
    },
  };
}
