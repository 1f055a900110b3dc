import { IntersticeError } from '../contract/errors.js';
import type { MeshInput, MeshLimits } from '../contract/mesh.js';

/**
 * The capacity of the arrays of a mesh: a tetrahedron has up to four boundary faces, whose sides are listed as 24 ids
 * before duplicates are removed, and a typed array holds 2³² entries. A service configures lower limits.
 */
export const STRUCTURAL_LIMITS: MeshLimits = { maxVertices: 2 ** 27, maxElements: 2 ** 27 };

/**
 * Compares counts with limits.
 *
 * @param isWhole false = a file is still being read, and may have more
 * @throws IntersticeError TOO_LARGE, with the demand and the limit
 */
export function assertWithinLimits(
  vertices: number,
  elements: number,
  limits: MeshLimits = STRUCTURAL_LIMITS,
  isWhole = true,
): void {
  const has = isWhole ? 'has' : 'has at least';
  const maxVertices = Math.min(limits.maxVertices, STRUCTURAL_LIMITS.maxVertices);
  const maxElements = Math.min(limits.maxElements, STRUCTURAL_LIMITS.maxElements);
  if (vertices > maxVertices) {
    throw new IntersticeError('TOO_LARGE', `The mesh ${has} ${vertices} vertices; the limit is ${maxVertices}.`, {
      hint: hintOf('INTERSTICE_MAX_VERTICES', maxVertices, STRUCTURAL_LIMITS.maxVertices),
    });
  }
  if (elements > maxElements) {
    throw new IntersticeError('TOO_LARGE', `The mesh ${has} ${elements} elements; the limit is ${maxElements}.`, {
      hint: hintOf('INTERSTICE_MAX_ELEMENTS', maxElements, STRUCTURAL_LIMITS.maxElements),
    });
  }
}

const hintOf = (setting: string, limit: number, most: number): string =>
  limit < most
    ? `Send a smaller mesh, or raise ${setting} where it is computed.`
    : 'Send a smaller mesh: no setting raises this limit.';

/**
 * Does the cheap part of validation, everything that follows from counts and lengths alone, before anything is copied.
 *
 * @throws IntersticeError INVALID_MESH, SIZE_MISMATCH or TOO_LARGE
 */
export function checkSizes(input: MeshInput, limits?: MeshLimits): void {
  const { vertexCount } = input;
  if (!Number.isInteger(vertexCount) || vertexCount < 0) {
    throw new IntersticeError('INVALID_MESH', `vertexCount is ${vertexCount}; it must be a whole number.`);
  }
  const elements =
    countRows(input.triangles, 3, 'triangles') +
    countRows(input.segments, 2, 'segments') +
    countRows(input.particles, 1, 'particles') +
    countRows(input.tetrahedra, 4, 'tetrahedra');
  countRows(input.ignoredPartPairs, 2, 'ignoredPartPairs');
  assertWithinLimits(vertexCount, elements, limits);
  if (vertexCount === 0)
    throw new IntersticeError('INVALID_MESH', 'The mesh has no vertices.', {
      hint: 'Send vertices, and elements that use them.',
    });
  if (elements === 0) {
    throw new IntersticeError('INVALID_MESH', 'The mesh has no elements.', {
      hint: 'Send triangles, segments, particles or tetrahedra.',
    });
  }
  checkPerVertex(input.masses?.length, vertexCount, 'masses');
  checkPerVertex(input.kinematic?.length, vertexCount, 'kinematic');
}

function countRows(array: Uint32Array | undefined, width: number, name: string): number {
  const length = array?.length ?? 0;
  if (length % width !== 0) {
    throw new IntersticeError('SIZE_MISMATCH', `${name} has ${length} entries, which is not a multiple of ${width}.`);
  }
  return length / width;
}

function checkPerVertex(length: number | undefined, vertexCount: number, name: string): void {
  if (length === undefined || length === vertexCount) return;
  throw new IntersticeError(
    'SIZE_MISMATCH',
    `${name} has ${length} entries; it must have one for each of the ${vertexCount} vertices.`,
  );
}
