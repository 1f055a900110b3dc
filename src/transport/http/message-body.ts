import type { FastifyReply, FastifyRequest } from 'fastify';
import fp from 'fastify-plugin';
import { IntersticeError } from '../../contract/errors.js';
import { answerBytes } from '../answer-bytes.js';
import { type ReportedAnswer, stampTimings } from '../answer-timing.js';
import { bulkBytes, encodeJsonInSlices, encodeMessageInSlices } from '../in-slices.js';
import { JsonCoder } from '../json/coder.js';
import { appendMember } from '../json/coder-work.js';
import { type DecodedJson, decodeJson } from '../json/decode.js';
import { encodeJson } from '../json/encode.js';
import type { fromUntangled } from '../messages/untangle.js';
import type { WireMessage } from '../messages/wire-message.js';
import { decodeMessage } from '../protobuf/decode.js';
import { type Enclosure, encodeReported } from '../protobuf/encode.js';
import { serverTiming } from './answer-headers.js';
import { arrivalOf, readBody, roomForAnswer } from './bodies.js';
import { signalOf } from './call-context.js';
import {
  bodyType,
  chooseType,
  JSON_TYPE,
  MESSAGE_TYPES,
  type MessageType,
  ownTypeFirst,
  unsupportedType,
} from './media-types.js';
import type { HttpOptions } from './options.js';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Message of the contract that the body contains. Bodies in JSON are decoded before the handler is called. */
    readonly message?: string;
  }
  interface FastifyInstance {
    /** Decodes and encodes large JSON outside the event loop; closed with the server. */
    readonly jsonCoder: JsonCoder;
  }
}

/** A JSON body before decoding. */
class JsonText {
  constructor(readonly bytes: Buffer) {}
}

/** A decoded JSON body. */
class JsonBody {
  constructor(readonly decoded: DecodedJson) {}
}

/** Decodes JSON bodies as the message of their route, large ones on a thread. */
export const jsonBody = fp<HttpOptions>(
  async (app, options) => {
    const onLost = (reason: Error) => options.log.error({ err: reason }, 'The JSON thread was lost.');
    const coder = new JsonCoder({ onLost, ...options.json });
    app.decorate('jsonCoder', coder);
    app.addHook('onClose', () => coder.close());
    app.addContentTypeParser('application/json', async (request: FastifyRequest, payload: NodeJS.ReadableStream) => {
      const charset = /;\s*charset\s*=\s*"?([^";\s]+)/i.exec(request.headers['content-type'] ?? '')?.[1];
      if (charset !== undefined && !/^utf-?8$/i.test(charset)) {
        throw unsupportedType(request.headers['content-type'], ['application/json; charset=utf-8']);
      }
      return new JsonText(await readBody(request, payload, options));
    });
    // This hook runs before the one that ends the preflight: a body that waits for the thread still counts as pending.
    app.addHook('preValidation', async (request, reply) => {
      if (!(request.body instanceof JsonText)) return;
      const { bytes } = request.body;
      const type = request.routeOptions.config.message;
      // Some libraries name a media type although they send no body, as with DELETE.
      if (type === undefined && bytes.byteLength === 0) return;
      const reading = await coder.read({ type, bytes, what: 'The body', path: '' }, clientOf(request, reply));
      if ('error' in reading) throw reading.error;
      // A number of two characters takes eight bytes after decoding.
      arrivalOf(request)?.account.growTo(bulkBytes(reading.decoded.message));
      request.body = new JsonBody(reading.decoded);
    });
  },
  { name: 'json-body', dependencies: ['media-types'] },
);

const clientOf = (request: FastifyRequest, reply: FastifyReply) => ({
  tenant: request.caller?.tenant,
  signal: signalOf(reply),
});

/** A request message, and the format of its answer. */
interface ReceivedMessage {
  readonly message: WireMessage;
  /** JSON only: whether the request contains bulk fields as arrays of numbers; then the answer does too. */
  readonly arrays: boolean;
}

/**
 * The body as the message of its route.
 * @throws the errors of the decoder; an empty body is not valid JSON, but it is a valid empty protobuf message
 */
export function readMessage(request: FastifyRequest): ReceivedMessage {
  const name = request.routeOptions.config.message;
  if (name === undefined) throw new Error(`The route ${request.routeOptions.url} has no message.`);
  if (bodyType(request, MESSAGE_TYPES) === 'application/x-protobuf') {
    return { message: decodeMessage(name, request.body as Buffer, true), arrays: false };
  }
  // No parser has seen a request without a body.
  const { message, usedArrays } =
    request.body instanceof JsonBody ? request.body.decoded : decodeJson(name, request.body);
  return { message, arrays: usedArrays };
}

/** Media type of the answer to a message. @throws NOT_ACCEPTABLE, UNSUPPORTED_MEDIA_TYPE */
export function answerType(request: FastifyRequest): MessageType {
  return chooseType(request, ownTypeFirst(bodyType(request, MESSAGE_TYPES), MESSAGE_TYPES));
}

/** Sends a message without bulk fields; its lists may be long. @param name message of the contract */
export async function sendMessage(
  reply: FastifyReply,
  name: string,
  message: object,
  type: MessageType,
): Promise<void> {
  const isJson = type === 'application/json';
  await roomForAnswer(reply, answerBytes(message, isJson ? 'base64' : 'binary'));
  const body = await (isJson ? encodeJsonInSlices(name, message) : encodeMessageInSlices(name, message));
  reply.type(isJson ? JSON_TYPE : type).send(body);
}

/** Largest length of a string in V8; JSON is written to a string. */
const MAX_TEXT = 2 ** 29 - 24;

function tooLongForJson(bytes: number): IntersticeError {
  return new IntersticeError(
    'TOO_LARGE',
    `The answer may have ${bytes} bytes as JSON, and ${MAX_TEXT} is the most that one text holds.`,
    {
      hint: 'Accept application/x-protobuf, or send arrays as base64. A step that is sent again under its frame gets the stored answer.',
    },
  );
}

/** Format of an answer with positions and a report. */
export interface AnswerFormat {
  readonly type: MessageType;
  readonly arrays: boolean;
  /** performance.now() when the operation had finished. */
  readonly answered: number;
}

/** Sends an untangled state. @param message UntangleResponse */
export async function sendUntangled(
  reply: FastifyReply,
  message: ReturnType<typeof fromUntangled>,
  { type, arrays }: Pick<AnswerFormat, 'type' | 'arrays'>,
): Promise<void> {
  if (type !== 'application/json') return sendMessage(reply, 'UntangleResponse', message, type);
  reply.type(JSON_TYPE).send(await encodeUntangledJson(reply, message, arrays));
}

/** Encodes an untangled state as JSON. @param message UntangleResponse @throws TOO_LARGE */
export async function encodeUntangledJson(
  reply: FastifyReply,
  message: ReturnType<typeof fromUntangled>,
  arrays: boolean,
): Promise<Uint8Array> {
  const bytes = answerBytes(message, arrays ? 'numbers' : 'base64');
  if (bytes > MAX_TEXT) throw tooLongForJson(bytes);
  await roomForAnswer(reply, bytes);
  const { report, ...bulk } = message;
  const { request } = reply;
  const written = await request.server.jsonCoder.write('UntangleResponse', bulk, arrays, clientOf(request, reply));
  return appendMember(written, 'report', JSON.stringify(encodeJson('UntangleReport', report, { arrays })));
}

/** Sends an answer with its report. @param name message of the contract that has a `report` */
export async function sendReported(
  reply: FastifyReply,
  name: string,
  message: { readonly report: object },
  answer: ReportedAnswer,
  format: AnswerFormat,
): Promise<void> {
  const { body, timing } = await encodeReportedAnswer(reply, name, message, answer, format);
  const type = format.type === 'application/json' ? JSON_TYPE : format.type;
  reply.header('server-timing', timing).type(type).send(body);
}

/**
 * Encodes an answer with its report. The report is encoded last, because it contains the times of the transport.
 * @param name message of the contract that has a `report`
 * @param enclosure protobuf only: the message around the answer
 * @returns also the value of the header `server-timing`
 */
export async function encodeReportedAnswer(
  reply: FastifyReply,
  name: string,
  message: { readonly report: object },
  answer: ReportedAnswer,
  { type, arrays, answered }: AnswerFormat,
  enclosure?: Enclosure,
): Promise<{ readonly body: Uint8Array; readonly timing: string }> {
  const { request } = reply;
  const encoding = type !== 'application/json' ? 'binary' : arrays ? 'numbers' : 'base64';
  const bytes = answerBytes(message, encoding);
  if (encoding !== 'binary' && bytes > MAX_TEXT) throw tooLongForJson(bytes);
  await roomForAnswer(reply, bytes);
  let timing = '';
  const stamp = () => {
    const times = { received: request.receivedAt, answered, encoded: performance.now() };
    timing = serverTiming(stampTimings(answer, times));
  };
  if (type !== 'application/json') {
    const body = encodeReported(name, message, stamp, enclosure);
    return { body, timing };
  }
  const { report, ...bulk } = message;
  const written = await request.server.jsonCoder.write(name, bulk, arrays, clientOf(request, reply));
  stamp();
  const lastMember = JSON.stringify(encodeJson('Report', report, { arrays }));
  return { body: appendMember(written, 'report', lastMember), timing };
}
