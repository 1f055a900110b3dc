import type { MeshInput } from '../../src/contract/mesh.js';
import type { ParametersInput } from '../../src/contract/parameters.js';
import { seeded } from './random.js';

/** Particles on a grid of some unit, with a δ of four units: each has hundreds of others within reach. */
export function crowdOf(count: number): {
  readonly mesh: MeshInput;
  readonly start: Float64Array;
  readonly target: Float64Array;
  readonly parameters: ParametersInput;
} {
  const random = seeded(count);
  const side = Math.ceil(Math.cbrt(count));
  const start = new Float64Array(3 * count);
  for (let v = 0; v < count; v++) {
    const at = [v % side, Math.floor(v / side) % side, Math.floor(v / side ** 2)];
    for (let c = 0; c < 3; c++) start[3 * v + c] = Math.fround(at[c]! + 0.5 * random());
  }
  return {
    mesh: { vertexCount: count, particles: Uint32Array.from({ length: count }, (_, v) => v) },
    start,
    target: start.map((value, k) => Math.fround(value + (k % 3 === 0 ? 0.2 * random() : 0))),
    parameters: { activationDistance: 4 },
  };
}
