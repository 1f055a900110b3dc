import type { CollisionMesh } from '../../../src/mesh/types.js';
import type { Proximity } from '../../../src/solver/cpu/proximity.js';
import type { Random } from '../../support/random.js';
import { allPairs, boundsApart, keysOf, leastDistance, type MeshPair } from '../../support/trust-oracle.js';

/** Float32 faces of boxes that are a few units from the origin are good to 1e-6. */
const ROUNDING = 2e-6;

/** Pairs that can come under δ within the current boxes, but are not in P; `isExempt` says which need not be. */
export function missing(
  mesh: CollisionMesh,
  proximity: Proximity,
  delta: number,
  isExempt: (pair: MeshPair) => boolean,
): string[] {
  const { box } = proximity.boxes;
  const inP = new Set(keysOf(proximity.pairs));
  return allPairs(mesh)
    .filter((pair) => !inP.has(pair.key) && boundsApart(box, pair) < delta && !isExempt(pair))
    .filter((pair) => leastDistance(box, pair) < delta - ROUNDING)
    .map(({ key }) => key);
}

/** Targets up to `travel` away on each axis; a share of the kinematic vertices stays. */
export function aim(
  random: Random,
  x: Float32Array,
  mesh: CollisionMesh,
  travel: number,
  stillKinematic = 0.5,
): Float32Array {
  const y = x.slice();
  for (let v = 0; v < mesh.vertexCount; v++) {
    if (mesh.kinematic[v] !== 0 && random() < stillKinematic) continue;
    for (let c = 0; c < 3; c++) y[3 * v + c] += travel * random.between(-1, 1);
  }
  return y;
}
