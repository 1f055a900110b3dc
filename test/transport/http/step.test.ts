import t from 'tap';
import type { StepAnswer } from '../../../src/contract/sessions.js';
import { decodeMessage } from '../../../src/transport/protobuf/decode.js';
import { openDoor } from '../door.js';
import { fakeReport } from '../fake-answers.js';
import { START, TARGET } from '../fixtures.js';

const url = '/v1/sessions/abc/steps';
const bare = { 'content-type': 'application/octet-stream' };
const bytesOf = (array: Float32Array | Float64Array) => Buffer.from(array.buffer, array.byteOffset, array.byteLength);

t.test('a step may be sent as a message', async (t) => {
  const { app, operations } = await openDoor(t);
  const payload = {
    frame: '9007199254740993',
    target: { data: TARGET },
    priority: 'BATCH',
    include: { contacts: true },
  };
  const answer = await app.inject({ method: 'POST', url, payload });
  t.match(answer.json(), {
    frame: '9007199254740993',
    positions: { data: TARGET, scalar: 'FLOAT32' },
    report: { status: 'CONVERGED' },
  });
  t.match(operations.sessionCalls[0]?.request, { sessionId: 'abc', frame: 9007199254740993n, priority: 'BATCH' });
  const other = await app.inject({ method: 'POST', url, payload, headers: { accept: 'application/x-protobuf' } });
  t.match(decodeMessage('StepResponse', other.rawPayload), { frame: 9007199254740993n, report: { status: 1 } });
  const headers = { 'interstice-time-budget-ms': '250', 'interstice-on-budget': 'FAIL' };
  await app.inject({ method: 'POST', url, payload: {}, headers });
  t.same(operations.sessionCalls.at(-1)?.request, { sessionId: 'abc', timeBudgetSeconds: 0.25, onBudget: 'FAIL' });
});

t.test('a step may be sent as bare positions', async (t) => {
  const { app, operations } = await openDoor(t);
  const target = Float32Array.from(TARGET);
  const single = await app.inject({ method: 'POST', url, headers: bare, payload: bytesOf(target) });
  t.equal(single.statusCode, 200);
  t.equal(single.headers['content-type'], 'application/octet-stream');
  t.equal(single.headers['interstice-frame'], '1');
  t.equal(single.headers['interstice-scalar'], 'float32');
  t.same(single.rawPayload, bytesOf(target));
  const report = String(single.headers['interstice-report']);
  t.ok(report.length <= 4096);
  t.match(JSON.parse(report), { status: 'CONVERGED', steps: 7, timings: { total: /\d/ } });
  t.notOk('limitingPairs' in JSON.parse(report), 'lists are excluded');
  t.match(single.headers['server-timing'], /total;dur=/);
  t.strictSame(operations.sessionCalls[0]?.request, { sessionId: 'abc', target });

  const doubles = Float64Array.from(START);
  const double = await app.inject({
    method: 'POST',
    url: `${url}?scalar=float64&frame=18446744073709551615`,
    headers: {
      ...bare,
      'interstice-override': '{"damping": 0.5, "preset": "PAPER"}',
      'interstice-time-budget-ms': '8',
      'interstice-on-budget': 'RETURN_SAFE',
    },
    payload: bytesOf(doubles),
  });
  t.same(double.rawPayload, bytesOf(doubles));
  t.equal(double.headers['interstice-frame'], '18446744073709551615');
  t.equal(double.headers['interstice-scalar'], 'float64');
  t.strictSame(operations.sessionCalls[1]?.request, {
    sessionId: 'abc',
    frame: 18446744073709551615n,
    target: doubles,
    override: { preset: 'PAPER', damping: 0.5 },
    timeBudgetSeconds: 0.008,
    onBudget: 'RETURN_SAFE',
  });

  await app.inject({ method: 'POST', url, headers: bare, payload: '' });
  t.strictSame(operations.sessionCalls[2]?.request, { sessionId: 'abc' }, 'no body: on towards the last target');
  await app.inject({ method: 'POST', url: `${url}?scalar=float64`, headers: bare, payload: '' });
  t.strictSame(operations.sessionCalls[3]?.request, { sessionId: 'abc', scalar: 'FLOAT64' }, 'in this scalar');
});

t.test('bare positions in, a message out, and the other way round', async (t) => {
  const { app } = await openDoor(t);
  const payload = bytesOf(Float32Array.from(TARGET));
  const json = await app.inject({ method: 'POST', url, headers: { ...bare, accept: 'application/json' }, payload });
  t.match(json.json(), {
    frame: '1',
    positions: { data: payload.toString('base64') },
    report: { limitingPairs: Array },
  });
  const accept = { accept: 'application/octet-stream' };
  const target = { data: TARGET };
  const raw = await app.inject({ method: 'POST', url, headers: accept, payload: { target } });
  t.same(raw.rawPayload, payload);
  const include = { vertices: true };
  const refused = await app.inject({ method: 'POST', url, headers: accept, payload: { target, include } });
  t.match(refused.json(), { code: 'INVALID_PARAMETER', message: /bare positions/ });
});

t.test('a frame that is sent again is answered with the same bytes', async (t) => {
  const { app, operations } = await openDoor(t);
  const payload = { frame: '4', target: { data: TARGET } };
  for (const type of ['application/json', 'application/x-protobuf', 'application/octet-stream']) {
    const stored = { frame: 4n, positions: Float32Array.from(TARGET), report: fakeReport() };
    let calls = 0;
    operations.onStep = async (): Promise<StepAnswer> => ({ ...stored, isReplay: calls++ > 0 });
    const send = () => app.inject({ method: 'POST', url, headers: { accept: type }, payload });
    const [first, second] = [await send(), await send()];
    t.same(second.rawPayload, first.rawPayload, type);
    for (const name of ['interstice-report', 'server-timing']) t.equal(second.headers[name], first.headers[name]);
    t.not(stored.report.timings.total, 250, 'the first wrote its own times');
  }
});

t.test('invalid steps are refused', async (t) => {
  const { app, operations } = await openDoor(t);
  const post = (over: object) => app.inject({ method: 'POST', url, ...over });
  const payload = bytesOf(Float32Array.from(TARGET));
  const cases = [
    [{ headers: bare, payload: payload.subarray(1) }, 'SIZE_MISMATCH', /35 bytes/],
    [
      { url: `${url}?scalar=float64`, headers: bare, payload: payload.subarray(4, 16) },
      'SIZE_MISMATCH',
      /8 bytes each/,
    ],
    [{ url: `${url}?scalar=half`, headers: bare, payload }, 'INVALID_PARAMETER', /scalar is "half"/],
    [{ url: `${url}?frame=-1`, headers: bare, payload }, 'MALFORMED_BODY', /frame/],
    [{ url: `${url}?frame=18446744073709551616`, headers: bare, payload }, 'MALFORMED_BODY', /frame/],
    [{ url: `${url}?frames=1`, headers: bare, payload }, 'UNKNOWN_FIELD', /frames/],
    [{ url: `${url}?frame=1`, payload: {} }, 'UNKNOWN_FIELD', /frame/],
    [{ headers: { ...bare, 'interstice-override': '{' }, payload }, 'MALFORMED_BODY', /interstice-override/],
    [{ headers: { ...bare, 'interstice-override': '{"dampin": 1}' }, payload }, 'UNKNOWN_FIELD', /override\.dampin/],
    [{ headers: { 'interstice-override': '{}' }, payload: {} }, 'INVALID_PARAMETER', /interstice-override/],
    [{ payload: { sessionId: 'other' } }, 'INVALID_PARAMETER', /differs from the session/],
    [{ payload: { include: { progress: true } } }, 'INVALID_PARAMETER', /no stream/],
    [
      { headers: { 'content-type': 'multipart/form-data; boundary=x' }, payload },
      'UNSUPPORTED_MEDIA_TYPE',
      /octet-stream/,
    ],
    [{}, 'UNSUPPORTED_MEDIA_TYPE', /no content-type/],
  ] as const;
  for (const [over, code, message] of cases)
    t.match((await post(over)).json(), { code, message }, `${code} ${message}`);
  for (const [query, hint] of [
    ['afterFrame=0', 'Did you mean after_frame?'],
    ['Frame=1', 'Did you mean frame?'],
    ['frames=1', 'Known query parameters: scalar, frame, after_frame.'],
  ])
    t.match((await post({ url: `${url}?${query}`, headers: bare, payload })).json(), { code: 'UNKNOWN_FIELD', hint });
  t.equal(operations.sessionCalls.length, 0);
});
