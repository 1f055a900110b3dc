import t from 'tap';
import { decodeJson } from '../../../src/transport/json/decode.js';
import { decodeMessage } from '../../../src/transport/protobuf/decode.js';
import { encodeMessage } from '../../../src/transport/protobuf/encode.js';
import { openDoor } from '../door.js';
import { arraysRequest, base64Of, form, START_OBJ, startPart, TARGET, targetPart } from '../fixtures.js';

const type = 'application/x-protobuf';
const headers = { 'content-type': type };
const bodyOf = (name: string, value: unknown) => Buffer.from(encodeMessage(name, decodeJson(name, value).message));
const payload = bodyOf('ResolveRequest', arraysRequest());

t.test('a request in protobuf is answered in protobuf', async (t) => {
  const { app, operations } = await openDoor(t);
  const answer = await app.inject({ method: 'POST', url: '/v1/resolve', headers, payload });
  t.equal(answer.statusCode, 200);
  t.equal(answer.headers['content-type'], type);
  t.equal(Number(answer.headers['content-length']), answer.rawPayload.byteLength);
  const message = decodeMessage('ResolveResponse', answer.rawPayload);
  t.match(message, { positions: { scalar: 1 }, report: { status: 1, steps: 7, pairs: { edgeEdge: 20n } } });
  t.same(operations.resolves[0]?.request.target, Float32Array.from(TARGET));
  const { data } = message.positions as { data: Buffer };
  t.same(data, Buffer.from(Float32Array.from(TARGET).buffer));
  const { timings } = message.report as { timings: { total: number; encode: number } };
  t.ok(timings.total > timings.encode && timings.encode > 0, 'times of the door are in the report');
  t.match(answer.headers['server-timing'], /encode;dur=.*total;dur=/);
});

t.test('the accept header chooses the format of the answer', async (t) => {
  const { app } = await openDoor(t);
  const asJson = await app.inject({
    method: 'POST',
    url: '/v1/resolve',
    headers: { ...headers, accept: 'application/json' },
    payload,
  });
  t.same(asJson.json().positions, { data: base64Of(Float32Array.from(TARGET)), scalar: 'FLOAT32' });
  const asProtobuf = await app.inject({
    method: 'POST',
    url: '/v1/resolve',
    headers: { accept: type },
    payload: arraysRequest(),
  });
  t.match(decodeMessage('ResolveResponse', asProtobuf.rawPayload), { report: { status: 1 } });
  const any = await app.inject({ method: 'POST', url: '/v1/resolve', headers: { ...headers, accept: '*/*' }, payload });
  t.equal(any.headers['content-type'], type, 'who takes anything gets what they sent');
  const files = await app.inject({ method: 'POST', url: '/v1/resolve', ...withAccept(form([startPart, targetPart])) });
  t.match(decodeMessage('ResolveResponse', files.rawPayload), { report: { status: 1 } }, 'of files, too');
  const info = await app.inject({ url: '/v1', headers: { accept: type } });
  t.match(decodeMessage('ServerInfo', info.rawPayload), { limits: { maxVertices: 1000n } });
});

const withAccept = ({ payload, headers }: ReturnType<typeof form>) => ({
  payload,
  headers: { ...headers, accept: type },
});

t.test('a check may be sent as protobuf', async (t) => {
  const { app, operations } = await openDoor(t);
  const value = { mesh: { vertexCount: 1, particles: [0] }, positions: { data: [0, 0, 0] } };
  const answer = await app.inject({
    method: 'POST',
    url: '/v1/check',
    headers,
    payload: bodyOf('CheckRequest', value),
  });
  t.match(decodeMessage('CheckResponse', answer.rawPayload), { intersectionCount: 1n, intersections: [{ kind: 5 }] });
  t.equal(operations.checks.length, 1);
  const checked = await app.inject({
    method: 'POST',
    url: '/v1/check',
    ...withAccept(form([{ name: 'mesh', filename: 'a.obj', body: START_OBJ }])),
  });
  t.match(decodeMessage('CheckResponse', checked.rawPayload), { intersectionCount: 1n });
});

t.test('refusals are problem documents all the same', async (t) => {
  const { app, operations } = await openDoor(t);
  const send = (payload: Buffer) => app.inject({ method: 'POST', url: '/v1/resolve', headers, payload });
  const cut = await send(payload.subarray(0, payload.length - 5));
  t.equal(cut.statusCode, 400);
  t.equal(cut.headers['content-type'], 'application/problem+json; charset=utf-8');
  t.match(cut.json(), { code: 'MALFORMED_BODY', message: /ResolveRequest.*byte \d+/ });
  t.match((await send(Buffer.alloc(0))).json(), { code: 'MALFORMED_BODY', message: /mesh is missing/ });
  t.match((await send(Buffer.from([0x78, 1]))).json(), { code: 'UNKNOWN_FIELD', message: /ResolveRequest.*15/ });
  const enums = await send(Buffer.concat([payload, Buffer.from([0x22, 0x02, 0x08, 0x63])]));
  t.match(enums.json(), { code: 'INVALID_PARAMETER', message: /parameters\.preset is 99/ });
  const gzip = await app.inject({
    method: 'POST',
    url: '/v1/resolve',
    headers: { ...headers, 'content-encoding': 'gzip' },
    payload,
  });
  t.match(gzip.json(), { code: 'UNSUPPORTED_MEDIA_TYPE' });
  t.equal(operations.resolves.length, 0);
});
