import type { Positions } from '../../src/contract/mesh.js';
import type { CollisionMesh } from '../../src/mesh/types.js';

/**
 * An edge counts as overlong above σ·(1 + this), because the limit is stored in float32, and measured here in double.
 */
const LIMIT_ROUNDING = 1e-4;

/**
 * How near an answer is to its target: lengths in the unit of the positions, over dynamic vertices and edges with a
 * dynamic vertex.
 */
export interface Fidelity {
  readonly rms: number;
  readonly max: number;
  /** rms of the difference of edge vectors, over the mean edge of the target */
  readonly edgeError: number;
  /** edges longer than σ times their length in the target */
  readonly overlong: number;
  /** the largest length of an edge over its length in the target */
  readonly maxStretch: number;
}

/** @param sigma σ; 0 = no edge has a limit */
export function measureFidelity(mesh: CollisionMesh, x: Positions, target: Positions, sigma: number): Fidelity {
  return { ...distancesOf(mesh, x, target), ...edgesOf(mesh, x, target, sigma || Number.POSITIVE_INFINITY) };
}

function distancesOf(mesh: CollisionMesh, x: Positions, target: Positions): Pick<Fidelity, 'rms' | 'max'> {
  let sum = 0;
  let count = 0;
  let max = 0;
  for (let i = 0; i < mesh.vertexCount; i++) {
    if (mesh.kinematic[i]) continue;
    let squared = 0;
    for (let c = 3 * i; c < 3 * i + 3; c++) squared += (x[c] - target[c]) ** 2;
    sum += squared;
    count++;
    max = Math.max(max, squared);
  }
  return { rms: Math.sqrt(sum / Math.max(1, count)), max: Math.sqrt(max) };
}

function edgesOf(
  mesh: CollisionMesh,
  x: Positions,
  target: Positions,
  sigma: number,
): Pick<Fidelity, 'edgeError' | 'overlong' | 'maxStretch'> {
  let differences = 0;
  let lengths = 0;
  let count = 0;
  let overlong = 0;
  let maxStretch = 0;
  for (const ends of [mesh.edges, mesh.innerEdges]) {
    for (let e = 0; e < ends.length; e += 2) {
      const [i, j] = [ends[e], ends[e + 1]];
      if (mesh.kinematic[i] && mesh.kinematic[j]) continue;
      let [difference, stretched, rest] = [0, 0, 0];
      for (let c = 0; c < 3; c++) {
        const a = x[3 * i + c] - x[3 * j + c];
        const b = target[3 * i + c] - target[3 * j + c];
        difference += (a - b) ** 2;
        stretched += a * a;
        rest += b * b;
      }
      count++;
      differences += difference;
      lengths += Math.sqrt(rest);
      if (rest === 0) continue;
      const ratio = Math.sqrt(stretched / rest);
      maxStretch = Math.max(maxStretch, ratio);
      if (ratio > sigma * (1 + LIMIT_ROUNDING)) overlong++;
    }
  }
  return { edgeError: lengths === 0 ? 0 : Math.sqrt(differences * count) / lengths, overlong, maxStretch };
}
