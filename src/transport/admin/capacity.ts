import { once } from 'node:events';
import { createServer } from 'node:net';
import type { OperationStats } from '../../contract/events.js';

type Load = Pick<OperationStats, 'waiting' | 'running' | 'sessions' | 'parked'>;

/**
 * The share of itself that a process offers for new work, in per cent: all of it while it has nothing, half of it when it has as many
 * jobs, or sessions that may ask for a step at any moment, as threads. It falls with every further one and never reaches 0, which
 * would mean to a proxy that nothing may come here.
 */
export function freeCapacity({ waiting, running, sessions, parked }: Load, threads: number): number {
  const load = Math.max(waiting + running, sessions - parked);
  return Math.ceil((100 * threads) / (threads + load));
}

export interface CapacityServer {
  readonly port: number;
  close(): Promise<void>;
}

/**
 * Tells everyone who connects one line, `NN%`, and ends the connection: the protocol of HAProxy's agent-check.
 *
 * @throws Error when it cannot listen
 */
export async function openCapacity(host: string, port: number, read: () => number): Promise<CapacityServer> {
  const server = createServer((socket) => {
    // Who asks may be gone before the answer.
    socket.on('error', () => socket.destroy());
    socket.resume().end(`${read()}%\n`);
  });
  server.listen(port, host);
  await once(server, 'listening');
  return {
    port: (server.address() as { readonly port: number }).port,
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}
