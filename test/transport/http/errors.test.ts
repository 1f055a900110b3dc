import t from 'tap';
import { ERRORS, type ErrorCode, IntersticeError } from '../../../src/contract/errors.js';
import { openDoor } from '../door.js';
import { arraysRequest, form, startPart, targetPart } from '../fixtures.js';

const url = '/v1/resolve';
const json = { 'content-type': 'application/json' };

t.test('every code of the table is answered with its status as a problem document', async (t) => {
  const { app, operations } = await openDoor(t);
  for (const code of Object.keys(ERRORS) as ErrorCode[]) {
    operations.failure = new IntersticeError(code, `Refused with ${code}.`, { retryAfterSeconds: 1.2 });
    const answer = await app.inject({ method: 'POST', url, payload: arraysRequest() });
    t.equal(answer.statusCode, ERRORS[code].http, code);
    t.equal(answer.headers['content-type'], 'application/problem+json; charset=utf-8');
    t.equal(answer.headers['retry-after'], '2', 'whole seconds, never early');
    t.match(answer.json(), {
      type: `urn:interstice:error:${code}`,
      status: ERRORS[code].http,
      code,
      detail: `Refused with ${code}.`,
      message: `Refused with ${code}.`,
      hint: ERRORS[code].hint,
      retryable: ERRORS[code].retryable,
      retryAfter: '1.200s',
      requestId: answer.headers['x-request-id'],
      instance: url,
      pairs: [],
      pairCount: '0',
    });
  }
});

t.test('the hint of UNIMPLEMENTED says what to do, and where to see what there is', async (t) => {
  t.match(ERRORS.UNIMPLEMENTED.hint, /^Leave out .* GET \/v1 lists /);
});

t.test('an unforeseen error tells the caller nothing of its text, and the log everything', async (t) => {
  const { app, operations, lines } = await openDoor(t);
  operations.failure = new TypeError('secret of the house');
  const answer = await app.inject({ method: 'POST', url, payload: arraysRequest() });
  t.equal(answer.statusCode, 500);
  t.notMatch(answer.body, /secret/);
  t.match(answer.json(), { code: 'INTERNAL', requestId: /./ });
  const logged = lines.find((line) => line.msg === 'Request failed.');
  t.match(logged, { requestId: answer.json().requestId, err: { message: 'secret of the house' } });
});

t.test('missing paths and methods are refused', async (t) => {
  const { app } = await openDoor(t);
  const unknown = await app.inject({
    method: 'POST',
    url: '/v1/resolv?x=1',
    payload: 'x',
    headers: { 'content-type': 'x/y' },
  });
  t.equal(unknown.statusCode, 404);
  t.match(unknown.json(), { code: 'NOT_FOUND', instance: '/v1/resolv', hint: /docs/ });
  for (const [path, meant] of [
    ['/v1/resolve/', '/v1/resolve'],
    ['//v1/resolve?x=1', '/v1/resolve'],
    ['/v1/sessions/abc//steps/', '/v1/sessions/abc/steps'],
    ['/v1/', '/v1'],
    ['/livez/', '/livez'],
    ['/resolve', '/v1/resolve'],
  ] as const)
    for (const method of ['GET', 'POST'] as const) {
      const { statusCode, body } = await app.inject({ method, url: path });
      t.match({ statusCode, ...JSON.parse(body) }, { statusCode: 404, hint: `Did you mean ${meant}?` }, path);
    }
  const wrong = await app.inject({ method: 'GET', url });
  t.equal(wrong.statusCode, 405);
  t.equal(wrong.headers.allow, 'POST');
  t.match(wrong.json(), { code: 'METHOD_NOT_ALLOWED' });
  const post = await app.inject({ method: 'POST', url: '/v1/sessions/abc' });
  t.equal(post.statusCode, 405, 'a path with an id in it');
  t.equal(post.headers.allow, 'DELETE, GET, HEAD, PATCH');
  t.equal((await app.inject({ url: '/v1/sessions/abc/report/x' })).statusCode, 404);
  const put = await app.inject({ method: 'PUT', url: '/v1' });
  t.equal(put.headers.allow, 'GET, HEAD');
  const long = (await app.inject({ method: 'PUT', url: `/v1/sessions/${'a'.repeat(600)}` })).json();
  t.match(long, { code: 'METHOD_NOT_ALLOWED' });
  t.ok(long.message.length < 400);
  for (const url of ['/%zz', '/v1/sessions/%ff', `/v1/sessions/${'a'.repeat(600)}`]) {
    const refusal = (await app.inject({ method: 'GET', url })).json();
    t.match(refusal, { code: 'MALFORMED_BODY', status: 400, message: /^The path .* is not valid: /, hint: /paths/ });
    t.ok(refusal.message.length < 400, 'of a path that a caller may make long');
  }
});

t.test('a query parameter that is sent twice is refused by its name', async (t) => {
  const { app, operations } = await openDoor(t);
  const refused: [string, string, number][] = [
    ['/v1/sessions?label=a&label=b', 'label', 2],
    ['/v1/jobs/abc?wait=1s&w%61it=1s&wait=1s', 'wait', 3],
    ['/v1?x=1&x=1', 'x', 2],
  ];
  for (const [url, name, times] of refused) {
    const message = `The query has the parameter "${name}" ${times} times.`;
    t.match((await app.inject({ url })).json(), { code: 'MALFORMED_BODY', status: 400, message, hint: /once/ }, url);
  }
  const step = { method: 'POST', url: '/v1/sessions/abc/steps?frame=1&frame=2' } as const;
  const bare = await app.inject({ ...step, headers: { 'content-type': 'application/octet-stream' }, payload: 'abcd' });
  t.match(bare.json(), { code: 'MALFORMED_BODY', message: /"frame" 2 times/ });
  t.equal(operations.sessionCalls.length, 0);
});

t.test('a query parameter that is no percent-encoded UTF-8 is refused by its name, on every path', async (t) => {
  const { app, operations } = await openDoor(t);
  const refused: [string, string][] = [
    ['/v1/sessions?label=%ff', 'label'],
    ['/v1/sessions?pageSize=7&l%61bel=%C3%28', 'label'],
    ['/v1/sessions?%ff=1', '%ff'],
    ['/v1/jobs?label=50%', 'label'],
    ['/v1/jobs/abc/result?wait=%zzs', 'wait'],
    ['/v1?x=%ed%a0%80', 'x'],
    ['/livez?x=%c0%80', 'x'],
    ['/openapi.json?x=%', 'x'],
  ];
  for (const [url, name] of refused) {
    const message = `The query parameter "${name}" is not valid percent-encoded UTF-8.`;
    t.match((await app.inject({ url })).json(), { code: 'MALFORMED_BODY', status: 400, message, hint: /%25/ }, url);
  }
  const step = { method: 'POST', url: '/v1/sessions/abc/steps?scalar=%ff' } as const;
  const bare = await app.inject({ ...step, headers: { 'content-type': 'application/octet-stream' }, payload: 'abcd' });
  t.match(bare.json(), { code: 'MALFORMED_BODY', message: /"scalar"/ });
  const long = (await app.inject({ url: `/livez?${'a'.repeat(6000)}=%ff` })).json();
  t.ok(long.message.length < 200, 'a name that a caller may make long');
  t.equal((await app.inject({ url: '/v1/nothing?x=%ff' })).statusCode, 404, 'a path that does not exist comes first');
  for (const url of ['/metrics', '/config']) {
    const answer = await app.inject({ url });
    t.equal(answer.statusCode, 404);
    t.match(answer.json().hint, /admin port/, `${url} is not here`);
  }
  t.notMatch((await app.inject({ url: '/nothing' })).json().hint, /admin port/);
  t.equal(operations.sessionCalls.length, 0);
  t.equal((await app.inject({ url: '/v1/sessions?label=%C3%A4+%25%26' })).statusCode, 200);
  t.match(operations.sessionCalls[0]?.request, { label: 'ä %&' });
});

t.test('bodies of an unsupported media type are refused', async (t) => {
  const { app } = await openDoor(t);
  const send = (headers: Record<string, string>, payload = '{}') =>
    app.inject({ method: 'POST', url, headers, payload });
  const text = await send({ 'content-type': 'text/plain' });
  t.equal(text.statusCode, 415);
  t.match(text.json(), {
    code: 'UNSUPPORTED_MEDIA_TYPE',
    message: /text\/plain.*application\/json or application\/x-protobuf or multipart\/form-data/,
  });
  t.match((await app.inject({ method: 'POST', url })).json(), {
    code: 'UNSUPPORTED_MEDIA_TYPE',
    message: /no content-type/,
  });
  t.match((await send({ 'content-type': 'application/json; charset=latin1' })).json(), {
    code: 'UNSUPPORTED_MEDIA_TYPE',
  });
  t.match((await send({ ...json, 'content-encoding': 'gzip' })).json(), {
    code: 'UNSUPPORTED_MEDIA_TYPE',
    status: 415,
  });
  t.match((await send({ ...json, 'content-encoding': 'identity' })).json(), {
    code: 'MALFORMED_BODY',
    message: /mesh is missing/,
  });
  const bare = await send({ 'content-type': 'application/octet-stream' });
  t.match(bare.json(), { code: 'UNSUPPORTED_MEDIA_TYPE', status: 415 }, 'bare positions are for steps');
});

t.test('invalid JSON is refused', async (t) => {
  const { app } = await openDoor(t);
  const send = (payload: string) => app.inject({ method: 'POST', url, headers: json, payload });
  t.match((await send('{"mesh": {,}}')).json(), { code: 'MALFORMED_BODY', message: /line 1, column 11/, status: 400 });
  t.match((await send('')).json(), { code: 'MALFORMED_BODY', message: /ends too early/ });
  t.match((await send('[]')).json(), { code: 'MALFORMED_BODY', message: /The body is an array/ });
  t.match((await send('null')).json(), { code: 'MALFORMED_BODY' });
  t.match((await send('{"__proto__": {}}')).json(), { code: 'UNKNOWN_FIELD' });
});

t.test('an accept header that cannot be served is refused', async (t) => {
  const { app } = await openDoor(t);
  const send = (accept: string) => app.inject({ method: 'POST', url, headers: { accept }, payload: arraysRequest() });
  for (const good of ['*/*', 'application/*', 'text/html, application/json;q=0.1']) {
    t.equal((await send(good)).statusCode, 200, good);
  }
  const refused = await send('application/octet-stream');
  t.equal(refused.statusCode, 406);
  t.match(refused.json(), { code: 'NOT_ACCEPTABLE', hint: /application\/json/ });
  t.equal((await send('application/json;q=0')).statusCode, 406);
});

t.test('a refusal repeats only the beginning of what the caller wrote', async (t) => {
  const { app } = await openDoor(t);
  const long = 'x'.repeat(8000);
  const post = (headers: Record<string, string>, payload: object = arraysRequest()) =>
    app.inject({ method: 'POST', url, headers, payload });
  const options = { kinematicParts: [long] };
  const sent = await app.inject({
    method: 'POST',
    url,
    ...form([startPart, targetPart, { name: 'options', body: JSON.stringify(options) }]),
  });
  for (const answer of [
    await post({ accept: long }),
    await post({ 'content-type': long }),
    await post({ 'content-encoding': long }),
    await post({ 'interstice-time-budget-ms': long }),
    await post({ 'interstice-on-budget': long }),
    await post({}, { [long]: 1 }),
    await app.inject({ url: `/v1?${long}` }),
    await app.inject({
      method: 'POST',
      url: `/v1/sessions/abc/steps?scalar=${long}`,
      headers: { 'content-type': 'application/octet-stream' },
    }),
    sent,
  ]) {
    t.ok(answer.statusCode >= 400 && answer.statusCode < 500, answer.body);
    const { message, hint } = answer.json();
    t.match(message, /x{40,100}…/);
    t.ok(message.length + hint.length < 800, `${message.length} and ${hint.length} characters`);
  }
});

t.test('paths that lead out of the reference do not exist', async (t) => {
  const { app } = await openDoor(t);
  for (const name of ['../../package.json', '%2e%2e/x', '%00', '/etc/passwd', '..%2f..%2fpackage.json', 'none.js']) {
    const answer = await app.inject({ url: `/docs/static/${name}` });
    t.match(answer.json(), { code: 'NOT_FOUND', status: 404, message: /^The path \/.* does not exist\.$/ }, name);
  }
});

t.test('bodies beyond the limit are refused', async (t) => {
  const { app } = await openDoor(t, 2048);
  const payload = `{"x":"${'y'.repeat(3000)}"}`;
  const answer = await app.inject({ method: 'POST', url, headers: json, payload });
  t.equal(answer.statusCode, 413);
  t.match(answer.json(), { code: 'TOO_LARGE', message: /2048 bytes, but 3008 bytes were sent/, retryable: false });
});

t.test('unknown query parameters are refused', async (t) => {
  const { app } = await openDoor(t);
  const query = await app.inject({ method: 'POST', url: `${url}?scalar=float64`, payload: arraysRequest() });
  t.match(query.json(), { code: 'UNKNOWN_FIELD', message: /scalar/, hint: /body/ });
  for (const path of ['/v1?verbose=1', '/v1/sessions/abc?verbose=1', '/v1/sessions/abc/report?verbose=1']) {
    t.match((await app.inject(path)).json(), { code: 'UNKNOWN_FIELD', message: /verbose/, hint: /no query/ }, path);
  }
});

t.test('every answer carries its id and the version', async (t) => {
  const { app } = await openDoor(t);
  for (const path of ['/livez', '/nothing', '/v1']) {
    const own = await app.inject({ url: path, headers: { 'x-request-id': 'my-id.1' } });
    t.equal(own.headers['x-request-id'], 'my-id.1');
    t.match(own.headers['interstice-version'], /^\d+\.\d+\.\d+/);
    const strange = await app.inject({ url: path, headers: { 'x-request-id': 'a b' } });
    t.match(strange.headers['x-request-id'], /^[0-9a-f-]{36}$/, 'an id that could do harm is replaced');
  }
});
