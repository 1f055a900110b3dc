import type { IncomingMessage, Server } from 'node:http';
import type { FastifyRequest } from 'fastify';
import fp from 'fastify-plugin';
import type { Knock, Operations } from '../../session/types.js';

/**
 * A hook for `onRequest`, after all that can be said of the headers themselves: asks whether the work would be taken,
 * before the body is read. What still comes of a refused body runs out unread, so that the caller, who may be writing it,
 * finds the refusal and not a reset.
 */
export function knockFor(operations: Operations, operation: Knock['operation']) {
  return async (request: FastifyRequest): Promise<void> => {
    const { id } = request.params as { id?: string };
    operations.knock(
      { operation, sessionId: id, bytes: announcedBytes(request.raw) },
      {
        caller: request.caller,
        requestId: request.id,
        receivedAt: request.receivedAt,
        header: (name) => request.headers[name]?.toString(),
      },
    );
  };
}

/** undefined for a body that comes in chunks */
function announcedBytes({ headers }: IncomingMessage): number | undefined {
  return headers['content-length'] === undefined ? undefined : Number(headers['content-length']);
}

/**
 * `expect: 100-continue` (curl sends it with every large body): the body is asked for only when nothing speaks against the
 * request; Node would ask for every one.
 */
export const continues = fp(
  async (app) => {
    const waiting = new WeakSet<IncomingMessage>();
    const server = app.server as Server;
    server.on('checkContinue', (request, response) => {
      waiting.add(request);
      server.emit('request', request, response);
    });
    app.addHook('preParsing', async (request, reply) => {
      if (waiting.delete(request.raw)) reply.raw.writeContinue();
    });
  },
  { name: 'continues' },
);
