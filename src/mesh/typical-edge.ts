import type { Positions } from '../contract/mesh.js';
import { distanceOf, heightOf, medianLength, middleOf, nearestDistances } from './lengths.js';
import type { CollisionMesh } from './types.js';

/**
 * The edge length from which default lengths follow: the median edge, unless it says little about places where elements
 * are close.
 *
 * A default δ of a tenth of an edge means that an element has a few others within reach. If much of a mesh is far finer
 * than the median edge (a coarse part beside a fine one, or slivers, whose long edges outnumber the short ones), each
 * of those elements has thousands within reach, and δ exceeds the distance of its neighbours.
 *
 * Every vertex has a length ℓ_v, the median of its edges, and a height h_v, the median of the shortest heights of its
 * triangles: single slivers among other triangles do not change them. Within a distance R of a vertex lie about
 *
 *   n_v = (1 + R/h_v)(1 + R/ℓ_v)   elements like its own,   n_v = 1 + R/ℓ_v for a rod,
 *
 * but no more than the number of vertices of its size in the mesh, those whose size s_u is at most 2 s_v, where s =
 * min(ℓ, 5 h). Let R be 0.46 median edges, the largest distance of a pair that a search lists at the default δ. If Σ
 * n_v is at most 16 per vertex, or 16,384, the median edge is typical: in every mesh of one scale (about 2 per vertex),
 * in one with a few fine details, and in a small one. A search then lists at most some 64 pairs per vertex, or 65,536,
 * up to which no engine shortens its boxes. Otherwise the typical edge is the median of s_v, weighted by n_v: half of
 * the pairs that the median edge would have made belong to vertices of that size or less. δ is then at most half of the
 * height of such triangles.
 *
 * Where all dynamic vertices are particles, as sand in a tray, the edges say nothing about what is close: the typical edge is
 * then the median distance of these particles to their nearest neighbours, if that is less than the median edge.
 *
 * It is no shorter than 3e-4 of the extent of the dynamic vertices (of the largest coordinate in float32, if that is
 * more): a tenth of less would be too small for float32: 16 floors of 8√3·2⁻²³ of the largest coordinate.
 *
 * @param positions [3·V]
 * @param medianEdge > 0, the unit of the positions
 */
export function findTypicalEdge(mesh: CollisionMesh, positions: Positions, medianEdge: number): number {
  const grains = findGrains(mesh);
  if (grains.length > 1) {
    const spacing = medianLength(nearestDistances(positions, grains)) || medianEdge;
    return Math.min(medianEdge, Math.max(spacing, SMALLEST_SHARE * measureSizes(mesh, positions).largest));
  }
  const reach = REACH_PER_EDGE * medianEdge;
  if (isSurelySparse(mesh, positions, reach)) return medianEdge;
  const { sizes, largest } = measureSizes(mesh, positions);
  const order = Uint32Array.from(sizes.keys()).sort((a, b) => sizes[a]!.size - sizes[b]!.size);
  const crowds = new Float64Array(order.length);
  let total = 0;
  let upTo = 0;
  order.forEach((index, rank) => {
    const { size, length, height } = sizes[index]!;
    while (upTo < order.length && sizes[order[upTo]!]!.size <= 2 * size) upTo++;
    const crowd = Math.min(upTo, (1 + reach / height) * (1 + reach / length));
    crowds[rank] = crowd;
    total += crowd;
  });
  if (total <= Math.max(MOST_CROWDED * order.length, NEVER_CROWDED)) return medianEdge;
  let [passed, rank] = [crowds[0]!, 0];
  while (2 * passed < total) passed += crowds[++rank]!;
  return Math.min(medianEdge, Math.max(sizes[order[rank]!]!.size, SMALLEST_SHARE * largest));
}

/** @returns the dynamic particles; none if other vertices are dynamic, too */
function findGrains({ particles, contactVertices, kinematic }: CollisionMesh): Uint32Array {
  const grains = particles.filter((v) => kinematic[v] === 0);
  let dynamic = 0;
  for (const v of contactVertices) if (kinematic[v] === 0) dynamic++;
  return grains.length === dynamic ? grains : new Uint32Array(0);
}

/** Largest distance of a listed pair in median edges: two reaches of 1.8 δ, and δ, a tenth of an edge. */
const REACH_PER_EDGE = 0.46;

/** Mean number of elements near a vertex up to which the median edge is typical: eight times that of uniform meshes. */
const MOST_CROWDED = 16;

/** Total number of these elements up to which a mesh is small. */
const NEVER_CROWDED = 16_384;

/** Smallest ratio of the typical edge to the extent: ten times 16 · 8√3 · 2⁻²³, plus a margin of an eighth. */
const SMALLEST_SHARE = 3e-4;

/** Ratio of s to h: δ, a tenth of s, is half of the height. */
const SIZE_PER_HEIGHT = 5;

/**
 * Whether a bound without medians, which nearly every mesh meets, shows that Σ n_v is within its limit: half of some
 * numbers are no less than their median, so the median of 1/h is at most twice the mean.
 */
function isSurelySparse(mesh: CollisionMesh, positions: Positions, reach: number): boolean {
  const { contactVertices, edges, triangles, vertexCount } = mesh;
  const ofLengths = new ReciprocalMeans(vertexCount);
  for (let e = 0; e < edges.length; e += 2) {
    const [a, b] = [edges[e]!, edges[e + 1]!];
    const length = distanceOf(positions, a, b);
    ofLengths.add(a, length);
    ofLengths.add(b, length);
  }
  const ofHeights = new ReciprocalMeans(vertexCount);
  for (let t = 0; t < triangles.length; t += 3) {
    const [a, b, c] = [triangles[t]!, triangles[t + 1]!, triangles[t + 2]!];
    const height = heightOf(positions, a, b, c);
    ofHeights.add(a, height);
    ofHeights.add(b, height);
    ofHeights.add(c, height);
  }
  let most = 0;
  let count = 0;
  for (const v of contactVertices) {
    if (mesh.kinematic[v] === 0) count++;
    most += (1 + 2 * reach * ofHeights.at(v)) * (1 + 2 * reach * ofLengths.at(v));
  }
  return most <= Math.max(MOST_CROWDED * count, NEVER_CROWDED);
}

/** The mean of the reciprocals of numbers above 0 that are listed at vertices. */
class ReciprocalMeans {
  readonly #sums: Float64Array;
  readonly #counts: Uint32Array;

  constructor(vertexCount: number) {
    this.#sums = new Float64Array(vertexCount);
    this.#counts = new Uint32Array(vertexCount);
  }

  add(v: number, value: number): void {
    if (value === 0) return;
    this.#sums[v]! += 1 / value;
    this.#counts[v]!++;
  }

  at(v: number): number {
    return this.#counts[v] === 0 ? 0 : this.#sums[v]! / this.#counts[v]!;
  }
}

interface LocalSize {
  /** ℓ_v */
  readonly length: number;
  /** h_v; Infinity without a triangle of non-zero area */
  readonly height: number;
  /** s_v */
  readonly size: number;
}

/**
 * @returns the sizes of dynamic vertices with an edge of non-zero length, of all if none is dynamic; and the largest
 *   side of
 * their box, or their largest coordinate in float32
 */
function measureSizes(mesh: CollisionMesh, positions: Positions): { sizes: LocalSize[]; largest: number } {
  const { contactVertices, kinematic, edges, triangles, vertexCount } = mesh;
  const lengths = listAtVertices(edges, 2, vertexCount, (e) => distanceOf(positions, edges[2 * e]!, edges[2 * e + 1]!));
  const heights = listAtVertices(triangles, 3, vertexCount, (t) =>
    heightOf(positions, triangles[3 * t]!, triangles[3 * t + 1]!, triangles[3 * t + 2]!),
  );
  const isAnyDynamic = contactVertices.some((v) => kinematic[v] === 0);
  const sizes: LocalSize[] = [];
  const low = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
  const high = [Number.NEGATIVE_INFINITY, Number.NEGATIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const v of contactVertices) {
    if (isAnyDynamic && kinematic[v] === 1) continue;
    for (let axis = 0; axis < 3; axis++) {
      low[axis] = Math.min(low[axis]!, positions[3 * v + axis]!);
      high[axis] = Math.max(high[axis]!, positions[3 * v + axis]!);
    }
    const length = lengths.medianAt(v);
    if (length === 0) continue;
    const height = heights.medianAt(v) || Number.POSITIVE_INFINITY;
    sizes.push({ length, height, size: Math.min(length, SIZE_PER_HEIGHT * height) });
  }
  const side = Math.max(...high.map((end, axis) => end - low[axis]!));
  const farthest = Math.max(...high.map(Math.abs), ...low.map(Math.abs));
  return { sizes, largest: positions instanceof Float32Array ? Math.max(side, farthest) : side };
}

/** Lists a value of each element at each of its vertices. */
function listAtVertices(
  elements: Uint32Array,
  width: number,
  vertexCount: number,
  measure: (element: number) => number,
): { medianAt(v: number): number } {
  const offsets = new Uint32Array(vertexCount + 1);
  for (const v of elements) offsets[v + 1]!++;
  for (let v = 0; v < vertexCount; v++) offsets[v + 1]! += offsets[v]!;
  const values = new Float64Array(elements.length);
  const end = offsets.slice(0, vertexCount);
  for (let e = 0; e < elements.length / width; e++) {
    const value = measure(e);
    for (let s = 0; s < width; s++) values[end[elements[width * e + s]!]!++] = value;
  }
  return {
    /** The median of the values above 0; 0 if there are none. */
    medianAt: (v) => {
      const own = values.subarray(offsets[v]!, offsets[v + 1]!).sort();
      return middleOf(own.subarray(own.lastIndexOf(0) + 1));
    },
  };
}
