import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { type PageFile, readPage } from './page-files.js';

/**
 * What the page at `/` may do: load code and content from this service, and call it. It loads nothing else, no other
 * page can frame it, and no text becomes a script.
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

/** Seconds for which a browser may use a file whose name contains the hash of its content: a year. */
const IMMUTABLE_SECONDS = 31_536_000;

/**
 * Adds the web page, and the files that it consists of. Each file has its own route, so no path of a request leads to
 * the file system.
 *
 * @param folder default: the one that the build writes
 * @returns a function that sends the page itself; undefined if it was not built
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
