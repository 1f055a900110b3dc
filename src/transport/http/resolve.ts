import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { IntersticeError } from '../../contract/errors.js';
import type { ResolveAnswer, ResolveRequest } from '../../contract/requests.js';
import { attributesLost, type MeshFile, writeMesh } from '../../mesh/files/index.js';
import { stampTimings } from '../answer-timing.js';
import { fromOptions } from '../json/options.js';
import { fromResolveAnswer } from '../messages/answers.js';
import { asksForData, withSet } from '../messages/fields.js';
import { toResolveRequest } from '../messages/requests.js';
import { reportHeader, serverTiming } from './answer-headers.js';
import { roomForAnswer } from './bodies.js';
import { withBudgetHeaders } from './budget-headers.js';
import { type FormLimits, joinMeshes, readForm, withKinematic } from './form.js';
import {
  bodyType,
  chooseType,
  FORM_TYPES,
  isStreamType,
  MESH_TYPES,
  MESSAGE_TYPES,
  ownTypeFirst,
  refuseQuery,
  STREAM_TYPES,
  type StreamType,
} from './media-types.js';
import { type AnswerFormat, readMessage, sendReported } from './message-body.js';
import type { RequestReading, RouteParts, StreamedAnswer } from './operation-route.js';

type Reading = RequestReading<'resolve'>;

/** A resolve, as a message or as a form of mesh files. */
export function resolveRoute(limits: FormLimits): RouteParts<'resolve'> {
  return {
    checkHead: (request) => {
      refuseQuery(request);
      const own = bodyType(request, FORM_TYPES);
      const files = own === 'multipart/form-data' ? Object.values(MESH_TYPES).flat() : [];
      chooseType(request, [...files, ...ownTypeFirst(own, MESSAGE_TYPES), ...STREAM_TYPES]);
    },
    read: async (request, reply) => {
      const reading = request.isMultipart() ? await readAsForm(request, reply, limits) : readAsMessage(request);
      return { ...reading, input: withBudgetHeaders(request, reading.input) };
    },
  };
}

function readAsMessage(request: FastifyRequest): Reading {
  const { message, arrays } = readMessage(request);
  const own = bodyType(request, MESSAGE_TYPES);
  const type = chooseType(request, [...ownTypeFirst(own, MESSAGE_TYPES), ...STREAM_TYPES]);
  const input = toResolveRequest(message, { takesProgress: isStreamType(type) });
  return isStreamType(type)
    ? { input, streamed: streamedAs(type, arrays) }
    : { input, respond: (reply, answer, answered) => sendAnswer(reply, answer, { type, arrays, answered }) };
}

const streamedAs = (type: StreamType, arrays: boolean): StreamedAnswer<'resolve'> => ({
  type,
  last: (stream, answer, answered) =>
    stream.lastReported('ResolveResponse', fromResolveAnswer(answer), answer, { arrays, answered }),
});

const sendAnswer = (reply: FastifyReply, answer: ResolveAnswer, format: AnswerFormat) =>
  sendReported(reply, 'ResolveResponse', fromResolveAnswer(answer), answer, format);

async function readAsForm(request: FastifyRequest, reply: FastifyReply, limits: FormLimits): Promise<Reading> {
  const form = await readForm(request, reply, { start: 'start', target: 'target' }, limits);
  const { start, target, parts } = joinMeshes(form.files.start, form.files.target, {
    start: 'start',
    target: 'target',
    isTargetRequired: true,
  });
  const type = chooseType(request, [...MESH_TYPES[start.format], ...MESSAGE_TYPES, ...STREAM_TYPES]);
  const { kinematic, parameters, include, timeBudgetSeconds, onBudget, priority } = fromOptions(form.options(), {
    vertexCount: start.vertexCount,
    parts,
    operation: 'resolve',
    takesProgress: isStreamType(type),
    path: 'options',
  });
  const messageType = MESSAGE_TYPES.find((one) => one === type);
  if (!messageType && !isStreamType(type) && asksForData(include)) refuseInclude();
  const input = withSet<ResolveRequest>({
    mesh: withKinematic(start, kinematic),
    start: start.positions,
    target: (target ?? start).positions,
    parameters,
    include,
    timeBudgetSeconds,
    onBudget,
    priority,
  });
  if (isStreamType(type)) return { input, streamed: streamedAs(type, false) };
  return {
    input,
    respond: (reply, answer, answered) =>
      messageType
        ? sendAnswer(reply, answer, { type: messageType, arrays: false, answered })
        : sendFile(reply, answer, start, type, answered),
  };
}

function refuseInclude(): never {
  throw new IntersticeError('INVALID_PARAMETER', 'options.include asks for data that a mesh file cannot contain.', {
    hint: 'Accept application/json or application/x-protobuf, or leave include unset.',
  });
}

/** Names the data besides the mesh that the files of the start contain but the answer does not (several PLY files). */
const LOST_HEADER = 'interstice-dropped';

/** Sends the resolved mesh in the format of the first start file, and writes it while it is sent. */
async function sendFile(
  reply: FastifyReply,
  answer: ResolveAnswer,
  start: MeshFile,
  type: string,
  answered: number,
): Promise<void> {
  const { positions } = answer;
  // The text is written while it is sent, so only its positions wait.
  await roomForAnswer(reply, positions.byteLength);
  const scalar = positions instanceof Float64Array ? 'FLOAT64' : 'FLOAT32';
  const chunks = writeMesh({ ...start, positions, scalar }, start.format);
  const lost = attributesLost(start, start.format);
  if (lost.length > 0) reply.header(LOST_HEADER, lost.join(', '));
  // The headers precede the file, so its encoding cannot be part of the timings.
  const times = { received: reply.request.receivedAt, answered, encoded: performance.now() };
  const timings = stampTimings(answer, times);
  reply
    .header('interstice-report', reportHeader(answer.report))
    .header('server-timing', serverTiming(timings))
    .header('content-disposition', `attachment; filename="resolved.${start.format}"`)
    .type(type)
    .send(Readable.from(chunks, { objectMode: false }));
}
