import type { MeshFile } from '../mesh/files/index.js';
import { distanceOf, medianLength } from '../mesh/lengths.js';
import { groupCoincident } from './coincident.js';
import { COINCIDENT_SHARE } from './vertices.js';

export interface Welded {
  readonly file: MeshFile;
  /** vertices whose elements now use another one: [vertex, the one they use] */
  readonly welded: readonly (readonly [vertex: number, kept: number])[];
  /** elements that were left without extent, or were there twice */
  readonly dropped: number;
}

/**
 * Joins what is at one place: elements of a vertex that lies at the place of one with a lower id use that one instead. Every
 * vertex keeps its id and its position; a vertex that was welded away belongs to no element any more, so that the target decides
 * where it goes. Copy the answer of the vertex that its elements use.
 *
 * Two vertices are joined only where they are at one place in the second state as well: a seam that opens in the target is none.
 * Elements that lose their extent (two corners that became one), and those that became equal, are dropped.
 *
 * @param other a second state of the same mesh
 * @param tolerance how far apart one place may be, the file's unit; default: {@link COINCIDENT_SHARE} of the median edge
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
    // A corner that became its neighbour goes; one that became a corner across would leave two loops: such a face goes as a whole.
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

/** The file with other elements; what it held besides the mesh belongs to the old ones, and is dropped. */
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
