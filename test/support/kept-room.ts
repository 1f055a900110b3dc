import { buildMesh } from '../../src/mesh/build.js';
import type { CollisionMesh } from '../../src/mesh/types.js';
import { SceneBuilder } from './scene-builder.js';

/**
 * A kinematic triangle, a kinematic point above it, and points far away, so that the triangle is a small part of the
 * mesh. Once P has been searched from x to y, with δ = 0.05 and a reach of 0.09, triangle and point have boxes that are
 * more than points. In the state `moved` the triangle is outside its boxes and in that of the point.
 */
export function keptRoom(): {
  readonly mesh: CollisionMesh;
  readonly x: Float32Array;
  readonly y: Float32Array;
  readonly moved: Float32Array;
  /** uint8[V] 1 = a corner of the triangle */
  readonly wanted: Uint8Array;
  readonly point: number;
} {
  const scene = new SceneBuilder();
  const corners = (
    [
      [0, 0],
      [1, 0],
      [0, 1],
    ] as const
  ).map(([u, v]) => scene.vertex([u, v, 0], [u, v, -0.1], true));
  scene.triangle(corners[0]!, corners[1]!, corners[2]!);
  const point = scene.vertex([0.3, 0.3, 0.06], [0.3, 0.3, 0.07], true);
  scene.particle(point);
  for (let n = 0; n < 10; n++) scene.particle(scene.vertex([10 + n, 0, 0]));
  const mesh = buildMesh(scene.build().mesh);
  const x = Float32Array.from(scene.start);
  const moved = x.slice();
  for (const v of corners) moved[3 * v + 2] = 0.12;
  const wanted = Uint8Array.from({ length: mesh.vertexCount }, (_, v) => (corners.includes(v) ? 1 : 0));
  return { mesh, x, y: Float32Array.from(scene.target), moved, wanted, point };
}
