import type { FastifyReply, FastifyRequest } from 'fastify';
import { IntersticeError } from '../../contract/errors.js';
import type { StepAnswer, StepRequest } from '../../contract/sessions.js';
import { toParameters, withSet } from '../fields.js';
import { readBulk, writeBulk } from '../json/bulk.js';
import { decodeJson } from '../json/decode.js';
import { parseJsonText } from '../json/parse.js';
import { decodeScalar } from '../json/scalars.js';
import { serverTiming, stampTimings } from './answer-timing.js';
import { reportHeader } from './report-header.js';

/**
 * Steps as bare positions: no message around them in either direction, so that the numbers are neither parsed nor
 * copied here.
 */

/** Parameters of this one step, as JSON. */
export const OVERRIDE_HEADER = 'interstice-override';
const FRAME_HEADER = 'interstice-frame';

const SCALARS = ['float32', 'float64'] as const;

/**
 * The step that a body of bare positions asks for. An empty body has no target: the session goes on towards its last.
 * @throws SIZE_MISMATCH (no whole number of scalars), UNKNOWN_FIELD and MALFORMED_BODY (query, override), INVALID_PARAMETER
 */
export function readRawStep(request: FastifyRequest, sessionId: string): StepRequest {
  const { scalar, frame } = readQuery(request.query as Record<string, unknown>);
  const body = request.body as Buffer;
  return withSet<StepRequest>({
    sessionId,
    frame,
    target: body.byteLength > 0 ? readBulk(body, scalar, 'The body') : undefined,
    override: readOverride(request.headers[OVERRIDE_HEADER]),
  });
}

function readQuery(query: Record<string, unknown>) {
  const { scalar = 'float32', frame, ...others } = query;
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) {
    const name = JSON.stringify(unknown.slice(0, 100));
    throw new IntersticeError('UNKNOWN_FIELD', `The query parameter ${name} is not taken.`, {
      hint: 'Query parameters taken here: scalar, frame.',
    });
  }
  const known = SCALARS.find((one) => one === scalar);
  if (known === undefined) {
    const given = JSON.stringify(scalar);
    throw new IntersticeError('INVALID_PARAMETER', `scalar is ${given}, expected ${SCALARS.join(' or ')}.`);
  }
  return {
    scalar: known,
    frame: frame === undefined ? undefined : (decodeScalar('uint64', frame, 'frame') as bigint),
  };
}

function readOverride(header: string | string[] | undefined) {
  if (header === undefined) return undefined;
  const place = `header ${OVERRIDE_HEADER}`;
  const value = parseJsonText(String(header), place);
  return toParameters(decodeJson('Parameters', value, OVERRIDE_HEADER).message, OVERRIDE_HEADER);
}

/** The positions as they are, and the report in a header. */
export function sendRawStep(reply: FastifyReply, answer: StepAnswer, answered: number): FastifyReply {
  const bytes = writeBulk(answer.positions);
  const body = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const turns = { received: reply.request.receivedAt, answered, encoded: performance.now() };
  const timings = stampTimings(answer, turns);
  return reply
    .header(FRAME_HEADER, String(answer.frame))
    .header('interstice-report', reportHeader(answer.report))
    .header('server-timing', serverTiming(timings))
    .type('application/octet-stream')
    .send(body);
}
