import { type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { ERRORS, IntersticeError } from '../../contract/errors.js';
import { LineBound } from '../../observe/line-bound.js';
import type { Logger } from '../../observe/log.js';
import { packageVersion } from '../../paths.js';
import { requestIdOf, UPLOAD_TIMEOUT_MS } from '../common.js';
import { addressOf } from '../intake/client-name.js';
import { problemOf } from './errors.js';
import { PROBLEM_TYPE } from './media-types.js';

/** `event` of every log line about bytes that are no HTTP request. */
const EVENT = 'broken-request';

/**
 * Answers bytes that are not a valid HTTP request. They reach no route, so the answer is written to the socket, and the log has
 * lines of another kind for them, a limited number a second.
 */
export class BrokenRequests {
  private readonly pending = new PendingRequests();
  private readonly bound: LineBound;

  constructor(private readonly log: Logger) {
    this.bound = new LineBound((unlogged) => log.info({ event: EVENT, unlogged }, 'More broken requests arrived.'));
  }

  /**
   * Refuses any Expect header except 100-continue, where Node would answer 417 without a problem document, and CONNECT,
   * where it would close the connection without a word. Follows the requests of every connection.
   */
  watch(app: FastifyInstance): void {
    const server = app.server as Server;
    server.on('checkExpectation', ({ socket }: IncomingMessage, response: ServerResponse) => {
      const { status, headers, body } = this.refuse(malformed('The header expect must be 100-continue.'), socket);
      response.writeHead(status, headers).end(body);
    });
    server.on('connect', ({ socket }: IncomingMessage) => {
      // Node has handed the socket over: its errors and what else arrives on it are nobody's otherwise.
      socket.on('error', () => socket.destroy()).resume();
      this.pending.afterComplete(socket, () => {
        if (socket.writable) socket.end(asText(this.refuse(noProxy(), socket)), () => socket.destroy());
      });
    });
    app.addHook('onRequest', async ({ raw }) => this.pending.add(raw));
    app.addHook('onResponse', async ({ raw }) => this.pending.remove(raw));
    app.addHook('onClose', async () => this.bound.flush());
  }

  /** Fastify's `clientErrorHandler`. Earlier requests of the connection are answered first. */
  readonly handle = (thrown: Error & { code?: string }, socket: Socket): void =>
    this.pending.afterComplete(socket, () => this.answer(thrown, socket));

  private answer(thrown: Error & { code?: string }, socket: Socket): void {
    if (thrown.code === 'ECONNRESET' || !socket.writable) socket.destroy();
    // A second answer to one request would count as that of the next one, and the first one has its line.
    else if (this.pending.isWithinAnswered(socket)) socket.end();
    else socket.end(asText(this.refuse(malformed(reasonOf(thrown.code)), socket)));
  }

  /** @param error its message contains nothing of what was sent @returns the answer */
  private refuse(error: IntersticeError, socket: Socket): BareRefusal {
    const refusal = bareRefusal(error);
    if (this.bound.allows(error.message)) {
      const { requestId, status } = refusal;
      this.log.info({ event: EVENT, requestId, status, remote: addressOf(socket) }, error.message);
    }
    return refusal;
  }
}

interface Connection {
  /** Requests whose answers are not complete. */
  readonly unanswered: Set<IncomingMessage>;
  /** The request that began last. */
  latest?: IncomingMessage;
  /** Called when all requests that arrived completely are answered. */
  onAnswered?: (() => void) | undefined;
}

/** The unanswered requests of each connection. */
class PendingRequests {
  private readonly connections = new WeakMap<Socket, Connection>();

  add(request: IncomingMessage): void {
    const connection: Connection = this.connections.get(request.socket) ?? { unanswered: new Set() };
    this.connections.set(request.socket, connection);
    connection.unanswered.add(request);
    connection.latest = request;
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

  /** Whether the bytes that arrive belong to a request that was answered before it had arrived, usually by a refusal. */
  isWithinAnswered(socket: Socket): boolean {
    const { latest, unanswered } = this.connections.get(socket) ?? {};
    return latest?.complete === false && unanswered?.has(latest) === false;
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

/** Answers a connection beyond the limits before it has sent a request, and closes it at once. */
export function refuseConnection(socket: Socket): void {
  const error = new IntersticeError('QUEUE_FULL', 'This server cannot accept another connection now.', {
    hint: 'Retry after the stated time. Use few connections, and keep them open.',
    retryAfterSeconds: 1,
  });
  socket.end(asText(bareRefusal(error)), () => socket.destroy());
}

function asText({ status, headers, body }: BareRefusal): string {
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
  ];
  return `${head.join('\r\n')}\r\n\r\n${body}`;
}

const malformed = (reason: string): IntersticeError => new IntersticeError('MALFORMED_BODY', reason);

function noProxy(): IntersticeError {
  const hint = 'Send the request itself, to a path of this service.';
  return new IntersticeError('METHOD_NOT_ALLOWED', 'This service is not a proxy: it has no method CONNECT.', { hint });
}

function reasonOf(code: string | undefined): string {
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return `The request was not complete after ${UPLOAD_TIMEOUT_MS / 1000} s.`;
  if (code === 'HPE_INVALID_EOF_STATE') return 'The connection ended in the middle of the request.';
  return code === 'HPE_HEADER_OVERFLOW' ? 'The headers are too long.' : 'This is not a valid HTTP request.';
}

type BareRefusal = ReturnType<typeof bareRefusal>;

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
  return { requestId, status: ERRORS[error.code].http, headers, body };
}
