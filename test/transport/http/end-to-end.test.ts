import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { pino } from 'pino';
import t from 'tap';
import { readConfig } from '../../../src/config/config.js';
import { startServer } from '../../../src/server/server.js';
import { createOperations } from '../../../src/session/operations.js';
import { decodeJson } from '../../../src/transport/json/decode.js';

const START = [0, 0, 0, 1, 0, 0, 0, 1, 0, 0.2, 0.2, 0.1, 1.2, 0.2, 0.1, 0.2, 1.2, 0.1];
/** The second triangle is asked to pass through the first. */
const TARGET = START.map((value, i) => (i >= 9 && i % 3 === 2 ? -value : value));
const obj = (positions: readonly number[]) => {
  const rows = Array.from({ length: 6 }, (_, i) => `v ${positions.slice(3 * i, 3 * i + 3).join(' ')}\n`);
  return `${rows.join('')}f 1 2 3\nf 4 5 6\n`;
};

t.test('requests pass through the real operations', async (t) => {
  const config = readConfig({
    INTERSTICE_HTTP_PORT: '0',
    INTERSTICE_GRPC_PORT: 'off',
    INTERSTICE_ADMIN_PORT: 'off',
    INTERSTICE_ENGINE: 'cpu',
    INTERSTICE_THREADS: '1',
  });
  const { engine, threads, limits, allowUnverified } = config;
  const operations = await createOperations({ engine, threads, limits, allowUnverified });
  const server = await startServer(config, operations, { log: pino({ level: 'silent' }), handleSignals: false });
  t.teardown(() => server.close());
  await operations.ready();
  const mesh = { vertexCount: 6, triangles: [0, 1, 2, 3, 4, 5] };
  const post = (path: string, body: unknown) =>
    fetch(`${server.address}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
  const asDoubles = (data: readonly number[]) => ({ data, scalar: 'FLOAT64' });

  const answer = await post('/v1/resolve', { mesh, start: asDoubles(START), target: asDoubles(TARGET) });
  const { positions, report } = (await answer.json()) as {
    positions: { data: number[]; scalar: string };
    report: { status: string; verification: { performed: string }; timings: { total: number; decode: number } };
  };
  t.equal(answer.status, 200);
  t.equal(positions.scalar, 'FLOAT64');
  t.equal(positions.data.length, 18);
  t.notSame(positions.data, TARGET);
  t.equal(report.verification.performed, 'STATE');
  t.ok(report.timings.total >= report.timings.decode);
  const checked = await post('/v1/check', { mesh, positions, pathEnd: asDoubles(TARGET) });
  t.match(await checked.json(), { intersectionFree: true, pathFree: false });

  const form = new FormData();
  form.append('start', new Blob([obj(START)]), 'start.obj');
  form.append('target', new Blob([obj(TARGET)]), 'target.obj');
  const file = await fetch(`${server.address}/v1/resolve`, { method: 'POST', body: form });
  const lines = (await file.text()).match(/^v .*$/gm) ?? [];
  t.same(
    lines.flatMap((line) => line.split(' ').slice(1).map(Number)),
    positions.data,
    'a file and a JSON body with the same numbers have the same answer',
  );

  const pierced = await post('/v1/resolve', {
    mesh,
    start: { data: TARGET.map((v, i) => (i === 14 ? 1 : v)) },
    target: asDoubles(TARGET),
  });
  t.equal(pierced.status, 422);
  t.match(await pierced.json(), { code: 'INTERSECTING_START', pairs: [{ kind: 'EDGE_TRIANGLE' }] });
  const outside = await post('/v1/resolve', {
    mesh: { ...mesh, triangles: [0, 1, 6] },
    start: asDoubles(START),
    target: asDoubles(TARGET),
  });
  t.match(await outside.json(), { code: 'INDEX_OUT_OF_RANGE', element: { kind: 'triangle', index: '0' } });
  const short = await post('/v1/resolve', { mesh, start: { data: [1, 2, 3] }, target: asDoubles(TARGET) });
  t.match(await short.json(), { code: 'SIZE_MISMATCH', status: 400 });

  await t.test('a session without a triangle that has an area is described in JSON', async (t) => {
    for (const [what, elements] of [
      ['particles', { particles: [0, 1, 2, 3] }],
      ['segments', { segments: [0, 1, 1, 2] }],
      ['a triangle without an area', { triangles: [0, 1, 2] }],
    ] as const) {
      const start = { data: [0, 0, 0, 2, 0, 0, 4, 0, 0, 0, 0, 1] };
      const created = await post('/v1/sessions', { mesh: { vertexCount: 4, ...elements }, start });
      t.equal(created.status, 201, what);
      const { message } = decodeJson('Session', await created.json());
      t.equal((message.mesh as { minHeight: number }).minHeight, 0, what);
    }
  });

  await t.test('invalid bytes after a request are refused after its answer', async (t) => {
    const boundary = 'b0undary';
    const part = (name: string, text: string) =>
      `--${boundary}\r\ncontent-disposition: form-data; name="${name}"; filename="${name}.obj"\r\n\r\n${text}\r\n`;
    const body = `${part('start', obj(START))}${part('target', obj(TARGET))}--${boundary}--`;
    const head = [
      'POST /v1/resolve HTTP/1.1',
      'host: localhost',
      `content-type: multipart/form-data; boundary=${boundary}`,
      `content-length: ${body.length}`,
    ].join('\r\n');
    for (const rest of ['\r\n\u0001 no request\r\n\r\n', ' HTTP\r\n']) {
      const socket = connect(Number(new URL(server.address).port), '127.0.0.1');
      socket.write(`${head}\r\n\r\n${body}${rest}`);
      const answers = (await text(socket)).split(/(?=HTTP\/1\.1 )/);
      t.match(
        answers[0],
        /^HTTP\/1\.1 200 [\s\S]*Transfer-Encoding: chunked[\s\S]*\r\n0\r\n\r\n$/,
        'the answer is whole',
      );
      t.match(answers[1], /^HTTP\/1\.1 400 [\s\S]*MALFORMED_BODY/);
    }
  });
});
