import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createEncrypted } from 'node:https';
import { type AddressInfo, createServer as createSilent } from 'node:net';
import t, { type Test } from 'tap';
import { readApiKey } from '../../src/cli/api-key.js';
import { createRemote } from '../../src/cli/remote.js';
import { parseServerUrl, sendJson } from '../../src/cli/remote-http.js';
import { IntersticeError } from '../../src/contract/errors.js';
import type { CheckRequest, ResolveRequest } from '../../src/contract/requests.js';
import { decodeJson } from '../../src/transport/json/decode.js';
import { encodeJson } from '../../src/transport/json/encode.js';
import { fromError, fromResolveAnswer } from '../../src/transport/messages/answers.js';
import { makeAuthority, makeCertificate, skipWithoutOpenssl } from '../support/certificates.js';
import { sampleReport } from './fakes.js';

type Handler = (request: IncomingMessage, body: string, response: ServerResponse) => void;

/** A service that answers as told; gone when the test ends. */
async function serve(t: Test, handler: Handler): Promise<string> {
  const server: Server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    handler(request, Buffer.concat(chunks).toString('utf8'), response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const answerJson = (response: ServerResponse, json: object, status = 200): void => {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(json));
};

const start = new Float64Array([0, 0, 0, 1, 0, 0, 0, 1, 0.1]);
const target = new Float32Array([0, 0, 1, 1, 0, 1, 0, 1, 1.1]);
const request: ResolveRequest = {
  mesh: { vertexCount: 3, triangles: new Uint32Array([0, 1, 2]), kinematic: new Uint8Array([0, 0, 1]) },
  start,
  target,
  parameters: { stepLimit: 5, forward: 'ISOTROPIC' },
  timeBudgetSeconds: 1.5,
  onBudget: 'FAIL',
};

t.test('a request reaches the service whole, and the answer comes back bit for bit', async (t) => {
  const positions = new Float32Array([0, 0, 0.3, 1, 0, 1 / 3, 0, 1, 1.1]);
  const report = sampleReport({ ignoredPairCount: 2 ** 40, warnings: [{ code: 'X', message: 'x', count: 3 }] });
  let seen: unknown;
  const url = await serve(t, (incoming, body, response) => {
    t.equal(incoming.url, '/v1/resolve');
    t.equal(incoming.headers['content-type'], 'application/json');
    seen = JSON.parse(body);
    answerJson(response, encodeJson('ResolveResponse', fromResolveAnswer({ positions, report }), { arrays: false }));
  });
  const answer = await createRemote(url).resolve(request);
  t.strictSame(answer.positions, positions);
  t.strictSame(answer.report, report);
  decodeJson('ResolveRequest', seen, '');
  t.match(seen, {
    mesh: { vertexCount: 3, triangles: Buffer.from(new Uint32Array([0, 1, 2]).buffer).toString('base64') },
    start: { data: Buffer.from(start.buffer).toString('base64'), scalar: 'FLOAT64' },
    target: { data: Buffer.from(target.buffer).toString('base64'), scalar: 'FLOAT32' },
    parameters: { stepLimit: 5, forward: 'ISOTROPIC' },
    timeBudget: /^1\.50*s$/,
    onBudget: 'FAIL',
  });
});

t.test('a check works on a service under a path prefix', async (t) => {
  const url = await serve(t, (incoming, body, response) => {
    t.equal(incoming.url, '/collisions/v1/check');
    t.match(JSON.parse(body), { maxPairs: 3, pathEnd: { scalar: 'FLOAT32' } });
    answerJson(response, { intersectionFree: true, intersectionCount: '0', pathFree: false, earliestImpact: 0.25 });
  });
  const check: CheckRequest = { mesh: request.mesh, positions: start, pathEnd: target, maxPairs: 3 };
  t.strictSame(await createRemote(`${url}/collisions`).check(check), {
    intersectionFree: true,
    intersectionCount: 0,
    intersections: [],
    kinematicIntersectionCount: 0,
    closePairs: [],
    pathFree: false,
    earliestImpact: 0.25,
  });
});

t.test('a refusal of the service is the same error here', async (t) => {
  const refusal = new IntersticeError('INTERSECTING_START', 'It intersects.', {
    hint: 'Mend it.',
    element: { kind: 'triangle', index: 2, vertices: [4, 5, 6] },
    pairs: [{ kind: 'EDGE_TRIANGLE', a: [1, 2], b: [4, 5, 6] }],
    pairCount: 99,
    retryAfterSeconds: 2,
  });
  const url = await serve(t, (_incoming, _body, response) => {
    answerJson(
      response,
      { title: 'x', status: 422, ...encodeJson('Error', fromError(refusal, 'id'), { arrays: false }) },
      422,
    );
  });
  await t.rejects(createRemote(url).resolve(request), {
    code: 'INTERSECTING_START',
    message: 'It intersects.',
    hint: 'Mend it.',
    element: { kind: 'triangle', index: 2, vertices: [4, 5, 6] },
    pairs: [{ kind: 'EDGE_TRIANGLE', a: [1, 2], b: [4, 5, 6] }],
    pairCount: 99,
    retryAfterSeconds: 2,
  });
});

t.test('an answer of another program is reported as such', async (t) => {
  const bodies: Handler[] = [
    (_i, _b, response) => response.writeHead(502, { 'content-type': 'text/html' }).end('<h1>Bad gateway</h1>'),
    (_i, _b, response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<h1>Hello</h1>'),
    (_i, _b, response) => answerJson(response, { code: 'TEAPOT', message: 'x' }, 418),
    (_i, _b, response) => answerJson(response, []),
    (_i, _b, response) => answerJson(response, { positions: { data: [1, 2] } }),
  ];
  for (const body of bodies) {
    const url = await serve(t, body);
    await t.rejects(createRemote(url).resolve(request), { code: 'INTERNAL', hint: /address belongs to an Interstice/ });
  }
  // Defaults alone would say that a state is not free and a start is not accepted.
  const service = createRemote(await serve(t, (_incoming, _body, response) => answerJson(response, { ok: true })));
  const { mesh } = request;
  const answers: Promise<unknown>[] = [
    service.resolve(request),
    service.check({ mesh, positions: start }),
    service.diagnose({ mesh, positions: start }),
    service.untangle({ mesh, positions: start, parameters: {} }),
  ];
  for (const answer of answers) await t.rejects(answer, { code: 'INTERNAL', hint: /address belongs to an Interstice/ });
});

t.test('a missing service is reported as UNREACHABLE', async (t) => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  await t.rejects(createRemote(`http://127.0.0.1:${port}`).resolve(request), {
    code: 'UNREACHABLE',
    message: /does not answer: .*ECONNREFUSED/,
    hint: /interstice serve/,
  });
  const silent = createSilent().listen(0, '127.0.0.1');
  await once(silent, 'listening');
  t.teardown(() => silent.close());
  const url = new URL(`https://127.0.0.1:${(silent.address() as AddressInfo).port}`);
  await t.rejects(sendJson(url, {}, undefined, { connectTimeoutMs: 20 }), {
    code: 'UNREACHABLE',
    message: /no connection after 0.02 s/,
  });
});

t.test('an address where something else listens is not taken for a service that is down', async (t) => {
  const plain = await serve(t, (_, __, response) => answerJson(response, {}));
  await t.rejects(sendJson(new URL(plain.replace('http:', 'https:')), {}, undefined), {
    code: 'UNREACHABLE',
    message: /does not answer: that port does not speak TLS\.$/,
    hint: /^Write http:/,
  });
  const foreign = createSilent((socket) => socket.end('220 other.example ESMTP\r\n').on('error', () => {}));
  foreign.listen(0, '127.0.0.1');
  await once(foreign, 'listening');
  t.teardown(() => foreign.close());
  await t.rejects(sendJson(new URL(`http://127.0.0.1:${(foreign.address() as AddressInfo).port}`), {}, undefined), {
    code: 'UNREACHABLE',
    message: /does not answer: that port does not speak HTTP\.$/,
    hint: /HTTP port/,
  });
});

t.test('a certificate that is not accepted says how to add its authority', { skip: skipWithoutOpenssl }, async (t) => {
  const folder = t.testdir();
  const { cert, key } = makeCertificate(folder, 'server', makeAuthority(folder, 'ca'));
  const server = createEncrypted({ cert, key }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => server.close());
  await t.rejects(sendJson(new URL(`https://127.0.0.1:${(server.address() as AddressInfo).port}`), {}, undefined), {
    code: 'UNREACHABLE',
    hint: /NODE_EXTRA_CA_CERTS/,
  });
});

t.test('only a new connection has to be made in time: over one that was kept an answer may take longer', async (t) => {
  let connections = 0;
  let asked = 0;
  const server = createServer((request, response) => {
    request.resume();
    const answer = () => answerJson(response, { asked: ++asked });
    if (asked === 0) answer();
    else setTimeout(answer, 200);
  });
  server.on('connection', () => connections++);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  const url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  await sendJson(url, {}, undefined);
  t.match(await sendJson(url, {}, undefined, { connectTimeoutMs: 20 }), { asked: 2 });
  t.equal(connections, 1);
});

t.test('a cancelled request closes its connection', async (t) => {
  const controller = new AbortController();
  const hungUp = new Promise<void>((resolve) => {
    void serve(t, (_incoming, _body, response) => {
      response.on('close', resolve);
      controller.abort();
    }).then((url) =>
      t.rejects(createRemote(url).resolve(request, { signal: controller.signal }), { code: 'CANCELLED' }),
    );
  });
  await hungUp;
});

t.test('who wants progress is told it line by line, and gets the same answer', async (t) => {
  const positions = new Float32Array([0, 0, 0.3, 1, 0, 1 / 3, 0, 1, 1.1]);
  const report = sampleReport();
  const answer = encodeJson('ResolveResponse', fromResolveAnswer({ positions, report }), { arrays: false });
  const lines = [
    { progress: { steps: 1, residual: 1, unfinishedVertices: 3 } },
    {},
    { progress: { steps: 2, residual: 0.5, unfinishedVertices: 0 } },
    { response: answer },
  ].map((line) => `${JSON.stringify(line)}\n`);
  const text = Buffer.from(lines.join(''));
  const url = await serve(t, async ({ headers }, _body, response) => {
    t.match(headers.accept, /^application\/x-ndjson,/);
    response.writeHead(200, { 'content-type': 'application/x-ndjson' });
    // Lines do not end where pieces of the answer end.
    for (let from = 0; from < text.length; from += 71) {
      await new Promise<void>((written) => response.write(text.subarray(from, from + 71), () => written()));
    }
    response.end();
  });
  const told: unknown[] = [];
  const onProgress = (progress: unknown) => told.push(progress);
  t.strictSame(await createRemote(url).resolve(request, { onProgress }), { positions, report });
  t.strictSame(told, [
    { steps: 1, residual: 1, unfinishedVertices: 3 },
    { steps: 2, residual: 0.5, unfinishedVertices: 0 },
  ]);
  const plain = await serve(t, (_incoming, _body, response) => answerJson(response, answer));
  t.strictSame(await createRemote(plain).resolve(request, { onProgress }), { positions, report }, 'without a stream');
});

t.test('a stream that ends with an error, with other data or too early is reported', async (t) => {
  const late = new IntersticeError('DEADLINE_EXCEEDED', 'Too late.', { hint: 'More time.' });
  const error = `${JSON.stringify({ error: encodeJson('Error', fromError(late, 'id'), { arrays: false }) })}\n`;
  const progress = `${JSON.stringify({ progress: { steps: 1, residual: 1, unfinishedVertices: 3 } })}\n`;
  const ends = [
    [progress + error, { code: 'DEADLINE_EXCEEDED', message: 'Too late.', hint: 'More time.' }],
    [`${progress}so much for that\n`, { code: 'INTERNAL', hint: /address belongs to an Interstice/ }],
    [progress, { code: 'UNREACHABLE', message: /ended early/ }],
    [progress + error.slice(0, -1), { code: 'UNREACHABLE', message: /ended early/ }],
  ] as const;
  for (const [text, expected] of ends) {
    const url = await serve(t, (_incoming, _body, response) => {
      response.writeHead(200, { 'content-type': 'application/x-ndjson' }).end(text);
    });
    await t.rejects(createRemote(url).resolve(request, { onProgress: () => {} }), expected, text);
  }
  const refusing = await serve(t, (_incoming, _body, response) => {
    answerJson(response, encodeJson('Error', fromError(late, 'id'), { arrays: false }), 504);
  });
  await t.rejects(createRemote(refusing).resolve(request, { onProgress: () => {} }), { code: 'DEADLINE_EXCEEDED' });
  const breaking = await serve(t, (_incoming, _body, response) => {
    response.writeHead(200, { 'content-type': 'application/x-ndjson' });
    response.write(progress, () => response.destroy());
  });
  await t.rejects(createRemote(breaking).resolve(request, { onProgress: () => {} }), { code: 'UNREACHABLE' });
});

t.test('a cancelled stream closes its connection', async (t) => {
  const controller = new AbortController();
  let hungUp!: () => void;
  const closed = new Promise<void>((resolve) => {
    hungUp = resolve;
  });
  const url = await serve(t, (_incoming, _body, response) => {
    response.on('close', hungUp);
    response.writeHead(200, { 'content-type': 'application/x-ndjson' });
    response.write(`${JSON.stringify({ progress: { steps: 1, residual: 1, unfinishedVertices: 3 } })}\n`);
  });
  const context = { signal: controller.signal, onProgress: () => controller.abort() };
  await t.rejects(createRemote(url).resolve(request, context), { code: 'CANCELLED' });
  await closed;
});

t.test('an address must be a URL of HTTP', async (t) => {
  for (const text of [
    '',
    'localhost',
    '127.0.0.1:8080',
    'ftp://host',
    'http://',
    'http://host?a=b',
    'http://host/#a',
  ]) {
    t.throws(() => parseServerUrl(text), { name: 'UsageError', message: /--server needs a URL/ }, text);
  }
  t.equal(parseServerUrl('https://host/a').href, 'https://host/a/');
});

t.test('a key comes from a file or the environment, and goes into a header', async (t) => {
  const file = `${t.testdir({ key: ' secret-1\n', empty: '\n', two: 'a b\n' })}`;
  t.equal(readApiKey(undefined, {}), undefined);
  t.equal(readApiKey(undefined, { INTERSTICE_API_KEY: '' }), undefined);
  t.equal(readApiKey(undefined, { INTERSTICE_API_KEY: 'other' }), 'other');
  t.equal(readApiKey(`${file}/key`, { INTERSTICE_API_KEY: 'other' }), 'secret-1');
  t.throws(() => readApiKey(`${file}/none`, {}), /Cannot read .*none: the file does not exist/);
  for (const name of ['empty', 'two'])
    t.throws(() => readApiKey(`${file}/${name}`, {}), { message: /^[^\n]*one API key and nothing else\.$/ });
  const seen: unknown[] = [];
  const url = await serve(t, ({ headers }, _body, response) => {
    seen.push(headers.authorization);
    answerJson(response, { code: 'UNAUTHENTICATED', message: 'no' }, 401);
  });
  await t.rejects(createRemote(url, 'secret-1').resolve(request), { code: 'UNAUTHENTICATED' });
  await t.rejects(createRemote(url).resolve(request), { code: 'UNAUTHENTICATED' });
  t.same(seen, ['Bearer secret-1', undefined]);
});
