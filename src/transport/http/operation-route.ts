import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { hasPreflight, OPERATIONS, type OperationRow } from '../../contract/operation-table.js';
import { type AnswerOf, invoke, type OperationName, type RequestOf } from '../../contract/operations.js';
import { CONVERTERS } from '../messages/converters.js';
import { takeBackIfUndelivered } from '../undelivered.js';
import { AnswerStream } from './answer-stream.js';
import { OVERRIDE_HEADER, refuseBudgetHeaders, refuseHeader } from './budget-headers.js';
import { contextOf } from './call-context.js';
import { chooseType, MESSAGE_TYPES, type MessageType, refuseQuery, type StreamType } from './media-types.js';
import { answerType, readMessage, sendMessage } from './message-body.js';
import { operationSchema } from './operation-schemas.js';
import type { HttpOptions } from './options.js';
import { preflightHook } from './preflight.js';

/** A request that was read, and how to answer it. */
export type RequestReading<K extends OperationName> = { readonly input: RequestOf<K> } & (
  | WholeAnswer<K>
  | { readonly streamed: StreamedAnswer<K> }
);

/** How an answer is sent as a whole. */
interface WholeAnswer<K extends OperationName> {
  /**
   * Sends the answer. It must not resolve to the reply, which is itself a promise: every await of it would add a
   * listener.
   *
   * @param answered performance.now() when the operation had finished
   */
  readonly respond: (reply: FastifyReply, answer: AnswerOf<K>, answered: number) => void | Promise<void>;
  readonly streamed?: undefined;
}

/** How an answer is streamed, for a caller that accepts a stream. */
export interface StreamedAnswer<K extends OperationName> {
  readonly type: StreamType;
  /** @returns the pieces of the last message */
  readonly last: (
    stream: AnswerStream,
    answer: AnswerOf<K>,
    answered: number,
  ) => readonly Uint8Array[] | Promise<readonly Uint8Array[]>;
}

/** The parts of a route in which operations differ. */
export interface RouteParts<K extends OperationName> {
  /** Refuses faults that the head of the request already shows. Default: {@link checkMessageHead}. */
  readonly checkHead?: (request: FastifyRequest) => void;
  /** Reads the request. Default: one message of the contract. */
  readonly read?: (request: FastifyRequest, reply: FastifyReply) => RequestReading<K> | Promise<RequestReading<K>>;
  /** Additional headers of an answer. */
  readonly headers?: (answer: AnswerOf<K>) => Readonly<Record<string, string>>;
}

/** Adds the route of an operation: checks the head, runs the preflight, reads, runs the operation, responds. */
export function addOperationRoute<K extends OperationName>(
  app: FastifyInstance,
  options: HttpOptions,
  name: K,
  parts: RouteParts<K> = {},
): void {
  const { operations } = options;
  const row: OperationRow = OPERATIONS[name];
  const { checkHead = (request) => checkMessageHead(request, row), read = defaultRead(name), headers } = parts;
  const onRequest = async (request: FastifyRequest): Promise<void> => {
    // Parameters for one step: elsewhere they would be dropped silently.
    if (name !== 'step') refuseHeader(request, OVERRIDE_HEADER);
    checkHead(request);
  };
  app.route({
    method: row.httpMethod,
    url: row.httpPath,
    schema: operationSchema(name),
    config: hasBody(row) ? { message: row.request } : {},
    onRequest: hasPreflight(name) ? [onRequest, preflightHook(operations, name)] : onRequest,
    handler: async (request, reply) => {
      const context = contextOf(request, reply);
      const reading = await read(request, reply);
      const { input } = reading;
      if (reading.streamed) {
        const { streamed } = reading;
        const stream = new AnswerStream(reply, streamed.type, row.stream!.response, options);
        await stream.run(async () => {
          const answer = await invoke(operations, name, input, { ...context, ...stream.listeners });
          return streamed.last(stream, answer, performance.now());
        });
        return reply;
      }
      const answer = await invoke(operations, name, input, context);
      takeBackIfUndelivered(operations, name, input, answer, context);
      const answered = performance.now();
      reply.code(row.httpStatus);
      if (headers) reply.headers(headers(answer));
      await reading.respond(reply, answer, answered);
      return reply;
    },
  });
}

const hasBody = ({ httpMethod }: OperationRow): boolean => httpMethod === 'POST' || httpMethod === 'PATCH';

/** Checks the head of requests whose body and answer are messages of the contract. */
function checkMessageHead(request: FastifyRequest, row: OperationRow): void {
  refuseQuery(request);
  refuseBudgetHeaders(request);
  if (row.httpStatus !== 204) responseType(request, row);
}

const responseType = (request: FastifyRequest, row: OperationRow): MessageType =>
  hasBody(row) ? answerType(request) : chooseType(request, MESSAGE_TYPES);

function defaultRead<K extends OperationName>(name: K) {
  const row: OperationRow = OPERATIONS[name];
  return (request: FastifyRequest): RequestReading<K> => {
    const { id } = request.params as { id?: string };
    const message = hasBody(row) ? readMessage(request).message : {};
    return {
      input: CONVERTERS[name].toRequest(message, { sessionId: id, jobId: id }),
      respond: (reply, answer) => respondWithMessage(reply, name, answer),
    };
  };
}

/** Sends an answer as a message of the contract, without a body if the status has none. */
export function respondWithMessage<K extends OperationName>(
  reply: FastifyReply,
  name: K,
  answer: AnswerOf<K>,
): void | Promise<void> {
  const row: OperationRow = OPERATIONS[name];
  if (row.httpStatus !== 204)
    return sendMessage(reply, row.response, CONVERTERS[name].fromAnswer(answer), responseType(reply.request, row));
  reply.send();
}
