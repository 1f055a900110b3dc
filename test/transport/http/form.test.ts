import { Readable } from 'node:stream';
import { setTimeout as wait } from 'node:timers/promises';
import t from 'tap';
import { decodeJson } from '../../../src/transport/json/decode.js';
import { openDoor } from '../door.js';
import { fakeReport } from '../fake-answers.js';
import { type FormPart, form, plyOf, START_OBJ, startPart, TARGET, TARGET_OBJ, targetPart } from '../fixtures.js';

const options = (value: unknown): FormPart => ({ name: 'options', body: JSON.stringify(value) });
const START_PLY = plyOf([0, 0, 0, 1, 0, 0, 0, 1, 0]);

async function openForms(t: Parameters<typeof openDoor>[0], maxMessageBytes?: number, maxJsonBytes?: number) {
  const door = await openDoor(t, maxMessageBytes, maxJsonBytes);
  const send = (parts: readonly FormPart[], headers: Record<string, string> = {}, url = '/v1/resolve') => {
    const { payload, headers: own } = form(parts);
    return door.app.inject({ method: 'POST', url, payload, headers: { ...own, ...headers } });
  };
  return { ...door, send };
}

t.test('OBJ in, OBJ out, the report in a header', async (t) => {
  const { send, operations } = await openForms(t);
  const answer = await send([startPart, targetPart]);
  t.equal(answer.statusCode, 200, answer.body);
  t.equal(answer.headers['content-type'], 'model/obj');
  t.same(answer.body.match(/^v .*$/gm), ['v 0 0 1', 'v 1 0 1', 'v 0 1 1']);
  t.same(answer.body.match(/^f .*$/gm), ['f 1 2 3']);
  const request = operations.resolves[0]?.request;
  t.same(request?.mesh.vertexCount, 3);
  t.same(request?.mesh.triangles, Uint32Array.of(0, 1, 2));
  t.same(request?.target, Float64Array.from(TARGET));
  t.equal(request?.mesh.kinematic, undefined);

  const header = String(answer.headers['interstice-report']);
  t.ok(header.length <= 4096);
  t.match(header, /^[\x20-\x7e]+$/);
  const report = JSON.parse(header);
  t.match(report, {
    status: 'CONVERGED',
    steps: 7,
    pairs: { edgeEdge: '20' },
    resolved: { preset: 'TUNED' },
    engine: 'cpu',
  });
  t.notMatch(header, /\[/, 'no lists');
  t.doesNotThrow(() => decodeJson('Report', report), 'its names are those of the contract');
  t.match(answer.headers['server-timing'], /search;dur=0\.100/);
});

t.test('PLY keeps its kind and its scalar', async (t) => {
  const { send, operations } = await openForms(t);
  const answer = await send([
    { name: 'start', filename: 'a.ply', body: START_PLY },
    { name: 'target', filename: 'b.ply', body: plyOf(TARGET) },
  ]);
  t.equal(answer.statusCode, 200, answer.body);
  t.equal(answer.headers['content-type'], 'application/octet-stream');
  t.match(answer.body, /^ply\n/);
  t.match(answer.body, /property float x/);
  t.type(operations.resolves[0]?.request.target, Float32Array);
});

t.test('files of one mesh are refused at the first one with which it is too large', async (t) => {
  const { send } = await openForms(t);
  const file = (name: string, body: string): FormPart => ({ name, filename: `${name}.obj`, body });
  const [half, broken] = [file('start', 'v 0 0 0\n'.repeat(500)), file('start', 'no mesh')];
  const vertices = await send([half, half, file('start', 'v 0 0 0\n'), broken]);
  t.match(vertices.json(), { code: 'TOO_LARGE', message: /at least 1001 vertices; the limit is 1000/ });
  const points = file('start', `v 0 0 0\n${'p 1\n'.repeat(1500)}`);
  const elements = await send([points, points, broken]);
  t.match(elements.json(), { code: 'TOO_LARGE', message: /at least 3000 elements; the limit is 2000/ });
});

t.test('the format is sniffed where the name does not tell', async (t) => {
  const { send } = await openForms(t);
  const blob = await send([
    { name: 'start', filename: 'blob', body: START_PLY },
    { name: 'target', filename: 'blob', body: TARGET_OBJ },
  ]);
  t.equal(blob.statusCode, 200, blob.body);
  t.equal(blob.headers['content-type'], 'application/octet-stream', 'the kind of the first start');
  const marked = await send([
    { name: 'start', filename: 'blob', body: `\ufeff${START_PLY}` },
    { name: 'target', filename: 'blob', body: TARGET_OBJ },
  ]);
  t.equal(marked.statusCode, 200, marked.body);
});

t.test('the format is sniffed wherever the bytes that tell it are cut', async (t) => {
  const { app } = await openForms(t);
  const { payload, headers } = form([
    { name: 'start', filename: 'blob', body: START_PLY },
    { name: 'target', filename: 'blob', body: TARGET_OBJ },
  ]);
  const first = payload.indexOf('ply\n');
  for (let cut = first; cut < first + 5; cut++) {
    const pieces = async function* () {
      yield payload.subarray(0, cut);
      await wait(20);
      yield payload.subarray(cut);
    };
    const answer = await app.inject({
      ...{ method: 'POST', url: '/v1/resolve', headers },
      payload: Readable.from(pieces()),
    });
    t.equal(answer.headers['content-type'], 'application/octet-stream', `${cut - first}: ${answer.body.slice(0, 300)}`);
  }
});

t.test('a file of another format is refused by that name, and not read as OBJ', async (t) => {
  const { send } = await openForms(t);
  const glb = 'glTF\u0002\u0000\u0000\u0000 and so on';
  for (const [filename, body, ending] of [
    ['shirt.GLB', glb, 'glb'],
    ['shirt', glb, 'glb'],
    ['shirt.gltf', '{"asset":{}}', 'gltf'],
    ['shirt.stl', 'solid shirt', 'stl'],
  ] as const) {
    const answer = await send([{ name: 'start', filename, body }, targetPart]);
    t.equal(answer.statusCode, 415, answer.body);
    t.match(answer.json(), {
      code: 'UNSUPPORTED_MEDIA_TYPE',
      message: `start "${filename}": this is a .${ending} file, and a form takes OBJ and PLY files.`,
      hint: /Export the mesh as \.ply or \.obj/,
    });
  }
});

t.test('several files are one mesh, in order', async (t) => {
  const { send, operations } = await openForms(t);
  const answer = await send([
    { ...startPart, filename: 'dress.obj' },
    { ...startPart, filename: 'body.obj' },
    { ...targetPart, filename: 'dress.obj' },
    { ...targetPart, filename: 'body.obj' },
    options({ kinematicParts: ['body.obj'], kinematicVertices: [0], parameters: { reach: 0.5 } }),
  ]);
  t.equal(answer.statusCode, 200, answer.body);
  const request = operations.resolves[0]?.request;
  t.equal(request?.mesh.vertexCount, 6);
  t.same(request?.mesh.triangles, Uint32Array.of(0, 1, 2, 3, 4, 5));
  t.same(request?.mesh.kinematic, Uint8Array.of(1, 0, 0, 1, 1, 1));
  t.same(request?.target, Float64Array.from([...TARGET, ...TARGET]));
  t.same(request?.parameters, { reach: 0.5 });
  t.same(answer.body.match(/^f .*$/gm), ['f 1 2 3', 'f 4 5 6']);
});

t.test('options as a field, as a file, or as a typed field; before or after the files', async (t) => {
  const { send, operations } = await openForms(t);
  const body = JSON.stringify({ kinematicFrom: 2, timeBudget: '0.5s', onBudget: 'FAIL' });
  for (const part of [
    { name: 'options', body },
    { name: 'options', filename: 'options.json', body },
    { name: 'options', type: 'application/json', body },
  ]) {
    for (const parts of [
      [part, startPart, targetPart],
      [startPart, targetPart, part],
    ]) {
      t.equal((await send(parts)).statusCode, 200);
      t.match(operations.resolves.at(-1)?.request, { timeBudgetSeconds: 0.5, onBudget: 'FAIL' });
      t.same(operations.resolves.at(-1)?.request.mesh.kinematic, Uint8Array.of(0, 0, 1));
    }
  }
});

t.test('JSON for those who ask for it, with what a file cannot carry', async (t) => {
  const { send } = await openForms(t);
  const parts = [startPart, targetPart, options({ include: { contacts: true } })];
  t.match((await send(parts)).json(), { code: 'INVALID_PARAMETER', message: /options\.include/ });
  for (const include of [{}, { contacts: false }, { contactDistance: 1 }])
    t.equal((await send([startPart, targetPart, options({ include })])).statusCode, 200, 'it asks for nothing');
  const answer = await send(parts, { accept: 'application/json' });
  t.equal(answer.statusCode, 200);
  t.match(answer.json(), { positions: { scalar: 'FLOAT64' }, report: { status: 'CONVERGED', limitingPairs: [{}] } });
  t.match((await send([startPart, targetPart], { accept: 'text/plain' })).headers['content-type'], /^text\/plain/);
  t.match((await send([startPart, targetPart], { accept: 'application/octet-stream' })).json(), {
    code: 'NOT_ACCEPTABLE',
  });
  t.match((await send([startPart, targetPart], { accept: 'image/png' })).json(), { code: 'NOT_ACCEPTABLE' });
});

t.test('forms that are refused', async (t) => {
  const { send, operations } = await openForms(t);
  const refusal = async (parts: readonly FormPart[], headers = {}) => {
    const { code, message } = (await send(parts, headers)).json();
    return `${code}: ${message}`;
  };
  t.match(await refusal([]), /MALFORMED_BODY: .*no start/);
  t.match(await refusal([targetPart]), /MALFORMED_BODY: .*no start/);
  t.match(await refusal([startPart]), /MALFORMED_BODY: .*1 start and 0 target/);
  t.match(await refusal([startPart, targetPart, { name: 'extra', body: 'x' }]), /UNKNOWN_FIELD: .*"extra"/);
  t.match(await refusal([{ name: 'extra', filename: 'x', body: 'x' }, startPart]), /UNKNOWN_FIELD: .*"extra"/);
  t.match(await refusal([{ name: 'toString', body: 'x' }]), /UNKNOWN_FIELD/);
  t.match(
    await refusal([options({}), options({}), startPart]),
    /UNKNOWN_FIELD: The form has more than one options part/,
  );
  t.match((await send([options({}), options({}), startPart])).json(), { hint: /in one part/ });
  t.match((await send([targetPart])).json(), { hint: /-F start=@mesh\.obj/ });
  const many = Array.from({ length: 257 }, () => startPart);
  t.match((await send(many)).json(), { code: 'UNKNOWN_FIELD', message: /more than 256 start files/, hint: /^Join/ });
  t.match(await refusal([{ name: 'start', body: START_OBJ }]), /MALFORMED_BODY: The part start is not a file/);
  t.match(
    await refusal([startPart, targetPart, { name: 'options', body: '{' }]),
    /MALFORMED_BODY: options is not valid JSON/,
  );
  t.match(
    await refusal([startPart, targetPart, options({ parameters: { reech: 1 } })]),
    /UNKNOWN_FIELD: options\.parameters\.reech/,
  );
  t.match(await refusal([startPart, targetPart, options({ maxPairs: 1 })]), /INVALID_PARAMETER: options\.maxPairs/);
  t.match(await refusal([{ ...startPart, body: 'v 0 0 x\n' }, targetPart]), /MALFORMED_BODY: .*Line 1/);
  t.match(await refusal([{ ...startPart, body: 'v 0 0 nan\n' }, targetPart]), /NOT_FINITE/);
  t.match(await refusal([startPart, { ...targetPart, body: 'v 0 0 0\n' }]), /SIZE_MISMATCH/);
  t.match(await refusal([startPart, { ...targetPart, body: TARGET_OBJ.replace('1 2 3', '1 3 2') }]), /INVALID_MESH/);
  const budget = { 'interstice-time-budget-ms': '5' };
  t.match(
    await refusal([startPart, targetPart, options({ timeBudget: '1s' })], budget),
    /INVALID_PARAMETER: The header/,
  );
  t.equal(operations.resolves.length, 0);
});

t.test('a file without a name is read by its content, and named by its place where it is at fault', async (t) => {
  const { send, operations } = await openForms(t);
  const type = 'application/octet-stream';
  const start = { name: 'start', type, body: START_OBJ };
  const target = { name: 'target', type, body: TARGET_OBJ };
  t.equal((await send([start, { ...start, body: START_PLY }, target, target])).statusCode, 200);
  t.equal(operations.resolves[0]?.request.mesh.vertexCount, 6);
  const broken = { ...start, body: 'v 0 0 0\nv a b c\n' };
  const refused = await send([start, broken, target, target]);
  t.equal(refused.statusCode, 400);
  t.match(refused.json(), {
    code: 'MALFORMED_BODY',
    message: /^start\[1\]: Line 2/,
    hint: /^Repair the file/,
  });
  const unknown = await send([start, target, options({ kinematicParts: ['body.obj'] })]);
  t.match(unknown.json(), { code: 'INVALID_PARAMETER', message: /no file has that name/ });
});

t.test('a file has the name that the caller sees, whatever a browser encodes in it', async (t) => {
  const { send, operations } = await openForms(t);
  const start = { ...startPart, filename: '5%22 100%25%0D%0A%41.obj' };
  const broken = await send([{ ...start, body: 'v a b c\n' }, targetPart]);
  t.match(broken.json().message, 'start "5\\" 100%25\\r\\n%41.obj": Line 1');
  const answer = await send([start, targetPart, options({ kinematicParts: ['5" 100%25\r\n%41.obj'] })]);
  t.equal(answer.statusCode, 200, answer.body);
  t.same(operations.resolves[0]?.request.mesh.kinematic, Uint8Array.of(1, 1, 1));
});

t.test('a form that is broken, or beyond the limit', async (t) => {
  const { app, send } = await openForms(t, 2048);
  const big = { ...startPart, body: `${START_OBJ}#${'x'.repeat(3000)}\n` };
  const announced = await send([big, targetPart]);
  t.equal(announced.statusCode, 413);
  t.match(announced.json(), { code: 'TOO_LARGE', message: /2048 bytes, but \d{4} bytes/ });
  const { payload, headers } = form([startPart, targetPart]);
  for (const [bytes, statusCode] of [
    [2048, 200],
    [2049, 413],
  ] as const) {
    // What stands before the first part counts as well. The size of a stream is not announced.
    const preamble = Buffer.from(`${'x'.repeat(bytes - payload.length - 2)}\r\n`);
    const stream = Readable.from([preamble, payload.subarray(0, 100), payload.subarray(100)]);
    const answer = await app.inject({ method: 'POST', url: '/v1/resolve', headers, payload: stream });
    t.equal(answer.statusCode, statusCode, answer.body);
    if (statusCode === 413)
      t.match(answer.json(), { code: 'TOO_LARGE', message: /2048 bytes, but more than that were sent/ });
  }
  const cut = await app.inject({
    method: 'POST',
    url: '/v1/resolve',
    headers,
    payload: payload.subarray(0, payload.length - 60),
  });
  t.match(cut.json(), { code: 'MALFORMED_BODY', status: 400 });
  const bare = await app.inject({
    method: 'POST',
    url: '/v1/resolve',
    headers: { 'content-type': 'multipart/form-data' },
    payload,
  });
  t.match(bare.json(), { code: 'MALFORMED_BODY', status: 400 });
});

t.test('a part without a readable name is refused, whatever the others are', async (t) => {
  const { app, operations } = await openForms(t, 1 << 20);
  const { payload, headers } = form([startPart, targetPart]);
  const [, boundary] = /boundary=(.*)/.exec(headers['content-type']!)!;
  for (const head of [
    'content-disposition: attachment; name="options"',
    'content-type: application/json',
    '',
    'content-type: text/plain\ncontent-disposition: form-data; name="options"',
    `x: ${'a'.repeat(100_000)}\r\ncontent-disposition: form-data; name="options"`,
  ]) {
    const part = Buffer.from(`--${boundary}\r\n${head}\r\n\r\n{"priority": "BATCH"}\r\n`);
    const answer = await app.inject({
      ...{ method: 'POST', url: '/v1/resolve', headers },
      payload: Buffer.concat([part, payload]),
    });
    t.equal(answer.statusCode, 400, head.slice(0, 60));
    t.match(answer.json(), { code: 'MALFORMED_BODY', message: 'A part of the form has no name.' });
  }
  t.equal(operations.resolves.length, 0);
});

t.test('the options of a form have the limit of JSON, however large the form may be', async (t) => {
  const { send, operations } = await openForms(t, 65536, 2048);
  const padded = (bytes: number) => ({ name: 'options', body: '{"kinematicFrom": 2}'.padEnd(bytes) });
  t.equal((await send([startPart, targetPart, padded(2048)])).statusCode, 200);
  const refused = await send([startPart, targetPart, padded(2049)]);
  t.equal(refused.statusCode, 413);
  t.match(refused.json(), { code: 'TOO_LARGE', message: /options may have 2048 bytes/, hint: /MAX_JSON_BYTES/ });
  t.equal((await send([{ ...startPart, body: START_OBJ.padEnd(4096, '\n') }, targetPart])).statusCode, 200);
  t.equal(operations.resolves.length, 2);
});

t.test('a check of files', async (t) => {
  const { send, operations } = await openForms(t);
  const mesh = { ...startPart, name: 'mesh' };
  const wanted = options({
    kinematicFrom: 2,
    maxPairs: 1,
    reportPairsCloserThan: 0.5,
    kinematicPairs: 'PROTECT',
    timeBudget: '2s',
  });
  const state = await send([mesh, wanted], {}, '/v1/check');
  t.equal(state.statusCode, 200, state.body);
  t.match(state.json(), { intersectionFree: false, intersectionCount: '1' });
  t.match(operations.checks[0]?.request, {
    ...{ maxPairs: 1, reportPairsCloserThan: 0.5, kinematicPairs: 'PROTECT', timeBudgetSeconds: 2 },
  });
  const [asked] = operations.checks;
  t.same(asked && 'mesh' in asked.request && asked.request.mesh.kinematic, Uint8Array.of(0, 0, 1));
  t.equal(asked?.request.pathEnd, undefined);
  for (const parts of [
    [mesh, { ...targetPart, name: 'pathEnd' }],
    [startPart, targetPart],
  ]) {
    t.equal((await send(parts, {}, '/v1/check')).statusCode, 200);
    t.same(operations.checks.at(-1)?.request.pathEnd, Float64Array.from(TARGET));
  }
  const more = { ...targetPart, name: 'pathEnd', body: `${targetPart.body}v 1 1 1\n` };
  const unlike = (await send([mesh, more], {}, '/v1/check')).json();
  t.match(unlike, { code: 'SIZE_MISMATCH', message: 'The pathEnd has 4 vertices; the mesh has 3.' });
  const refused = (await send([mesh, options({ parameters: {} })], {}, '/v1/check')).json();
  t.match(refused, { code: 'INVALID_PARAMETER', message: /options\.parameters is not an option of a check/ });
});

t.test(
  'texture coordinates, materials and further properties come back, or a header names what is dropped',
  async (t) => {
    const { send, operations } = await openForms(t);
    operations.onResolve = async ({ target }) => ({ positions: target, report: fakeReport() });
    const dressed = `vt 0 0\nusemtl silk\n${START_OBJ.replace('f 1 2 3', 'f 1/1 2/1 3/1')}`;
    const obj = await send([{ ...startPart, body: dressed }, targetPart]);
    t.match(obj.body, /^vt 0 0\nusemtl silk\n/);
    t.match(obj.body, '\nf 1/1 2/1 3/1');
    t.equal(obj.headers['interstice-dropped'], undefined);
    const header = (count: number) => `ply\nformat ascii 1.0\nelement vertex ${count}\n`;
    const axes = 'property float x\nproperty float y\nproperty float z\n';
    const coloured = `${header(3)}${axes}property uchar red\nend_header\n0 0 0 7\n1 0 0 8\n0 1 0 9\n`;
    const start = { name: 'start', filename: 'a.ply', body: coloured };
    const target = { name: 'target', filename: 'a.ply', body: `${header(3)}${axes}end_header\n0 0 1\n1 0 1\n0 1 1\n` };
    const ply = await send([start, target]);
    t.equal(ply.statusCode, 200, ply.body);
    t.match(ply.body, /property uchar red[\s\S]* 7\n[\s\S]* 8\n[\s\S]* 9\n$/);
    const two = await send([start, start, target, target]);
    t.equal(two.statusCode, 200, two.body);
    t.equal(two.headers['interstice-dropped'], 'vertex.red');
  },
);
