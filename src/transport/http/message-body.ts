import type { FastifyReply, FastifyRequest } from 'fastify';
import type { ResolveAnswer } from '../../contract/requests.js';
import type { StepAnswer } from '../../contract/sessions.js';
import { encodeJsonInSlices, encodeMessageInSlices } from '../in-slices.js';
import { appendMember } from '../json/coder-work.js';
import { decodeJson } from '../json/decode.js';
import { encodeJson } from '../json/encode.js';
import type { WireMessage } from '../json/wire.js';
import { decodeMessage, encodeReported } from '../protobuf/codec.js';
import { serverTiming, stampTimings } from './answer-timing.js';
import { JSON_TYPE, MESSAGE_TYPES, type MessageType } from './content-types.js';
import { abortOnHangUp } from './disconnect.js';
import { JsonBody } from './json-body.js';
import { chooseType, ownTypeFirst, takeType } from './media.js';

/** A message as it came, and how its answer is to leave. */
export interface Received {
  readonly message: WireMessage;
  /** JSON only: bulk fields as arrays of numbers, because the request had some */
  readonly arrays: boolean;
}

/**
 * The body as the message of the contract that the route's `config.message` names.
 * @throws what the decoder of its media type throws; an empty body is no JSON, but a valid empty protobuf message
 */
export function readMessage(request: FastifyRequest): Received {
  const name = request.routeOptions.config.message;
  if (name === undefined) throw new Error(`${request.routeOptions.url} does not say which message it takes`);
  if (takeType(request, MESSAGE_TYPES) === 'application/x-protobuf') {
    return { message: decodeMessage(name, request.body as Buffer, true), arrays: false };
  }
  // A request without any body has met no parser.
  const { message, usedArrays } =
    request.body instanceof JsonBody ? request.body.decoded : decodeJson(name, request.body);
  return { message, arrays: usedArrays };
}

/** How the answer to a message in the body is to leave. @throws NOT_ACCEPTABLE, UNSUPPORTED_MEDIA_TYPE */
export function answerType(request: FastifyRequest): MessageType {
  return chooseType(request, ownTypeFirst(takeType(request, MESSAGE_TYPES), MESSAGE_TYPES));
}

/** Sends a message without bulk fields; lists may be long. @param name message of the contract */
export async function sendMessage(
  reply: FastifyReply,
  name: string,
  message: object,
  type: MessageType,
): Promise<FastifyReply> {
  const isJson = type === 'application/json';
  const body = await (isJson ? encodeJsonInSlices(name, message) : encodeMessageInSlices(name, message));
  return reply.type(isJson ? JSON_TYPE : type).send(body);
}

/** How an answer with positions and a report leaves. */
export interface Way {
  readonly type: MessageType;
  readonly arrays: boolean;
  /** performance.now() when the operation was done */
  readonly answered: number;
}

/**
 * Sends an answer with its report, into which the transport's own times go first: the report is encoded after all the
 * rest, when they are known.
 * @param name message of the contract that has a `report`
 */
export async function sendReported(
  reply: FastifyReply,
  name: string,
  message: { readonly report: object },
  answer: ResolveAnswer | StepAnswer,
  { type, arrays, answered }: Way,
): Promise<FastifyReply> {
  const { request } = reply;
  const stamp = () => {
    const turns = { received: request.receivedAt, answered, encoded: performance.now() };
    reply.header('server-timing', serverTiming(stampTimings(answer, turns)));
  };
  if (type !== 'application/json') return reply.type(type).send(encodeReported(name, message, stamp));
  const { report, ...bulk } = message;
  const asker = { tenant: request.caller?.tenant, signal: abortOnHangUp(reply) };
  const written = await request.server.jsonCoder.write(name, bulk, arrays, asker);
  stamp();
  const lastMember = JSON.stringify(encodeJson('Report', report, { arrays }));
  return reply.type(JSON_TYPE).send(appendMember(written, 'report', lastMember));
}
