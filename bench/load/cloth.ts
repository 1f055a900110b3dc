import { SCENES } from '../../examples/scenes/index.js';
import type { Subject } from '../../src/load/messages.js';

export type Cloth = Subject;

/**
 * How far each layer moves towards the other one's place: far enough for them to meet, but not so far that they
 * exchange places.
 */
const MEET = 0.5;

/**
 * Two layers of cloth of about this many vertices together.
 *
 * @param share share of the way to the other layer's place by which each layer moves forth and back
 */
export function makeCloth(vertices: number, share = MEET): Cloth {
  const scene = SCENES.layers!(vertices);
  const start = Float32Array.from(scene.start);
  const meeting = start.map((from, i) => from + share * (scene.target[i]! - from));
  return {
    vertices: scene.vertexCount,
    triangles: scene.triangles.length / 3,
    mesh: { vertexCount: scene.vertexCount, triangles: scene.triangles },
    start,
    targets: [meeting, start],
  };
}

/** Returns the whole motion for a single resolve: each layer's target is the place of the other one. */
export function makeSwap(vertices: number): { readonly cloth: Cloth; readonly target: Float32Array } {
  const cloth = makeCloth(vertices);
  const target = cloth.start.map((from, i) => from + (cloth.targets[0][i]! - from) / MEET);
  return { cloth, target };
}
