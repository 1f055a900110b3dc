import type { FastifyInstance, FastifyRequest } from 'fastify';
import { IntersticeError } from '../../contract/errors.js';
import { fromListSessionsAnswer, fromReport, fromSession } from '../answers.js';
import { decodeJson } from '../json/decode.js';
import { toCreateSessionRequest, toListSessionsRequest, toUpdateSessionRequest } from '../messages.js';
import { refuseBudgetHeaders } from './budget.js';
import { contextOf } from './caller.js';
import { MESSAGE_TYPES } from './content-types.js';
import { chooseType, refuseQuery } from './media.js';
import { answerType, readMessage, sendMessage } from './message-body.js';
import type { DoorOptions } from './options.js';
import { preflightFor } from './preflight.js';
import * as schemas from './session-schemas.js';

type OfSession = { Params: { id: string } };

const ALL = '/v1/sessions';
const ONE = '/v1/sessions/:id';

/** Opens, reads, lists, changes and closes sessions; their steps are in a file of their own. */
export async function sessions(app: FastifyInstance, { operations }: DoorOptions): Promise<void> {
  /** Refuses what can be refused before the body has arrived. */
  const withBody = async (request: FastifyRequest): Promise<void> => {
    refuseQuery(request);
    refuseBudgetHeaders(request);
    answerType(request);
  };
  const withoutBody = async (request: FastifyRequest): Promise<void> => {
    refuseQuery(request);
    refuseBudgetHeaders(request);
    chooseType(request, MESSAGE_TYPES);
  };

  const onCreate = [withBody, preflightFor(operations, 'createSession')];
  const creating = { schema: schemas.createSchema(), config: { message: 'CreateSessionRequest' }, onRequest: onCreate };
  app.post(ALL, creating, async (request, reply) => {
    const context = contextOf(request, reply);
    const input = toCreateSessionRequest(readMessage(request).message);
    const session = await operations.createSession(input, context);
    reply.code(201).header('location', `${ALL}/${encodeURIComponent(session.id)}`);
    return sendMessage(reply, 'Session', fromSession(session), answerType(request));
  });

  app.get(ALL, { schema: schemas.listSchema() }, async (request, reply) => {
    refuseBudgetHeaders(request);
    const type = chooseType(request, MESSAGE_TYPES);
    // A query holds text; the JSON mapping takes numbers as text too, and refuses a name that it does not know.
    const input = toListSessionsRequest(decodeJson('ListSessionsRequest', { ...(request.query as object) }).message);
    const answer = await operations.listSessions(input, contextOf(request, reply));
    return sendMessage(reply, 'ListSessionsResponse', fromListSessionsAnswer(answer), type);
  });

  app.get<OfSession>(ONE, { schema: schemas.getSchema(), onRequest: withoutBody }, async (request, reply) => {
    const session = await operations.getSession(request.params.id, contextOf(request, reply));
    return sendMessage(reply, 'Session', fromSession(session), chooseType(request, MESSAGE_TYPES));
  });

  app.get<OfSession>(
    `${ONE}/report`,
    { schema: schemas.reportSchema(), onRequest: withoutBody },
    async (request, reply) => {
      const { lastReport } = await operations.getSession(request.params.id, contextOf(request, reply));
      if (!lastReport) {
        throw new IntersticeError('NOT_FOUND', 'This session has made no step yet, so there is no report.', {
          hint: 'POST to the steps of the session first.',
        });
      }
      return sendMessage(reply, 'Report', fromReport(lastReport), chooseType(request, MESSAGE_TYPES));
    },
  );

  const onUpdate = [withBody, preflightFor(operations, 'updateSession')];
  const updating = { schema: schemas.updateSchema(), config: { message: 'UpdateSessionRequest' }, onRequest: onUpdate };
  app.patch<OfSession>(ONE, updating, async (request, reply) => {
    const context = contextOf(request, reply);
    const { message } = readMessage(request);
    const session = await operations.updateSession(toUpdateSessionRequest(message, request.params.id), context);
    return sendMessage(reply, 'Session', fromSession(session), answerType(request));
  });

  const onDelete = async (request: FastifyRequest): Promise<void> => {
    refuseQuery(request);
    refuseBudgetHeaders(request);
  };
  app.delete<OfSession>(ONE, { schema: schemas.deleteSchema(), onRequest: onDelete }, async (request, reply) => {
    await operations.deleteSession(request.params.id, contextOf(request, reply));
    return reply.code(204).send();
  });
}
