import type { FastifyReply, FastifyRequest } from 'fastify';
import fp from 'fastify-plugin';
import type { BrowserGuard } from '../browser-guard.js';

/** Headers of answers that pages may read. */
const EXPOSED_HEADERS = [
  'content-disposition',
  'interstice-dropped',
  'interstice-frame',
  'interstice-report',
  'interstice-scalar',
  'interstice-version',
  'location',
  'retry-after',
  'server-timing',
  'x-request-id',
].join(', ');

const METHODS = 'GET, POST, PATCH, DELETE';

/** Seconds for which a browser may remember the answer to its preliminary request: the most that Chromium accepts. */
const MAX_AGE_SECONDS = 7200;

/**
 * Checks host and origin of every request before its body is read, and answers the pages of allowed origins as CORS
 * requires. The preliminary request of a browser (OPTIONS) carries no key, so it is answered before authentication.
 *
 * @fastify/cors cannot replace this: it grants, but never refuses, so the guard would have to check origins a second
 * time, and it does not handle requests for private networks.
 */
export const browsers = fp<{ readonly guard?: BrowserGuard | undefined }>(
  async (app, { guard }) => {
    if (!guard) return;
    app.addHook('onRequest', async (request, reply) => {
      const { host, origin } = request.raw.headers;
      guard.check(host, origin);
      if (!guard.allowsPages) return;
      const granted = origin === undefined ? undefined : guard.grantTo(origin);
      // A cache must not show an answer without the grant to an allowed page.
      if (granted !== '*') reply.header('vary', 'origin');
      if (granted === undefined) return;
      reply.header('access-control-allow-origin', granted).header('access-control-expose-headers', EXPOSED_HEADERS);
      if (request.method === 'OPTIONS' && request.headers['access-control-request-method'] !== undefined) {
        return answerPreliminary(request, reply);
      }
    });
  },
  { name: 'browsers', dependencies: ['errors'] },
);

function answerPreliminary(request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const asked = request.headers['access-control-request-headers'];
  reply.header('access-control-allow-methods', METHODS).header('access-control-max-age', MAX_AGE_SECONDS);
  // An allowed page may send every header: those of the contract, a key, and those of a tracing library.
  if (asked !== undefined) reply.header('access-control-allow-headers', asked);
  // Browsers ask this for a page from a public address that calls a service at a private one.
  if (request.headers['access-control-request-private-network'] === 'true') {
    reply.header('access-control-allow-private-network', 'true');
  }
  return reply.code(204).send();
}
