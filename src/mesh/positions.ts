import { IntersticeError } from '../contract/errors.js';
import type { Positions } from '../contract/mesh.js';
import { nameVertex } from './vertex-data.js';

/**
 * Largest distance of a start from the origin, and of a target from the start's centre, in extents of the start. Beyond
 * it, doubles cannot resolve the start, nor can single precision resolve the motion to the target.
 */
const MAX_EXTENTS_AWAY = 1e12;
/** Largest magnitude of any coordinate, in its own unit: products of four stay finite in double precision. */
export const MAX_COORDINATE = 1e30;

const AXES = ['x', 'y', 'z'] as const;

/**
 * @param positions [3·V]
 * @param name of the array in messages, e.g. "target"
 * @param measure computes their box; a caller that reads the positions anyway may compute the box in the same pass
 * @returns the box of the positions
 * @throws IntersticeError SIZE_MISMATCH, or NOT_FINITE naming the first vertex
 */
export function checkPositions(
  positions: Positions,
  vertexCount: number,
  name: string,
  measure: (positions: Positions) => Box = measureBox,
): Box {
  if (positions.length !== 3 * vertexCount) {
    throw new IntersticeError(
      'SIZE_MISMATCH',
      `${name} has ${positions.length} coordinates; it must have ${3 * vertexCount}, three for each of the ${vertexCount} vertices.`,
      hintOfLength(positions.length, 3 * vertexCount),
    );
  }
  const box = measure(positions);
  // Minimum and maximum propagate NaN and infinity, so the box alone shows whether all coordinates are finite.
  if (box.every(Number.isFinite)) return box;
  for (let i = 0; i < positions.length; i++) {
    if (Number.isFinite(positions[i]!)) continue;
    throw new IntersticeError('NOT_FINITE', `${nameCoordinate(name, i)} is ${positions[i]}.`, {
      element: nameVertex(Math.floor(i / 3)),
    });
  }
  return box;
}

/** The remedy where bytes of one scalar were read as the other: they are then twice or half as many numbers. */
export function hintOfLength(length: number, expected: number): { readonly hint?: string } {
  const [found, scalar] =
    length === 2 * expected ? ['twice', 'FLOAT64'] : 2 * length === expected ? ['half', 'FLOAT32'] : [];
  if (scalar === undefined || expected === 0) return {};
  const bare = `?scalar=${scalar.toLowerCase()}`;
  return { hint: `That is ${found} as many: if they are ${scalar}, set scalar to that (${bare} with bare positions).` };
}

/**
 * Refuses coordinates for which no answer would be meaningful. The extent is the largest side of the start's bounding
 * box; if it is zero, the largest absolute coordinate of the start, or 1.
 *
 * @param start, target [3·V], finite
 * @param name of the target in messages
 * @param known boxes of both, and the name of the start in messages, "start" if absent
 * @throws IntersticeError COORDINATE_RANGE, naming the first vertex
 */
export function checkRange(
  start: Positions,
  target: Positions,
  name: string,
  known: { readonly boxes?: { readonly start: Box; readonly target: Box }; readonly startName?: string } = {},
): void {
  const { boxes, startName = 'start' } = known;
  const box = boxes?.start ?? measureBox(start);
  const reached = boxes?.target ?? measureBox(target);
  // Magnitude and distance are largest at the ends of the box, and rounding is monotone: if the ends pass, all
  // coordinates pass. Only a refusal searches for the vertex that it names.
  if (largestIn(box) > MAX_COORDINATE) checkMagnitude(start, startName);
  if (largestIn(reached) > MAX_COORDINATE) checkMagnitude(target, name);
  const { centre, extent } = centreOf(box);
  const limit = MAX_EXTENTS_AWAY * extent;
  if (largestIn(box) > limit) {
    const i = start.findIndex((coordinate) => Math.abs(coordinate) > limit);
    throw new IntersticeError(
      'COORDINATE_RANGE',
      `${nameCoordinate(startName, i)} is ${start[i]}; the limit is ${MAX_EXTENTS_AWAY} times the extent of ${extent}.`,
      { element: nameVertex(Math.floor(i / 3)), hint: 'Move the mesh closer to the origin.' },
    );
  }
  if (reached.every((end, k) => Math.abs(end - centre[k % 3]!) <= limit)) return;
  for (let i = 0; i < target.length; i++) {
    const distance = Math.abs(target[i]! - centre[i % 3]!);
    if (distance <= limit) continue;
    throw new IntersticeError(
      'COORDINATE_RANGE',
      `${nameCoordinate(name, i)} is ${target[i]}, which is ${distance} away from the centre of the start; the limit is ${MAX_EXTENTS_AWAY} times its extent of ${extent}.`,
      { element: nameVertex(Math.floor(i / 3)) },
    );
  }
}

function checkMagnitude(positions: Positions, name: string): void {
  for (let i = 0; i < positions.length; i++) {
    if (Math.abs(positions[i]!) <= MAX_COORDINATE) continue;
    throw new IntersticeError(
      'COORDINATE_RANGE',
      `${nameCoordinate(name, i)} is ${positions[i]}; the limit is ${MAX_COORDINATE} in magnitude.`,
      { element: nameVertex(Math.floor(i / 3)) },
    );
  }
}

/** min xyz, max xyz */
export type Box = readonly [number, number, number, number, number, number];

/**
 * The box of all coordinates; without any, from +∞ to −∞. It uses local variables for speed, because it reads the
 * positions of every step.
 */
export function measureBox(positions: Positions): Box {
  let [lowX, lowY, lowZ] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
  let [highX, highY, highZ] = [Number.NEGATIVE_INFINITY, Number.NEGATIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (let i = 0; i < positions.length; i += 3) {
    const x = positions[i]!;
    const y = positions[i + 1]!;
    const z = positions[i + 2]!;
    // Three times as fast as branches, which the processor cannot predict here.
    lowX = Math.min(lowX, x);
    highX = Math.max(highX, x);
    lowY = Math.min(lowY, y);
    highY = Math.max(highY, y);
    lowZ = Math.min(lowZ, z);
    highZ = Math.max(highZ, z);
  }
  return [lowX, lowY, lowZ, highX, highY, highZ];
}

function largestIn(box: Box): number {
  return Math.max(...box.map(Math.abs));
}

function centreOf(box: Box): { centre: readonly number[]; extent: number } {
  const axes = [0, 1, 2] as const;
  const side = Math.max(...axes.map((axis) => box[axis + 3]! - box[axis]));
  return { centre: axes.map((axis) => box[axis] / 2 + box[axis + 3]! / 2), extent: side || largestIn(box) || 1 };
}

/**
 * 0·x is NaN for NaN and ±∞, and a sum never loses a NaN: this takes one comparison in all instead of one per
 * coordinate.
 */
export function hasOnlyFinite(positions: Positions): boolean {
  let sum = 0;
  for (let i = 0; i < positions.length; i++) sum += positions[i]! * 0;
  return sum === 0;
}

/** 'The x coordinate of vertex 4 of target' */
function nameCoordinate(name: string, index: number): string {
  return `The ${AXES[index % 3]} coordinate of vertex ${Math.floor(index / 3)} of ${name}`;
}

/** The scalar of positions, and so of the answer to a target. */
export type Scalar = 'FLOAT32' | 'FLOAT64';

export function scalarOf(positions: Positions): Scalar {
  return positions instanceof Float32Array ? 'FLOAT32' : 'FLOAT64';
}

/** Equal as numbers, coordinate by coordinate; the scalars may differ. */
export function isEqual(a: Positions, b: Positions): boolean {
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false;
  return true;
}
