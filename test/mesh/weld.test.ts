import t from 'tap';
import { assertStaysWelded, countCoincident, findCoincident, followWelded, weldElements } from '../../src/mesh/weld.js';

/** Two triangles with a common side, stored apart; the last vertex lies on the first and is in no element. */
const seam = {
  vertexCount: 7,
  positions: Float32Array.from([0, 0, 0, 1, 0, 0, 0, 1, 0, 1, 0, 0, 1, 1, 0, -0, 1, 0, 0, 0, 0]),
  triangles: Uint32Array.from([0, 1, 2, 3, 4, 5]),
  segments: new Uint32Array(0),
  particles: new Uint32Array(0),
};

t.test('elements use the first vertex of a place, and ids stay', async (t) => {
  const firstOf = findCoincident(seam);
  t.strictSame([...firstOf], [0, 1, 2, 1, 4, 2, 0], '-0 is 0');
  t.equal(countCoincident(seam, firstOf), 2, 'a vertex of no element does not count');
  const welded = weldElements(seam, firstOf);
  t.strictSame([...welded.triangles], [0, 1, 2, 1, 4, 2]);
  t.equal(welded.vertexCount, 7);
});

t.test('a target keeps copies together, and the answer does', async (t) => {
  const firstOf = findCoincident(seam);
  const target = seam.positions.map((value, i) => value + (i % 3));
  t.doesNotThrow(() => assertStaysWelded(target, firstOf));
  target[3 * 5] = 0.25;
  t.throws(() => assertStaysWelded(target, firstOf), { code: 'INVALID_MESH', message: /2 and 5/ });
  const answer = followWelded(target, firstOf);
  t.doesNotThrow(() => assertStaysWelded(answer, firstOf));
  t.equal(target[15], 0.25, 'the argument is unchanged');
});
