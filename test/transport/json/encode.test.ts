import t from 'tap';
import { decodeJson } from '../../../src/transport/json/decode.js';
import { encodeJson } from '../../../src/transport/json/encode.js';

const plain = { arrays: false };

t.test('defaults are written, unset optionals and messages are not', async (t) => {
  t.same(encodeJson('Verification', {}, plain), {
    performed: 'VERIFY_UNSPECIFIED',
    pairsTested: '0',
    doubtfulPairs: '0',
    intersections: '0',
    fellBack: false,
  });
  t.same(encodeJson('Pair', { kind: 'EDGE_EDGE', a: [1, 2], b: [3, 4] }, plain), {
    kind: 'EDGE_EDGE',
    a: [1, 2],
    b: [3, 4],
    normal: [],
  });
  t.same(encodeJson('ResolveResponse', {}, plain), {});
  t.same(encodeJson('Warning', { code: 'X' }, plain), { code: 'X', message: '', count: '0' });
});

t.test('64-bit integers are strings, whatever holds them', async (t) => {
  for (const count of [12, 12n, '12']) t.equal(encodeJson('Warning', { count }, plain).count, '12');
  t.equal(encodeJson('Warning', { count: 2n ** 64n - 1n }, plain).count, '18446744073709551615');
});

t.test('durations are encoded as in proto3 JSON', async (t) => {
  const wait = (seconds: number, nanos: number) =>
    encodeJson('Error', { retryAfter: { seconds, nanos } }, plain).retryAfter;
  t.equal(wait(1, 0), '1s');
  t.equal(wait(1, 500_000_000), '1.500s');
  t.equal(wait(0, 1), '0.000000001s');
  t.equal(wait(0, -250_000), '-0.000250s');
  t.equal(wait(-3, 0), '-3s');
});

t.test('timestamps are encoded as in proto3 JSON', async (t) => {
  t.equal(
    encodeJson('Session', { created: { seconds: 1, nanos: 250_000_000 } }, plain).created,
    '1970-01-01T00:00:01.250Z',
  );
});

t.test('bulk fields as base64 or arrays, from bytes or typed arrays', async (t) => {
  const array = Float32Array.of(0.5, -2);
  const views = [array, new Uint8Array(array.buffer), new Uint8Array([0, ...new Uint8Array(array.buffer)]).subarray(1)];
  for (const distances of views) {
    t.equal(encodeJson('Contacts', { distances }, plain).distances, 'AAAAPwAAAMA=');
    t.same(encodeJson('Contacts', { distances }, { arrays: true }).distances, [0.5, -2]);
  }
  const positions = { data: Float64Array.of(0.1), scalar: 'FLOAT64' };
  t.same(encodeJson('Positions', positions, { arrays: true }), { data: [0.1], scalar: 'FLOAT64' });
  t.same(encodeJson('VertexReport', { unreachedKinematic: Uint32Array.of(4294967295) }, { arrays: true }), {
    residual: [],
    distanceToTarget: [],
    unreachedKinematic: [4294967295],
  });
});

t.test('numbers that JSON cannot represent are encoded as words', async (t) => {
  t.equal(encodeJson('MeshSummary', { minHeight: Number.POSITIVE_INFINITY }, plain).minHeight, 'Infinity');
});

t.test('a key or an enum value outside the contract throws', async (t) => {
  t.throws(() => encodeJson('Pair', { kin: 1 }, plain), /Pair has no field kin/);
  t.throws(() => encodeJson('Pair', { kind: 'FACE_FACE' }, plain), /Kind has no value FACE_FACE/);
});

t.test('what is encoded decodes to the same message', async (t) => {
  const json = {
    mesh: {
      vertexCount: 3,
      triangles: 'AAAAAAEAAAACAAAA',
      parts: [{ name: 'a', vertexCount: 3, activationDistance: 0 }],
    },
    start: { data: [0.25, 1e-40, 3], scalar: 'FLOAT64' },
    parameters: { preset: 'PAPER', stepLimit: 3 },
    timeBudget: '0.000000001s',
  };
  const { message } = decodeJson('ResolveRequest', json);
  for (const arrays of [false, true]) {
    const again = decodeJson(
      'ResolveRequest',
      JSON.parse(JSON.stringify(encodeJson('ResolveRequest', message, { arrays }))),
    );
    t.equal(again.usedArrays, arrays);
    const once = encodeJson('ResolveRequest', again.message, { arrays: true });
    t.same(once, encodeJson('ResolveRequest', message, { arrays: true }));
  }
});
