import type { IncomingMessage, Server } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import fp from 'fastify-plugin';
import type { Preflight } from '../../contract/call-context.js';
import type { Operations } from '../../contract/operations.js';

/**
 * A hook for `onRequest`, after all that can be said of the headers themselves: asks whether the work would be taken,
 * before the body is read. What still comes of a refused body runs out unread, so that the caller, who may be writing it,
 * finds the refusal and not a reset.
 */
export function preflightFor(operations: Operations, operation: Preflight['operation']) {
  return async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    const { id } = request.params as { id?: string };
    const arrived = operations.preflight(
      { operation, sessionId: id, bytes: announcedBytes(request.raw) },
      {
        caller: request.caller,
        requestId: request.id,
        receivedAt: request.receivedAt,
        header: (name) => request.headers[name]?.toString(),
      },
    );
    // A form is read by its handler: it counts as here before it is.
    arrivals.set(request.raw, arrived);
    reply.raw.once('close', arrived);
  };
}

/** What is to be told when a body has been read. */
const arrivals = new WeakMap<IncomingMessage, () => void>();

/** undefined for a body that comes in chunks */
function announcedBytes({ headers }: IncomingMessage): number | undefined {
  return headers['content-length'] === undefined ? undefined : Number(headers['content-length']);
}

/**
 * Bodies on their way. With `expect: 100-continue` (curl sends it with every large body) the body is asked for only when
 * nothing speaks against the request; Node would ask for every one. A body that has come is not counted on any more.
 */
export const continues = fp(
  async (app) => {
    const waiting = new WeakSet<IncomingMessage>();
    const server = app.server as Server;
    server.on('checkContinue', (request, response) => {
      waiting.add(request);
      server.emit('request', request, response);
    });
    app.addHook('preHandler', async (request) => arrivals.get(request.raw)?.());
    app.addHook('preParsing', async (request, reply) => {
      if (waiting.delete(request.raw)) reply.raw.writeContinue();
    });
  },
  { name: 'continues' },
);
