import type { MeshFile } from '../mesh/files/index.js';
import { distanceOf, medianLength } from '../mesh/lengths.js';
import { groupCoincident } from './coincident.js';
import { COINCIDENT_SHARE } from './vertices.js';

export interface Welded {
  readonly file: MeshFile;
  /** vertices whose elements now use another one: [vertex, the one they use] */
  readonly welded: readonly (readonly [vertex: number, kept: number])[];
  /** elements that lost their extent, or became equal to another one */
  readonly dropped: number;
}

/**
 * Joins elements at coincident vertices: elements of a vertex that coincides with one of a lower id use that one
 * instead. Every vertex keeps its id and its position; a replaced vertex no longer belongs to any element, so it moves
 * to its target. Copy the answer of the vertex that its elements use.
 *
 * Two vertices are joined only if they coincide in the second state as well: a seam that opens in the target is not a
 * seam. Elements that lose their extent (two corners that became one), and those that became equal, are dropped.
 *
 * @param other a second state of the same mesh
 * @param tolerance largest distance of coincident vertices, the file's unit; default: {@link COINCIDENT_SHARE} of the
 *   median edge
 */
export function weld(file: MeshFile, other?: MeshFile, tolerance = COINCIDENT_SHARE * medianEdgeOf(file)): Welded {
  const x = new Float64Array(file.positions);
  const y = other && new Float64Array(other.positions);
  const used = new Uint8Array(file.vertexCount);
  for (const list of [file.faceVertices, file.segments, file.particles]) for (const v of list) used[v] = 1;
  const vertices = Uint32Array.from(used.keys()).filter((v) => used[v] === 1);
  const lowest = groupCoincident(x, vertices, tolerance, (a, b) => !y || distanceOf(y, a, b) <= tolerance);
  const seen = new Set<string>();
  let dropped = 0;
  const keep = (kind: string, corners: readonly number[], least: number): boolean => {
    const key = `${kind} ${[...corners].sort((a, b) => a - b).join(' ')}`;
    const isKept = corners.length >= least && !seen.has(key);
    seen.add(key);
    if (!isKept) dropped++;
    return isKept;
  };
  const sizes: number[] = [];
  const corners: number[] = [];
  let at = 0;
  for (const size of file.faceSizes) {
    const polygon = Array.from(file.faceVertices.subarray(at, at + size), (v) => lowest[v]);
    at += size;
    // A corner that became equal to its neighbour is removed; a face with two equal corners across would form two
    // loops, so it is removed as a whole.
    const around = polygon.filter((v, k) => v !== polygon[(k + 1) % polygon.length]);
    const isSimple = new Set(around).size === around.length;
    if (!keep('face', isSimple ? around : [], 3)) continue;
    sizes.push(around.length);
    for (const v of around) corners.push(v);
  }
  const segments: number[] = [];
  for (let s = 0; s < file.segments.length; s += 2) {
    const ends = [lowest[file.segments[s]], lowest[file.segments[s + 1]]];
    if (keep('segment', ends[0] === ends[1] ? [] : ends, 2)) segments.push(ends[0], ends[1]);
  }
  const particles = Array.from(file.particles, (v) => lowest[v]).filter((v) => keep('particle', [v], 1));
  const welded = Array.from(vertices)
    .filter((v) => lowest[v] !== v)
    .map((v) => [v, lowest[v]] as const);
  return { file: withElements(file, sizes, corners, segments, particles), welded, dropped };
}

/** The file with other elements; its other content belongs to the old elements, and is dropped. */
export function withElements(
  { sources: _, ...file }: MeshFile,
  sizes: readonly number[],
  corners: readonly number[],
  segments: ArrayLike<number> = file.segments,
  particles: ArrayLike<number> = file.particles,
): MeshFile {
  const triangles: number[] = [];
  let at = 0;
  for (const size of sizes) {
    for (let k = 1; k + 1 < size; k++) triangles.push(corners[at], corners[at + k], corners[at + k + 1]);
    at += size;
  }
  return {
    ...file,
    triangles: Uint32Array.from(triangles),
    faceSizes: Uint32Array.from(sizes),
    faceVertices: Uint32Array.from(corners),
    segments: Uint32Array.from(segments),
    particles: Uint32Array.from(particles),
  };
}

/** The median side of the triangles, each counted as often as it occurs. */
export function medianEdgeOf({ triangles, segments, positions }: MeshFile): number {
  const lengths: number[] = [];
  for (let side = 0; side < triangles.length; side++) {
    lengths.push(distanceOf(positions, triangles[side], triangles[side % 3 === 2 ? side - 2 : side + 1]));
  }
  for (let s = 0; s < segments.length; s += 2) lengths.push(distanceOf(positions, segments[s], segments[s + 1]));
  return medianLength(Float64Array.from(lengths));
}
