import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/**
 * Ends answers whose connection has closed before their turn. Requests may be pipelined; an answer that waits behind an
 * earlier one has no socket yet, and Node emits its 'close' only if it has one. Otherwise what depends on that event
 * (the signal of the caller, the memory of the body, the request in progress, its log line) would never be released.
 */
export function closeQueuedAnswers(server: Server): void {
  const queued = new WeakMap<Socket, Set<ServerResponse>>();
  server.on('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
    let answers = queued.get(socket);
    if (!answers) {
      const all = new Set<ServerResponse>();
      answers = all;
      queued.set(socket, all);
      socket.once('close', () => {
        for (const waiting of [...all]) {
          if (waiting.socket) continue;
          waiting.destroy();
          waiting.emit('close');
        }
      });
    }
    answers.add(response);
    response.once('close', () => answers.delete(response));
  });
}
