import t from 'tap';
import { KeptBounds } from '../../../src/solver/cpu/kept-bounds.js';

t.test('a pair holds a vertex only if it determined its α', async (t) => {
  const forward = { alpha: new Float32Array(5), limiter: Int32Array.of(3, 4, 5, 6, -1) };
  const kept = new KeptBounds(forward);
  kept.begin(Float32Array.of(0.5, 0.5, 0.5, 0.5, 1));
  // An edge holds the second back, the third altogether, and the fourth, which the check then sends back.
  const written = Float32Array.of(0.5, 0.25, 0, 0.25, 0.25);
  kept.end(written);
  forward.alpha.set(written);
  forward.alpha[3] = 0;
  t.strictSame([...kept.limiter], [3, -1, -1, 6, -1]);
  t.strictSame([...forward.limiter], [3, 4, 5, 6, -1], 'what searches go by stays');
});
