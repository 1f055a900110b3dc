import type { LayerOrder } from '../contract/diagnosis.js';
import type { Subject } from './subject.js';
import { TriangleTree } from './triangle-tree.js';

/** Number of components whose order is determined, the largest ones. Every pair of them costs some thousand queries. */
const MOST_COMPONENTS = 12;

/** Vertices of a component that are sampled. */
const SAMPLES = 600;

/** Median edges within which a triangle of another component counts as the layer next to a vertex. */
const REACH = 4;

/** Smallest number of samples for which an order is reported. */
const LEAST_SAMPLES = 8;

/** Share of the samples that must agree. */
const LEAST_CONFIDENCE = 0.6;

/**
 * Determines which component lies outside which, where they are near each other. A vertex of A whose nearest point of B
 * is within reach lies on the side to which the normal of B's triangle points, or on the other: the outer side is where
 * normals point, as in meshes of bodies and garments. Both directions are tested: A is outside B where A's vertices lie
 * on the side of B's normals, and where B's vertices lie opposite to A's normals. The confidence is the share of the
 * samples that agree. Layers with opposite normals give contradictory samples, and nothing is reported about them.
 */
export function findLayers(subject: Subject, count: number): LayerOrder[] {
  const { mesh, x, componentOf, names, checkpoint, medianEdge } = subject;
  const most = Math.min(count, MOST_COMPONENTS);
  if (most < 2 || mesh.triangles.length === 0) return [];
  const within = REACH * medianEdge;
  const chosen: number[][] = Array.from({ length: most }, () => []);
  const vertices: number[][] = Array.from({ length: most }, () => []);
  for (let t = 0; t < mesh.triangles.length / 3; t++) chosen[componentOf[mesh.triangles[3 * t]]]?.push(t);
  for (const v of mesh.contactVertices) vertices[componentOf[v]]?.push(v);
  const trees = chosen.map((list) => {
    checkpoint();
    return list.length > 0 ? new TriangleTree(x, mesh.triangles, Uint32Array.from(list)) : undefined;
  });
  /** samples of A on the positive and on the negative side of B */
  const votes = (a: number, b: number): [number, number] => {
    const tree = trees[b];
    if (!tree) return [0, 0];
    let [positive, negative] = [0, 0];
    const stride = Math.max(1, Math.floor(vertices[a].length / SAMPLES));
    for (let k = 0; k < vertices[a].length; k += stride) {
      if (k % 64 === 0) checkpoint();
      const v = vertices[a][k];
      const found = tree.nearest(x[3 * v], x[3 * v + 1], x[3 * v + 2], within);
      if (found.triangle < 0) continue;
      const side = sideOf(subject, v, found.triangle, found.x, found.y, found.z);
      if (side > 0) positive++;
      else if (side < 0) negative++;
    }
    return [positive, negative];
  };
  const layers: LayerOrder[] = [];
  for (let a = 0; a < most; a++) {
    for (let b = a + 1; b < most; b++) {
      const [outA, inA] = votes(a, b);
      const [outB, inB] = votes(b, a);
      const aIsOuter = outA + inB;
      const bIsOuter = inA + outB;
      const samples = aIsOuter + bIsOuter;
      const confidence = Math.max(aIsOuter, bIsOuter) / samples;
      if (samples < LEAST_SAMPLES || confidence < LEAST_CONFIDENCE) continue;
      const [inner, outer] = aIsOuter > bIsOuter ? [b, a] : [a, b];
      layers.push({ inner: names[inner], outer: names[outer], confidence, samples });
    }
  }
  return layers;
}

/** Sign of the side of a triangle on which a vertex lies; 0 beside its border, where the nearest point is ambiguous. */
function sideOf({ mesh, x }: Subject, v: number, triangle: number, px: number, py: number, pz: number): number {
  const [a, b, c] = mesh.triangles.subarray(3 * triangle, 3 * triangle + 3);
  const d = (i: number, axis: number): number => x[3 * i + axis] - x[3 * a + axis];
  const nx = d(b, 1) * d(c, 2) - d(b, 2) * d(c, 1);
  const ny = d(b, 2) * d(c, 0) - d(b, 0) * d(c, 2);
  const nz = d(b, 0) * d(c, 1) - d(b, 1) * d(c, 0);
  const [wx, wy, wz] = [x[3 * v] - px, x[3 * v + 1] - py, x[3 * v + 2] - pz];
  const dot = nx * wx + ny * wy + nz * wz;
  const size = Math.hypot(nx, ny, nz) * Math.hypot(wx, wy, wz);
  return size === 0 || Math.abs(dot) < STEEP * size ? 0 : Math.sign(dot);
}

/** Cosine of the angle to the normal below which a vertex is beside a triangle rather than over it. */
const STEEP = 0.5;
