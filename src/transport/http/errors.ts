import { STATUS_CODES } from 'node:http';
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';
import fp from 'fastify-plugin';
import { ERRORS, IntersticeError } from '../../contract/errors.js';
import { logFault } from '../../observe/log.js';
import { fromError } from '../answers.js';
import { encodeJson, type JsonObject } from '../json/encode.js';
import { FORM_TYPES, PROBLEM_TYPE, STEP_TYPES } from './content-types.js';
import type { DoorOptions } from './options.js';

/** RFC 9457, with the fields of the contract's `Error` as extension members. */
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

/** "SIZE_MISMATCH" → "Size mismatch" */
function titleOf(error: IntersticeError): string {
  const words = error.code.toLowerCase().replaceAll('_', ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** Whatever was thrown, as one of our own errors. Fastify's and Node's refusals keep their meaning. */
export function toRefusal(thrown: unknown, request: FastifyRequest, limits: BodyLimits): IntersticeError {
  if (thrown instanceof IntersticeError) return thrown;
  const error = thrown as Partial<FastifyError>;
  switch (error.code) {
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return tooLargeBody(request.headers, limits);
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
    case 'FST_ERR_CTP_INVALID_CONTENT_TYPE':
      return unsupportedType(request.headers['content-type'], [...new Set([...FORM_TYPES, ...STEP_TYPES])]);
    case 'ECONNRESET':
    case 'ECONNABORTED':
      return new IntersticeError('CANCELLED', 'The caller hung up before the request was complete.', { cause: thrown });
  }
  const status = error.statusCode ?? 500;
  if (status >= 400 && status < 500) {
    return new IntersticeError('MALFORMED_BODY', error.message ?? STATUS_CODES[status] ?? 'Bad request.', {
      cause: thrown,
    });
  }
  return IntersticeError.from(thrown);
}

type BodyLimits = Pick<DoorOptions, 'maxMessageBytes' | 'maxJsonBytes'>;

/** Largest body in JSON, bytes. */
export const jsonLimitOf = ({ maxMessageBytes, maxJsonBytes = maxMessageBytes }: BodyLimits): number =>
  Math.min(maxMessageBytes, maxJsonBytes);

function tooLargeBody(headers: FastifyRequest['headers'], limits: BodyLimits): IntersticeError {
  const { maxMessageBytes } = limits;
  const limit = jsonLimitOf(limits);
  const demand = headers['content-length'];
  const isJson = /^application\/json\b/i.test(headers['content-type'] ?? '');
  if (!isJson || limit === maxMessageBytes) return tooLarge(demand, maxMessageBytes);
  const { message } = tooLarge(demand, limit);
  return new IntersticeError('TOO_LARGE', message.replace('The body', 'A body in JSON'), {
    hint: `Send application/x-protobuf, bare positions or files, up to ${maxMessageBytes} bytes; or raise INTERSTICE_MAX_JSON_BYTES.`,
  });
}

export function tooLarge(demand: string | number | undefined, limit: number): IntersticeError {
  const size = demand === undefined ? 'more than that' : `${demand} bytes`;
  return new IntersticeError('TOO_LARGE', `The body may have ${limit} bytes, but ${size} were sent.`, {
    hint: 'Send less, or raise INTERSTICE_MAX_MESSAGE_BYTES.',
  });
}

/** @param taken what the path takes */
export function unsupportedType(given: string | undefined, taken: readonly string[]): IntersticeError {
  const shown =
    given === undefined ? 'There is no content-type' : `The content-type ${JSON.stringify(given)} is not taken here`;
  return new IntersticeError('UNSUPPORTED_MEDIA_TYPE', `${shown}; send ${taken.join(' or ')}.`);
}

export function sendProblem(reply: FastifyReply, request: FastifyRequest, error: IntersticeError): FastifyReply {
  request.refusal = error.code;
  // Whole seconds, never early.
  if (error.retryAfterSeconds !== undefined) reply.header('retry-after', String(Math.ceil(error.retryAfterSeconds)));
  const instance = request.url.split('?', 1)[0] ?? '';
  return reply
    .code(ERRORS[error.code].http)
    .type(PROBLEM_TYPE)
    .send(JSON.stringify(problemOf(error, request.id, instance)));
}

/** Every refusal leaves as a problem document; what nobody foresaw is logged with its cause. */
export const errors = fp<DoorOptions>(
  async (app, { log, ...limits }) => {
    app.decorateRequest('refusal', undefined);
    app.setErrorHandler((thrown, request, reply) => {
      const error = toRefusal(thrown, request, limits);
      if (error.code === 'INTERNAL') logFault(log, request.id, thrown);
      return sendProblem(reply, request, error);
    });
  },
  { name: 'errors' },
);
