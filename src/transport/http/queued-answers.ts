import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import fp from 'fastify-plugin';
import { IntersticeError } from '../../contract/errors.js';

/**
 * Requests of one connection that may be without a complete answer. Node reads as many pipelined requests as arrive together,
 * thousands of short ones, and keeps all their answers in memory until the client reads the first. Few clients pipeline at all.
 */
export const MAX_UNANSWERED = 16;

/** Bounds the pipelined requests of a connection, and ends them with it. */
export const queuedAnswers = fp(
  async (app) => {
    const surplus = watchAnswers(app.server);
    app.addHook('onRequest', async ({ raw }, reply) => {
      if (!surplus.has(raw)) return;
      // Not by a header: errors of this code drop it, because other refusals keep the connection.
      reply.raw.shouldKeepAlive = false;
      throw new IntersticeError('QUEUE_FULL', `This connection has ${MAX_UNANSWERED} requests without an answer.`, {
        hint: 'Read their answers, or use several connections.',
        retryAfterSeconds: 1,
      });
    });
  },
  { name: 'queued-answers', dependencies: ['errors'] },
);

/**
 * Ends answers whose connection has closed before their turn. Requests may be pipelined; an answer that waits behind an
 * earlier one has no socket yet, and Node emits its 'close' only if it has one. Otherwise what depends on that event
 * (the signal of the caller, the memory of the body, the request in progress, its log line) would never be released.
 *
 * @returns the requests that arrived while their connection had as many unanswered ones as it may
 */
function watchAnswers(server: Server): Pick<WeakSet<IncomingMessage>, 'has'> {
  const surplus = new WeakSet<IncomingMessage>();
  const queued = new WeakMap<Socket, Set<ServerResponse>>();
  // Before Fastify: requests that arrive together are all announced before the first hook of any of them runs.
  server.prependListener('request', (request: IncomingMessage, response: ServerResponse) => {
    const { socket } = request;
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
    if (answers.size >= MAX_UNANSWERED) surplus.add(request);
    answers.add(response);
    response.once('close', () => answers.delete(response));
  });
  return surplus;
}
