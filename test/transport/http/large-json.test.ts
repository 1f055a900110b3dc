import { connect } from 'node:net';
import { Worker } from 'node:worker_threads';
import t, { type Test } from 'tap';
import { openDoor } from '../door.js';
import { fakeReport } from '../fake-answers.js';
import { arraysRequest, base64Request, type FormPart, form, START, startPart, targetPart } from '../fixtures.js';

const url = '/v1/resolve';

/** A coder whose thread does nothing until the gate is opened, and notes when it was asked for. */
function gated() {
  const gate = new Int32Array(new SharedArrayBuffer(4));
  let tellStarted: () => void = () => {};
  const started = new Promise<void>((resolve) => {
    tellStarted = resolve;
  });
  const thread = () => {
    tellStarted();
    return new Worker(new URL('../json/gated-thread.js', import.meta.url), { workerData: gate.buffer });
  };
  const open = () => {
    Atomics.store(gate, 0, 1);
    Atomics.notify(gate, 0);
  };
  return { json: { largeBytes: 64, thread }, started, open };
}

const openDoorWith = (t: Test, json: NonNullable<Parameters<typeof openDoor>[3]>) =>
  openDoor(t, 1 << 22, undefined, json);

t.test('others are answered while a large body is read, and it counts as on its way until then', async (t) => {
  const { json, started, open } = gated();
  const { app, operations } = await openDoorWith(t, json);
  const order: string[] = [];
  const large = app.inject({ method: 'POST', url, payload: arraysRequest() }).then((answer) => {
    order.push('large');
    return answer;
  });
  await started;
  t.equal(operations.expected, 1);
  t.equal((await app.inject('/livez')).statusCode, 200);
  const small = await app.inject({ method: 'POST', url: '/v1/check', payload: {} });
  t.match(small.json(), { code: 'MALFORMED_BODY', message: /mesh is missing/ });
  order.push('others');
  open();
  t.equal((await large).statusCode, 200);
  t.same(order, ['others', 'large']);
  t.equal(operations.expected, 0);
});

t.test('others are answered while a large answer is written', async (t) => {
  const { json, started, open } = gated();
  const { app, operations } = await openDoorWith(t, json);
  operations.onResolve = async () => ({ positions: new Float32Array(3000), report: fakeReport() });
  const [startPly, targetPly] = [startPart, targetPart];
  const { payload, headers } = form([startPly, targetPly]);
  const order: string[] = [];
  const large = app
    .inject({ method: 'POST', url, payload, headers: { ...headers, accept: 'application/json' } })
    .then((answer) => {
      order.push('large');
      return answer;
    });
  await started;
  t.equal((await app.inject('/livez')).statusCode, 200);
  order.push('livez');
  open();
  const body = (await large).json();
  t.same(order, ['livez', 'large']);
  t.equal(Buffer.from(body.positions.data, 'base64').length, 12_000);
  t.match(body.report, { status: 'CONVERGED' });
});

t.test('on either side of the threshold the same bytes are answered', async (t) => {
  const near = await openDoorWith(t, { largeBytes: Number.POSITIVE_INFINITY });
  const far = await openDoorWith(t, { largeBytes: 0 });
  const json = { 'content-type': 'application/json' };
  const asForm = (parts: readonly FormPart[]) => form([startPart, targetPart, ...parts]);
  const options = (body: string, more: Partial<FormPart> = {}) => asForm([{ name: 'options', body, ...more }]);
  const requests: [string, { url?: string; payload: string | Buffer; headers: Record<string, string> }][] = [
    ['arrays', { payload: JSON.stringify(arraysRequest()), headers: json }],
    ['base64', { payload: JSON.stringify(base64Request()), headers: json }],
    [
      'protobuf out',
      { payload: JSON.stringify(base64Request()), headers: { ...json, accept: 'application/x-protobuf' } },
    ],
    ['malformed', { payload: `{\n"mesh": ${'[1,'.repeat(50)}`, headers: json }],
    ['not UTF-8', { payload: Buffer.from([0x22, 0xff, 0x22]), headers: json }],
    ['empty', { payload: '', headers: json }],
    ['a bad element', { payload: '{"mesh": {"triangles": [0, 1, "2"]}}', headers: json }],
    ['a form', { ...asForm([]), headers: { ...asForm([]).headers, accept: 'application/json' } }],
    ['options', options('{"kinematicVertices": [0, 2], "parameters": {"reach": 0.5}}')],
    ['options, null', options('null')],
    ['options as JSON', options('{"kinematicVertices": [3]}', { type: 'application/json' })],
    ['options as a file', options('{"reech": 3}', { filename: 'o.json' })],
    ['options that are no JSON', options('{"a"')],
    ['options that are wrong beside a missing file', form([startPart, { name: 'options', body: '{"a": 1}' }])],
    [
      'a step',
      { url: '/v1/sessions/ab/steps', payload: JSON.stringify({ frame: 3, target: { data: START } }), headers: json },
    ],
    [
      'a session',
      {
        url: '/v1/sessions',
        payload: JSON.stringify({ mesh: arraysRequest().mesh, start: { data: START } }),
        headers: json,
      },
    ],
    ['a check', { url: '/v1/check', payload: JSON.stringify({ sessionId: 'ab' }), headers: json }],
  ];
  for (const [name, { url: path = url, payload, headers }] of requests) {
    const [one, other] = await Promise.all(
      [near, far].map(async ({ app }) => {
        const answer = await app.inject({
          method: 'POST',
          url: path,
          payload,
          headers: { ...headers, 'x-request-id': 'same' },
        });
        // The times of two requests differ; in protobuf they cannot be cut out of the bytes, so there the length is compared.
        const text = answer.body.replace(/"timings":\{[^}]*\}/, '"timings":{}');
        const isJson = String(answer.headers['content-type']).includes('json');
        const { 'server-timing': _, date: __, 'content-length': ___, ...others } = answer.headers;
        delete others['interstice-report'];
        return { status: answer.statusCode, headers: others, body: isJson ? text : answer.rawPayload.length };
      }),
    );
    t.same(other, one, name);
  }
  t.match(near.operations.resolves.length, far.operations.resolves.length);
  t.same(
    far.operations.resolves.map(({ request }) => request),
    near.operations.resolves.map(({ request }) => request),
  );
});

t.test('a caller who hangs up while the body waits leaves nothing behind', async (t) => {
  const { json, started, open } = gated();
  const { app, operations, state } = await openDoorWith(t, json);
  await app.listen({ host: '127.0.0.1', port: 0 });
  const { port } = app.server.address() as { port: number };
  const payload = JSON.stringify(arraysRequest());
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => {});
  socket.write(
    `POST ${url} HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: ${payload.length}\r\n\r\n${payload}`,
  );
  await started;
  socket.destroy();
  await state.idle();
  open();
  const next = await app.inject({ method: 'POST', url, payload: arraysRequest() });
  t.equal(next.statusCode, 200);
  t.equal(operations.resolves.length, 1, 'what nobody waits for is not computed');
  t.equal(operations.expected, 0);
});

t.test('a body whose thread dies is refused, and may be sent again', async (t) => {
  const thread = () => new Worker(new URL('../json/dying-thread.js', import.meta.url));
  const { app } = await openDoorWith(t, { largeBytes: 0, thread });
  const send = (payload: object) => app.inject({ method: 'POST', url, payload });
  const [fatal, other] = await Promise.all([send({ mesh: 'die by exit' }), send(arraysRequest())]);
  t.equal(fatal.statusCode, 503);
  t.match(fatal.json(), { code: 'DEVICE_LOST', retryable: true });
  t.equal(other.statusCode, 200);
});

t.test('the server may close while a body is read', async (t) => {
  const { json, started } = gated();
  const { app, operations } = await openDoorWith(t, json);
  const large = app.inject({ method: 'POST', url, payload: arraysRequest() });
  await started;
  await app.close();
  t.match((await large).json(), { code: 'DRAINING', retryable: true });
  t.equal(operations.resolves.length, 0);
});

t.test('a name that is set twice is refused, on the thread too, and in the options of a form', async (t) => {
  const whole = JSON.stringify(arraysRequest());
  const twice = `${whole.slice(0, -1)},"start":{},"\\u0074arget":{}}`;
  for (const largeBytes of [64, 1 << 20]) {
    const { app, operations } = await openDoor(t, 1 << 22, undefined, { largeBytes });
    const headers = { 'content-type': 'application/json' };
    const answer = await app.inject({ method: 'POST', url, payload: twice, headers });
    t.match(answer.json(), {
      code: 'MALFORMED_BODY',
      message: /^The body sets start twice: again at line 1, column \d+/,
    });
    const escaped = twice.replace(',"start":{}', '');
    t.match((await app.inject({ method: 'POST', url, payload: escaped, headers })).json(), {
      message: /sets target twice/,
    });
    const options: FormPart = { name: 'options', body: '{"parameters":{"stepLimit":1,"stepLimit":2}}' };
    const refused = await app.inject({ method: 'POST', url, ...form([startPart, targetPart, options]) });
    t.match(refused.json(), { code: 'MALFORMED_BODY', message: /^options sets parameters\.stepLimit twice/ });
    t.equal(operations.resolves.length, 0);
  }
});
