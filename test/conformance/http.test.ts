import type { FastifyInstance } from 'fastify';
import t from 'tap';
import { OPERATIONS, type OperationRow } from '../../src/contract/operation-table.js';
import type { OperationName } from '../../src/contract/operations.js';
import { decodeJson } from '../../src/transport/json/decode.js';
import { encodeJson } from '../../src/transport/json/encode.js';
import { decodeMessage } from '../../src/transport/protobuf/decode.js';
import { encodeMessage } from '../../src/transport/protobuf/encode.js';
import { openApp } from '../transport/door.js';
import type { Json } from './case.js';
import { type Door, type Outcome, openOperations, runCases } from './run.js';

interface Place {
  readonly method: OperationRow['httpMethod'];
  readonly url: string;
}

/** The route of an operation, with the session or job in its path and the fields of a GET in its query. */
function placeOf(operation: OperationName, { sessionId, jobId, ...rest }: Json): Place {
  const { httpMethod: method, httpPath }: OperationRow = OPERATIONS[operation];
  const url = httpPath.replace(':id', String(jobId ?? sessionId));
  const query = method === 'GET' ? new URLSearchParams(rest as Record<string, string>).toString() : '';
  return { method, url: query === '' ? url : `${url}?${query}` };
}

const hasBody = ({ method }: Place): boolean => method === 'POST' || method === 'PATCH';

function jsonDoor(app: FastifyInstance): Door {
  return {
    call: async (operation, request) => {
      const place = placeOf(operation, request);
      const answer = await app.inject({ ...place, ...(hasBody(place) ? { payload: request } : {}) });
      if (answer.statusCode >= 400) return { error: answer.json() };
      const name = OPERATIONS[operation].response;
      const { message } = decodeJson(name, answer.body === '' ? {} : answer.json());
      // A request without arrays of numbers is answered in base64.
      return { answer: encodeJson(name, message, { arrays: true }) };
    },
  };
}

function protobufDoor(app: FastifyInstance): Door {
  const type = 'application/x-protobuf';
  return {
    call: async (operation, request): Promise<Outcome> => {
      const place = placeOf(operation, request);
      const { request: requestType, response } = OPERATIONS[operation];
      const payload = () => Buffer.from(encodeMessage(requestType, decodeJson(requestType, request).message));
      const answer = await app.inject({
        ...place,
        headers: { accept: type, ...(hasBody(place) ? { 'content-type': type } : {}) },
        ...(hasBody(place) ? { payload: payload() } : {}),
      });
      if (answer.statusCode >= 400) return { error: answer.json() };
      return { answer: encodeJson(response, decodeMessage(response, answer.rawPayload), { arrays: true }) };
    },
  };
}

/** Steps as bare positions, everything else as JSON. */
function bareDoor(app: FastifyInstance): Door {
  const rest = jsonDoor(app);
  return {
    call: async (operation, request) => {
      if (operation !== 'step') return rest.call(operation, request);
      const {
        sessionId: _id,
        target,
        frame,
        override,
        ...others
      } = request as {
        sessionId: string;
        target?: { data: number[] };
        frame?: string;
        override?: Json;
      };
      if (Object.keys(others).length > 0) return undefined;
      const { url } = placeOf(operation, request);
      const answer = await app.inject({
        method: 'POST',
        url: frame === undefined ? url : `${url}?frame=${frame}`,
        headers: {
          'content-type': 'application/octet-stream',
          ...(override ? { 'interstice-override': JSON.stringify(override) } : {}),
        },
        payload: Buffer.from(Float32Array.from(target?.data ?? []).buffer),
      });
      if (answer.statusCode >= 400) return { error: answer.json() };
      const bytes = Uint8Array.from(answer.rawPayload);
      return {
        answer: {
          frame: answer.headers['interstice-frame'],
          positions: { data: [...new Float32Array(bytes.buffer)], scalar: 'FLOAT32' },
          report: JSON.parse(String(answer.headers['interstice-report'])),
        },
      };
    },
  };
}

for (const [name, door, json] of [
  ['HTTP, JSON', jsonDoor, {}],
  ['HTTP, JSON on a thread', jsonDoor, { largeBytes: 0 }],
  ['HTTP, protobuf', protobufDoor, {}],
  ['HTTP, bare positions', bareDoor, {}],
] as const) {
  t.test(name, async (t) => {
    await runCases(t, door(await openApp(t, await openOperations(t), json)));
  });
}
