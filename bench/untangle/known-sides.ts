import { TriangleTree } from '../../src/diagnose/triangle-tree.js';
import type { Surfaces } from './surfaces.js';

export type Built = ReturnType<Surfaces['build']>;

/** A vertex lies over a sheet if the direction to its nearest point is this nearly along the normal. */
const OVER = 0.8;

/** Consecutive vertices. */
export interface Range {
  readonly firstVertex: number;
  readonly vertexCount: number;
}

/**
 * For the own vertices: the side of the nearest triangle of the other ones on which they are; 0 = they do not lie over
 * it.
 */
function sidesOver({ mesh }: Built, x: Float64Array, other: Range, own: Range): Int8Array {
  const triangles = mesh.triangles!;
  const isOfOther = (t: number): boolean =>
    triangles
      .subarray(3 * t, 3 * t + 3)
      .every((v) => v >= other.firstVertex && v < other.firstVertex + other.vertexCount);
  const chosen = Uint32Array.from({ length: triangles.length / 3 }, (_, t) => t).filter(isOfOther);
  const tree = new TriangleTree(x, triangles, chosen);
  return Int8Array.from({ length: own.vertexCount }, (_, n) => {
    const [px, py, pz] = x.subarray(3 * (own.firstVertex + n), 3 * (own.firstVertex + n) + 3);
    const near = tree.nearest(px!, py!, pz!);
    const [a, b, c] = Array.from(triangles.subarray(3 * near.triangle, 3 * near.triangle + 3), (v) => 3 * v);
    const [u, w] = [b!, c!].map((k) => [0, 1, 2].map((axis) => x[k + axis]! - x[a! + axis]!));
    const n3 = [
      u![1]! * w![2]! - u![2]! * w![1]!,
      u![2]! * w![0]! - u![0]! * w![2]!,
      u![0]! * w![1]! - u![1]! * w![0]!,
    ];
    const height = (n3[0]! * (px! - near.x) + n3[1]! * (py! - near.y) + n3[2]! * (pz! - near.z)) / Math.hypot(...n3);
    return Math.abs(height) >= OVER * near.distance ? Math.sign(height) : 0;
  });
}

/** Counts vertices that are not on their side of the layer below. @param layers below and above: parts or ranges */
export const wrongOf =
  (built: Built, layers: readonly (readonly [number | Range, number | Range])[]) =>
  (answer: ArrayLike<number>): number => {
    let wrong = 0;
    for (const layer of layers) {
      const [below, upon] = layer.map((of) => (typeof of === 'number' ? built.mesh.parts![of]! : of)) as [Range, Range];
      const truth = sidesOver(built, built.truth, below, upon);
      const sides = sidesOver(built, Float64Array.from(answer), below, upon);
      sides.forEach((side, n) => {
        if (side * truth[n]! < 0) wrong++;
      });
    }
    return wrong;
  };

/** Counts vertices of the first part that are inside a round body, by more than the flatness of its facets. */
export const insideOf =
  (count: number, depth: (x: number, y: number, z: number) => number) =>
  (answer: ArrayLike<number>): number => {
    let wrong = 0;
    for (let v = 0; v < count; v++) if (depth(answer[3 * v]!, answer[3 * v + 1]!, answer[3 * v + 2]!) > 0.1) wrong++;
    return wrong;
  };
