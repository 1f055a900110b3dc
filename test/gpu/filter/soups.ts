import type { CollisionMesh } from '../../../src/mesh/types.js';
import type { Random } from '../../support/random.js';
import { makeMesh } from '../../verify/make-mesh.js';

export interface Soup {
  readonly mesh: CollisionMesh;
  /** float64[3·V] */
  readonly x: Float64Array;
}

/** Triangles over random vertices, some of them shared, and rods; a third of the vertices kinematic, three parts. */
export function randomTopology(random: Random, triangleCount: number): CollisionMesh {
  const vertexCount = 3 * triangleCount;
  const triangles: number[] = [];
  for (let n = 0; n < triangleCount; n++) {
    const first = random.int(vertexCount);
    const near = (step: number) => (first + 1 + step + random.int(3)) % vertexCount;
    triangles.push(first, near(0), near(3));
  }
  const segments = Array.from({ length: triangleCount }, () => random.int(vertexCount)).flatMap((first) => [
    first,
    (first + 1 + random.int(5)) % vertexCount,
  ]);
  const vertices = Array.from({ length: vertexCount }, (_, v) => v);
  return makeMesh({
    vertexCount,
    triangles,
    segments,
    kinematic: vertices.filter((v) => v % 36 < 12),
    parts: vertices.map((v) => Math.floor(v / 12) % 3),
    ignoredPartPairs: [0, 2],
  });
}

/** Neighbours in the list of vertices are neighbours in space; `place` gives each coordinate its final form. */
export function scatter(mesh: CollisionMesh, random: Random, place: (value: number) => number): Float64Array {
  const x = new Float64Array(3 * mesh.vertexCount);
  const at = [0, 0, 0];
  for (let v = 0; v < mesh.vertexCount; v++) {
    if (v % 12 === 0) for (let c = 0; c < 3; c++) at[c] = random.between(-2, 2);
    for (let c = 0; c < 3; c++) x[3 * v + c] = place(at[c] + random.between(-1, 1));
  }
  return x;
}

/**
 * Pairs on the edge of doubt: a rod that begins away from its triangle and ends on its plane as nearly as float32 can say,
 * inside, on a side or at a corner; half of them in the end pierce. Each rod is thin enough not to meet other triangles
 * often; each triangle may be a sliver.
 *
 * @param size of the elements, which lie about in ±1 around the offset
 */
export function nearTouches(random: Random, count: number, offset = 0, size = 0.05): Soup {
  const x = new Float64Array(15 * count);
  const triangles: number[] = [];
  const segments: number[] = [];
  for (let n = 0; n < count; n++) {
    const first = 5 * n;
    triangles.push(first, first + 1, first + 2);
    segments.push(first + 3, first + 4);
    const centre = [0, 1, 2].map(() => offset + random.between(-1, 1));
    const corners = [0, 1, 2].map(() => centre.map((c) => Math.fround(c + size * random.between(-1, 1))));
    if (random() < 0.3) {
      corners[2] = corners[0].map((c, k) =>
        Math.fround(c + (corners[1][k] - c) * 0.4 + 2e-5 * size * random.between(-1, 1)),
      );
    }
    const place = random();
    const [s, t] = place < 0.6 ? [random.between(0.1, 0.4), random.between(0.1, 0.4)] : [place < 0.9 ? random() : 0, 0];
    const end = corners[0].map((c, k) => Math.fround(c + s * (corners[1][k] - c) + t * (corners[2][k] - c)));
    const start = end.map((c) => Math.fround(c + size * random.between(-1, 1)));
    [...corners, start, end].forEach((point, k) => {
      x.set(point, 3 * (first + k));
    });
  }
  return { mesh: makeMesh({ vertexCount: 5 * count, triangles, segments }), x };
}

/** A grid of n × n squares in a plane that no axis is normal to, folded back on itself in the middle if asked to. */
export function flatGrid(n: number, turn: (u: number, v: number) => readonly [number, number, number]): Soup {
  const triangles: number[] = [];
  const x: number[] = [];
  for (let i = 0; i <= n; i++) for (let j = 0; j <= n; j++) x.push(...turn(i / n, j / n));
  for (let i = 0; i < n; i++) {
    for (let j = 0; j < n; j++) {
      const a = i * (n + 1) + j;
      const b = a + n + 1;
      triangles.push(a, b, a + 1, b, b + 1, a + 1);
    }
  }
  return { mesh: makeMesh({ vertexCount: (n + 1) ** 2, triangles }), x: Float64Array.from(x) };
}
