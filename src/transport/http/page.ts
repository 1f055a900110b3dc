import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { type PageFile, readPage } from './page-files.js';

/**
 * What the page at `/` may do: run and show what comes from this service, and talk to it. Nothing else is loaded, it sits in
 * no frame, and no text becomes a script.
 */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  'img-src data: blob:',
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const HEADERS: Readonly<Record<string, string>> = {
  'content-security-policy': POLICY,
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
};

/** Time in which a browser need not ask again for a file whose name carries the hash of its content, seconds: a year. */
const IMMUTABLE_SECONDS = 31_536_000;

/**
 * The page for people, and the files that it consists of. Each file is a route of its own, so no path of a request leads to the
 * file system.
 *
 * @param folder default: where the build writes it
 * @returns sends the page itself; undefined if it was not built
 */
export function addPage(
  app: FastifyInstance,
  folder?: string,
): ((request: FastifyRequest, reply: FastifyReply) => unknown) | undefined {
  const page = readPage(folder);
  if (!page) return undefined;
  for (const [name, file] of page.files) {
    app.get(`/page/${name}`, { schema: { hide: true } }, (request, reply) => send(request, reply, file));
  }
  return (request, reply) => send(request, reply, page.index);
}

function send(request: FastifyRequest, reply: FastifyReply, { body, type, etag, isImmutable }: PageFile): FastifyReply {
  const caching = isImmutable ? `public, max-age=${IMMUTABLE_SECONDS}, immutable` : 'no-cache';
  reply.headers(HEADERS).header('cache-control', caching).header('etag', etag).type(type);
  return request.headers['if-none-match'] === etag ? reply.code(304).send() : reply.send(body);
}
