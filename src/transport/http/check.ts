import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { MeshCheckRequest } from '../../session/types.js';
import { fromCheckAnswer } from '../answers.js';
import { decodeJson } from '../json/decode.js';
import { encodeJson } from '../json/encode.js';
import { readOptions } from '../json/options.js';
import { toCheckRequest } from '../messages.js';
import { serverTiming } from './answer-timing.js';
import { refuseBudgetHeaders } from './budget.js';
import { JSON_TYPE } from './content-types.js';
import { abortOnHangUp } from './disconnect.js';
import { type FormLimits, readForm } from './form.js';
import { joinMeshes, withKinematic } from './form-meshes.js';
import { chooseType, refuseQuery, refuseUntyped } from './media.js';
import type { DoorOptions } from './options.js';
import { checkSchema } from './schemas.js';

/** The same files may be named as in a resolve, so that one command line serves both. */
const GROUPS = { mesh: 'mesh', start: 'mesh', pathEnd: 'pathEnd', path_end: 'pathEnd', target: 'pathEnd' } as const;

/** POST /v1/check, as JSON or as a form of mesh files. */
export async function check(app: FastifyInstance, { operations, maxMessageBytes }: DoorOptions): Promise<void> {
  const limits = { ...operations.info().limits, maxMessageBytes };
  const onRequest = async (request: FastifyRequest): Promise<void> => {
    refuseQuery(request);
    refuseUntyped(request);
    refuseBudgetHeaders(request);
    chooseType(request, ['application/json']);
  };
  app.post('/v1/check', { schema: checkSchema(), onRequest }, async (request, reply) => {
    const signal = abortOnHangUp(reply);
    const input = request.isMultipart()
      ? await readAsForm(request, limits)
      : toCheckRequest(decodeJson('CheckRequest', request.body).message);
    const decoded = performance.now();
    const answer = await operations.check(input, { signal, receivedAt: request.receivedAt });
    // Nothing in a CheckResponse is a bulk field.
    const body = JSON.stringify(encodeJson('CheckResponse', fromCheckAnswer(answer), { arrays: false }));
    const timings = {
      decode: (decoded - request.receivedAt) * 1000,
      total: (performance.now() - request.receivedAt) * 1000,
    };
    return reply.header('server-timing', serverTiming(timings)).type(JSON_TYPE).send(body);
  });
}

async function readAsForm(request: FastifyRequest, limits: FormLimits): Promise<MeshCheckRequest> {
  const form = await readForm(request, GROUPS, limits);
  const { start, target, parts } = joinMeshes(form.files.mesh, form.files.pathEnd, {
    start: 'mesh',
    target: 'pathEnd',
    isTargetNeeded: false,
  });
  const options = readOptions(form.options ?? {}, {
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
