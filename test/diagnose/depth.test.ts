import t from 'tap';
import { patchDepth } from '../../src/diagnose/depth.js';
import type { Subject } from '../../src/diagnose/subject.js';
import type { CollisionMesh } from '../../src/mesh/types.js';

/** Vertices of a walk after which it is ended (depth.ts). */
const LONGEST_WALK = 20_000;
/** Distances to the triangle of the ends of edges that pass it, and of all other vertices. */
const [NEAR, FAR] = [0.1, 10];

/**
 * How deep a surface of these edges is through a triangle that is another component, where some of the edges pass the triangle.
 *
 * @param edges pairs of vertices
 */
function depthOf(count: number, edges: readonly (readonly number[])[], cuts: readonly (readonly number[])[]): number {
  const x = new Float64Array(3 * (count + 3));
  for (let v = 0; v < count; v++) x[3 * v + 2] = FAR;
  for (const [from, to] of cuts) {
    x[3 * from! + 2] = NEAR;
    x[3 * to! + 2] = -NEAR;
  }
  const triangle = [count, count + 1, count + 2];
  x.set([-20, -20, 0, 20, -20, 0, 0, 40, 0], 3 * count);
  const subject = {
    mesh: { vertexCount: count + 3, triangles: Uint32Array.from(triangle) } as unknown as CollisionMesh,
    x,
    surface: { edges: Uint32Array.from(edges.flat()) },
    componentOf: Int32Array.from(x, (_, v) => (v < count ? 0 : 1)),
  } as unknown as Subject;
  return patchDepth(
    subject,
    cuts.map((a) => ({ a, b: triangle }) as unknown as Parameters<typeof patchDepth>[1][number]),
  );
}

const path = (first: number, count: number): number[][] =>
  Array.from({ length: count - 1 }, (_, n) => [first + n, first + n + 1]);

t.test('the smaller of two pieces that a cut separates counts as the part that came through', async (t) => {
  t.equal(depthOf(20, path(0, 20), [[4, 5]]), FAR);
});

t.test('a cut that separates nothing leaves no piece', async (t) => {
  // Two rings: each is still in one piece, and no piece of the other.
  const rings = [...path(0, 8), [7, 0], ...path(8, 8), [15, 8]];
  t.equal(
    depthOf(16, rings, [
      [7, 0],
      [15, 8],
    ]),
    NEAR,
  );
});

t.test('an interrupted walk gives no piece', async (t) => {
  const count = LONGEST_WALK + 100;
  t.equal(depthOf(count, [...path(0, count), [count - 1, 0]], [[0, count - 1]]), NEAR);
});
