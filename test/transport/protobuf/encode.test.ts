import { join } from 'node:path';
import protobuf from 'protobufjs';
import t from 'tap';
import { projectRoot } from '../../../src/paths.js';
import { decodeMessage } from '../../../src/transport/protobuf/decode.js';
import { encodeMessage, encodeReported } from '../../../src/transport/protobuf/encode.js';
import { fakeReport } from '../fake-answers.js';

/** Enough for a piece of its own. */
const LARGE = 5000;
const floats = (length: number, first = 0.5) => Float32Array.from({ length }, (_, i) => first + i);
const bytesOf = (view: ArrayBufferView) => Buffer.from(view.buffer, view.byteOffset, view.byteLength);

const root = new protobuf.Root();
await root.load(join(projectRoot, 'proto', 'interstice', 'v1', 'collision.proto'));
/** What the library makes of it when it reads the message and writes it again, fields by their numbers. */
function rewritten(type: string, bytes: Uint8Array): Buffer {
  const Type = root.lookupType(`interstice.v1.${type}`);
  return Buffer.from(Type.encode(Type.decode(bytes)).finish());
}

t.test('messages with large fields are the very bytes that the library writes', async (t) => {
  const large = { data: floats(LARGE), scalar: 'FLOAT32' };
  const cases: [string, object][] = [
    ['Positions', large],
    ['Positions', { scalar: 'FLOAT32', data: floats(LARGE) }],
    ['Positions', { data: new Float32Array(0), scalar: 'FLOAT32' }],
    ['StepRequest', { priority: 'BATCH', target: large, sessionId: 'one', masses: floats(LARGE, 9), frame: 3n }],
    [
      'StepRequest',
      { sessionId: 'one', partTargets: [{ part: 'a', target: large }, { part: 'b' }], include: { contacts: true } },
    ],
    [
      'ResolveRequest',
      {
        mesh: {
          vertexCount: LARGE,
          triangles: new Uint32Array(LARGE).fill(7),
          masses: floats(3),
          parts: [{ name: 'sleeve', vertexCount: 3 }],
        },
        start: { data: Float64Array.from(floats(LARGE)), scalar: 'FLOAT64' },
        target: large,
        parameters: { leap: 0.5 },
      },
    ],
    ['Error', { code: 'INVALID_MESH', message: 'no' }],
    ['StepRequest', {}],
  ];
  for (const [type, message] of cases) {
    const encoded = encodeMessage(type, message);
    t.ok(bytesOf(encoded).equals(rewritten(type, encoded)), `${type} ${Object.keys(message)}`);
  }
});

t.test('a large field arrives as it was, from wherever in memory it came, in bytes of the message’s own', async (t) => {
  const around = floats(LARGE + 2);
  const view = around.subarray(1, LARGE + 1);
  const encoded = encodeMessage('Positions', { data: view });
  const expected = bytesOf(view.slice());
  view.fill(-1);
  t.ok(bytesOf(decodeMessage('Positions', encoded).data as Uint8Array).equals(expected));
});

t.test('a key that is no field is a mistake, beside a large field and inside one', async (t) => {
  const data = floats(LARGE);
  t.throws(() => encodeMessage('Positions', { data, scale: 1 }), /Positions has no field scale/);
  t.throws(() => encodeMessage('StepRequest', { target: { data, scale: 1 } }), /Positions has no field scale/);
});

t.test(
  'an answer with its report: stamped when the rest is written, whole in one buffer, nothing beside it',
  async (t) => {
    for (const length of [3, LARGE]) {
      const report = fakeReport();
      let stamps = 0;
      const message = { frame: 4n, positions: { data: floats(length), scalar: 'FLOAT32' }, report };
      const stamp = () => {
        stamps++;
        report.timings.encode = 12345;
      };
      const encoded = encodeReported('StepResponse', message, stamp);
      t.equal(stamps, 1);
      t.same(
        decodeMessage('StepResponse', encoded),
        decodeMessage('StepResponse', encodeMessage('StepResponse', message)),
      );
      const memory = Buffer.from(encoded.buffer);
      memory.fill(0, encoded.byteOffset, encoded.byteOffset + encoded.byteLength);
      t.ok(memory.equals(Buffer.alloc(memory.byteLength)), 'what lies beside it is empty');
    }
  },
);

t.test('an answer inside another message, and a report longer than any room kept for it', async (t) => {
  const enclosure = { before: encodeMessage('StepStreamResponse', { sequence: 300 }), fieldNumber: 2 };
  for (const hint of ['', 'x'.repeat(100_000)]) {
    const report = { ...fakeReport(), engine: `cpu${hint}` };
    const response = { frame: 4n, positions: { data: floats(LARGE), scalar: 'FLOAT32' }, report };
    const encoded = encodeReported('StepResponse', response, () => {}, enclosure);
    t.same(
      decodeMessage('StepStreamResponse', encoded),
      decodeMessage('StepStreamResponse', encodeMessage('StepStreamResponse', { sequence: 300, response })),
    );
  }
});
