import { type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { ERRORS, IntersticeError } from '../../contract/errors.js';
import { packageVersion } from '../../paths.js';
import { requestIdOf, UPLOAD_TIMEOUT_MS } from '../common.js';
import { problemOf } from './errors.js';
import { PROBLEM_TYPE } from './media-types.js';

/** Answers bytes that are not a valid HTTP request. They reach no route, so the answer is written to the socket. */
export class BrokenRequests {
  private readonly pending = new PendingRequests();

  /** Refuses unknown expectations, and follows the requests of every connection. */
  watch(app: FastifyInstance): void {
    (app.server as Server).on('checkExpectation', refuseExpectation);
    app.addHook('onRequest', async ({ raw }) => this.pending.add(raw));
    app.addHook('onResponse', async ({ raw }) => this.pending.remove(raw));
  }

  /** Fastify's `clientErrorHandler`. Earlier requests of the connection are answered first. */
  readonly handle = (thrown: Error & { code?: string }, socket: Socket): void =>
    this.pending.afterComplete(socket, () => answerBrokenRequest(thrown, socket));
}

interface Connection {
  /** Requests whose answers are not complete. */
  readonly unanswered: Set<IncomingMessage>;
  /** Called when all requests that arrived completely are answered. */
  onAnswered?: (() => void) | undefined;
}

/** The unanswered requests of each connection. */
class PendingRequests {
  private readonly connections = new WeakMap<Socket, Connection>();

  add(request: IncomingMessage): void {
    const connection = this.connections.get(request.socket) ?? { unanswered: new Set() };
    this.connections.set(request.socket, connection);
    connection.unanswered.add(request);
  }

  /** The answer is complete, or the caller has disconnected. */
  remove(request: IncomingMessage): void {
    const connection = this.connections.get(request.socket);
    connection?.unanswered.delete(request);
    if (!connection?.onAnswered || hasComplete(connection)) return;
    const { onAnswered } = connection;
    connection.onAnswered = undefined;
    onAnswered();
  }

  /**
   * Calls back when all requests that arrived completely are answered; at once if there are none. An incomplete request
   * is not awaited, because the broken bytes are part of it. Only the first callback of a connection is kept: a
   * connection ends only once.
   */
  afterComplete(socket: Socket, then: () => void): void {
    const connection = this.connections.get(socket);
    if (connection && hasComplete(connection)) connection.onAnswered ??= then;
    else then();
  }
}

const hasComplete = ({ unanswered }: Connection): boolean => [...unanswered].some(({ complete }) => complete);

function answerBrokenRequest(thrown: Error & { code?: string }, socket: Socket): void {
  if (thrown.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  socket.end(asText(bareRefusal(malformed(reasonOf(thrown.code)))));
}

/** Answers a connection beyond the limits before it has sent a request, and closes it at once. */
export function refuseConnection(socket: Socket): void {
  const error = new IntersticeError('QUEUE_FULL', 'This server cannot accept another connection now.', {
    hint: 'Retry after the stated time. Use few connections, and keep them open.',
    retryAfterSeconds: 1,
  });
  socket.end(asText(bareRefusal(error)), () => socket.destroy());
}

const malformed = (reason: string) => new IntersticeError('MALFORMED_BODY', reason);

function asText({ status, headers, body }: ReturnType<typeof bareRefusal>): string {
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
  ];
  return `${head.join('\r\n')}\r\n\r\n${body}`;
}

function reasonOf(code: string | undefined): string {
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return `The request was not complete after ${UPLOAD_TIMEOUT_MS / 1000} s.`;
  if (code === 'HPE_INVALID_EOF_STATE') return 'The connection ended in the middle of the request.';
  return code === 'HPE_HEADER_OVERFLOW' ? 'The headers are too long.' : 'This is not a valid HTTP request.';
}

/** Refuses any Expect header except 100-continue. Node would answer 417 without a problem document. */
function refuseExpectation(_request: IncomingMessage, response: ServerResponse): void {
  const { status, headers, body } = bareRefusal(malformed('The header expect must be 100-continue.'));
  response.writeHead(status, headers).end(body);
}

/** Answers an error outside all routes. The connection is closed, because the meaning of its next bytes is unknown. */
function bareRefusal(error: IntersticeError) {
  const requestId = requestIdOf(undefined);
  const body = JSON.stringify(problemOf(error, requestId, ''));
  const headers = {
    'content-type': PROBLEM_TYPE,
    'content-length': Buffer.byteLength(body),
    'x-request-id': requestId,
    'interstice-version': packageVersion,
    ...(error.retryAfterSeconds === undefined ? {} : { 'retry-after': String(error.retryAfterSeconds) }),
    connection: 'close',
  };
  return { status: ERRORS[error.code].http, headers, body };
}
