import type { FastifyReply, FastifyRequest } from 'fastify';
import { IntersticeError } from '../../contract/errors.js';
import { quote } from '../../contract/quote.js';
import type { StepAnswer, StepRequest } from '../../contract/sessions.js';
import { stampTimings } from '../answer-timing.js';
import { decodeJson } from '../json/decode.js';
import { parseJsonText } from '../json/parse.js';
import { decodeScalar } from '../json/scalars.js';
import { fromStepAnswer } from '../messages/answers.js';
import { readBulk, writeBulk } from '../messages/bulk.js';
import { asksForData, toParameters, withSet } from '../messages/fields.js';
import { toStepRequest } from '../messages/requests.js';
import { reportHeader, serverTiming } from './answer-headers.js';
import { roomForAnswer } from './bodies.js';
import { OVERRIDE_HEADER, withBudgetHeaders } from './budget-headers.js';
import {
  bodyType,
  chooseType,
  isStreamType,
  ownTypeFirst,
  refuseQuery,
  STEP_TYPES,
  STREAM_TYPES,
  type StepType,
  type StreamType,
  unknownQuery,
} from './media-types.js';
import { readMessage, sendReported } from './message-body.js';
import type { RouteParts, StreamedAnswer } from './operation-route.js';

const BARE_TYPE = 'application/octet-stream';

const FRAME_HEADER = 'interstice-frame';

/** Names of the scalars in queries and headers, and in the contract. */
const SCALARS = { float32: 'FLOAT32', float64: 'FLOAT64' } as const;
const DEFAULT_SCALAR = 'float32';
const SCALAR_HEADER = 'interstice-scalar';

/** A step, as a message or as bare positions: the latter are neither parsed nor copied here. */
export const stepRoute: RouteParts<'step'> = {
  checkHead: (request) => {
    const own = bodyType(request, STEP_TYPES);
    answerTypeOf(request);
    if (own === BARE_TYPE) return;
    refuseQuery(request);
    refuseOverride(request);
  },
  read: (request) => {
    const type = answerTypeOf(request);
    const { step, arrays } = readStep(request);
    if (type === BARE_TYPE) refuseInclude(step);
    const input = withBudgetHeaders(request, step);
    if (isStreamType(type)) {
      const last: StreamedAnswer<'step'>['last'] = (stream, answer, answered) =>
        stream.lastReported('StepResponse', fromStepAnswer(answer), answer, { arrays, answered });
      return { input, streamed: { type, last } };
    }
    return {
      input,
      respond: (reply, answer, answered) =>
        type === BARE_TYPE
          ? sendBare(reply, answer, answered)
          : sendReported(reply, 'StepResponse', fromStepAnswer(answer), answer, { type, arrays, answered }),
    };
  },
};

const answerTypeOf = (request: FastifyRequest): StepType | StreamType =>
  chooseType(request, [...ownTypeFirst(bodyType(request, STEP_TYPES), STEP_TYPES), ...STREAM_TYPES]);

function readStep(request: FastifyRequest): { readonly step: StepRequest; readonly arrays: boolean } {
  const { id: sessionId } = request.params as { id: string };
  if (bodyType(request, STEP_TYPES) === BARE_TYPE) return { step: readBare(request, sessionId), arrays: false };
  const { message, arrays } = readMessage(request);
  const takesProgress = isStreamType(answerTypeOf(request));
  return { step: toStepRequest(message, { sessionId, takesProgress }), arrays };
}

/**
 * The step for a body of bare positions. With an empty body the session continues towards its last target, in the scalar
 * that the query names, or as it was sent.
 * @throws SIZE_MISMATCH (not a whole number of scalars), UNKNOWN_FIELD and MALFORMED_BODY (query, override),
 *   INVALID_PARAMETER
 */
function readBare(request: FastifyRequest, sessionId: string): StepRequest {
  const { scalar, frame, afterFrame } = readQuery(request.query as Record<string, unknown>);
  const body = request.body as Buffer;
  const hasTarget = body.byteLength > 0;
  return withSet<StepRequest>({
    sessionId,
    frame,
    afterFrame,
    target: hasTarget ? readBulk(body, scalar ?? DEFAULT_SCALAR, 'The body') : undefined,
    scalar: hasTarget || scalar === undefined ? undefined : SCALARS[scalar],
    override: readOverride(request.headers[OVERRIDE_HEADER]),
  });
}

function readQuery(query: Record<string, unknown>) {
  const { scalar, frame, after_frame: afterFrame, ...others } = query;
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) {
    const known = ['scalar', 'frame', 'after_frame'];
    const plain = (name: string) => name.replaceAll('_', '').toLowerCase();
    const meant = known.find((name) => plain(name) === plain(unknown));
    throw unknownQuery(unknown, meant ? `Did you mean ${meant}?` : `Known query parameters: ${known.join(', ')}.`);
  }
  return {
    scalar: scalar === undefined ? undefined : readScalar(scalar),
    frame: readFrame(frame, 'frame'),
    afterFrame: readFrame(afterFrame, 'after_frame'),
  };
}

function readScalar(value: unknown): keyof typeof SCALARS {
  const names = Object.keys(SCALARS) as (keyof typeof SCALARS)[];
  const known = names.find((one) => one === value);
  if (known !== undefined) return known;
  throw new IntersticeError('INVALID_PARAMETER', `scalar is ${quote(String(value))}, expected ${names.join(' or ')}.`);
}

const readFrame = (value: unknown, name: string): bigint | undefined =>
  value === undefined ? undefined : (decodeScalar('uint64', value, name) as bigint);

function readOverride(header: string | string[] | undefined) {
  if (header === undefined) return undefined;
  const value = parseJsonText(String(header), `The header ${OVERRIDE_HEADER}`);
  return toParameters(decodeJson('Parameters', value, OVERRIDE_HEADER).message, OVERRIDE_HEADER);
}

/** Sends bare positions, with the report in a header. */
async function sendBare(reply: FastifyReply, answer: StepAnswer, answered: number): Promise<void> {
  await roomForAnswer(reply, answer.positions.byteLength);
  const bytes = writeBulk(answer.positions);
  const body = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const times = { received: reply.request.receivedAt, answered, encoded: performance.now() };
  const timings = stampTimings(answer, times);
  reply
    .header(FRAME_HEADER, String(answer.frame))
    .header(SCALAR_HEADER, answer.positions instanceof Float64Array ? 'float64' : 'float32')
    .header('interstice-report', reportHeader(answer.report))
    .header('server-timing', serverTiming(timings))
    .type(BARE_TYPE)
    .send(body);
}

function refuseInclude({ include }: StepRequest): void {
  if (!asksForData(include)) return;
  throw new IntersticeError('INVALID_PARAMETER', 'include asks for data that bare positions cannot contain.', {
    hint: 'Accept application/json or application/x-protobuf, or leave include unset.',
  });
}

function refuseOverride(request: FastifyRequest): void {
  if (request.headers[OVERRIDE_HEADER] === undefined) return;
  throw new IntersticeError(
    'INVALID_PARAMETER',
    `The header ${OVERRIDE_HEADER} requires a body of type application/octet-stream.`,
    { hint: 'Set override in the message.' },
  );
}
