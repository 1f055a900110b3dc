import t from 'tap';
import { groupCoincident } from '../../src/diagnose/coincident.js';
import { distanceOf } from '../../src/mesh/lengths.js';
import { seeded } from '../support/random.js';

const random = seeded();
t.comment(`TEST_SEED=${random.seed}`);

/** The group of each vertex, by comparing it with all lowest ids before it. */
function byAll(x: Float64Array, vertices: Uint32Array, tolerance: number): Uint32Array {
  const lowest = Uint32Array.from({ length: x.length / 3 }, (_, v) => v);
  for (const v of vertices) {
    const first = vertices.find((u) => u < v && lowest[u] === u && distanceOf(x, u, v) <= tolerance);
    if (first !== undefined) lowest[v] = first;
  }
  return lowest;
}

t.test('groups are those of a comparison of all pairs, at any scale and tolerance', async (t) => {
  for (let round = 0; round < 30; round++) {
    const scale = 10 ** random.between(-12, 12);
    const tolerance = round % 3 === 0 ? 0 : scale * 10 ** random.between(-6, 0);
    const x = Float64Array.from({ length: 180 }, () => Math.fround(scale * Math.round(random.between(-4, 4))));
    for (let k = 90; k < 180; k++) x[k]! += tolerance * random.between(-1, 1);
    // One vertex may be far away.
    if (round % 2 === 0) x[0] = scale * 10 ** random.between(0, 9);
    const vertices = Uint32Array.from({ length: 60 }, (_, v) => v).filter((v) => v % 7 !== 3);
    t.same(groupCoincident(x, vertices, tolerance), byAll(x, vertices, tolerance), `${scale}, ${tolerance}`);
  }
});

t.test('a vertex far away does not make every vertex meet every other one', async (t) => {
  // With cells as wide as the whole is for its number of vertices, this would be four thousand million comparisons.
  const side = 300;
  const x = new Float64Array(3 * (side * side + 1));
  for (let v = 0; v < side * side; v++) x.set([v % side, Math.floor(v / side), 0], 3 * v);
  x[3 * side * side] = 2 ** 40;
  const vertices = Uint32Array.from({ length: side * side + 1 }, (_, v) => v);
  for (const tolerance of [0, 1e-4]) {
    t.ok(groupCoincident(x, vertices, tolerance).every((lowest, v) => lowest === v));
  }
});
