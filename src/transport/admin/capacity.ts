import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import type { OperationStats } from '../../contract/events.js';

type Load = Pick<OperationStats, 'waiting' | 'running' | 'sessions' | 'parked'>;

/**
 * The share of its capacity that a process offers for new work, in per cent: all of it while the process is idle, half
 * of it when it has as many jobs, or sessions that may request a step at any moment, as threads. The share falls with
 * each further one and never reaches 0, because for a proxy 0 means that nothing may be sent to this process.
 */
export function freeCapacity({ waiting, running, sessions, parked }: Load, threads: number): number {
  const load = Math.max(waiting + running, sessions - parked);
  return Math.ceil((100 * threads) / (threads + load));
}

export interface CapacityServer {
  readonly port: number;
  /** Refuses new connections, and ends those whose clients have not closed them after `graceMs`. */
  close(graceMs: number): Promise<void>;
}

/**
 * Sends one line, `NN%`, to every client that connects, and ends the connection: the protocol of HAProxy's agent-check.
 *
 * @throws Error if it cannot listen
 */
export async function openCapacity(host: string, port: number, read: () => number): Promise<CapacityServer> {
  const open = new Set<Socket>();
  const server = createServer((socket) => {
    open.add(socket);
    socket.once('close', () => open.delete(socket));
    // The client may disconnect before the answer.
    socket.on('error', () => socket.destroy());
    socket.resume().end(`${read()}%\n`);
  });
  server.listen(port, host);
  await once(server, 'listening');
  return {
    port: (server.address() as { readonly port: number }).port,
    close: async (graceMs) => {
      const closed = new Promise((resolve) => server.close(resolve));
      const timer = setTimeout(() => {
        for (const socket of open) socket.destroy();
      }, graceMs);
      await closed.finally(() => clearTimeout(timer));
    },
  };
}
