import type { Positions } from '../contract/mesh.js';
import type { ContourReport, ContourSheet, DisplacementReport } from '../contract/untangle.js';
import { distanceOf } from '../mesh/lengths.js';
import { allEdges } from '../mesh/limited-edges.js';
import type { CollisionMesh } from '../mesh/types.js';
import type { Contour, Role } from './contours.js';
import { lengthsAtRest } from './measures.js';
import { pointOf } from './pierces.js';
import { kindOf, type Region } from './regions.js';
import { type KeptDecision, partOf, turnAlong } from './sides.js';
import type { Topology } from './topology.js';

interface Described {
  readonly contours: readonly Contour[];
  readonly decisions: ReadonlyMap<number, KeptDecision>;
  readonly regions: readonly Region[];
}

/** Returns the contours that have been decided. */
export function describeContours(
  topology: Topology,
  x: Float64Array,
  { contours, decisions, regions }: Described,
): ContourReport[] {
  const byContour = new Map<number, Region[]>();
  for (const region of regions) {
    const { contour } = region;
    const known = byContour.get(contour);
    if (known) known.push(region);
    else byContour.set(contour, [region]);
  }
  return contours.flatMap((contour, id) => {
    const decision = decisions.get(id);
    if (!decision) return [];
    const own = byContour.get(id) ?? [];
    const sheet = (role: Role): ContourSheet => {
      const part = partOf(topology, contour, role);
      const region = own.find((one) => one.role === role);
      // Where the decision finds nothing on a wrong side, the region with the least work is pushed to a side of its own.
      const right = (region?.right ?? decision.right[role]) * turnAlong(topology, contour, (1 - role) as Role);
      return {
        ...(part < 0 ? {} : { part: topology.mesh.parts[part]!.name }),
        wrongVertices: region?.vertices.length ?? 0,
        ...(right === 0 ? {} : { side: right > 0 ? ('ALONG_NORMALS' as const) : ('AGAINST_NORMALS' as const) }),
      };
    };
    const { pierces } = contour;
    const points = new Float32Array(3 * pierces.length);
    pierces.forEach((pierce, n) => {
      for (let axis = 0; axis < 3; axis++) points[3 * n + axis] = pointOf(topology, pierce, x, axis);
    });
    const { why, confidence, isTurned } = decision;
    return {
      id,
      kind: kindOf(contour, decision),
      pierces: pierces.length,
      sheets: [sheet(0), sheet(1)],
      why,
      confidence,
      isTurned,
      points,
    };
  });
}

/** How far chosen vertices have moved, the unit of the positions. */
export function measureMoved(x: Positions, start: Positions, isChosen: (v: number) => boolean): DisplacementReport {
  let [vertices, sum, max] = [0, 0, 0];
  for (let v = 0; v < x.length / 3; v++) {
    if (!isChosen(v)) continue;
    const moved = Math.hypot(x[3 * v] - start[3 * v], x[3 * v + 1] - start[3 * v + 1], x[3 * v + 2] - start[3 * v + 2]);
    vertices++;
    sum += moved;
    max = Math.max(max, moved);
  }
  return { vertices, mean: vertices > 0 ? sum / vertices : 0, max };
}

/** Longest and shortest edge relative to its length at rest, edges inside solids included; 1 if no edge counts. */
export function measureStretch(mesh: CollisionMesh, x: Positions, start: Positions) {
  const { inverseMasses } = mesh;
  let [maxStretch, minStretch] = [0, Number.POSITIVE_INFINITY];
  for (const edges of allEdges(mesh)) {
    const lengths = lengthsAtRest(edges, start);
    for (let e = 0; e < lengths.length; e++) {
      const [a, b] = [edges.ends[2 * e], edges.ends[2 * e + 1]];
      if (lengths[e] === 0 || (inverseMasses[a] === 0 && inverseMasses[b] === 0)) continue;
      const stretch = distanceOf(x, a, b) / lengths[e];
      maxStretch = Math.max(maxStretch, stretch);
      minStretch = Math.min(minStretch, stretch);
    }
  }
  return maxStretch === 0 ? { maxStretch: 1, minStretch: 1 } : { maxStretch, minStretch };
}
