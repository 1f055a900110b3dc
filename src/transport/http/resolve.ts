import { Readable } from 'node:stream';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { IntersticeError } from '../../errors.js';
import { type MeshFile, writeMesh } from '../../mesh/files/index.js';
import type { ResolveAnswer, ResolveRequest } from '../../session/types.js';
import { fromResolveAnswer } from '../answers.js';
import { decodeJson } from '../json/decode.js';
import { encodeJson, type JsonObject } from '../json/encode.js';
import { readOptions } from '../json/options.js';
import { toResolveRequest } from '../messages.js';
import { serverTiming, withTransportTimings } from './answer-timing.js';
import { withBudgetHeaders } from './budget.js';
import { JSON_TYPE, MESH_TYPES } from './content-types.js';
import { abortOnHangUp } from './disconnect.js';
import { type FormLimits, readForm } from './form.js';
import { joinMeshes, withKinematic } from './form-meshes.js';
import { chooseType, refuseQuery, refuseUntyped } from './media.js';
import type { DoorOptions } from './options.js';
import { reportHeader } from './report-header.js';
import { resolveSchema } from './schemas.js';

/** What was asked, and how the answer is to be written. */
interface Asked {
  readonly request: ResolveRequest;
  readonly respond: (reply: FastifyReply, answer: ResolveAnswer, answered: number) => FastifyReply;
}

/** POST /v1/resolve, as JSON or as a form of mesh files. */
export async function resolve(app: FastifyInstance, { operations, maxMessageBytes }: DoorOptions): Promise<void> {
  const limits = { ...operations.info().limits, maxMessageBytes };
  const onRequest = async (request: FastifyRequest): Promise<void> => {
    refuseQuery(request);
    refuseUntyped(request);
    chooseType(
      request,
      isForm(request) ? [...Object.values(MESH_TYPES).flat(), 'application/json'] : ['application/json'],
    );
  };
  app.post('/v1/resolve', { schema: resolveSchema(), onRequest }, async (request, reply) => {
    const signal = abortOnHangUp(reply);
    const asked = request.isMultipart() ? await readAsForm(request, limits) : readAsJson(request);
    const input = withBudgetHeaders(request, asked.request);
    const answer = await operations.resolve(input, { signal, receivedAt: request.receivedAt });
    return asked.respond(reply, answer, performance.now());
  });
}

const isForm = (request: FastifyRequest): boolean =>
  (request.headers['content-type'] ?? '').toLowerCase().startsWith('multipart/form-data');

function readAsJson(request: FastifyRequest): Asked {
  const { message, usedArrays } = decodeJson('ResolveRequest', request.body);
  return {
    request: toResolveRequest(message),
    respond: (reply, answer, answered) => sendJson(reply, answer, usedArrays, answered),
  };
}

function sendJson(reply: FastifyReply, answer: ResolveAnswer, arrays: boolean, answered: number) {
  const body = encodeJson('ResolveResponse', fromResolveAnswer(answer), { arrays });
  const encoded = performance.now();
  const turns = { received: reply.request.receivedAt, answered, encoded };
  const timings = withTransportTimings(answer.report.timings, turns);
  (body.report as JsonObject).timings = encodeJson('Timings', timings, { arrays });
  return reply.header('server-timing', serverTiming(timings)).type(JSON_TYPE).send(JSON.stringify(body));
}

async function readAsForm(request: FastifyRequest, limits: FormLimits): Promise<Asked> {
  const form = await readForm(request, { start: 'start', target: 'target' }, limits);
  const meshes = joinMeshes(form.files.start, form.files.target, {
    start: 'start',
    target: 'target',
    isTargetNeeded: true,
  });
  const { start, target, parts } = meshes;
  const type = chooseType(request, [...MESH_TYPES[start.format], 'application/json']);
  const { kinematic, parameters, include, timeBudgetSeconds, onBudget } = readOptions(form.options ?? {}, {
    vertexCount: start.vertexCount,
    parts,
    operation: 'resolve',
    path: 'options',
  });
  const isFile = type !== 'application/json';
  if (isFile && include) refuseInclude();
  return {
    request: {
      mesh: withKinematic(start, kinematic),
      start: start.positions,
      target: (target ?? start).positions,
      parameters,
      ...(include ? { include } : {}),
      ...(timeBudgetSeconds === undefined ? {} : { timeBudgetSeconds }),
      ...(onBudget ? { onBudget } : {}),
    },
    respond: (reply, answer, answered) =>
      isFile ? sendFile(reply, answer, start, type, answered) : sendJson(reply, answer, false, answered),
  };
}

function refuseInclude(): never {
  throw new IntersticeError('INVALID_PARAMETER', 'options.include asks for more than a mesh file can carry.', {
    hint: 'Accept application/json, or leave include unset.',
  });
}

/** The resolved mesh in the format of the first start, written while it is sent. */
function sendFile(
  reply: FastifyReply,
  answer: ResolveAnswer,
  start: MeshFile,
  type: string,
  answered: number,
): FastifyReply {
  const { positions } = answer;
  const scalar = positions instanceof Float64Array ? 'FLOAT64' : 'FLOAT32';
  const chunks = writeMesh({ ...start, positions, scalar }, start.format);
  // The file is written while it is sent, after these headers: its encoding cannot be in them.
  const turns = { received: reply.request.receivedAt, answered, encoded: performance.now() };
  const timings = withTransportTimings(answer.report.timings, turns);
  return reply
    .header('interstice-report', reportHeader({ ...answer.report, timings }))
    .header('server-timing', serverTiming(timings))
    .header('content-disposition', `attachment; filename="resolved.${start.format}"`)
    .type(type)
    .send(Readable.from(chunks, { objectMode: false }));
}
