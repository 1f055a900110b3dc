import { STATUS_CODES } from 'node:http';
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';
import fp from 'fastify-plugin';
import { ERRORS, IntersticeError } from '../../contract/errors.js';
import { logFault } from '../../observe/log.js';
import { encodeJson, type JsonObject } from '../json/encode.js';
import { fromError } from '../messages/answers.js';
import { FORM_TYPES, PROBLEM_TYPE, STEP_TYPES, unsupportedType } from './media-types.js';
import type { HttpOptions } from './options.js';

/** A problem document (RFC 9457) with the fields of the contract's `Error` as extension members. */
export function problemOf(error: IntersticeError, requestId: string, instance: string): JsonObject {
  const fields = encodeJson('Error', fromError(error, requestId), { arrays: false });
  const status = ERRORS[error.code].http;
  return {
    type: `urn:interstice:error:${error.code}`,
    title: titleOf(error),
    status,
    detail: fields.message ?? '',
    instance,
    ...fields,
  };
}

/** Characters of a path in a message. */
const PATH_LENGTH = 200;

/** The beginning of a path, as messages show it. */
export const shownPath = (path: string): string => path.slice(0, PATH_LENGTH);

/** @param details a hint, if there is a better one than that of the code */
export const noSuchPath = (url: string, details: { readonly hint?: string } = {}): IntersticeError =>
  new IntersticeError('NOT_FOUND', `The path ${shownPath(url.split('?', 1)[0]!)} does not exist.`, details);

/** "SIZE_MISMATCH" → "Size mismatch" */
function titleOf(error: IntersticeError): string {
  const words = error.code.toLowerCase().replaceAll('_', ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** Converts any exception; errors of Fastify and Node keep their meaning. */
export function toError(thrown: unknown, request: FastifyRequest, limits: BodyLimits): IntersticeError {
  if (thrown instanceof IntersticeError) return thrown;
  const error = thrown as Partial<FastifyError>;
  switch (error.code) {
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return tooLargeBody(request.headers, limits);
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
    case 'FST_ERR_CTP_INVALID_CONTENT_TYPE':
      return unsupportedType(request.headers['content-type'], [...new Set([...FORM_TYPES, ...STEP_TYPES])]);
    case 'FST_ERR_BAD_URL':
    case 'FST_ERR_MAX_PARAM_LENGTH':
      return new IntersticeError(
        'MALFORMED_BODY',
        `The path ${shownPath(request.url)} is not valid: an escape in it is no UTF-8, or a name in it is too long.`,
        { cause: thrown, hint: ERRORS.NOT_FOUND.hint },
      );
    case 'ECONNRESET':
    case 'ECONNABORTED':
      return new IntersticeError('CANCELLED', 'The caller disconnected before the request was complete.', {
        cause: thrown,
      });
  }
  const status = error.statusCode ?? 500;
  // The files of the reference refuse paths that lead out of their folder.
  if (status === 403) return noSuchPath(request.url);
  if (status >= 400 && status < 500) {
    return new IntersticeError('MALFORMED_BODY', error.message ?? STATUS_CODES[status] ?? 'Bad request.', {
      cause: thrown,
    });
  }
  return IntersticeError.from(thrown);
}

export type BodyLimits = Pick<HttpOptions, 'maxMessageBytes' | 'maxJsonBytes'>;

/** Largest body in JSON, bytes. */
export const jsonLimitOf = ({ maxMessageBytes, maxJsonBytes = maxMessageBytes }: BodyLimits): number =>
  Math.min(maxMessageBytes, maxJsonBytes);

const isJson = (headers: FastifyRequest['headers']): boolean =>
  /^application\/json\b/i.test(headers['content-type'] ?? '');

/** Largest body of a request with these headers, bytes. */
export const bodyLimitOf = (headers: FastifyRequest['headers'], limits: BodyLimits): number =>
  isJson(headers) ? jsonLimitOf(limits) : limits.maxMessageBytes;

export function tooLargeBody(headers: FastifyRequest['headers'], limits: BodyLimits): IntersticeError {
  const { maxMessageBytes } = limits;
  const limit = bodyLimitOf(headers, limits);
  const demand = headers['content-length'];
  if (limit === maxMessageBytes) return tooLarge(demand, maxMessageBytes);
  const { message } = tooLarge(demand, limit);
  return new IntersticeError('TOO_LARGE', message.replace('The body', 'A body in JSON'), {
    hint: `Send application/x-protobuf, bare positions or files, or use gRPC, up to ${maxMessageBytes} bytes; or raise INTERSTICE_MAX_JSON_BYTES.`,
  });
}

export function tooLarge(demand: string | number | undefined, limit: number): IntersticeError {
  const size = demand === undefined ? 'more than that' : `${demand} bytes`;
  return new IntersticeError('TOO_LARGE', `The body may have ${limit} bytes, but ${size} were sent.`, {
    hint: 'Send less, or raise INTERSTICE_MAX_MESSAGE_BYTES.',
  });
}

/** Refuses the options of a form: JSON has the same limit there as in a body of its own. */
export function tooLargeOptions(limit: number): IntersticeError {
  return new IntersticeError('TOO_LARGE', `The part options may have ${limit} bytes, but more than that were sent.`, {
    hint: 'Mark kinematic vertices with kinematicFrom or kinematicParts instead of listing them, or raise INTERSTICE_MAX_JSON_BYTES.',
  });
}

export function sendProblem(reply: FastifyReply, request: FastifyRequest, error: IntersticeError): FastifyReply {
  request.errorCode = error.code;
  // Whole seconds, rounded up.
  if (error.retryAfterSeconds !== undefined) reply.header('retry-after', String(Math.ceil(error.retryAfterSeconds)));
  const instance = request.url.split('?', 1)[0] ?? '';
  return reply
    .code(ERRORS[error.code].http)
    .type(PROBLEM_TYPE)
    .send(JSON.stringify(problemOf(error, request.id, instance)));
}

/** Answers every error with a problem document, and logs unexpected ones with their cause. */
export const errors = fp<HttpOptions>(
  async (app, { log, ...limits }) => {
    app.decorateRequest('errorCode', undefined);
    app.setErrorHandler((thrown, request, reply) => {
      const error = toError(thrown, request, limits);
      if (error.code === 'INTERNAL') logFault(log, request.id, thrown);
      // Fastify closes the connection when reading a body fails. If the body was refused only for lack of room, the
      // client keeps the connection, provided that the rest of the body is small
      // (src/transport/http/refused-bodies.ts).
      if (error.code === 'QUEUE_FULL') reply.removeHeader('connection');
      return sendProblem(reply, request, error);
    });
  },
  { name: 'errors' },
);
