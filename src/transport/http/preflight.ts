import type { IncomingMessage, Server } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import fp from 'fastify-plugin';
import type { PreflightOperation } from '../../contract/operation-table.js';
import type { Operations } from '../../contract/operations.js';
import { headContextOf } from './call-context.js';

/**
 * An `onRequest` hook, after all checks of the headers: may refuse the request before its body is read. The rest of a
 * refused body is discarded, so that a caller that is still writing it receives the error and not a reset.
 */
export function preflightHook(operations: Operations, operation: PreflightOperation) {
  return async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    const { id } = request.params as { id?: string };
    const bytes = announcedBytes(request.raw);
    const endPreflight = operations.preflight({ operation, sessionId: id, bytes }, headContextOf(request));
    // The handler reads a form, so a form counts as complete before it has arrived.
    onBodyComplete.set(request.raw, endPreflight);
    reply.raw.once('close', endPreflight);
  };
}

/** Callbacks of accepted preflights. */
const onBodyComplete = new WeakMap<IncomingMessage, () => void>();

/** undefined for a chunked body */
function announcedBytes({ headers }: IncomingMessage): number | undefined {
  return headers['content-length'] === undefined ? undefined : Number(headers['content-length']);
}

/**
 * Asks for a body with `expect: 100-continue` (curl sends it with every large body) only after all checks of the head;
 * Node would ask for it at once. Ends the preflight when a body is complete.
 */
export const continueAfterChecks = fp(
  async (app) => {
    const expecting = new WeakSet<IncomingMessage>();
    const server = app.server as Server;
    server.on('checkContinue', (request, response) => {
      expecting.add(request);
      server.emit('request', request, response);
    });
    app.addHook('preHandler', async (request) => onBodyComplete.get(request.raw)?.());
    app.addHook('preParsing', async (request, reply) => {
      if (expecting.delete(request.raw)) reply.raw.writeContinue();
    });
  },
  { name: 'continue-after-checks' },
);
