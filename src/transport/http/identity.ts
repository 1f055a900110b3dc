import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import fp from 'fastify-plugin';
import { packageVersion } from '../../paths.js';

/** A caller's own id is kept when it can stand in a log line and a header without harm. */
const SANE_ID = /^[A-Za-z0-9._:+/=@-]{1,128}$/;

export function requestIdOf(headers: IncomingMessage['headers']): string {
  const given = headers['x-request-id'];
  return typeof given === 'string' && SANE_ID.test(given) ? given : randomUUID();
}

/** Every answer, refusals included, carries the request's id and the service's version. */
export const identity = fp(
  async (app) => {
    app.decorateRequest('receivedAt', 0);
    app.addHook('onRequest', async (request, reply) => {
      request.receivedAt = performance.now();
      reply.header('x-request-id', request.id).header('interstice-version', packageVersion);
    });
  },
  { name: 'identity' },
);
