import t from 'tap';
import { ClosestPoints } from '../../src/verify/closest.js';
import { EDGE_EDGE, type PairCode, VERTEX_EDGE, VERTEX_TRIANGLE, VERTEX_VERTEX } from '../../src/verify/pair-kinds.js';
import { seeded } from '../support/random.js';

const CODES: readonly PairCode[] = [VERTEX_TRIANGLE, EDGE_EDGE, VERTEX_EDGE, VERTEX_VERTEX];

t.test('a limit changes only when the search ends', async (t) => {
  const random = seeded();
  t.comment(`TEST_SEED=${random.seed}`);
  const plain = new ClosestPoints();
  const limited = new ClosestPoints();
  let passed = 0;
  let refused = 0;
  for (let round = 0; round < 4000; round++) {
    // Flat and thin elements, small differences of large numbers, and sizes whose squares leave the range of doubles.
    const squash = [1, 2 ** -20, 2 ** -45, 0][round % 4];
    const offset = [0, 1, 2 ** 30][round % 3];
    const size = [1, 1, 1, 2 ** -300, 2 ** 400][round % 5];
    const points = Float64Array.from(
      { length: 12 },
      (_, k) => size * (offset + (random.int(2 ** 20) / 2 ** 20) * (k % 3 === round % 3 ? squash : 1)),
    );
    for (const code of CODES) {
      plain.find(code, points);
      const { distance } = plain;
      // The very distance, its neighbours, and limits that a plane tells apart.
      for (const limit of [distance, distance * (1 - 2 ** -52), distance * (1 + 2 ** -51), distance / 2, 0, Infinity]) {
        const isWithin = limited.findWithin(code, points, limit);
        if (isWithin !== distance <= limit) {
          t.equal(isWithin, distance <= limit, `kind ${code}, distance ${distance}, limit ${limit}: ${points.join()}`);
        }
        if (!isWithin) {
          refused++;
          continue;
        }
        passed++;
        const isSame =
          limited.distance === distance &&
          limited.weights.every((weight, k) => weight === plain.weights[k]) &&
          limited.difference.every((value, k) => value === plain.difference[k]);
        if (!isSame) t.fail(`kind ${code} differs under the limit ${limit}: ${points.join()}`);
      }
    }
  }
  t.ok(passed > 10_000 && refused > 10_000, `${passed} within their limit, ${refused} beyond`);
});
