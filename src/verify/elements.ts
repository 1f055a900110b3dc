import { IntersticeError } from '../contract/errors.js';
import type { Positions } from '../contract/mesh.js';
import type { CollisionMesh } from '../mesh/types.js';
import { EDGE_EDGE, EDGE_TRIANGLE, type PairCode, VERTEX_EDGE, VERTEX_TRIANGLE, VERTEX_VERTEX } from './pair-kinds.js';
import type { PairRules } from './types.js';

/** Elements of one kind: points, edges or triangles, by their vertices. */
export interface ElementSet {
  /** vertices per element */
  readonly size: 1 | 2 | 3;
  readonly count: number;
  /** uint32[size·count] */
  readonly vertices: Uint32Array;
  /** uint8[count] 1 = all vertices kinematic */
  readonly kinematic: Uint8Array;
  /** int32[count] the part that contains all vertices, -1 = none; empty if no pair of parts is ignored */
  readonly parts: Int32Array;
}

/**
 * Two sets of elements whose pairs are examined; side a never consists of triangles. `b === a` means every unordered
 * pair once.
 */
export interface Relation {
  readonly code: PairCode;
  readonly a: ElementSet;
  readonly b: ElementSet;
}

export interface MeshElements {
  readonly edges: ElementSet;
  readonly triangles: ElementSet;
  /** edges that belong to no triangle */
  readonly rods: ElementSet;
  readonly particles: ElementSet;
  /** every vertex that can touch something */
  readonly vertices: ElementSet;
}

/** Meshes are immutable, so their elements are cached as long as they live. */
const collected = new WeakMap<CollisionMesh, MeshElements>();

/** The elements of a mesh; the same sets in every call. */
export function collectElements(mesh: CollisionMesh): MeshElements {
  const kept = collected.get(mesh);
  if (kept) return kept;
  const rodStart = Math.min(mesh.rodStart, mesh.edges.length / 2);
  const elements = {
    edges: describe(mesh, mesh.edges, 2),
    triangles: describe(mesh, mesh.triangles, 3),
    rods: describe(mesh, mesh.edges.subarray(2 * rodStart), 2),
    particles: describe(mesh, mesh.particles, 1),
    vertices: describe(mesh, mesh.contactVertices, 1),
  };
  collected.set(mesh, elements);
  return elements;
}

/** The elements that {@link collectElements} has cached for a mesh, if any. */
export function keptElements(mesh: CollisionMesh): MeshElements | undefined {
  return collected.get(mesh);
}

function describe(mesh: CollisionMesh, vertices: Uint32Array, size: 1 | 2 | 3): ElementSet {
  const count = vertices.length / size;
  const kinematic = new Uint8Array(count).fill(1);
  const hasParts = mesh.ignoredPartPairs.length > 0;
  const parts = new Int32Array(hasParts ? count : 0);
  for (let i = 0; i < count; i++) {
    for (let k = 0; k < size; k++) if (mesh.kinematic[vertices[size * i + k]] === 0) kinematic[i] = 0;
    if (!hasParts) continue;
    let part = mesh.partOfVertex[vertices[size * i]];
    for (let k = 1; k < size; k++) if (mesh.partOfVertex[vertices[size * i + k]] !== part) part = -1;
    parts[i] = part;
  }
  return { size, count, vertices, kinematic, parts };
}

/**
 * The pairs that the test of a state examines: edges against triangles, and pairs without a surface. Any other
 * intersection implies one of these.
 */
export function stateRelations(elements: MeshElements): Relation[] {
  return present([
    { code: EDGE_TRIANGLE, a: elements.edges, b: elements.triangles },
    ...codimensionalRelations(elements),
  ]);
}

/** The pairs that determine the distance of a mesh to itself, and the first impact on a path. */
export function distanceRelations(elements: MeshElements): Relation[] {
  return present([
    { code: VERTEX_TRIANGLE, a: elements.vertices, b: elements.triangles },
    { code: EDGE_EDGE, a: elements.edges, b: elements.edges },
    { code: VERTEX_EDGE, a: elements.particles, b: elements.rods },
    { code: VERTEX_VERTEX, a: elements.particles, b: elements.particles },
  ]);
}

/** Pairs that can pass through each other without an intersection in any state between. */
export function codimensionalRelations(elements: MeshElements): Relation[] {
  return present([
    { code: VERTEX_TRIANGLE, a: elements.particles, b: elements.triangles },
    { code: EDGE_EDGE, a: elements.rods, b: elements.rods },
    { code: VERTEX_EDGE, a: elements.particles, b: elements.rods },
    { code: VERTEX_VERTEX, a: elements.particles, b: elements.particles },
  ]);
}

function present(relations: Relation[]): Relation[] {
  return relations.filter(({ a, b }) => a.count > 0 && b.count > 0);
}

export const EXCLUDED = 0;
export const EXAMINED = 1;
/** All vertices of both elements are kinematic. */
export const KINEMATIC = 2;

/** Decides which pairs of elements count at all. */
export class PairFilter {
  private readonly ignored = new Set<number>();
  private readonly partCount: number;
  private readonly seams: BorderElements | undefined;

  /** @param keepsGuards whether pairs of ignored parts that guard others count as well */
  constructor(mesh: CollisionMesh, keepsGuards = false) {
    this.partCount = mesh.parts.length;
    this.seams =
      keepsGuards && mesh.ignoredPartPairs.length > 0 ? new BorderElements(mesh, mesh.partOfVertex) : undefined;
    for (let k = 0; k + 1 < mesh.ignoredPartPairs.length; k += 2) {
      const p = mesh.ignoredPartPairs[k];
      const q = mesh.ignoredPartPairs[k + 1];
      this.ignored.add(p * this.partCount + q).add(q * this.partCount + p);
    }
  }

  /** EXCLUDED: the elements share a vertex or belong to an ignored pair of parts. */
  classify(a: ElementSet, i: number, b: ElementSet, j: number): 0 | 1 | 2 {
    return sharesVertex(a, i, b, j) ? EXCLUDED : this.classifyApart(a, i, b, j);
  }

  /** The same for elements that share no vertex. */
  classifyApart(a: ElementSet, i: number, b: ElementSet, j: number): 0 | 1 | 2 {
    if (this.ignored.size > 0) {
      const p = a.parts[i];
      const q = b.parts[j];
      const isIgnored = p >= 0 && q >= 0 && this.ignored.has(p * this.partCount + q);
      if (isIgnored && !this.seams?.has(a, i) && !this.seams?.has(b, j)) return EXCLUDED;
    }
    return a.kinematic[i] === 1 && b.kinematic[j] === 1 ? KINEMATIC : EXAMINED;
  }
}

function sharesVertex(a: ElementSet, i: number, b: ElementSet, j: number): boolean {
  for (let k = a.size * i; k < a.size * (i + 1); k++) {
    for (let n = b.size * j; n < b.size * (j + 1); n++) if (a.vertices[k] === b.vertices[n]) return true;
  }
  return false;
}

/**
 * The given numbers as doubles (exact for both scalars).
 * @param what names the array in refusals
 * @throws SIZE_MISMATCH unless there are three numbers per vertex; NOT_FINITE, because a NaN would pass every
 * comparison unnoticed
 */
export function readPositions(mesh: CollisionMesh, positions: Positions, what: string): Float64Array {
  if (positions.length !== 3 * mesh.vertexCount) {
    throw new IntersticeError(
      'SIZE_MISMATCH',
      `${what} holds ${positions.length} numbers; ${mesh.vertexCount} vertices need ${3 * mesh.vertexCount}.`,
    );
  }
  for (let k = 0; k < positions.length; k++) {
    if (Number.isFinite(positions[k])) continue;
    const index = Math.floor(k / 3);
    throw new IntersticeError('NOT_FINITE', `${what} of vertex ${index}: ${'xyz'[k % 3]} is ${positions[k]}.`, {
      element: { kind: 'vertex', index, vertices: [index] },
    });
  }
  return positions instanceof Float64Array ? positions : new Float64Array(positions);
}

/** @throws INVALID_PARAMETER */
export function checkRules(rules: PairRules): void {
  if (!Number.isInteger(rules.maxPairs) || rules.maxPairs < 0) {
    throw new IntersticeError('INVALID_PARAMETER', `maxPairs is ${rules.maxPairs}; it must be a whole number ≥ 0.`);
  }
}

/**
 * The elements at the border between classes of vertices: kinematic or dynamic, of one part or another. A rule excludes pairs
 * whose elements each lie in one class, but a path test must examine some of them. The promise covers an edge e and a triangle
 * T unless the rule applies to both as wholes; on a path they meet first where an end of e meets T, or e a side of T. So a
 * vertex represents every edge at it, one of which may lead to another class, and an edge every triangle at it, one of which
 * may have its third corner there: these are at the border. Rods and particles represent only themselves.
 */
export class BorderElements {
  /** uint8[V] 1 = an edge leads from here to a vertex of another class */
  private readonly isMixed: Uint8Array;
  /** by the lower vertex of an edge within a class: the higher vertices of those edges with a triangle that leaves the class */
  private readonly partners = new Map<number, Set<number>>();

  /** @param classes [V] any numbers, equal for vertices of one class */
  constructor({ vertexCount, edges, triangles }: CollisionMesh, classes: ArrayLike<number>) {
    this.isMixed = new Uint8Array(vertexCount);
    for (let k = 0; k < edges.length; k += 2) {
      if (classes[edges[k]] === classes[edges[k + 1]]) continue;
      this.isMixed[edges[k]] = 1;
      this.isMixed[edges[k + 1]] = 1;
    }
    for (let k = 0; k < triangles.length; k += 3) {
      // Most triangles lie in one class.
      if (this.isMixed[triangles[k]] + this.isMixed[triangles[k + 1]] + this.isMixed[triangles[k + 2]] < 2) continue;
      for (const [s, n, apex] of SIDES_AND_APEX) {
        const [p, q] = [triangles[k + s], triangles[k + n]];
        if (classes[q] !== classes[p] || classes[triangles[k + apex]] === classes[p]) continue;
        const low = Math.min(p, q);
        const highs = this.partners.get(low) ?? new Set();
        this.partners.set(low, highs.add(Math.max(p, q)));
      }
    }
  }

  /** Whether an element that lies in one class is at the border. */
  has({ size, vertices }: ElementSet, index: number): boolean {
    if (size === 1) return this.isMixed[vertices[index]] === 1;
    if (size === 3) return false;
    const [p, q] = [vertices[2 * index], vertices[2 * index + 1]];
    // The marks alone decide for most edges.
    if (this.isMixed[p] === 0 || this.isMixed[q] === 0) return false;
    return this.partners.get(Math.min(p, q))?.has(Math.max(p, q)) === true;
  }
}

const SIDES_AND_APEX = [
  [0, 1, 2],
  [1, 2, 0],
  [2, 0, 1],
] as const;

/** Vertex ids of side a then side b. Of two elements of one set, the one with the lower ids is side a. */
export function idsOf(relation: Relation, i: number, j: number): number[] {
  const { a, b } = relation;
  const [first, second] = orderSides(relation, i, j);
  const ids: number[] = [];
  for (let k = 0; k < a.size; k++) ids.push(a.vertices[first + k]);
  for (let k = 0; k < b.size; k++) ids.push(b.vertices[second + k]);
  return ids;
}

/**
 * Coordinates in the order of {@link idsOf}.
 * @param x float64[3·V]
 * @param points float64[12], filled as far as the pair has vertices
 */
export function gather(x: Float64Array, relation: Relation, i: number, j: number, points: Float64Array): void {
  const { a, b } = relation;
  const [first, second] = orderSides(relation, i, j);
  let at = 0;
  for (let k = 0; k < a.size; k++) at = copyPoint(x, a.vertices[first + k], points, at);
  for (let k = 0; k < b.size; k++) at = copyPoint(x, b.vertices[second + k], points, at);
}

function orderSides({ a, b }: Relation, i: number, j: number): [number, number] {
  const first = a.size * i;
  const second = b.size * j;
  return a === b && comesBefore(a, second, first) ? [second, first] : [first, second];
}

/** Offsets into the vertices of a set. The first id identifies a point; edges need both. */
function comesBefore({ vertices }: ElementSet, first: number, second: number): boolean {
  const difference = vertices[first] - vertices[second];
  return difference < 0 || (difference === 0 && vertices[first + 1] < vertices[second + 1]);
}

/** @returns the offset after the point */
export function copyPoint(x: Float64Array, vertex: number, points: Float64Array, at: number): number {
  points[at] = x[3 * vertex];
  points[at + 1] = x[3 * vertex + 1];
  points[at + 2] = x[3 * vertex + 2];
  return at + 3;
}
