import type { FastifyInstance, FastifyRequest } from 'fastify';
import { IntersticeError } from '../../contract/errors.js';
import { OPERATION_NAMES, OPERATIONS } from '../../contract/operation-table.js';
import type { OperationName, RequestOf } from '../../contract/operations.js';
import { decodeJson } from '../json/decode.js';
import { CONVERTERS } from '../messages/converters.js';
import { fromJob, fromJobResult, fromSolvedJob } from '../messages/long-jobs.js';
import { refuseBudgetHeaders, refuseOnBudgetHeader, withBudgetHeaders } from './budget-headers.js';
import { contextOf } from './call-context.js';
import { checkRoute } from './check.js';
import { chooseType, MESSAGE_TYPES, refuseQuery, STREAM_TYPES } from './media-types.js';
import { answerType, readMessage, sendMessage, sendReported } from './message-body.js';
import { addOperationRoute, type RouteParts, respondWithMessage } from './operation-route.js';
import { reportSchema } from './operation-schemas.js';
import type { HttpOptions } from './options.js';
import { resolveRoute } from './resolve.js';
import { stepRoute } from './step.js';
import { untangleRoute } from './untangle.js';

/** The routes of all operations, and the report of a session as a separate resource. */
export async function operationRoutes(app: FastifyInstance, options: HttpOptions): Promise<void> {
  const { operations, maxMessageBytes, maxJsonBytes } = options;
  const limits = { ...operations.info().limits, maxMessageBytes, maxJsonBytes };
  const parts: { readonly [K in OperationName]?: RouteParts<K> } = {
    resolve: resolveRoute(limits),
    check: checkRoute(limits),
    diagnose: {
      checkHead: (request) => {
        refuseQuery(request);
        refuseOnBudgetHeader(request);
        answerType(request);
      },
      read: (request) => ({
        input: withBudgetHeaders(request, CONVERTERS.diagnose.toRequest(readMessage(request).message)),
        respond: (reply, answer) => respondWithMessage(reply, 'diagnose', answer),
      }),
    },
    untangle: untangleRoute,
    step: stepRoute,
    createSession: {
      headers: ({ id }) => ({ location: `${OPERATIONS.createSession.httpPath}/${encodeURIComponent(id)}` }),
    },
    listSessions: queryRoute('listSessions'),
    submitJob: {
      headers: ({ id }) => ({ location: `${OPERATIONS.submitJob.httpPath}/${encodeURIComponent(id)}` }),
    },
    getJob: queryRoute('getJob'),
    watchJob: {
      checkHead: (request) => {
        refuseQuery(request);
        refuseBudgetHeaders(request);
        chooseType(request, STREAM_TYPES);
      },
      read: (request) => ({
        input: readQuery(request, 'watchJob'),
        streamed: {
          type: chooseType(request, STREAM_TYPES),
          last: (stream, job) => stream.lastMessage({ job: fromJob(job) }),
        },
      }),
    },
    listJobs: queryRoute('listJobs'),
    getJobResult: {
      ...queryRoute('getJobResult'),
      read: (request) => ({
        input: readQuery(request, 'getJobResult'),
        respond: (reply, answer, answered) => {
          const type = chooseType(request, MESSAGE_TYPES);
          if (answer.untangle) return sendMessage(reply, 'ResolveResponse', fromJobResult(answer), type);
          const format = { type, arrays: false, answered };
          return sendReported(reply, 'ResolveResponse', fromSolvedJob(answer), answer, format);
        },
      }),
    },
    info: {
      checkHead: (request) => {
        refuseQuery(request);
        chooseType(request, MESSAGE_TYPES);
      },
    },
  };
  const add = <K extends OperationName>(name: K) => addOperationRoute<K>(app, options, name, parts[name]);
  for (const name of OPERATION_NAMES) add(name);
  addReportRoute(app, options);
}

/** An operation whose request is in its path and query, answered with a message. */
function queryRoute<K extends OperationName>(name: K): RouteParts<K> {
  return {
    checkHead: (request) => {
      refuseBudgetHeaders(request);
      chooseType(request, MESSAGE_TYPES);
    },
    read: (request) => ({
      input: readQuery(request, name),
      respond: (reply, answer) => respondWithMessage(reply, name, answer),
    }),
  };
}

/** A query contains strings; the JSON mapping accepts numbers as strings, and refuses unknown names. */
function readQuery<K extends OperationName>(request: FastifyRequest, name: K): RequestOf<K> {
  const { id } = request.params as { id?: string };
  const { message } = decodeJson(OPERATIONS[name].request, { ...(request.query as object) });
  return CONVERTERS[name].toRequest(message, { sessionId: id, jobId: id });
}

/** GET the last report of a session. */
function addReportRoute(app: FastifyInstance, { operations }: HttpOptions): void {
  app.get<{ Params: { id: string } }>(
    `${OPERATIONS.getSession.httpPath}/report`,
    {
      schema: reportSchema(),
      onRequest: async (request) => {
        refuseQuery(request);
        refuseBudgetHeaders(request);
        chooseType(request, MESSAGE_TYPES);
      },
    },
    async (request, reply) => {
      const { lastReport } = await operations.getSession(request.params.id, contextOf(request, reply));
      if (!lastReport) {
        throw new IntersticeError('NOT_FOUND', 'This session has no report, because it has computed no step.', {
          hint: 'POST a step to the session first.',
        });
      }
      await sendMessage(reply, 'Report', lastReport, chooseType(request, MESSAGE_TYPES));
      // Without the reply Fastify would send once more, because its hooks may still be running.
      return reply;
    },
  );
}
