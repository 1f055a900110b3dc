import type { FastifyInstance } from 'fastify';
import { IntersticeError } from '../../contract/errors.js';
import { OPERATION_NAMES, OPERATIONS } from '../../contract/operation-table.js';
import type { OperationName } from '../../contract/operations.js';
import { decodeJson } from '../json/decode.js';
import { CONVERTERS } from '../messages/converters.js';
import { refuseBudgetHeaders } from './budget-headers.js';
import { contextOf } from './call-context.js';
import { checkRoute } from './check.js';
import { chooseType, MESSAGE_TYPES, refuseQuery } from './media-types.js';
import { sendMessage } from './message-body.js';
import { addOperationRoute, type RouteParts, respondWithMessage } from './operation-route.js';
import { reportSchema } from './operation-schemas.js';
import type { HttpOptions } from './options.js';
import { resolveRoute } from './resolve.js';
import { stepRoute } from './step.js';

/** The routes of all operations, and the report of a session as a resource of its own. */
export async function operationRoutes(app: FastifyInstance, options: HttpOptions): Promise<void> {
  const { operations, maxMessageBytes } = options;
  const limits = { ...operations.info().limits, maxMessageBytes };
  const parts: { readonly [K in OperationName]?: RouteParts<K> } = {
    resolve: resolveRoute(limits),
    check: checkRoute(limits),
    step: stepRoute,
    createSession: {
      headers: ({ id }) => ({ location: `${OPERATIONS.createSession.httpPath}/${encodeURIComponent(id)}` }),
    },
    listSessions: {
      checkHead: (request) => {
        refuseBudgetHeaders(request);
        chooseType(request, MESSAGE_TYPES);
      },
      read: (request) => {
        // A query contains strings; the JSON mapping accepts numbers as strings, and refuses unknown names.
        const { message } = decodeJson(OPERATIONS.listSessions.request, { ...(request.query as object) });
        return {
          input: CONVERTERS.listSessions.toRequest(message),
          respond: (reply, answer) => respondWithMessage(reply, 'listSessions', answer),
        };
      },
    },
    info: { checkHead: (request) => void chooseType(request, MESSAGE_TYPES) },
  };
  const add = <K extends OperationName>(name: K) => addOperationRoute<K>(app, options, name, parts[name]);
  for (const name of OPERATION_NAMES) add(name);
  addReportRoute(app, options);
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
      return sendMessage(reply, 'Report', lastReport, chooseType(request, MESSAGE_TYPES));
    },
  );
}
