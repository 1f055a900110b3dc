import { join } from 'node:path';
import protobuf from 'protobufjs';
import t from 'tap';
import { IntersticeError } from '../../../src/contract/errors.js';
import { projectRoot } from '../../../src/paths.js';
import { decodeJson } from '../../../src/transport/json/decode.js';
import { readBulk } from '../../../src/transport/messages/bulk.js';
import { toSubmitJobRequest } from '../../../src/transport/messages/long-jobs.js';
import {
  toCheckRequest,
  toCreateSessionRequest,
  toListSessionsRequest,
  toResolveRequest,
  toStepRequest,
  toUpdateSessionRequest,
  wantsProgress,
} from '../../../src/transport/messages/requests.js';
import { decodeMessage } from '../../../src/transport/protobuf/decode.js';
import { arraysRequest, base64Request, START, TARGET } from '../fixtures.js';

const refusal = (run: () => unknown): string => {
  try {
    run();
  } catch (error) {
    if (error instanceof IntersticeError) return `${error.code}: ${error.message}`;
    throw error;
  }
  return 'accepted';
};
const resolveOf = (value: unknown) => toResolveRequest(decodeJson('ResolveRequest', value).message);
const resolveRefusal = (over: Record<string, unknown>) => refusal(() => resolveOf({ ...arraysRequest(), ...over }));

t.test('both encodings of a request mean the same', async (t) => {
  const expected = {
    mesh: { vertexCount: 3, triangles: Uint32Array.of(0, 1, 2) },
    start: Float32Array.from(START),
    target: Float32Array.from(TARGET),
    parameters: {},
  };
  t.strictSame(resolveOf(arraysRequest()), expected);
  t.strictSame(resolveOf(base64Request()), expected);
});

t.test('every field arrives under its name', async (t) => {
  const request = resolveOf({
    ...arraysRequest(),
    mesh: {
      vertexCount: 5,
      triangles: [0, 1, 2],
      segments: [2, 3],
      particles: [4],
      tetrahedra: [0, 1, 2, 3],
      masses: [1, 2, 3, 4, 0.5],
      kinematic: [0, 0, 0, 1, 0],
      parts: [
        { name: 'a', vertexCount: 2 },
        {
          name: 'b',
          firstVertex: 2,
          vertexCount: 3,
          kinematic: true,
          activationDistance: 0.125,
          contactOffset: 0,
          strainMax: 2,
        },
      ],
      ignoredPartPairs: [0, 1],
      strainLimits: { rest: { data: [1, 2, 3], scalar: 'FLOAT64' }, min: 0.5 },
    },
    start: { data: [1, 2, 3], scalar: 'FLOAT64' },
    parameters: { preset: 'PAPER', stepLimit: 9, damping: 0.5, kinematicPairs: 'PROTECT' },
    include: { vertices: true, contactDistance: 0.25 },
    timeBudget: '0.25s',
    onBudget: 'RETURN_SAFE',
    priority: 'NORMAL',
  });
  t.strictSame(request.mesh, {
    vertexCount: 5,
    triangles: Uint32Array.of(0, 1, 2),
    segments: Uint32Array.of(2, 3),
    particles: Uint32Array.of(4),
    tetrahedra: Uint32Array.of(0, 1, 2, 3),
    masses: Float32Array.of(1, 2, 3, 4, 0.5),
    kinematic: Uint8Array.of(0, 0, 0, 1, 0),
    parts: [
      { name: 'a', firstVertex: 0, vertexCount: 2 },
      {
        name: 'b',
        firstVertex: 2,
        vertexCount: 3,
        kinematic: true,
        activationDistance: 0.125,
        contactOffset: 0,
        strainMax: 2,
      },
    ],
    ignoredPartPairs: Uint32Array.of(0, 1),
    strainLimits: { rest: Float64Array.of(1, 2, 3), min: 0.5 },
  });
  t.strictSame(request.start, Float64Array.of(1, 2, 3));
  t.strictSame(request.parameters, { preset: 'PAPER', damping: 0.5, stepLimit: 9, kinematicPairs: 'PROTECT' });
  t.strictSame(request.include, { contacts: false, vertices: true, contactDistance: 0.25 });
  t.equal(request.timeBudgetSeconds, 0.25);
  t.equal(request.onBudget, 'RETURN_SAFE');
  t.equal(request.priority, 'NORMAL');
});

t.test('empty bytes and null count as unset, as protobuf libraries hand them out', async (t) => {
  const positions = { data: new Uint8Array(12), scalar: 0 };
  const request = toResolveRequest({
    mesh: { vertexCount: 1, triangles: new Uint8Array(0), particles: new Uint8Array(4), parts: [], masses: null },
    start: positions,
    target: positions,
    parameters: { preset: 0, reach: null, leap: 0 },
    include: null,
    timeBudget: { seconds: 2n, nanos: 5e8 },
    onBudget: 0,
    priority: 2,
  });
  t.strictSame(request.mesh, { vertexCount: 1, particles: Uint32Array.of(0) });
  t.strictSame(request.parameters, { leap: 0 }, 'an optional 0 is set');
  t.equal(request.timeBudgetSeconds, 2.5);
});

t.test('fields that are missing or have the wrong size are refused by name', async (t) => {
  for (const name of ['mesh', 'start', 'target']) {
    t.match(resolveRefusal({ [name]: null }), new RegExp(`^MALFORMED_BODY: ${name} is missing`));
  }
  t.match(resolveRefusal({ include: { progress: true } }), /^INVALID_PARAMETER: include\.progress/);
  t.match(
    resolveRefusal({ mesh: { vertexCount: 3, triangles: 'AAAAAAA=' } }),
    /^SIZE_MISMATCH: mesh\.triangles .*5 bytes/,
  );
  t.match(
    resolveRefusal({ start: { data: 'AAAAAA==', scalar: 'FLOAT64' } }),
    /^SIZE_MISMATCH: start\.data .*8 bytes each/,
  );
  t.match(
    refusal(() => toResolveRequest({ priority: 9 })),
    /^INVALID_PARAMETER: priority is 9/,
    'from protobuf',
  );
});

t.test('the fields of a check are read', async (t) => {
  const check = (value: unknown) => toCheckRequest(decodeJson('CheckRequest', value).message);
  const mesh = { vertexCount: 1, particles: [0] };
  t.strictSame(check({ mesh, positions: { data: [1, 2, 3] } }), {
    mesh: { vertexCount: 1, particles: Uint32Array.of(0) },
    positions: Float32Array.of(1, 2, 3),
  });
  t.strictSame(
    check({
      mesh,
      positions: { data: [] },
      pathEnd: { data: [4] },
      reportPairsCloserThan: 0.5,
      maxPairs: 0,
      kinematicPairs: 1,
    }),
    {
      mesh: { vertexCount: 1, particles: Uint32Array.of(0) },
      positions: new Float32Array(0),
      pathEnd: Float32Array.of(4),
      reportPairsCloserThan: 0.5,
      maxPairs: 0,
      kinematicPairs: 'SKIP',
    },
  );
  t.strictSame(check({ sessionId: 'abc' }), { sessionId: 'abc' }, 'of the last answer of a session');
  t.strictSame(check({ sessionId: 'abc', positions: { data: [1] }, maxPairs: 2 }), {
    sessionId: 'abc',
    positions: Float32Array.of(1),
    maxPairs: 2,
  });
  t.match(
    refusal(() => check({})),
    /^MALFORMED_BODY: mesh is missing/,
  );
  t.match(
    refusal(() => check({ mesh })),
    /^MALFORMED_BODY: positions is missing/,
  );
});

t.test('bulk fields are viewed in place where they are aligned and copied where not', async (t) => {
  const buffer = new Uint8Array(16);
  new DataView(buffer.buffer).setUint32(4, 7, true);
  const aligned = readBulk(buffer.subarray(4, 8), 'uint32', 'x');
  t.equal(aligned.buffer, buffer.buffer);
  t.equal(aligned[0], 7);
  new DataView(buffer.buffer).setUint32(9, 8, true);
  const copied = readBulk(buffer.subarray(9, 13), 'uint32', 'x');
  t.not(copied.buffer, buffer.buffer);
  t.equal(copied[0], 8);
});

t.test('requests to open, change and list sessions are read', async (t) => {
  const create = (value: unknown) => toCreateSessionRequest(decodeJson('CreateSessionRequest', value).message);
  const { mesh, start } = arraysRequest();
  const opened = { mesh: { vertexCount: 3, triangles: Uint32Array.of(0, 1, 2) }, start: Float32Array.from(START) };
  t.strictSame(create({ mesh, start }), { ...opened, parameters: {} });
  t.strictSame(
    create({ mesh, start, parameters: { reach: 1 }, label: 'a', idleTimeout: '0s', idempotencyKey: 'k' }),
    { ...opened, parameters: { reach: 1 }, label: 'a', idleTimeoutSeconds: 0, idempotencyKey: 'k' },
    'an idle timeout of 0 is set',
  );
  t.match(
    refusal(() => create({ mesh })),
    /^MALFORMED_BODY: start is missing/,
  );

  const update = (value: unknown, known?: string) =>
    toUpdateSessionRequest(decodeJson('UpdateSessionRequest', value).message, { sessionId: known });
  t.strictSame(update({}, 'abc'), { sessionId: 'abc' }, 'what is not set stays');
  t.strictSame(update({ sessionId: 'abc', label: '', parameters: { leap: 0 }, idleTimeout: '1.5s' }, 'abc'), {
    sessionId: 'abc',
    parameters: { leap: 0 },
    idleTimeoutSeconds: 1.5,
    label: '',
  });
  t.match(
    refusal(() => update({ sessionId: 'other' }, 'abc')),
    /^INVALID_PARAMETER: sessionId differs from the session/,
  );
  t.match(
    refusal(() => update({})),
    /^MALFORMED_BODY: sessionId is missing/,
  );

  const list = (value: unknown) => toListSessionsRequest(decodeJson('ListSessionsRequest', value).message);
  t.strictSame(list({ pageSize: 0, pageToken: '', label: '' }), {});
  t.strictSame(list({ page_size: '7', pageToken: 'p', label: 'l' }), { pageSize: 7, pageToken: 'p', label: 'l' });
});

t.test('the fields of a step are read', async (t) => {
  const step = (value: unknown, origin = {}) => toStepRequest(decodeJson('StepRequest', value).message, origin);
  t.strictSame(step({}, { sessionId: 'abc' }), { sessionId: 'abc' }, 'on towards the last target');
  const whole = {
    sessionId: 'abc',
    frame: '18446744073709551615',
    target: { data: [1, 2, 3], scalar: 'FLOAT64' },
    start: { data: [4, 5, 6] },
    kinematic: [1],
    masses: [0.5],
    override: { damping: 0.5 },
    include: { contacts: true },
    timeBudget: '0.25s',
    onBudget: 'FAIL',
    priority: 'INTERACTIVE',
  };
  t.strictSame(step(whole), {
    sessionId: 'abc',
    frame: 18446744073709551615n,
    target: Float64Array.of(1, 2, 3),
    start: Float32Array.of(4, 5, 6),
    kinematic: Uint8Array.of(1),
    masses: Float32Array.of(0.5),
    override: { damping: 0.5 },
    include: { contacts: true, vertices: false },
    timeBudgetSeconds: 0.25,
    onBudget: 'FAIL',
    priority: 'INTERACTIVE',
  });
  t.equal(step({ sessionId: 'abc', frame: 0 }).frame, 0n, 'a frame of 0 is set');
  t.equal(step({ sessionId: 'abc', frame: 9007199254740991 }).frame, 9007199254740991n, 'as a number of JSON');
  const partTargets = [{ part: 'sleeve', target: { data: [1, 2, 3] } }];
  t.strictSame(step({ sessionId: 'abc', partTargets }).partTargets, [
    { part: 'sleeve', target: Float32Array.of(1, 2, 3) },
  ]);
  const refusals: [unknown, RegExp][] = [
    [{}, /^MALFORMED_BODY: sessionId is missing/],
    [{ ...whole, partTargets }, /^MALFORMED_BODY: target and partTargets are mutually exclusive/],
    [{ sessionId: 'a', partTargets: [{ part: 'x' }] }, /^MALFORMED_BODY: partTargets\[0\]\.target is missing/],
    [{ sessionId: 'a', include: { progress: true } }, /^INVALID_PARAMETER: include\.progress/],
    [{ sessionId: 'a', target: { data: 'AAAA' } }, /^SIZE_MISMATCH: target\.data/],
  ];
  for (const [value, expected] of refusals)
    t.match(
      refusal(() => step(value)),
      expected,
    );
  t.match(
    refusal(() => step({ sessionId: 'a' }, { sessionId: 'b' })),
    /^INVALID_PARAMETER: sessionId differs from the session/,
  );
  const asking = { include: { progress: true } };
  t.strictSame(step(asking, { sessionId: 'a', takesProgress: true }).include, { contacts: false, vertices: false });
  t.equal(wantsProgress(decodeJson('StepRequest', asking).message), true);
  t.equal(wantsProgress({}), false);
});

t.test('a job without work is told what a job can be', async (t) => {
  for (const value of [{}, { label: 'a', resolve: null }]) {
    t.throws(() => toSubmitJobRequest(decodeJson('SubmitJobRequest', value).message), {
      code: 'MALFORMED_BODY',
      hint: /resolve, step and untangle/,
    });
  }
});

t.test('a field of a job has one path in both encodings', async (t) => {
  const { mesh, start } = base64Request() as { mesh: object; start: object };
  const whole = { mesh, start, target: start };
  const unknown = 9;
  const faults: [string, object][] = [
    ['resolve.mesh', { resolve: {} }],
    ['resolve.start', { resolve: { mesh } }],
    ['resolve.mesh.triangles', { resolve: { ...whole, mesh: { vertexCount: 3, triangles: 'AAA=' } } }],
    ['resolve.mesh.strainLimits.rest', { resolve: { ...whole, mesh: { ...mesh, strainLimits: {} } } }],
    ['resolve.mesh.restLengths.edges', { resolve: { ...whole, mesh: { ...mesh, restLengths: { edges: 'AAA=' } } } }],
    ['resolve.start.data', { resolve: { ...whole, start: { data: 'AAA=' } } }],
    ['resolve.parameters.preset', { resolve: { ...whole, parameters: { preset: unknown } } }],
    ['resolve.priority', { resolve: { ...whole, priority: unknown } }],
    ['resolve.timeBudget', { resolve: { ...whole, timeBudget: 'far' } }],
    ['step.sessionId', { step: {} }],
    ['step.priority', { step: { sessionId: 'a', priority: unknown } }],
    ['step.onBudget', { step: { sessionId: 'a', onBudget: unknown } }],
    ['step.override.preset', { step: { sessionId: 'a', override: { preset: unknown } } }],
    ['step.include.progress', { step: { sessionId: 'a', include: { progress: true } } }],
    ['step.masses', { step: { sessionId: 'a', masses: 'AAA=' } }],
    ['step.target', { step: { sessionId: 'a', target: start, partTargets: [{ part: 'b', target: start }] } }],
    ['step.partTargets[0].target', { step: { sessionId: 'a', partTargets: [{ part: 'b' }] } }],
    ['untangle.positions', { untangle: { mesh } }],
    ['untangle.priority', { untangle: { mesh, positions: start, priority: unknown } }],
    [
      'untangle.options.layers[0].side',
      { untangle: { mesh, positions: start, options: { layers: [{ inner: 'a', outer: 'b', side: unknown }] } } },
    ],
  ];
  // The library itself encodes unknown enum values too.
  const root = await new protobuf.Root().load(join(projectRoot, 'proto', 'interstice', 'v1', 'collision.proto'));
  for (const [path, job] of faults) {
    const named = (text: string) => text.startsWith(path, text.indexOf(': ') + 2);
    const fromJson = refusal(() => toSubmitJobRequest(decodeJson('SubmitJobRequest', job).message));
    t.ok(named(fromJson), `${path} as JSON: ${fromJson}`);
    const type = root.lookupType('interstice.v1.SubmitJobRequest');
    const bytes = type.encode(type.fromObject(withBinaryTimes(job))).finish();
    const fromProtobuf = refusal(() => toSubmitJobRequest(decodeMessage('SubmitJobRequest', bytes)));
    t.ok(named(fromProtobuf), `${path} as protobuf: ${fromProtobuf}`);
  }
});

/** The JSON mapping with durations as protobuf has them. */
function withBinaryTimes(value: unknown): { [name: string]: unknown } {
  return JSON.parse(JSON.stringify(value), (_name, member) => (member === 'far' ? { seconds: 1e12 } : member));
}
