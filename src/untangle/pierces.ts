import { orient3d } from 'robust-predicates';
import type { ElementPair } from '../contract/elements.js';
import type { StateFindings } from '../verify/types.js';
import { ITEMS_PER_PULSE, type Pulse } from './pulse.js';
import type { Topology } from './topology.js';

/** An edge and a triangle that have a common point. */
export interface Pierce {
  /** indices into CollisionMesh.edges and CollisionMesh.triangles */
  readonly edge: number;
  readonly triangle: number;
  /** from the first end of the edge to the second, 0 to 1: where it meets the triangle's plane */
  readonly at: number;
  /**
   * −1, 0, 1: the side of the triangle, oriented as Topology.turn says, on which the first end of the edge lies; the
   * second end lies on the other side
   */
  readonly side: number;
}

/** The intersections of a state. */
export interface Pierces {
  readonly pierces: readonly Pierce[];
  /** every pair that has a common point, also of rods and particles */
  readonly pairs: readonly ElementPair[];
}

/** Finds edges and triangles by their vertices. */
export class ElementIds {
  readonly #vertexCount: number;
  readonly #edges = new Map<number, number>();
  readonly #topology: Topology;

  constructor(topology: Topology) {
    const { edges, vertexCount } = topology.mesh;
    this.#topology = topology;
    this.#vertexCount = vertexCount;
    for (let e = 0; e < edges.length; e += 2) this.#edges.set(edges[e] * vertexCount + edges[e + 1], e / 2);
  }

  edge(a: number, b: number): number {
    return this.#edges.get(Math.min(a, b) * this.#vertexCount + Math.max(a, b))!;
  }

  triangle(a: number, b: number, c: number): number {
    const { trianglesAt, mesh } = this.#topology;
    for (let k = trianglesAt.first[a]; k < trianglesAt.first[a + 1]; k++) {
      const t = trianglesAt.items[k];
      const corners = mesh.triangles.subarray(3 * t, 3 * t + 3);
      if (corners.includes(b) && corners.includes(c)) return t;
    }
    return -1;
  }
}

/** @param x float64[3·V] the state in which they were found */
export function readPierces(
  topology: Topology,
  ids: ElementIds,
  x: Float64Array,
  { intersections }: StateFindings,
  pulse: Pulse = () => {},
): Pierces {
  const pierces: Pierce[] = [];
  for (const [n, { kind, a, b }] of intersections.entries()) {
    if (n % ITEMS_PER_PULSE === 0) pulse();
    if (kind !== 'EDGE_TRIANGLE') continue;
    const edge = ids.edge(a[0]!, a[1]!);
    const triangle = ids.triangle(b[0]!, b[1]!, b[2]!);
    pierces.push({ edge, triangle, ...meet(topology, edge, triangle, x) });
  }
  return { pierces, pairs: intersections };
}

function meet({ mesh: { edges, triangles }, turn }: Topology, edge: number, triangle: number, x: Float64Array) {
  const corners = [triangles[3 * triangle], triangles[3 * triangle + 1], triangles[3 * triangle + 2]];
  const ends = [edges[2 * edge], edges[2 * edge + 1]];
  const p = scaledToOne([...corners, ...ends].flatMap((v) => [x[3 * v], x[3 * v + 1], x[3 * v + 2]]));
  // orient3d is negative where a point lies above the plane from which the corners run counter-clockwise.
  const heightOf = (k: number): number =>
    -orient3d(p[0]!, p[1]!, p[2]!, p[3]!, p[4]!, p[5]!, p[6]!, p[7]!, p[8]!, p[k]!, p[k + 1]!, p[k + 2]!);
  const [low, high] = [heightOf(9), heightOf(12)];
  const at = low === high ? 0.5 : Math.min(1, Math.max(0, low / (low - high)));
  // An end that lies in the plane counts as lying on the side opposite to the other end.
  const sign = Math.sign(low) || -Math.sign(high);
  return { at, side: turn[triangle] * sign };
}

/**
 * Coordinates times a power of two, which is exact, so that the largest is about 1: a volume is a product of three,
 * which beyond 10¹⁰² would be infinite and below 10⁻¹⁰⁷ nothing. Only what is 10³⁰⁷ times smaller than the largest is
 * rounded.
 */
function scaledToOne(coordinates: readonly number[]): number[] {
  const largest = coordinates.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
  // 2¹⁰²³ is the largest power of two; smaller coordinates become as large as it makes them.
  const exponent = largest > 0 ? Math.min(1023, -Math.floor(Math.log2(largest))) : 0;
  return coordinates.map((value) => value * 2 ** exponent);
}

/** Point of a pierce. */
export function pointOf({ mesh: { edges } }: Topology, { edge, at }: Pierce, x: Float64Array, axis: number): number {
  const [from, to] = [x[3 * edges[2 * edge] + axis], x[3 * edges[2 * edge + 1] + axis]];
  return from + at * (to - from);
}
