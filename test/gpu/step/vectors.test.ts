import t from 'tap';
import { toFours, toThrees } from '../../../gpu/device/vectors.js';

const SUBNORMAL = 3 * 2 ** -149;

t.test('Vectors of four words have those of three, and 0.', async (t) => {
  const vectors = Float32Array.of(1, -0, 3, 4, SUBNORMAL, Number.NaN);
  const fours = toFours(vectors);
  t.same([...fours], [1, -0, 3, 0, 4, SUBNORMAL, Number.NaN, 0]);
  t.ok(Buffer.from(toThrees(fours).buffer).equals(Buffer.from(vectors.buffer)), 'bit for bit');
  t.same([toFours(new Float32Array(0)).length, toThrees(new Float32Array(0)).length], [0, 0]);
});
