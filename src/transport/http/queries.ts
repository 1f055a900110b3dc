import type { FastifyRequest } from 'fastify';
import fp from 'fastify-plugin';
import { IntersticeError } from '../../contract/errors.js';
import { quote } from '../../contract/quote.js';

/**
 * Refuses queries that cannot be decoded, on every path: the parser of Fastify would take their text literally. Refuses
 * repeated parameters too: it would make a list of their values, and no parameter has several.
 */
export const queries = fp(
  async (app) => {
    app.addHook('onRequest', async (request) => {
      refuseUndecodable(request);
      refuseRepeated(request);
    });
  },
  { name: 'queries', dependencies: ['errors'] },
);

function refuseUndecodable({ url }: FastifyRequest): void {
  // The router begins a query at a number sign too.
  const start = url.search(/[?#]/);
  if (start === -1 || !url.includes('%', start)) return;
  for (const parameter of url.slice(start + 1).split('&')) {
    if (decoded(parameter) !== undefined) continue;
    const written = parameter.split('=', 1)[0]!;
    const name = quote(decoded(written) ?? written);
    throw new IntersticeError('MALFORMED_BODY', `The query parameter ${name} is not valid percent-encoded UTF-8.`, {
      hint: 'Write each byte of its UTF-8 text as % and two hexadecimal digits; a percent sign itself is %25.',
    });
  }
}

function refuseRepeated({ query }: FastifyRequest): void {
  for (const [name, value] of Object.entries(query as Record<string, unknown>)) {
    if (!Array.isArray(value)) continue;
    throw new IntersticeError('MALFORMED_BODY', `The query has the parameter ${quote(name)} ${value.length} times.`, {
      hint: 'Send every query parameter once.',
    });
  }
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
