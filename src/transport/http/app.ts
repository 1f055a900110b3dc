import { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import multipart from '@fastify/multipart';
import Fastify, { type FastifyInstance, type FastifyRequest } from 'fastify';
import { ERRORS, IntersticeError } from '../../contract/errors.js';
import { packageVersion } from '../../paths.js';
import { auth } from './auth.js';
import { check } from './check.js';
import { PROBLEM_TYPE } from './content-types.js';
import { errors, problemOf, sendProblem, toRefusal } from './errors.js';
import { health } from './health.js';
import { identity, requestIdOf } from './identity.js';
import { info } from './info.js';
import { jsonBody } from './json-body.js';
import { media } from './media.js';
import { openapi } from './openapi.js';
import type { DoorOptions } from './options.js';
import { paths } from './paths.js';
import { continues } from './preflight.js';
import { requestLog } from './request-log.js';
import { resolve } from './resolve.js';
import { sessions } from './sessions.js';
import { steps } from './steps.js';
import { UnderWay } from './under-way.js';

/** How long a request may take to arrive: a body that trickles in must not hold a place for ever. */
const REQUEST_TIMEOUT_MS = 300_000;

/** The HTTP door, not yet listening. Plugins first, in the order in which a request meets them, then the paths. */
export async function buildHttpApp(options: DoorOptions): Promise<FastifyInstance> {
  const underWay = new UnderWay();
  const app = Fastify({
    logger: false,
    bodyLimit: options.maxMessageBytes,
    requestTimeout: REQUEST_TIMEOUT_MS,
    requestIdHeader: false,
    genReqId: (raw) => requestIdOf(raw.headers),
    // While it drains the door answers with its own problem document.
    return503OnClosing: false,
    forceCloseConnections: 'idle',
    // What was asked before is answered first: a refusal in the middle of an answer would break that.
    clientErrorHandler: (thrown, socket) => underWay.afterWholeOnes(socket, () => answerBrokenRequest(thrown, socket)),
    // Node would answer a missing one by itself, without a document.
    http: { requireHostHeader: false },
    frameworkErrors: (thrown, request, reply) => {
      reply.header('x-request-id', request.id).header('interstice-version', packageVersion);
      void sendProblem(reply, request, toRefusal(thrown, request, options));
    },
  });
  app.server.on('checkExpectation', refuseExpectation);
  app.addHook('onRequest', async ({ raw }) => underWay.begin(raw));
  app.addHook('onResponse', async ({ raw }) => underWay.end(raw));
  await app.register(identity);
  await app.register(requestLog, options);
  await app.register(errors, options);
  app.addHook('onRequest', refuseHostless);
  await app.register(auth, options);
  await app.register(paths, options);
  await app.register(continues);
  await app.register(media);
  await app.register(jsonBody, options);
  await app.register(multipart, { throwFileSizeLimit: false });
  await app.register(openapi);
  for (const door of [health, info, resolve, check, sessions, steps]) await app.register(door, options);
  return app;
}

/** HTTP/1.1 demands a host in every request. */
async function refuseHostless({ raw }: FastifyRequest): Promise<void> {
  if (raw.headers.host === undefined && raw.httpVersion === '1.1') {
    throw new IntersticeError('MALFORMED_BODY', 'The request has no header host.');
  }
}

/** Bytes that are no HTTP request never reach a route; they are answered on the bare socket. */
function answerBrokenRequest(thrown: Error & { code?: string }, socket: Socket): void {
  if (thrown.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const reason =
    thrown.code === 'ERR_HTTP_REQUEST_TIMEOUT'
      ? `The request was not complete after ${REQUEST_TIMEOUT_MS / 1000} s.`
      : thrown.code === 'HPE_HEADER_OVERFLOW'
        ? 'The headers are too long.'
        : 'This is no valid HTTP request.';
  const { status, headers, body } = bareRefusal(reason);
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
}

/** Any Expect header but 100-continue; Node would answer 417 without a document. */
function refuseExpectation(_request: IncomingMessage, response: ServerResponse): void {
  const { status, headers, body } = bareRefusal('The header expect holds something else than 100-continue.');
  response.writeHead(status, headers).end(body);
}

/** An answer to what never reaches a route. Nobody knows what still comes on such a connection, so it is closed. */
function bareRefusal(reason: string) {
  const error = new IntersticeError('MALFORMED_BODY', reason);
  const requestId = requestIdOf({});
  const body = JSON.stringify(problemOf(error, requestId, ''));
  const headers = {
    'content-type': PROBLEM_TYPE,
    'content-length': Buffer.byteLength(body),
    'x-request-id': requestId,
    'interstice-version': packageVersion,
    connection: 'close',
  };
  return { status: ERRORS[error.code].http, headers, body };
}
