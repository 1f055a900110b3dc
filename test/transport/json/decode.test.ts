import t from 'tap';
import { IntersticeError } from '../../../src/contract/errors.js';
import { decodeJson } from '../../../src/transport/json/decode.js';
import { MAX_FIELDS } from '../../../src/transport/messages/wire-message.js';

/** What a refusal says, as `CODE: message`. */
function refusal(type: string, value: unknown): string {
  try {
    decodeJson(type, value);
  } catch (error) {
    if (error instanceof IntersticeError) return `${error.code}: ${error.message}`;
    throw error;
  }
  return 'accepted';
}
const bytes = (value: unknown): number[] => [...(value as Uint8Array)];

t.test('both spellings of a name are taken, but not at once', async (t) => {
  t.same(decodeJson('Mesh', { vertexCount: 3 }).message, { vertexCount: 3 });
  t.same(decodeJson('Mesh', { vertex_count: 3 }).message, { vertexCount: 3 });
  t.match(refusal('Mesh', { vertex_count: 3, vertexCount: 3 }), /MALFORMED_BODY: .*same field/);
});

t.test('unknown keys are refused with their place and a guess', async (t) => {
  t.match(refusal('ResolveRequest', { mesh: { vertexcount: 3 } }), /UNKNOWN_FIELD: mesh\.vertexcount is not a field/);
  t.match(refusal('ResolveRequest', { mesh: { parts: [{}, { nam: '' }] } }), /mesh\.parts\[1\]\.nam /);
  t.match(refusal('Mesh', JSON.parse('{"__proto__": 1}')), /UNKNOWN_FIELD: __proto__/);
  t.match(refusal('Mesh', { constructor: 1 }), /UNKNOWN_FIELD: constructor/);
  t.match(refusal('Mesh', { 'a b': null }), /UNKNOWN_FIELD: \["a b"\]/);
  try {
    decodeJson('Mesh', { vertexcount: 3 });
  } catch (error) {
    t.match((error as IntersticeError).hint, /vertexCount/);
  }
});

t.test('a list of strings has a limit, which one of numbers does not have', async (t) => {
  const many = (item: unknown) => Array(MAX_FIELDS + 1).fill(item);
  t.match(refusal('Options', { kinematicParts: many('') }), /TOO_LARGE: kinematicParts has 1048577 entries/);
  t.equal(refusal('Options', { kinematicVertices: many(0) }), 'accepted');
});

t.test('null counts as unset', async (t) => {
  const { message } = decodeJson('ResolveRequest', {
    mesh: null,
    timeBudget: null,
    onBudget: null,
    target: { data: null },
  });
  t.same(message, { target: {} });
});

t.test('bulk fields: base64 in both alphabets, or numbers of the right kind', async (t) => {
  t.same(bytes(decodeJson('Mesh', { masses: '+/8=' }).message.masses), [0xfb, 0xff]);
  t.same(bytes(decodeJson('Mesh', { masses: '-_8' }).message.masses), [0xfb, 0xff]);
  t.equal(decodeJson('Mesh', { masses: '' }).usedArrays, false);
  const arrays = decodeJson('Mesh', { triangles: [1, 4294967295], kinematic: [0, 255], masses: [0.1] });
  t.equal(arrays.usedArrays, true);
  t.same(bytes(arrays.message.triangles), [1, 0, 0, 0, 255, 255, 255, 255]);
  t.same(bytes(arrays.message.kinematic), [0, 255]);
  t.same(bytes(arrays.message.masses), [0xcd, 0xcc, 0xcc, 0x3d], 'rounded to float32');
  for (const bad of ['a', '=', 'ab=', 'abc*', 'ab c', 'abcd=', 'ab==c', 'ab===']) {
    t.match(refusal('Mesh', { masses: bad }), /MALFORMED_BODY: masses is not valid base64/, bad);
  }
  t.match(refusal('Mesh', { masses: 5 }), /MALFORMED_BODY: masses is 5/);
  t.match(refusal('Mesh', { masses: { 0: 1 } }), /MALFORMED_BODY: masses is an object/);
});

t.test('elements of bulk arrays are in range, finite and named', async (t) => {
  t.match(refusal('Mesh', { triangles: [0, 1.5] }), /MALFORMED_BODY: triangles\[1\] is 1\.5/);
  t.match(refusal('Mesh', { triangles: [-1] }), /MALFORMED_BODY: triangles\[0\] is -1/);
  t.match(refusal('Mesh', { triangles: [4294967296] }), /MALFORMED_BODY: triangles\[0\]/);
  t.match(refusal('Mesh', { kinematic: [256] }), /0 to 255/);
  t.match(refusal('Mesh', { triangles: [0, '1'] }), /MALFORMED_BODY: triangles\[1\] is a string/);
  t.match(refusal('Mesh', { triangles: [[0, 1, 2]] }), /MALFORMED_BODY: triangles\[0\] is an array/);
  t.match(refusal('Mesh', { masses: [1, null] }), /MALFORMED_BODY: masses\[1\] is null/);
  t.match(refusal('Mesh', { masses: [1, 'NaN'] }), /NOT_FINITE: masses\[1\]/);
  t.match(refusal('Mesh', JSON.parse('{"masses": [1e999]}')), /NOT_FINITE: masses\[0\]/);
  t.match(refusal('Mesh', { masses: [1e39] }), /NOT_FINITE: masses\[0\] is 1e\+39/, 'beyond float32');
});

t.test('positions follow their scalar, wherever it stands', async (t) => {
  const values = [0.1];
  const single = [...new Uint8Array(Float32Array.from(values).buffer)];
  const double = [...new Uint8Array(Float64Array.from(values).buffer)];
  t.same(bytes(decodeJson('Positions', { data: values }).message.data), single);
  t.same(bytes(decodeJson('Positions', { data: values, scalar: 'SCALAR_UNSPECIFIED' }).message.data), single);
  t.same(bytes(decodeJson('Positions', { data: values, scalar: 'FLOAT64' }).message.data), double);
  t.same(bytes(decodeJson('Positions', { scalar: 2, data: values }).message.data), double);
  t.equal(refusal('Positions', { data: [1e39], scalar: 'FLOAT64' }), 'accepted');
});

t.test('enums: known names and numbers only', async (t) => {
  t.same(decodeJson('Parameters', { preset: 'PAPER', verify: 3 }).message, { preset: 2, verify: 3 });
  t.match(
    refusal('Parameters', { preset: 'paper' }),
    /INVALID_PARAMETER: preset is "paper", expected one of TUNED, PAPER/,
  );
  t.match(refusal('Parameters', { preset: 3 }), /INVALID_PARAMETER/);
  t.match(refusal('Parameters', { preset: 0.5 }), /INVALID_PARAMETER/);
  t.match(refusal('Parameters', { preset: true }), /MALFORMED_BODY/);
  t.match(refusal('Parameters', { preset: 'toString' }), /INVALID_PARAMETER/);
});

t.test('integers are read from numbers and strings, and must be in range', async (t) => {
  t.same(decodeJson('Mesh', { vertexCount: '7' }).message, { vertexCount: 7 });
  t.same(decodeJson('Mesh', { vertexCount: 1e3 }).message, { vertexCount: 1000 });
  for (const bad of [-1, 1.5, 4294967296, '4294967296', '0x1', '', ' 1', true, [], {}, Number.POSITIVE_INFINITY]) {
    t.match(refusal('Mesh', { vertexCount: bad }), /MALFORMED_BODY: vertexCount/, String(bad));
  }
  t.same(decodeJson('StepRequest', { frame: '18446744073709551615' }).message, { frame: 18446744073709551615n });
  t.same(decodeJson('StepRequest', { frame: 12 }).message, { frame: 12n });
  t.match(refusal('StepRequest', { frame: 2 ** 53 }), /MALFORMED_BODY: frame is too large for a JSON number/);
  t.match(refusal('StepRequest', { frame: '18446744073709551616' }), /MALFORMED_BODY/);
});

t.test('numbers, booleans and strings are checked', async (t) => {
  t.same(decodeJson('Parameters', { reach: '1.5e-3' }).message, { reach: 0.0015 });
  t.match(refusal('Parameters', { reach: 'NaN' }), /NOT_FINITE: reach/);
  t.match(refusal('Parameters', { reach: '-Infinity' }), /NOT_FINITE: reach/);
  t.match(refusal('Parameters', { reach: '1e999' }), /NOT_FINITE: reach/);
  t.match(refusal('Parameters', { reach: ' 1' }), /MALFORMED_BODY: reach/);
  t.match(refusal('Include', { contacts: 'true' }), /MALFORMED_BODY: contacts/);
  t.match(refusal('Include', { contacts: 1 }), /MALFORMED_BODY: contacts/);
  t.match(refusal('Part', { name: 7 }), /MALFORMED_BODY: name/);
  t.match(refusal('Part', { name: '\ud800' }), /MALFORMED_BODY: name is not valid Unicode/);
  t.equal(refusal('Part', { name: '🧥' }), 'accepted');
});

t.test('durations and timestamps are read and checked', async (t) => {
  const budget = (text: unknown) => decodeJson('ResolveRequest', { timeBudget: text }).message.timeBudget;
  t.same(budget('1.5s'), { seconds: 1, nanos: 500_000_000 });
  t.same(budget('-0.000000001s'), { seconds: 0, nanos: -1 });
  t.same(budget('3s'), { seconds: 3, nanos: 0 });
  for (const bad of ['1.5', '1.5 s', 's', '.5s', '1.s', '1.0000000001s', '1e3s', '999999999999s', 1.5, {}]) {
    t.match(refusal('ResolveRequest', { timeBudget: bad }), /MALFORMED_BODY: timeBudget/, String(bad));
  }
  t.same(decodeJson('Session', { created: '1970-01-01T00:00:01.25Z' }).message.created, {
    seconds: 1,
    nanos: 250_000_000,
  });
  t.match(refusal('Session', { created: '1970-13-01T00:00:01Z' }), /MALFORMED_BODY: created/);
});

t.test('members of a oneof exclude each other', async (t) => {
  t.match(
    refusal('CheckRequest', { mesh: {}, sessionId: 'a' }),
    /MALFORMED_BODY: mesh and sessionId are mutually exclusive/,
  );
  t.equal(refusal('CheckRequest', { mesh: {}, sessionId: null }), 'accepted');
});

t.test('a body or a field of the wrong shape is refused', async (t) => {
  for (const bad of [null, [], 'x', 1, true]) t.match(refusal('ResolveRequest', bad), /MALFORMED_BODY: The body is/);
  t.match(refusal('ResolveRequest', { mesh: [] }), /MALFORMED_BODY: mesh is an array, expected an object/);
  t.match(refusal('Mesh', { parts: {} }), /MALFORMED_BODY: parts is an object, expected an array/);
  t.match(refusal('Mesh', { parts: [null] }), /MALFORMED_BODY: parts\[0\] is null/);
});
