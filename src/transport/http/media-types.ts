import accepts from '@fastify/accepts';
import type { FastifyRequest } from 'fastify';
import fp from 'fastify-plugin';
import { IntersticeError } from '../../contract/errors.js';
import { quote } from '../../contract/quote.js';
import { readBody } from './bodies.js';
import type { HttpOptions } from './options.js';

export const JSON_TYPE = 'application/json; charset=utf-8';
export const PROBLEM_TYPE = 'application/problem+json; charset=utf-8';

/** Media types of messages of the contract, in requests and answers. */
export const MESSAGE_TYPES = ['application/json', 'application/x-protobuf'] as const;
/** Media types of a step, which may also be bare positions. */
export const STEP_TYPES = [...MESSAGE_TYPES, 'application/octet-stream'] as const;
/** Media types of operations that accept mesh files. */
export const FORM_TYPES = [...MESSAGE_TYPES, 'multipart/form-data'] as const;

/**
 * Media types of answers with several messages, for callers that accept them: a line of JSON for each, or each message
 * after its length as a varint.
 */
export const STREAM_TYPES = ['application/x-ndjson', 'application/x-protobuf-delimited'] as const;

export type StreamType = (typeof STREAM_TYPES)[number];
export type MessageType = (typeof MESSAGE_TYPES)[number];
export type StepType = (typeof STEP_TYPES)[number];
type BodyType = StepType | (typeof FORM_TYPES)[number];

/** Media types of mesh files by format; the first that the caller accepts is used. PLY has no type of its own. */
export const MESH_TYPES = {
  obj: ['model/obj', 'text/plain'],
  ply: ['application/octet-stream'],
} as const;

/**
 * The offered type that the caller prefers; the first one among equals.
 * @throws NOT_ACCEPTABLE
 */
export function chooseType<T extends string>(request: FastifyRequest, offers: readonly T[]): T {
  const chosen = request.accepts().type([...offers]);
  if (typeof chosen === 'string') return chosen as T;
  throw new IntersticeError(
    'NOT_ACCEPTABLE',
    `The accept header ${quote(request.headers.accept ?? '')} excludes every media type of this path.`,
    { hint: `Accept ${offers.join(' or ')}.` },
  );
}

export const isStreamType = (type: string): type is StreamType => STREAM_TYPES.some((one) => one === type);

/** The offers with the type of the request first: it is the default for the answer. */
export function ownTypeFirst<T extends string>(own: string, offers: readonly T[]): readonly T[] {
  return [...offers].sort((a, b) => Number(b === own) - Number(a === own));
}

/**
 * The media type of the body, without its parameters.
 * @throws UNSUPPORTED_MEDIA_TYPE for any other type, or none: Fastify would accept an empty body without a type
 */
export function bodyType<T extends BodyType>(request: FastifyRequest, accepted: readonly T[]): T {
  const given = request.headers['content-type'];
  const essence = given?.split(';', 1)[0]?.trim().toLowerCase();
  const type = accepted.find((one) => one === essence);
  if (type === undefined) throw unsupportedType(given, accepted);
  return type;
}

export function unsupportedType(given: string | undefined, accepted: readonly string[]): IntersticeError {
  const problem =
    given === undefined
      ? 'The request has no content-type'
      : `This path does not accept the content-type ${quote(given)}`;
  return new IntersticeError('UNSUPPORTED_MEDIA_TYPE', `${problem}; send ${accepted.join(' or ')}.`);
}

/** @throws UNKNOWN_FIELD for any query: it would have no effect on this path */
export function refuseQuery(request: FastifyRequest): void {
  const [name] = Object.keys(request.query as Record<string, unknown>);
  const hasBody = request.method !== 'GET' && request.method !== 'HEAD' && request.method !== 'DELETE';
  if (name !== undefined)
    throw unknownQuery(name, hasBody ? 'Send everything in the body.' : 'This path takes no query.');
}

export const unknownQuery = (name: string, hint: string): IntersticeError =>
  new IntersticeError('UNKNOWN_FIELD', `The query parameter ${quote(name)} is unknown.`, {
    hint,
  });

/** Parsers of bodies, except JSON. Each path checks on its own which types it accepts, see {@link bodyType}. */
export const mediaTypes = fp<HttpOptions>(
  async (app, options) => {
    await app.register(accepts);
    app.removeAllContentTypeParsers();
    app.addHook('onRequest', async ({ headers }) => {
      refuseEncoding('content-encoding', headers, 'identity');
      // Node decodes chunks, and hands on what else a body is encoded in.
      refuseEncoding('transfer-encoding', headers, 'chunked');
    });
    app.addContentTypeParser(
      ['application/x-protobuf', 'application/octet-stream'],
      (request: FastifyRequest, payload: NodeJS.ReadableStream) => readBody(request, payload, options),
    );
  },
  { name: 'media-types', dependencies: ['errors', 'bodies'] },
);

function refuseEncoding(
  name: 'content-encoding' | 'transfer-encoding',
  headers: FastifyRequest['headers'],
  accepted: string,
): void {
  const encoding = headers[name];
  if (encoding === undefined || encoding.toLowerCase() === accepted) return;
  throw new IntersticeError(
    'UNSUPPORTED_MEDIA_TYPE',
    `The ${name} ${quote(encoding)} is not supported; send the body without encoding.`,
  );
}
