import multipart from '@fastify/multipart';
import Fastify, { type FastifyInstance, type FastifyRequest } from 'fastify';
import { IntersticeError } from '../../contract/errors.js';
import { KEY_PREFIX, MAX_NAME_CHARACTERS } from '../../contract/sessions.js';
import { packageVersion } from '../../paths.js';
import { requestIdOf, UPLOAD_TIMEOUT_MS } from '../common.js';
import { guardHttp } from '../intake/guard-connections.js';
import { answerStall } from './answer-stall.js';
import { auth } from './auth.js';
import { bodies } from './bodies.js';
import { BrokenRequests, refuseConnection } from './broken-requests.js';
import { browsers } from './browsers.js';
import { identity } from './call-context.js';
import { entrance } from './entrance.js';
import { errors, sendProblem, toError } from './errors.js';
import { health } from './health.js';
import { mediaTypes } from './media-types.js';
import { jsonBody } from './message-body.js';
import { openapi } from './openapi.js';
import { operationRoutes } from './operation-routes.js';
import type { HttpOptions } from './options.js';
import { paths } from './paths.js';
import { continueAfterChecks } from './preflight.js';
import { queries } from './queries.js';
import { queuedAnswers } from './queued-answers.js';
import { refusedBodies } from './refused-bodies.js';
import { requestLog } from './request-log.js';

/** Longest part of a path that identifies something, UTF-16 code units after decoding: a Unicode character has at most two. */
const MAX_PATH_NAME = KEY_PREFIX.length + 2 * MAX_NAME_CHARACTERS;

/** Builds the HTTP server (not listening yet): plugins in the order in which a request meets them, then routes. */
export async function buildHttpApp(options: HttpOptions): Promise<FastifyInstance> {
  const brokenRequests = new BrokenRequests(options.log);
  const app = Fastify({
    logger: false,
    bodyLimit: options.maxMessageBytes,
    requestTimeout: UPLOAD_TIMEOUT_MS,
    requestIdHeader: false,
    routerOptions: { maxParamLength: MAX_PATH_NAME },
    genReqId: (raw) => requestIdOf(raw.headers['x-request-id']),
    // While it drains the server answers with its own problem document.
    return503OnClosing: false,
    forceCloseConnections: 'idle',
    clientErrorHandler: brokenRequests.handle,
    // Node would refuse a missing host header without a problem document; see refuseHostless.
    http: { requireHostHeader: false },
    frameworkErrors: (thrown, request, reply) => {
      reply.header('x-request-id', request.id).header('interstice-version', packageVersion);
      void sendProblem(reply, request, toError(thrown, request, options));
    },
  });
  brokenRequests.watch(app);
  if (options.onServerError) app.server.on('error', options.onServerError);
  if (options.connections) guardHttp(app.server, 'http', options.connections, refuseConnection);
  await app.register(identity);
  await app.register(requestLog, options);
  await app.register(errors, options);
  await app.register(queuedAnswers);
  app.addHook('onRequest', refuseHostless);
  app.addHook('onRequest', refuseContradictions);
  await app.register(browsers, options);
  await app.register(auth, options);
  await app.register(paths, options);
  await app.register(queries);
  await app.register(bodies, options);
  await app.register(answerStall, options);
  await app.register(refusedBodies, options);
  await app.register(continueAfterChecks);
  await app.register(mediaTypes, options);
  await app.register(jsonBody, options);
  await app.register(multipart, { throwFileSizeLimit: false });
  await app.register(openapi, options);
  await app.register(entrance, options);
  await app.register(health, options);
  await app.register(operationRoutes, options);
  return app;
}

/** HTTP/1.1 requires a host header in every request. */
async function refuseHostless({ raw }: FastifyRequest): Promise<void> {
  if (raw.headers.host === undefined && raw.httpVersion === '1.1') {
    throw new IntersticeError('MALFORMED_BODY', 'The request has no host header.');
  }
}

/** Headers of which Node keeps the first one without a word. */
const SINGLE_HEADERS: ReadonlySet<string> = new Set(['authorization', 'content-type', 'host']);

/** A proxy that looks at the other one would check another key, or another host, than the service. */
async function refuseContradictions({ raw }: FastifyRequest): Promise<void> {
  const { headers, rawHeaders } = raw;
  for (let i = 0; i + 1 < rawHeaders.length; i += 2) {
    const name = rawHeaders[i]!.toLowerCase();
    if (!SINGLE_HEADERS.has(name) || rawHeaders[i + 1] === headers[name]) continue;
    throw new IntersticeError('MALFORMED_BODY', `The request has several headers ${name} that differ.`, {
      hint: 'Send it once.',
    });
  }
  // Clients of proxies write the whole address before the path.
  const authority = /^https?:\/\/([^/?#]*)/i.exec(raw.url ?? '')?.[1]?.toLowerCase();
  if (authority === undefined || authority === headers.host?.toLowerCase()) return;
  throw new IntersticeError('MALFORMED_BODY', 'The request line and the header host name different hosts.', {
    hint: 'Send the path alone in the request line, or the same host in both.',
  });
}
