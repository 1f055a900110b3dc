import { IntersticeError } from '../../contract/errors.js';
import type { MeshInput, Positions } from '../../contract/mesh.js';
import { refer } from '../elements.js';
import { assertWithinLimits } from '../limits.js';
import { joinSources } from './sources.js';
import type { MeshFile } from './types.js';

export interface VertexRange {
  readonly firstVertex: number;
  readonly vertexCount: number;
}

/** The elements of a file for `buildMesh`; polygons are fans of triangles. */
export function toMeshInput({ vertexCount, triangles, segments, particles }: MeshFile): MeshInput {
  return { vertexCount, triangles, segments, particles };
}

/**
 * Concatenates meshes into one: vertices keep their order, ids are shifted. Format and encoding are the first file's;
 * the scalar is FLOAT64 if any file's is, so that nothing is rounded.
 *
 * @returns the mesh (the file itself if there is only one), and the range of each file's vertices
 * @throws IntersticeError INVALID_MESH without files, TOO_LARGE
 */
export function concatenate(files: readonly MeshFile[]): {
  readonly file: MeshFile;
  readonly ranges: readonly VertexRange[];
} {
  const [first] = files;
  if (!first) throw new IntersticeError('INVALID_MESH', 'There is no mesh file to put together.');
  const ranges: VertexRange[] = [];
  let total = 0;
  for (const { vertexCount } of files) {
    ranges.push({ firstVertex: total, vertexCount });
    total += vertexCount;
  }
  assertWithinLimits(total, 0);
  // A single file is already the whole; memory for a copy of a large one costs a tenth of a second.
  if (files.length === 1) return { file: first, ranges };
  const firsts = ranges.map(({ firstVertex }) => firstVertex);
  const scalar = files.some((file) => file.scalar === 'FLOAT64') ? 'FLOAT64' : 'FLOAT32';
  const positions: Positions = scalar === 'FLOAT64' ? new Float64Array(3 * total) : new Float32Array(3 * total);
  for (const [i, file] of files.entries()) positions.set(file.positions, 3 * firsts[i]!);
  const join = (pick: (file: MeshFile) => Uint32Array): Uint32Array => joinShifted(files.map(pick), firsts);
  const sources = joinSources(files);
  return {
    file: {
      format: first.format,
      ...(sources ? { sources } : {}),
      ...(first.plyEncoding ? { plyEncoding: first.plyEncoding } : {}),
      scalar,
      vertexCount: total,
      positions,
      triangles: join((file) => file.triangles),
      segments: join((file) => file.segments),
      particles: join((file) => file.particles),
      faceSizes: joinShifted(
        files.map((file) => file.faceSizes),
        files.map(() => 0),
      ),
      faceVertices: join((file) => file.faceVertices),
    },
    ranges,
  };
}

/** Returns uint32: the arrays one after another, array i raised by shifts[i]. */
function joinShifted(arrays: readonly Uint32Array[], shifts: readonly number[]): Uint32Array {
  const joined = new Uint32Array(arrays.reduce((sum, array) => sum + array.length, 0));
  let end = 0;
  for (const [i, array] of arrays.entries()) {
    const shift = shifts[i]!;
    // Those of the first file are copied unchanged.
    if (shift === 0) joined.set(array, end);
    else for (let j = 0; j < array.length; j++) joined[end + j] = array[j]! + shift;
    end += array.length;
  }
  return joined;
}

/** What messages call a file and the one that positions its vertices. */
interface FileNames {
  readonly start: string;
  readonly target: string;
}

const NAMES: FileNames = { start: 'start', target: 'target' };

/**
 * Checks that a target, which positions the start's vertices, lists the same elements as the start in the same order,
 * or none. Files to be concatenated are compared pair by pair before that, because only then an absent list differs
 * from an empty one.
 *
 * @param names of the two files in messages
 * @throws IntersticeError SIZE_MISMATCH for another number of vertices, INVALID_MESH for other elements
 */
export function assertSameTopology(start: MeshFile, target: MeshFile, names: FileNames = NAMES): void {
  if (start.vertexCount !== target.vertexCount) {
    throw new IntersticeError(
      'SIZE_MISMATCH',
      `The ${names.target} has ${target.vertexCount} vertices; the ${names.start} has ${start.vertexCount}.`,
      { hint: 'Both must have the same vertices in the same order.' },
    );
  }
  assertSameElements(names, 'triangle', 3, start.triangles, target.triangles);
  assertSameElements(names, 'segment', 2, start.segments, target.segments);
  if (!isAllVertices(target)) assertSameElements(names, 'particle', 1, start.particles, target.particles);
}

/** A PLY that contains only vertices is read as a cloud of particles; as a target it merely lists no elements. */
function isAllVertices({ format, triangles, segments, particles, vertexCount }: MeshFile): boolean {
  return format === 'ply' && triangles.length + segments.length === 0 && particles.length === vertexCount;
}

function assertSameElements(
  names: FileNames,
  kind: string,
  width: number,
  start: Uint32Array,
  target: Uint32Array,
): void {
  if (target.length === 0) return;
  const hint = `Leave the elements out of the ${names.target}, or list the same ones in the same order as the ${names.start} does.`;
  if (target.length !== start.length) {
    throw new IntersticeError(
      'INVALID_MESH',
      `The ${names.target} has ${target.length / width} ${kind}s; the ${names.start} has ${start.length / width}.`,
      { hint },
    );
  }
  const differing = target.findIndex((vertex, i) => vertex !== start[i]);
  if (differing < 0) return;
  const index = Math.floor(differing / width);
  const element = refer(kind, target, width, index);
  const expected = refer(kind, start, width, index).vertices.join(', ');
  throw new IntersticeError(
    'INVALID_MESH',
    `The ${names.target}'s ${kind} ${index} joins the vertices ${element.vertices.join(', ')}; the ${names.start}'s joins ${expected}.`,
    { element, hint },
  );
}
