import t from 'tap';
import { IntersticeError } from '../../../src/contract/errors.js';
import { openDoor } from '../door.js';
import { fakeReport } from '../fake-answers.js';
import { arraysRequest, base64Of, base64Request, TARGET } from '../fixtures.js';

const url = '/v1/resolve';

t.test('a request in arrays is answered in arrays, with every default written', async (t) => {
  const { app, operations } = await openDoor(t);
  const answer = await app.inject({ method: 'POST', url, payload: arraysRequest() });
  t.equal(answer.statusCode, 200);
  t.equal(answer.headers['content-type'], 'application/json; charset=utf-8');
  const body = answer.json();
  t.same(body.positions, { data: TARGET, scalar: 'FLOAT32' });
  t.match(body.report, {
    status: 'CONVERGED',
    pairs: { edgeEdge: '20', colours: 5 },
    ignoredPairs: [],
    sessionRebuilt: false,
  });
  t.same(body.report.limitingPairs, [{ kind: 'VERTEX_TRIANGLE', a: [0], b: [1, 2, 3], distance: 0.01, normal: [] }]);
  t.notOk('contacts' in body);
  t.match(answer.headers['server-timing'], /queue;dur=0\.010, .*total;dur=\d/);
  t.ok(body.report.timings.total > 0);
  t.equal(operations.resolves.length, 1);
  t.type(operations.resolves[0]?.context.receivedAt, 'number');
  t.type(operations.resolves[0]?.context.signal, AbortSignal);
});

t.test('a request in base64 is answered in base64; float64 comes back as float64', async (t) => {
  const { app } = await openDoor(t);
  const single = await app.inject({ method: 'POST', url, payload: base64Request() });
  t.same(single.json().positions, { data: base64Of(Float32Array.from(TARGET)), scalar: 'FLOAT32' });
  const data = base64Of(Float64Array.from(TARGET));
  const payload = { ...base64Request(), target: { data, scalar: 'FLOAT64' } };
  const double = await app.inject({ method: 'POST', url, payload });
  t.same(double.json().positions, { data, scalar: 'FLOAT64' });
});

t.test('contacts and vertices are sent when the answer has them', async (t) => {
  const { app, operations } = await openDoor(t);
  operations.onResolve = async (request) => ({
    positions: request.target,
    report: fakeReport(),
    contacts: {
      kinds: Uint8Array.of(1),
      vertices: Uint32Array.of(0, 1, 2, 3),
      weights: Float32Array.of(1, 0.5, 0.25, 0.25),
      normals: Float32Array.of(0, 0, 1),
      distances: Float32Array.of(0.5),
    },
    vertices: {
      residual: Float32Array.of(1),
      distanceToTarget: Float32Array.of(2),
      unreachedKinematic: new Uint32Array(0),
    },
  });
  const payload = { ...arraysRequest(), include: { contacts: true, vertices: true } };
  const body = (await app.inject({ method: 'POST', url, payload })).json();
  t.same(body.contacts.vertices, [0, 1, 2, 3]);
  t.same(body.contacts.normals, [0, 0, 1]);
  t.same(body.vertices, { residual: [1], distanceToTarget: [2], unreachedKinematic: [] });
  t.same(operations.resolves[0]?.request.include, { contacts: true, vertices: true });
});

t.test('a check may be sent as JSON', async (t) => {
  const { app, operations } = await openDoor(t);
  const payload = { mesh: { vertexCount: 1, particles: [0] }, positions: { data: [0, 0, 0] }, maxPairs: 1 };
  const answer = await app.inject({ method: 'POST', url: '/v1/check', payload });
  t.equal(answer.statusCode, 200);
  t.same(answer.json(), {
    intersectionFree: false,
    intersectionCount: '1',
    intersections: [{ kind: 'EDGE_TRIANGLE', a: [0, 1], b: [2, 3, 4], normal: [] }],
    kinematicIntersectionCount: '0',
    closePairs: [],
  });
  t.equal(operations.checks[0]?.request.maxPairs, 1);
  t.match(answer.headers['server-timing'], /total;dur=/);
});

t.test('the time budget may be in a header or in the body', async (t) => {
  const { app, operations } = await openDoor(t);
  const send = (headers: Record<string, string>, over = {}, path = url) =>
    app.inject({ method: 'POST', url: path, headers, payload: { ...arraysRequest(), ...over } });
  const headers = { 'interstice-time-budget-ms': '250', 'interstice-on-budget': 'FAIL' };
  t.equal((await send(headers)).statusCode, 200);
  t.match(operations.resolves[0]?.request, { timeBudgetSeconds: 0.25, onBudget: 'FAIL' });
  t.equal((await send(headers, { timeBudget: '0.25s', onBudget: 'FAIL' })).statusCode, 200, 'saying it twice is fine');
  for (const [milliseconds, timeBudget] of [
    ['1001.3', '1.0013s'],
    ['0.000001', '0.000000001s'],
    ['599999.999999', '599.999999999s'],
  ]) {
    const twice = await send({ 'interstice-time-budget-ms': milliseconds! }, { timeBudget });
    t.equal(twice.statusCode, 200, `${milliseconds} ms is ${timeBudget}`);
  }
  const conflicts = [{ timeBudget: '0.250000001s' }, { timeBudget: '1s' }, { onBudget: 'RETURN_SAFE' }];
  for (const over of conflicts)
    t.match((await send(headers, over)).json(), { code: 'INVALID_PARAMETER', message: /header/ });
  for (const bad of ['0', '-1', 'x', '1e3', '']) {
    t.match((await send({ 'interstice-time-budget-ms': bad })).json(), { code: 'INVALID_PARAMETER' }, bad);
  }
  t.match((await send({ 'interstice-on-budget': 'MAYBE' })).json(), { code: 'INVALID_PARAMETER' });
  const { mesh, start } = arraysRequest();
  const check = (own: Record<string, string>, over = {}) =>
    app.inject({ method: 'POST', url: '/v1/check', headers: own, payload: { mesh, positions: start, ...over } });
  t.match((await check(headers)).json(), {
    code: 'INVALID_PARAMETER',
    message: /does not support the header interstice-on-budget/,
    hint: 'Send the request without it.',
  });
  // Parameters that would have no effect are not dropped silently.
  const override = { 'interstice-override': '{"stepLimit": 3}' };
  for (const refused of [await send(override), await check(override)])
    t.match(refused.json(), { code: 'INVALID_PARAMETER', message: /header interstice-override/ });
  const ofCheck = { 'interstice-time-budget-ms': '250' };
  for (const [own, over] of [[ofCheck], [{}, { timeBudget: '0.25s' }], [ofCheck, { timeBudget: '0.25s' }]] as const) {
    t.equal((await check(own ?? {}, over)).statusCode, 200);
    t.equal(operations.checks.at(-1)?.request.timeBudgetSeconds, 0.25);
  }
  t.match((await check(ofCheck, { timeBudget: '1s' })).json(), { code: 'INVALID_PARAMETER', message: /header/ });
});

t.test('a refusal of the decoder names the field, and nothing is computed', async (t) => {
  const { app, operations } = await openDoor(t);
  const answer = await app.inject({ method: 'POST', url, payload: { mesh: { vertexCount: 3, triangels: [] } } });
  t.equal(answer.statusCode, 400);
  t.match(answer.json(), { code: 'UNKNOWN_FIELD', message: /mesh\.triangels/, status: 400 });
  t.equal(operations.resolves.length, 0);
});

t.test('refusals of the operation keep their details', async (t) => {
  const { app, operations } = await openDoor(t);
  operations.failure = new IntersticeError('INTERSECTING_START', 'The start intersects itself.', {
    element: { kind: 'triangle', index: 4, vertices: [1, 2, 3] },
    pairs: [{ kind: 'EDGE_TRIANGLE', a: [0, 1], b: [2, 3, 4] }],
    pairCount: 97,
  });
  const answer = await app.inject({ method: 'POST', url, payload: arraysRequest() });
  t.equal(answer.statusCode, 422);
  t.match(answer.json(), {
    type: 'urn:interstice:error:INTERSECTING_START',
    title: 'Intersecting start',
    status: 422,
    detail: 'The start intersects itself.',
    instance: url,
    element: { kind: 'triangle', index: '4', vertices: [1, 2, 3] },
    pairs: [{ kind: 'EDGE_TRIANGLE', a: [0, 1], b: [2, 3, 4] }],
    pairCount: '97',
  });
});
