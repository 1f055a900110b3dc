import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { MeshCheckRequest } from '../../contract/requests.js';
import { fromCheckAnswer } from '../answers.js';
import { fromOptions } from '../json/options.js';
import { toCheckRequest } from '../messages.js';
import { serverTiming } from './answer-timing.js';
import { refuseBudgetHeaders } from './budget.js';
import { contextOf } from './caller.js';
import { FORM_TYPES, MESSAGE_TYPES } from './content-types.js';
import { type FormLimits, readForm } from './form.js';
import { joinMeshes, withKinematic } from './form-meshes.js';
import { chooseType, ownTypeFirst, refuseQuery, takeType } from './media.js';
import { readMessage, sendMessage } from './message-body.js';
import type { DoorOptions } from './options.js';
import { preflightFor } from './preflight.js';
import { checkSchema } from './schemas.js';

/** The same files may be named as in a resolve, so that one command line serves both. */
const GROUPS = { mesh: 'mesh', start: 'mesh', pathEnd: 'pathEnd', path_end: 'pathEnd', target: 'pathEnd' } as const;

/** POST /v1/check, as a message or as a form of mesh files. */
export async function check(app: FastifyInstance, { operations, maxMessageBytes }: DoorOptions): Promise<void> {
  const limits = { ...operations.info().limits, maxMessageBytes };
  const onRequest = async (request: FastifyRequest): Promise<void> => {
    refuseQuery(request);
    refuseBudgetHeaders(request);
    chooseType(request, ownTypeFirst(takeType(request, FORM_TYPES), MESSAGE_TYPES));
  };
  const hooks = [onRequest, preflightFor(operations, 'check')];
  app.post(
    '/v1/check',
    { schema: checkSchema(), config: { message: 'CheckRequest' }, onRequest: hooks },
    async (request, reply) => {
      const context = contextOf(request, reply);
      const own = takeType(request, FORM_TYPES);
      const input =
        own === 'multipart/form-data'
          ? await readAsForm(request, reply, limits)
          : toCheckRequest(readMessage(request).message);
      const decoded = performance.now();
      const answer = await operations.check(input, context);
      const timings = {
        decode: (decoded - request.receivedAt) * 1000,
        total: (performance.now() - request.receivedAt) * 1000,
      };
      reply.header('server-timing', serverTiming(timings));
      const type = chooseType(request, ownTypeFirst(own, MESSAGE_TYPES));
      return sendMessage(reply, 'CheckResponse', fromCheckAnswer(answer), type);
    },
  );
}

async function readAsForm(request: FastifyRequest, reply: FastifyReply, limits: FormLimits): Promise<MeshCheckRequest> {
  const form = await readForm(request, reply, GROUPS, limits);
  const { start, target, parts } = joinMeshes(form.files.mesh, form.files.pathEnd, {
    start: 'mesh',
    target: 'pathEnd',
    isTargetNeeded: false,
  });
  const options = fromOptions(form.options(), {
    vertexCount: start.vertexCount,
    parts,
    operation: 'check',
    path: 'options',
  });
  const { reportPairsCloserThan, maxPairs, kinematicPairs } = options;
  return {
    mesh: withKinematic(start, options.kinematic),
    positions: start.positions,
    ...(target ? { pathEnd: target.positions } : {}),
    ...(reportPairsCloserThan === undefined ? {} : { reportPairsCloserThan }),
    ...(maxPairs === undefined ? {} : { maxPairs }),
    ...(kinematicPairs ? { kinematicPairs } : {}),
  };
}
