import type { CollisionMesh } from '../../src/mesh/types.js';
import type { PairRules } from '../../src/verify/types.js';

export const PROTECT: PairRules = { kinematicPairs: 'PROTECT', maxPairs: 64 };
export const SKIP: PairRules = { kinematicPairs: 'SKIP', maxPairs: 64 };

interface Shape {
  readonly vertexCount: number;
  readonly triangles?: readonly number[];
  readonly segments?: readonly number[];
  readonly particles?: readonly number[];
  readonly kinematic?: readonly number[];
  /** part of every vertex, counted from 0 */
  readonly parts?: readonly number[];
  readonly ignoredPartPairs?: readonly number[];
}

/** A collision mesh written down by hand, so that these tests judge the verifier alone. */
export function makeMesh(shape: Shape): CollisionMesh {
  const triangles = Uint32Array.from(shape.triangles ?? []);
  const seen = new Set<string>();
  const edges: number[] = [];
  const addEdge = (a: number, b: number): void => {
    const key = `${Math.min(a, b)} ${Math.max(a, b)}`;
    if (seen.has(key)) return;
    seen.add(key);
    edges.push(Math.min(a, b), Math.max(a, b));
  };
  for (let k = 0; k < triangles.length; k += 3) {
    for (let s = 0; s < 3; s++) addEdge(triangles[k + s], triangles[k + ((s + 1) % 3)]);
  }
  const rodStart = edges.length / 2;
  const segments = shape.segments ?? [];
  for (let k = 0; k < segments.length; k += 2) addEdge(segments[k], segments[k + 1]);
  const particles = [...(shape.particles ?? [])].sort((a, b) => a - b);
  const kinematic = new Uint8Array(shape.vertexCount);
  for (const vertex of shape.kinematic ?? []) kinematic[vertex] = 1;
  const partCount = shape.parts ? Math.max(...shape.parts) + 1 : 0;
  return {
    vertexCount: shape.vertexCount,
    triangles,
    edges: Uint32Array.from(edges),
    rodStart,
    particles: Uint32Array.from(particles),
    contactVertices: Uint32Array.from([...new Set([...edges, ...particles])].sort((a, b) => a - b)),
    innerEdges: new Uint32Array(0),
    tetrahedra: new Uint32Array(0),
    inverseMasses: new Float32Array(shape.vertexCount).fill(1),
    kinematic,
    parts: Array.from({ length: partCount }, (_, k) => ({ name: `part ${k}`, firstVertex: 0, vertexCount: 0 })),
    partOfVertex: Int32Array.from(shape.parts ?? []),
    ignoredPartPairs: Uint32Array.from(shape.ignoredPartPairs ?? []),
    sent: {
      triangles: triangles.length / 3,
      segments: segments.length / 2,
      particles: particles.length,
      tetrahedra: 0,
    },
    components: 1,
    warnings: [],
  };
}
