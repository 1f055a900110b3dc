import type { DiagnosedComponent, DiagnosisFinding } from '../contract/diagnosis.js';
import { labelComponents } from '../mesh/connectivity.js';
import type { CollisionMesh } from '../mesh/types.js';
import { finding, plural, type Subject, vertexRef } from './subject.js';

/** Components that a diagnosis lists; all are counted. */
const MOST_LISTED = 64;

/** Connected components, the largest first. */
export interface Components {
  /** int32[V] rank, -1 = in no element */
  readonly componentOf: Int32Array;
  readonly names: readonly string[];
  readonly sizes: readonly { readonly firstVertex: number; readonly vertexCount: number }[];
}

/**
 * A component is named after the caller's part that contains its first vertex, with its rank added if several
 * components have that part. Without parts it is named by its rank: "component 1" is the largest.
 */
export function findComponents(mesh: CollisionMesh): Components {
  const { vertexCount, parts, partOfVertex } = mesh;
  const labels = labelComponents(
    [
      [mesh.edges, 2],
      [mesh.tetrahedra, 4],
    ],
    vertexCount,
  );
  const isUsed = new Uint8Array(vertexCount);
  for (const list of [mesh.contactVertices, mesh.tetrahedra]) for (const v of list) isUsed[v] = 1;
  // All particles together are one component, because single ones are of no interest.
  const ofParticles = mesh.particles[0] ?? 0;
  for (const v of mesh.particles) labels[v] = ofParticles;
  const counts = new Map<number, number>();
  for (let v = 0; v < vertexCount; v++) if (isUsed[v] === 1) counts.set(labels[v], (counts.get(labels[v]) ?? 0) + 1);
  const ranked = [...counts].sort(([a, n], [b, m]) => m - n || a - b);
  const rankOf = new Map(ranked.map(([label], rank) => [label, rank]));
  const componentOf = new Int32Array(vertexCount).fill(-1);
  for (let v = 0; v < vertexCount; v++) if (isUsed[v] === 1) componentOf[v] = rankOf.get(labels[v])!;
  const used = new Map<string, number>();
  const partNames = ranked.map(([label]) => parts[partOfVertex[label] ?? -1]?.name);
  for (const name of partNames) if (name !== undefined) used.set(name, (used.get(name) ?? 0) + 1);
  const names = partNames.map((name, rank) =>
    name !== undefined && used.get(name) === 1
      ? name
      : name === undefined
        ? `component ${rank + 1}`
        : `${name} (component ${rank + 1})`,
  );
  return { componentOf, names, sizes: ranked.map(([firstVertex, count]) => ({ firstVertex, vertexCount: count })) };
}

/** Describes the components, and which of them are bodies that a solver would not move. */
export function describeComponents(
  { mesh, x, surface, componentOf, names, maxElements }: Subject,
  { sizes }: Components,
): { components: DiagnosedComponent[]; findings: DiagnosisFinding[] } {
  const count = Math.min(sizes.length, MOST_LISTED);
  const triangles = new Uint32Array(sizes.length);
  const open = new Uint8Array(sizes.length);
  const low = new Float64Array(3 * count).fill(Infinity);
  const high = new Float64Array(3 * count).fill(-Infinity);
  const isDynamic = new Uint8Array(sizes.length);
  for (let t = 0; t < mesh.triangles.length; t += 3) triangles[componentOf[mesh.triangles[t]]]++;
  for (let side = 0; side < surface.triangles.length; side++) {
    if (surface.valence(surface.edgeOfSide[side]) !== 2) open[componentOf[surface.from(side)]] = 1;
  }
  for (let v = 0; v < mesh.vertexCount; v++) {
    const rank = componentOf[v];
    if (rank < 0) continue;
    if (mesh.kinematic[v] === 0) isDynamic[rank] = 1;
    if (rank >= count) continue;
    for (let axis = 0; axis < 3; axis++) {
      low[3 * rank + axis] = Math.min(low[3 * rank + axis], x[3 * v + axis]);
      high[3 * rank + axis] = Math.max(high[3 * rank + axis], x[3 * v + axis]);
    }
  }
  const isClosed = (rank: number): boolean => triangles[rank] > 0 && open[rank] === 0;
  const components = sizes.slice(0, count).map(({ firstVertex, vertexCount }, rank) => ({
    name: names[rank],
    firstVertex,
    vertexCount,
    triangleCount: triangles[rank],
    closed: isClosed(rank),
    size: Math.hypot(...[0, 1, 2].map((axis) => high[3 * rank + axis] - low[3 * rank + axis])),
  }));
  const bodies = [...sizes.keys()].filter((rank) => isClosed(rank) && isDynamic[rank] === 1);
  if (bodies.length === 0 || bodies.length === sizes.length) return { components, findings: [] };
  return {
    components,
    findings: [
      finding({
        code: 'KINEMATIC_CANDIDATE',
        severity: 'NOTE',
        count: bodies.length,
        elements: bodies.slice(0, maxElements).map((rank) => vertexRef(sizes[rank].firstVertex)),
        message: `${plural(bodies.length, 'component is a closed surface', 'components are closed surfaces')} beside open ones: ${bodies
          .slice(0, 4)
          .map((rank) => {
            const { vertexCount, firstVertex } = sizes[rank];
            return `${names[rank]} (${plural(vertexCount, 'vertex', 'vertices')} from ${firstVertex} on)`;
          })
          .join('; ')}.`,
        advice:
          'If it is a body that your solver moves, mark its vertices as kinematic (--kinematic, --kinematic-from): cloth gives way, the body does not.',
      }),
    ],
  };
}
