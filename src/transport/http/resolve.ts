import { Readable } from 'node:stream';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { IntersticeError } from '../../contract/errors.js';
import type { ResolveAnswer, ResolveRequest } from '../../contract/requests.js';
import { type MeshFile, writeMesh } from '../../mesh/files/index.js';
import { fromResolveAnswer } from '../answers.js';
import { fromOptions } from '../json/options.js';
import { toResolveRequest } from '../messages.js';
import { serverTiming, stampTimings } from './answer-timing.js';
import { withBudgetHeaders } from './budget.js';
import { contextOf } from './caller.js';
import { FORM_TYPES, MESH_TYPES, MESSAGE_TYPES } from './content-types.js';
import { type FormLimits, readForm } from './form.js';
import { joinMeshes, withKinematic } from './form-meshes.js';
import { chooseType, ownTypeFirst, refuseQuery, takeType } from './media.js';
import { answerType, readMessage, sendReported, type Way } from './message-body.js';
import type { DoorOptions } from './options.js';
import { preflightFor } from './preflight.js';
import { reportHeader } from './report-header.js';
import { resolveSchema } from './schemas.js';

/** What was asked, and how the answer is to be written. */
interface Asked {
  readonly request: ResolveRequest;
  readonly respond: (
    reply: FastifyReply,
    answer: ResolveAnswer,
    answered: number,
  ) => FastifyReply | Promise<FastifyReply>;
}

/** POST /v1/resolve, as a message or as a form of mesh files. */
export async function resolve(app: FastifyInstance, { operations, maxMessageBytes }: DoorOptions): Promise<void> {
  const limits = { ...operations.info().limits, maxMessageBytes };
  const onRequest = async (request: FastifyRequest): Promise<void> => {
    refuseQuery(request);
    const own = takeType(request, FORM_TYPES);
    const files = own === 'multipart/form-data' ? Object.values(MESH_TYPES).flat() : [];
    chooseType(request, [...files, ...ownTypeFirst(own, MESSAGE_TYPES)]);
  };
  const hooks = [onRequest, preflightFor(operations, 'resolve')];
  app.post(
    '/v1/resolve',
    { schema: resolveSchema(), config: { message: 'ResolveRequest' }, onRequest: hooks },
    async (request, reply) => {
      const context = contextOf(request, reply);
      const asked = request.isMultipart() ? await readAsForm(request, reply, limits) : readAsMessage(request);
      const answer = await operations.resolve(withBudgetHeaders(request, asked.request), context);
      return asked.respond(reply, answer, performance.now());
    },
  );
}

function readAsMessage(request: FastifyRequest): Asked {
  const { message, arrays } = readMessage(request);
  const type = answerType(request);
  return {
    request: toResolveRequest(message),
    respond: (reply, answer, answered) => sendAnswer(reply, answer, { type, arrays, answered }),
  };
}

const sendAnswer = (reply: FastifyReply, answer: ResolveAnswer, way: Way) =>
  sendReported(reply, 'ResolveResponse', fromResolveAnswer(answer), answer, way);

async function readAsForm(request: FastifyRequest, reply: FastifyReply, limits: FormLimits): Promise<Asked> {
  const form = await readForm(request, reply, { start: 'start', target: 'target' }, limits);
  const meshes = joinMeshes(form.files.start, form.files.target, {
    start: 'start',
    target: 'target',
    isTargetNeeded: true,
  });
  const { start, target, parts } = meshes;
  const type = chooseType(request, [...MESH_TYPES[start.format], ...MESSAGE_TYPES]);
  const { kinematic, parameters, include, timeBudgetSeconds, onBudget, priority } = fromOptions(form.options(), {
    vertexCount: start.vertexCount,
    parts,
    operation: 'resolve',
    path: 'options',
  });
  const messageType = MESSAGE_TYPES.find((one) => one === type);
  if (!messageType && include) refuseInclude();
  return {
    request: {
      mesh: withKinematic(start, kinematic),
      start: start.positions,
      target: (target ?? start).positions,
      parameters,
      ...(include ? { include } : {}),
      ...(timeBudgetSeconds === undefined ? {} : { timeBudgetSeconds }),
      ...(onBudget ? { onBudget } : {}),
      ...(priority ? { priority } : {}),
    },
    respond: (reply, answer, answered) =>
      messageType
        ? sendAnswer(reply, answer, { type: messageType, arrays: false, answered })
        : sendFile(reply, answer, start, type, answered),
  };
}

function refuseInclude(): never {
  throw new IntersticeError('INVALID_PARAMETER', 'options.include asks for more than a mesh file can carry.', {
    hint: 'Accept application/json or application/x-protobuf, or leave include unset.',
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
  const timings = stampTimings(answer, turns);
  return reply
    .header('interstice-report', reportHeader(answer.report))
    .header('server-timing', serverTiming(timings))
    .header('content-disposition', `attachment; filename="resolved.${start.format}"`)
    .type(type)
    .send(Readable.from(chunks, { objectMode: false }));
}
