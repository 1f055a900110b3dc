import { ERRORS, type ErrorCode } from '../../contract/errors.js';
import type { Schema } from '../json/json-schema.js';

/** Pieces of what the OpenAPI document says about each path. Bodies are checked by the decoders, not by these. */

export const ref = (name: string): Schema => ({ $ref: `${name}#` });

/** A file, or bare bytes. */
export const binary: Schema = { type: 'string', contentMediaType: 'application/octet-stream' };

/** A message of the contract in either of its forms. */
export const messageContent = (name: string): Schema => ({
  'application/json': { schema: ref(name) },
  'application/x-protobuf': {
    schema: { ...binary, contentMediaType: 'application/x-protobuf', description: `interstice.v1.${name}` },
  },
});

/** The reference's chapters, in reading order. */
export const TAGS = [
  { name: 'resolve', description: 'One request, one answer; no state is kept.' },
  {
    name: 'sessions',
    description:
      'The mesh stays with the server and a step sends only its target; what lies close to what is remembered.',
  },
  { name: 'server', description: 'What this server is, and whether it takes requests.' },
] as const;

/** @param name one of {@link TAGS} */
export function tagged(name: (typeof TAGS)[number]['name']): { readonly tags: readonly string[] } {
  return { tags: [name] };
}

/** Codes of sessions and their frames. */
const SESSION_CODES: readonly ErrorCode[] = ['SESSION_NOT_FOUND', 'FRAME_OUT_OF_ORDER', 'FRAME_CONFLICT'];

/** What only a path or a method can get wrong that is not in the document. */
const NEVER: readonly ErrorCode[] = ['METHOD_NOT_ALLOWED'];

/**
 * The error table by status, as responses.
 * @param also codes of sessions that this path can answer with
 */
export function refusals(also: readonly ErrorCode[] = []): Schema {
  const byStatus = new Map<number, string[]>();
  for (const [code, kind] of Object.entries(ERRORS) as [ErrorCode, (typeof ERRORS)[ErrorCode]][]) {
    if (NEVER.includes(code)) continue;
    if ([...SESSION_CODES, 'NOT_FOUND'].includes(code) && !also.includes(code)) continue;
    byStatus.set(kind.http, [...(byStatus.get(kind.http) ?? []), code]);
  }
  return Object.fromEntries(
    [...byStatus].map(([status, codes]) => [
      status,
      { description: codes.join(', '), content: { 'application/problem+json': { schema: ref('Problem') } } },
    ]),
  );
}

export const budgetHeaders: Schema = {
  'interstice-time-budget-ms': { type: 'number', description: 'Time budget in milliseconds, counted from receipt.' },
  'interstice-on-budget': { type: 'string', enum: ['RETURN_SAFE', 'FAIL'] },
};

/** On every answer. */
export const answerHeaders: Schema = {
  'interstice-version': { type: 'string', description: 'Version of the service.' },
};

/** On answers that took computing. */
export const timedHeaders: Schema = {
  ...answerHeaders,
  'server-timing': { type: 'string', description: 'Milliseconds spent in each stage.' },
};

export const reportHeaders: Schema = {
  'interstice-report': { type: 'string', description: 'Report without its lists, as one line of JSON.' },
};
