import type { FastifyInstance } from 'fastify';
import t from 'tap';
import { decodeJson } from '../../src/transport/json/decode.js';
import { encodeJson } from '../../src/transport/json/encode.js';
import { decodeMessage } from '../../src/transport/protobuf/decode.js';
import { encodeMessage } from '../../src/transport/protobuf/encode.js';
import { openApp } from '../transport/door.js';
import { type Json, MESSAGES_OF, type OperationName } from './cases.js';
import { type Door, type Outcome, openOperations, runCases } from './run.js';

interface Place {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  readonly url: string;
}

/** Where an operation is, and what of its message is then said already. */
function placeOf(operation: OperationName, request: Json): Place {
  const session = `/v1/sessions/${request.sessionId}`;
  switch (operation) {
    case 'Resolve':
      return { method: 'POST', url: '/v1/resolve' };
    case 'Check':
      return { method: 'POST', url: '/v1/check' };
    case 'CreateSession':
      return { method: 'POST', url: '/v1/sessions' };
    case 'GetSession':
      return { method: 'GET', url: session };
    case 'ListSessions':
      return { method: 'GET', url: `/v1/sessions?${new URLSearchParams(request as Record<string, string>)}` };
    case 'UpdateSession':
      return { method: 'PATCH', url: session };
    case 'DeleteSession':
      return { method: 'DELETE', url: session };
    case 'Step':
      return { method: 'POST', url: `${session}/steps` };
    case 'GetServerInfo':
      return { method: 'GET', url: '/v1' };
  }
}

const hasBody = ({ method }: Place): boolean => method === 'POST' || method === 'PATCH';

function jsonDoor(app: FastifyInstance): Door {
  return {
    call: async (operation, request) => {
      const place = placeOf(operation, request);
      const answer = await app.inject({ ...place, ...(hasBody(place) ? { payload: request } : {}) });
      if (answer.statusCode >= 400) return { error: answer.json() };
      const name = MESSAGES_OF[operation].answer;
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
      const names = MESSAGES_OF[operation];
      const payload = () => Buffer.from(encodeMessage(names.request, decodeJson(names.request, request).message));
      const answer = await app.inject({
        ...place,
        headers: { accept: type, ...(hasBody(place) ? { 'content-type': type } : {}) },
        ...(hasBody(place) ? { payload: payload() } : {}),
      });
      if (answer.statusCode >= 400) return { error: answer.json() };
      return { answer: encodeJson(names.answer, decodeMessage(names.answer, answer.rawPayload), { arrays: true }) };
    },
  };
}

/** Steps as bare positions, everything else as JSON. */
function bareDoor(app: FastifyInstance): Door {
  const rest = jsonDoor(app);
  return {
    call: async (operation, request) => {
      if (operation !== 'Step') return rest.call(operation, request);
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
