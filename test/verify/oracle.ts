import type { CollisionMesh } from '../../src/mesh/types.js';

/*
 * Brute force that shares nothing with the verifier. Two convex hulls meet iff the origin lies in the hull of all
 * differences of their corners; by Carathéodory it then lies in a simplex of at most four of them whose corners are
 * affinely independent. All simplices are tried with whole numbers.
 */

type Big = readonly [bigint, bigint, bigint];

/** Coordinates that are multiples of 2^-40 become whole numbers. */
const SCALE = 2 ** 40;

function toBig(x: ArrayLike<number>, vertex: number): Big {
  const whole = [0, 1, 2].map((k) => {
    const value = x[3 * vertex + k] * SCALE;
    if (!Number.isInteger(value)) throw new Error(`coordinate ${x[3 * vertex + k]} is too fine for the oracle`);
    return BigInt(value);
  });
  return [whole[0], whole[1], whole[2]];
}

const subtract = (a: Big, b: Big): Big => [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
const dot = (a: Big, b: Big): bigint => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
const cross = (a: Big, b: Big): Big => [
  a[1] * b[2] - a[2] * b[1],
  a[2] * b[0] - a[0] * b[2],
  a[0] * b[1] - a[1] * b[0],
];
const isZero = (a: Big): boolean => a[0] === 0n && a[1] === 0n && a[2] === 0n;
const volume = (a: Big, b: Big, c: Big): bigint => dot(a, cross(b, c));

function hasOrigin(simplex: readonly Big[]): boolean {
  const [a, b, c, d] = simplex;
  if (simplex.length === 1) return isZero(a);
  if (simplex.length === 2) return isZero(cross(a, b)) && dot(a, b) <= 0n;
  if (simplex.length === 3) {
    const normal = cross(subtract(b, a), subtract(c, a));
    if (isZero(normal) || volume(a, b, c) !== 0n) return false;
    return dot(normal, cross(a, b)) >= 0n && dot(normal, cross(b, c)) >= 0n && dot(normal, cross(c, a)) >= 0n;
  }
  const whole = volume(subtract(b, a), subtract(c, a), subtract(d, a));
  if (whole === 0n) return false;
  const parts = [volume(b, c, d), -volume(a, c, d), volume(a, b, d), -volume(a, b, c)];
  return parts.every((part) => (whole > 0n ? part >= 0n : part <= 0n));
}

/** Do the convex hulls of two sets of vertices have a common point? */
export function hullsMeet(x: ArrayLike<number>, a: readonly number[], b: readonly number[]): boolean {
  const differences = a.flatMap((p) => b.map((q) => subtract(toBig(x, p), toBig(x, q))));
  const total = 2 ** differences.length;
  for (let subset = 1; subset < total; subset++) {
    const simplex = differences.filter((_, k) => (subset >> k) & 1);
    if (simplex.length <= 4 && hasOrigin(simplex)) return true;
  }
  return false;
}

/** Names of all pairs with a common point that the state test is to find, sorted. */
export function listMeetings(mesh: CollisionMesh, x: ArrayLike<number>): string[] {
  const found: string[] = [];
  forEachStatePair(mesh, (kind, a, b) => {
    if (!a.some((v) => b.includes(v)) && hullsMeet(x, a, b)) found.push(nameOf(kind, a, b));
  });
  return found.sort();
}

export function nameOf(kind: string, a: readonly number[], b: readonly number[]): string {
  return `${kind} ${a.join(',')} ${b.join(',')}`;
}

type Visit = (kind: string, a: number[], b: number[]) => void;

function elementsOf(list: Uint32Array, size: number): number[][] {
  return Array.from({ length: list.length / size }, (_, k) => Array.from(list.subarray(size * k, size * k + size)));
}

function forEachStatePair(mesh: CollisionMesh, visit: Visit): void {
  const triangles = elementsOf(mesh.triangles, 3);
  const edges = elementsOf(mesh.edges, 2);
  const rods = edges.slice(mesh.rodStart);
  const particles = elementsOf(mesh.particles, 1);
  for (const edge of edges) for (const triangle of triangles) visit('EDGE_TRIANGLE', edge, triangle);
  for (const particle of particles) for (const triangle of triangles) visit('VERTEX_TRIANGLE', particle, triangle);
  for (const particle of particles) for (const rod of rods) visit('VERTEX_EDGE', particle, rod);
  forEachUnordered(rods, (a, b) => visit('EDGE_EDGE', a, b));
  forEachUnordered(particles, (a, b) => visit('VERTEX_VERTEX', a, b));
}

/** The pairs that carry distances and impacts. */
export function forEachDistancePair(mesh: CollisionMesh, visit: Visit): void {
  const skipShared: Visit = (kind, a, b) => {
    if (!a.some((v) => b.includes(v))) visit(kind, a, b);
  };
  const triangles = elementsOf(mesh.triangles, 3);
  const edges = elementsOf(mesh.edges, 2);
  const particles = elementsOf(mesh.particles, 1);
  const vertices = elementsOf(mesh.contactVertices, 1);
  for (const vertex of vertices) for (const triangle of triangles) skipShared('VERTEX_TRIANGLE', vertex, triangle);
  forEachUnordered(edges, (a, b) => skipShared('EDGE_EDGE', a, b));
  for (const particle of particles)
    for (const rod of edges.slice(mesh.rodStart)) skipShared('VERTEX_EDGE', particle, rod);
  forEachUnordered(particles, (a, b) => skipShared('VERTEX_VERTEX', a, b));
}

function forEachUnordered(list: number[][], visit: (a: number[], b: number[]) => void): void {
  list.forEach((a, i) => {
    for (const b of list.slice(i + 1)) {
      const isFirst = a[0] < b[0] || (a[0] === b[0] && a[1] < b[1]);
      visit(isFirst ? a : b, isFirst ? b : a);
    }
  });
}
