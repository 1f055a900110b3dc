import type { Contour } from './contours.js';
import { type HeightRow, weightsOf } from './height-rows.js';
import { type Pierce, pointOf } from './pierces.js';
import { normalOf } from './sides.js';
import { rowOf, type Topology } from './topology.js';

type Vector = readonly [number, number, number];

/** A gradient as long as this, of lengths of a contour per length of motion, gets about 0.7 of the longest motion. */
const TYPICAL = 1;

/**
 * An edge whose height over the plane of the triangle is below this share of its length counts as lying in the plane,
 * where sliding it has no defined effect.
 */
const FLAT = 0.05;

/**
 * Shortens a contour where it is not known which side is wrong (intersection contour minimisation, Volino and
 * Magnenat-Thalmann 2006). It moves an edge, relative to the triangle that it pierces, along
 *
 *     G = Σ_f (r_f − 2 (e·r_f)/(e·n) n),
 *
 * where e is the direction of the edge, n the normal of the triangle, and r_f the direction in which the contour
 * continues in the triangle f at the edge. Along a curve the r_f of both triangles nearly cancel, and their sum points
 * towards the inside of the curve. At its end and at a border there is only one f, which draws the end of the contour
 * inward.
 */
export function gradientRowsOf(topology: Topology, x: Float64Array, contour: Contour, longest: number): HeightRow[] {
  const { edges, triangles } = topology.mesh;
  return contour.pierces.flatMap((pierce) => {
    const g = gradientOf(topology, x, pierce);
    const size = Math.hypot(...g);
    if (size === 0) return [];
    const { edge, triangle, at } = pierce;
    const q: Vector = [0, 1, 2].map((axis) => pointOf(topology, pierce, x, axis)) as unknown as Vector;
    const corners = [triangles[3 * triangle], triangles[3 * triangle + 1], triangles[3 * triangle + 2]] as const;
    return [
      {
        ends: [edges[2 * edge], edges[2 * edge + 1]] as const,
        shares: [1 - at, at] as const,
        corners,
        weights: weightsOf(x, corners, q),
        n: [g[0] / size, g[1] / size, g[2] / size] as const,
        least: (longest * size) / Math.hypot(size, TYPICAL),
      },
    ];
  });
}

function gradientOf(topology: Topology, x: Float64Array, pierce: Pierce): Vector {
  const { mesh, trianglesOfEdge } = topology;
  const { edge, triangle } = pierce;
  const [a, b] = [mesh.edges[2 * edge], mesh.edges[2 * edge + 1]];
  const e = unit([x[3 * b] - x[3 * a], x[3 * b + 1] - x[3 * a + 1], x[3 * b + 2] - x[3 * a + 2]]);
  const n = normalOf(topology, x, triangle);
  const steep = dot(e, n);
  const g: [number, number, number] = [0, 0, 0];
  if (Math.abs(steep) < FLAT) return g;
  for (const f of rowOf(trianglesOfEdge, edge)) {
    const r = unit(cross(normalOf(topology, x, f), n));
    // f lies on the side of the edge on which its third corner lies.
    const third = [0, 1, 2].map((k) => mesh.triangles[3 * f + k]).find((v) => v !== a && v !== b)!;
    const to: Vector = [x[3 * third] - x[3 * a], x[3 * third + 1] - x[3 * a + 1], x[3 * third + 2] - x[3 * a + 2]];
    const along = dot(to, e);
    const inward: Vector = [to[0] - along * e[0], to[1] - along * e[1], to[2] - along * e[2]];
    const sign = Math.sign(dot(r, inward));
    const slide = (2 * dot(e, r)) / steep;
    for (let k = 0; k < 3; k++) g[k] += sign * (r[k]! - slide * n[k]!);
  }
  return g;
}

const dot = (p: Vector, q: Vector): number => p[0] * q[0] + p[1] * q[1] + p[2] * q[2];

const cross = (p: Vector, q: Vector): Vector => [
  p[1] * q[2] - p[2] * q[1],
  p[2] * q[0] - p[0] * q[2],
  p[0] * q[1] - p[1] * q[0],
];

function unit(p: Vector): Vector {
  const size = Math.hypot(...p);
  return size > 0 ? [p[0] / size, p[1] / size, p[2] / size] : [0, 0, 0];
}
