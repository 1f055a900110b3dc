import t from 'tap';
import { decodeJson } from '../../../src/transport/json/decode.js';
import { decodeMessage } from '../../../src/transport/protobuf/decode.js';
import { encodeMessage } from '../../../src/transport/protobuf/encode.js';
import { openDoor } from '../door.js';
import { fakeSession } from '../fake-answers.js';
import { arraysRequest } from '../fixtures.js';

const { id } = fakeSession();
const { mesh, start } = arraysRequest();
const protobuf = 'application/x-protobuf';

t.test('a session is opened', async (t) => {
  const { app, operations } = await openDoor(t);
  const payload = { mesh, start, label: 'cape', idleTimeout: '60s', idempotencyKey: 'k' };
  const answer = await app.inject({ method: 'POST', url: '/v1/sessions', payload });
  t.equal(answer.statusCode, 201);
  t.equal(answer.headers.location, `/v1/sessions/${id}`);
  t.match(answer.json(), {
    id,
    frame: '0',
    label: 'cape',
    created: '2026-11-21T09:00:00.250Z',
    lastUsed: '2026-11-21T09:00:01Z',
    idleTimeout: '900s',
    residency: 'RESIDENT',
    deviceBytes: '4096',
    warnings: [],
  });
  t.notOk('lastReport' in answer.json());
  t.match(operations.sessionCalls[0], { call: 'create', request: { label: 'cape', idleTimeoutSeconds: 60 } });
  const context = operations.sessionCalls[0]?.context;
  t.equal(context?.requestId, answer.headers['x-request-id']);
  t.type(context?.receivedAt, 'number');
  t.type(context?.signal, AbortSignal);

  const body = encodeMessage('CreateSessionRequest', decodeJson('CreateSessionRequest', payload).message);
  const other = await app.inject({
    method: 'POST',
    url: '/v1/sessions',
    headers: { 'content-type': protobuf },
    payload: Buffer.from(body),
  });
  t.equal(other.statusCode, 201);
  t.match(decodeMessage('Session', other.rawPayload), { id, created: { nanos: 250_000_000 }, residency: 1 });
  t.strictSame(operations.sessionCalls[1]?.request, operations.sessionCalls[0]?.request);
});

t.test('sessions are read, listed, changed and closed', async (t) => {
  const { app, operations } = await openDoor(t);
  const one = `/v1/sessions/${id}`;
  t.match((await app.inject({ url: one })).json(), { id, lastReport: { status: 'CONVERGED', steps: 7 } });
  const report = await app.inject({ url: `${one}/report`, headers: { accept: protobuf } });
  t.match(decodeMessage('Report', report.rawPayload), { status: 1, steps: 7 });

  const list = await app.inject({ url: '/v1/sessions?pageSize=5&pageToken=t&label=cape' });
  t.match(list.json(), { sessions: [{ id }], nextPageToken: 'more' });
  t.same(operations.sessionCalls.at(-1)?.request, { pageSize: 5, pageToken: 't', label: 'cape' });
  await app.inject({ url: '/v1/sessions' });
  t.same(operations.sessionCalls.at(-1)?.request, {});

  const payload = { parameters: { stepLimit: 9 }, label: '' };
  t.equal((await app.inject({ method: 'PATCH', url: one, payload })).statusCode, 200);
  t.same(operations.sessionCalls.at(-1)?.request, { sessionId: id, parameters: { stepLimit: 9 }, label: '' });

  const gone = await app.inject({ method: 'DELETE', url: one });
  t.equal(gone.statusCode, 204);
  t.equal(gone.body, '');
  t.equal(gone.headers['content-type'], undefined);
  t.match(operations.sessionCalls.at(-1), { call: 'delete', request: id });

  const headers = { 'content-type': 'application/json' };
  const typed = await app.inject({ method: 'DELETE', url: one, headers });
  t.equal(typed.statusCode, 204, 'a library that names a type of the body that it does not send');
  const torn = await app.inject({ method: 'DELETE', url: one, headers, payload: '{' });
  t.match(torn.json(), { code: 'MALFORMED_BODY' });
});

t.test('answers are sent once and logged with their status', async (t) => {
  const { app, lines } = await openDoor(t);
  const one = `/v1/sessions/${id}`;
  const read = [one, `${one}/report`, '/v1/sessions', '/v1/jobs', '/v1', '/', '/livez', '/readyz', '/openapi.json'];
  // A real connection: only there an answer is complete before it is closed.
  const address = await app.listen({ host: '127.0.0.1', port: 0 });
  for (const url of read) {
    const answer = await fetch(address + url);
    t.equal(answer.status, 200, url);
    await answer.arrayBuffer();
  }
  await app.close();
  const logged = lines.filter(({ method }) => method === 'GET').map(({ path, status }) => [path, status]);
  t.same(
    logged,
    read.map((url) => [url, 200]),
  );
  t.same(
    lines.filter(({ level }) => level === 'error'),
    [],
  );
});

t.test('a session without a step has no report', async (t) => {
  const { app, operations } = await openDoor(t);
  operations.getSession = async () => fakeSession();
  const answer = await app.inject({ url: `/v1/sessions/${id}/report` });
  t.equal(answer.statusCode, 404);
  t.match(answer.json(), { code: 'NOT_FOUND', message: /no step/ });
});

t.test('a session is closed by the key of its creation, however long and in whatever script the key is', async (t) => {
  const { app, operations } = await openDoor(t);
  const remove = (name: string) => app.inject({ method: 'DELETE', url: `/v1/sessions/${encodeURIComponent(name)}` });
  // Of 1 byte, of 3, of 4 in two UTF-16 units, and characters with a meaning in paths.
  for (const character of ['k', '衣', '🧵', '/', '%', '?']) {
    const name = `key:${character.repeat(256)}`;
    t.equal((await remove(name)).statusCode, 204, character);
    t.match(operations.sessionCalls.at(-1), { call: 'delete', request: name });
  }
  const calls = operations.sessionCalls.length;
  const beyond = await remove(`key:${'🧵'.repeat(257)}`);
  t.match(beyond.json(), { code: 'MALFORMED_BODY', status: 400 }, 'no key is longer');
  t.equal(operations.sessionCalls.length, calls);
});

t.test('invalid requests about sessions are refused', async (t) => {
  const { app, operations } = await openDoor(t);
  const one = `/v1/sessions/${id}`;
  const cases = [
    [{ url: '/v1/sessions?page=2' }, 'UNKNOWN_FIELD', /page/],
    [{ url: '/v1/sessions?pageSize=-1' }, 'MALFORMED_BODY', /pageSize/],
    [{ url: '/v1/sessions?label=a&label=b' }, 'MALFORMED_BODY', /The query has the parameter "label" 2 times/],
    [{ url: `${one}?x=1` }, 'UNKNOWN_FIELD', /"x"/],
    [{ url: one, headers: { accept: 'text/html' } }, 'NOT_ACCEPTABLE', /accept/],
    [{ url: one, headers: { 'interstice-on-budget': 'FAIL' } }, 'INVALID_PARAMETER', /does not support the header/],
    [{ method: 'PATCH', url: one }, 'UNSUPPORTED_MEDIA_TYPE', /no content-type/],
    [{ method: 'PATCH', url: one, payload: { sessionId: 'other' } }, 'INVALID_PARAMETER', /differs from the session/],
    [{ method: 'PATCH', url: one, payload: { lable: 'x' } }, 'UNKNOWN_FIELD', /lable/],
    [{ method: 'POST', url: '/v1/sessions', payload: { mesh } }, 'MALFORMED_BODY', /start is missing/],
  ] as const;
  for (const [request, code, message] of cases) {
    t.match((await app.inject(request)).json(), { code, message }, JSON.stringify(request));
  }
  t.equal(operations.sessionCalls.length, 0);
});

t.test('a routing key is taken and changes nothing', async (t) => {
  const { app } = await openDoor(t);
  const answer = await app.inject({ url: `/v1/sessions/${id}`, headers: { 'x-session-id': 'anything at all' } });
  t.equal(answer.statusCode, 200);
});
