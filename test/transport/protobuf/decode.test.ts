import t from 'tap';
import { decodeJson } from '../../../src/transport/json/decode.js';
import { toStepRequest } from '../../../src/transport/messages/requests.js';
import { decodeMessage } from '../../../src/transport/protobuf/decode.js';
import { encodeMessage } from '../../../src/transport/protobuf/encode.js';

const floats = (count: number): Float32Array => Float32Array.from({ length: count }, (_, i) => Math.sin(i));

/** A message at so many bytes from the beginning of memory of its own. */
function placed(message: object, offset: number): Uint8Array {
  const bytes = encodeMessage('StepRequest', message);
  const memory = new Uint8Array(offset + bytes.byteLength);
  memory.set(bytes, offset);
  return memory.subarray(offset);
}

t.test('a large field of a message of our own lies where a typed array can, at every offset', async (t) => {
  const target = floats(4200);
  // 4096 numbers are the fewest whose length takes three bytes.
  const start = floats(4096);
  const masses = floats(4097);
  const message = { sessionId: 'abc', target: { data: target, scalar: 'FLOAT32' }, start: { data: start }, masses };
  for (let offset = 0; offset < 8; offset++) {
    const bytes = placed(message, offset);
    const request = toStepRequest(decodeMessage('StepRequest', bytes, true));
    t.same(request.target, target);
    t.same(request.start, start);
    t.same(request.masses, masses);
    for (const array of [request.target, request.start, request.masses]) {
      t.equal(array?.buffer, bytes.buffer, `offset ${offset}: not copied`);
    }
    t.equal(request.sessionId, 'abc');
  }
});

t.test('fields that are small, or of doubles, are read all the same', async (t) => {
  const kinematic = Uint8Array.from({ length: 301 }, (_, i) => i % 2);
  const target = Float64Array.from(floats(4200));
  const part = (count: number) => ({ part: `of ${count}`, target: { data: floats(count), scalar: 'FLOAT32' } });
  const parts = [1, 4095, 4096, 5001].map(part);
  for (let offset = 0; offset < 8; offset++) {
    const whole = { kinematic, target: { data: target, scalar: 'FLOAT64' }, masses: floats(7), sessionId: 'a' };
    const request = toStepRequest(decodeMessage('StepRequest', placed(whole, offset), true));
    t.same([request.kinematic, request.target, request.masses], [kinematic, target, floats(7)]);
    const inParts = { kinematic, partTargets: parts, masses: floats(7), sessionId: 'a' };
    const { partTargets, ...rest } = toStepRequest(decodeMessage('StepRequest', placed(inParts, offset), true));
    t.same(
      partTargets?.map((given) => given.target),
      [1, 4095, 4096, 5001].map(floats),
    );
    t.same([rest.kinematic, rest.masses], [kinematic, floats(7)]);
  }
});

t.test('a message that is not ours stays as it is', async (t) => {
  for (let offset = 0; offset < 4; offset++) {
    const bytes = placed({ sessionId: 'abc', target: { data: floats(4200) } }, offset);
    const before = bytes.slice();
    decodeMessage('StepRequest', bytes);
    t.same(bytes, before);
  }
});

t.test('a number that is not finite is refused with its place, as in JSON', async (t) => {
  for (const value of [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]) {
    const of = (number: number | string) => ({
      mesh: { vertexCount: 1, parts: [{ name: 'a' }, { name: 'b', contactOffset: number }] },
    });
    const expected = { code: 'NOT_FINITE', message: /^mesh\.parts\[1\]\.contactOffset is -?(NaN|Infinity), / };
    t.throws(() => decodeMessage('CheckRequest', encodeMessage('CheckRequest', of(value))), expected);
    t.throws(() => decodeJson('CheckRequest', of(String(value))), {
      ...expected,
      message: /contactOffset is "-?(NaN|Infinity)", which is not a finite double number/,
    });
  }
});
