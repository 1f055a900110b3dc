import { join } from 'node:path';
import protobuf from 'protobufjs';
import t from 'tap';
import { IntersticeError } from '../../../src/contract/errors.js';
import { projectRoot } from '../../../src/paths.js';
import { fromSession } from '../../../src/transport/messages/answers.js';
import { toResolveRequest } from '../../../src/transport/messages/requests.js';
import { MESSAGES } from '../../../src/transport/messages/schema.js';
import { MAX_FIELDS } from '../../../src/transport/messages/wire-message.js';
import { decodeMessage } from '../../../src/transport/protobuf/decode.js';
import { encodeMessage } from '../../../src/transport/protobuf/encode.js';
import { fakeReport, fakeSession } from '../fake-answers.js';

const bytes = (...values: number[]) => Uint8Array.from(values);
const refusal = (type: string, body: Uint8Array): string => {
  try {
    decodeMessage(type, body);
  } catch (error) {
    if (error instanceof IntersticeError) return `${error.code}: ${error.message}`;
    throw error;
  }
  return 'accepted';
};

t.test('what is encoded decodes to the same message', async (t) => {
  const message = {
    sessionId: 'café',
    frame: 2n ** 64n - 1n,
    target: { data: Float64Array.of(0.1, -0), scalar: 'FLOAT64' },
    partTargets: [{ part: 'sleeve', target: { data: Float32Array.of(1), scalar: 1 } }, { part: '' }],
    kinematic: bytes(1, 0),
    override: { leap: 0, stepLimit: 4294967295, damping: undefined, preset: 'PAPER' },
    include: { contacts: true, vertices: false },
    timeBudget: { seconds: -1, nanos: -5 },
    priority: 'BATCH',
  };
  const again = decodeMessage('StepRequest', encodeMessage('StepRequest', message));
  t.same(again, {
    ...message,
    target: { data: Buffer.from(Float64Array.of(0.1, -0).buffer), scalar: 2 },
    partTargets: [{ part: 'sleeve', target: { data: Buffer.from(Float32Array.of(1).buffer), scalar: 1 } }, {}],
    kinematic: Buffer.from([1, 0]),
    override: { leap: 0, stepLimit: 4294967295, preset: 2 },
    include: { contacts: true },
    priority: 1,
  });
  t.type(again.frame, 'bigint');
});

t.test('64-bit integers are exact, whatever holds them', async (t) => {
  for (const frame of [0n, 1n, 2n ** 32n, 2n ** 53n + 1n, 2n ** 63n, 2n ** 64n - 1n]) {
    t.equal(decodeMessage('StepRequest', encodeMessage('StepRequest', { frame })).frame, frame);
    t.equal(decodeMessage('StepRequest', encodeMessage('StepRequest', { frame: String(frame) })).frame, frame);
  }
  t.equal(decodeMessage('Warning', encodeMessage('Warning', { count: 2 ** 40 })).count, 2n ** 40n);
  t.equal('count' in decodeMessage('Warning', encodeMessage('Warning', { count: 0 })), false, 'a default is not sent');
});

t.test('the library itself, by reflection, reads and writes the same bytes', async (t) => {
  const root = new protobuf.Root();
  await root.load(join(projectRoot, 'proto', 'interstice', 'v1', 'collision.proto'));
  const report = encodeMessage('Report', fakeReport());
  const Report = root.lookupType('interstice.v1.Report');
  t.same(Buffer.from(Report.encode(Report.decode(report)).finish()), Buffer.from(report));
  const session = encodeMessage('Session', fromSession(fakeSession()));
  const Session = root.lookupType('interstice.v1.Session');
  t.match(Session.toObject(Session.decode(session), { longs: String, enums: String }), {
    id: fakeSession().id,
    residency: 'RESIDENT',
    deviceBytes: '4096',
    created: { nanos: 250_000_000 },
  });
});

t.test('bulk fields are views of the body', async (t) => {
  const body = encodeMessage('Positions', { data: Float32Array.of(1, 2, 3) });
  const { data } = decodeMessage('Positions', body);
  t.ok(ArrayBuffer.isView(data) && data.buffer === body.buffer);
  const inner = new Uint8Array(body.byteLength + 7).fill(0xff);
  inner.set(body, 3);
  t.same(decodeMessage('Positions', inner.subarray(3, 3 + body.byteLength)).data, data, 'a view is read as a view');
});

t.test('bodies that are no message are refused, with what is wrong', async (t) => {
  const cases: [string, Uint8Array, RegExp][] = [
    ['StepRequest', bytes(0xff), /^MALFORMED_BODY: .*cut off/],
    ['StepRequest', bytes(0x0a, 5, 0x61), /^MALFORMED_BODY: .*cut off/],
    ['StepRequest', bytes(0x0a, 0xff, 0xff, 0xff, 0xff, 0x0f), /^MALFORMED_BODY: .*length/],
    ['StepRequest', bytes(0x0a, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01), /^MALFORMED_BODY: /],
    ['StepRequest', bytes(0x0a, 2, 0xc3, 0x28), /^MALFORMED_BODY: .*UTF-8/],
    ['StepRequest', bytes(0x10, ...Array(11).fill(0xff)), /^MALFORMED_BODY: /],
    ['StepRequest', bytes(0x00, 0), /^MALFORMED_BODY: /],
    ['StepRequest', bytes(0x0c), /^MALFORMED_BODY: /],
    ['StepRequest', bytes(0x0e), /^MALFORMED_BODY: /],
    ['StepRequest', bytes(0x08, 1), /^MALFORMED_BODY: StepRequest\.sessionId has the wrong wire type varint/],
    ['StepRequest', bytes(0x1a, 2, 0x08, 1), /^MALFORMED_BODY: Positions\.data has the wrong wire type varint/],
    ['StepRequest', bytes(0x78, 1), /^UNKNOWN_FIELD: StepRequest has no field with the number 15/],
    ['StepRequest', bytes(0x1a, 2, 0x18, 1), /^UNKNOWN_FIELD: Positions has no field with the number 3/],
    ['StepRequest', bytes(...Array(1000).fill(0x7b)), /^UNKNOWN_FIELD: /],
    ['StepRequest', bytes(0x1a, 4, 0x0a, 1, 7), /^MALFORMED_BODY: /],
    [
      'StepRequest',
      bytes(0x52, 6, 0x10, 0x80, 0x94, 0xeb, 0xdc, 0x03),
      /^MALFORMED_BODY: timeBudget is 0 s and 1000000000 ns/,
    ],
  ];
  for (const [type, body, expected] of cases) t.match(refusal(type, body), expected, Buffer.from(body).toString('hex'));
  t.equal(refusal('StepRequest', bytes()), 'accepted', 'an empty message');
});

t.test('a small body cannot become a large heap of objects', async (t) => {
  const body = new Uint8Array(2 * (MAX_FIELDS + 1));
  for (let i = 0; i < body.length; i += 2) body[i] = 0x42; // an empty part
  t.match(refusal('Mesh', body), /^TOO_LARGE: The body has more than/);
  t.equal(refusal('Mesh', body.subarray(0, 200_000)), 'accepted');
  // A list of numbers is one field: its tag, its length MAX_FIELDS + 1, and a byte an item.
  const list = new Uint8Array(4 + MAX_FIELDS + 1);
  list.set([0x12, 0x81, 0x80, 0x40]);
  t.match(refusal('UntangleOptions', list), /^TOO_LARGE: The body has more than/);
  t.same(decodeMessage('UntangleOptions', Uint8Array.of(0x12, 4, 7, 0x88, 1, 9)), { turned: [7, 136, 9] });
});

t.test('an unknown enum number keeps its value until its reader refuses it by its path', async (t) => {
  for (const preset of [9, -1, -2147483648]) {
    const varint: number[] = [];
    for (let rest = BigInt.asUintN(64, BigInt(preset)); ; rest >>= 7n) {
      varint.push(Number(rest & 127n) | (rest > 127n ? 128 : 0));
      if (rest <= 127n) break;
    }
    const message = decodeMessage('ResolveRequest', bytes(0x22, varint.length + 1, 0x08, ...varint));
    t.same(message, { parameters: { preset } });
    t.throws(() => toResolveRequest(message), { code: 'INVALID_PARAMETER', message: /parameters\.preset is -?\d+/ });
  }
});

t.test('what is not of the contract is a mistake of the program', async (t) => {
  t.throws(() => encodeMessage('Pair', { kin: 1 }), /Pair has no field kin/);
  t.throws(() => encodeMessage('Pair', { kind: 'FACE_FACE' }), /Kind has no value FACE_FACE/);
  t.throws(() => encodeMessage('Pair', { kind: -1 }), /Kind has no value -1/);
  t.throws(() => decodeMessage('Nothing', bytes()), /no message Nothing/);
});

t.test('every message of the contract has its code', async (t) => {
  for (const name of MESSAGES.keys()) {
    if (name !== 'Options') t.equal(encodeMessage(name, {}).byteLength, 0, name);
  }
});
