import type { CollisionMesh } from '../../../src/mesh/types.js';
import { PairSet } from '../../../src/solver/cpu/pair-set.js';
import { type PairRules, ProximitySearch } from '../../../src/solver/cpu/search.js';
import { findKinematicBorder } from '../../../src/solver/exclusion-rules.js';
import { CORNERS, SIDE_A } from '../../../src/solver/pair-kinds.js';
import type { Settings } from '../../../src/solver/settings.js';
import type { Found } from './device-scene.js';

/** P as the CPU engine finds it in the device's boxes, with the passive and kept vertices of the device. */
export function searchOnCpu(
  mesh: CollisionMesh,
  x: Float32Array,
  { box, mask }: Found,
  settings: Settings,
  cut: number,
  into = new PairSet(),
): PairSet {
  const growth = Math.fround((settings.guard === 'RADIUS' ? settings.searchRadiusMax : settings.delta) / 2);
  const border = settings.skipKinematicPairs ? findKinematicBorder(mesh) : undefined;
  const rules: PairRules = { mask, border, isIgnored: ignoring(mesh) };
  new ProximitySearch(mesh).search({ box, growth }, x, cut, rules, 1e9, into);
  return into;
}

let ignored = 0;

/** How often a pair was ignored since {@link forgetIgnored}. */
export const ignoredCount = (): number => ignored;

export const forgetIgnored = (): void => {
  ignored = 0;
};

/** Whether each side lies in one part, the two parts ignore each other, and no edge or vertex is on a seam; brute force. */
function ignoring({ edges, partOfVertex, ignoredPartPairs }: CollisionMesh): PairRules['isIgnored'] {
  const isOnSeam = (v: number): boolean =>
    edges.some((end, k) => end === v && partOfVertex[edges[k ^ 1]] !== partOfVertex[v]);
  return (kind, ...ids) => {
    const sides = [ids.slice(0, SIDE_A[kind]), ids.slice(SIDE_A[kind], CORNERS[kind])];
    if (sides.some((side) => side.length < 3 && side.every(isOnSeam))) return false;
    const parts = ids.slice(0, CORNERS[kind]).map((v) => partOfVertex[v]);
    const a = new Set(parts.slice(0, SIDE_A[kind]));
    const b = new Set(parts.slice(SIDE_A[kind]));
    if (a.size > 1 || b.size > 1) return false;
    for (let n = 0; n < ignoredPartPairs.length; n += 2) {
      const [p, q] = ignoredPartPairs.subarray(n, n + 2);
      if ((a.has(p) && b.has(q)) || (a.has(q) && b.has(p))) return ++ignored > 0;
    }
    return false;
  };
}
