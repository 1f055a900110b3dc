import { IntersticeError } from '../errors.js';
import type { Positions } from './types.js';
import { nameVertex } from './vertex-data.js';

/** Extents that a target may be away from the start's centre: beyond it single precision cannot resolve the start. */
export const MAX_TARGET_EXTENTS = 1e12;
/** Largest magnitude of any coordinate, in its own unit: products of four stay finite in double precision. */
export const MAX_COORDINATE = 1e30;

const AXES = ['x', 'y', 'z'] as const;

/**
 * @param positions [3·V]
 * @param name what the array is called in messages, e.g. "target"
 * @throws IntersticeError SIZE_MISMATCH, or NOT_FINITE naming the first vertex
 */
export function checkPositions(positions: Positions, vertexCount: number, name: string): void {
  if (positions.length !== 3 * vertexCount) {
    throw new IntersticeError(
      'SIZE_MISMATCH',
      `${name} has ${positions.length} coordinates, expected ${3 * vertexCount}: three for each of the ${vertexCount} vertices`,
    );
  }
  for (let i = 0; i < positions.length; i++) {
    if (Number.isFinite(positions[i]!)) continue;
    throw new IntersticeError('NOT_FINITE', `${nameCoordinate(name, i)} is ${positions[i]}`, {
      element: nameVertex(Math.floor(i / 3)),
    });
  }
}

/**
 * Refuses coordinates with which no answer would mean anything. The extent is the largest side of the start's bounding
 * box; where that is zero, the largest absolute coordinate of the start, or 1.
 *
 * @param start, target [3·V], finite
 * @param name what the target is called in messages
 * @throws IntersticeError COORDINATE_RANGE, naming the first vertex
 */
export function checkRange(start: Positions, target: Positions, name: string): void {
  checkMagnitude(start, 'start');
  checkMagnitude(target, name);
  const { centre, extent } = measureBox(start);
  const limit = MAX_TARGET_EXTENTS * extent;
  for (let i = 0; i < target.length; i++) {
    const distance = Math.abs(target[i]! - centre[i % 3]!);
    if (distance <= limit) continue;
    throw new IntersticeError(
      'COORDINATE_RANGE',
      `${nameCoordinate(name, i)} is ${target[i]}, which is ${distance} away from the centre of the start; the limit is ${MAX_TARGET_EXTENTS} times its extent of ${extent}`,
      { element: nameVertex(Math.floor(i / 3)) },
    );
  }
}

function checkMagnitude(positions: Positions, name: string): void {
  for (let i = 0; i < positions.length; i++) {
    if (Math.abs(positions[i]!) <= MAX_COORDINATE) continue;
    throw new IntersticeError(
      'COORDINATE_RANGE',
      `${nameCoordinate(name, i)} is ${positions[i]}, the limit is ${MAX_COORDINATE} in magnitude`,
      { element: nameVertex(Math.floor(i / 3)) },
    );
  }
}

function measureBox(positions: Positions): { centre: readonly number[]; extent: number } {
  const low = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
  const high = [Number.NEGATIVE_INFINITY, Number.NEGATIVE_INFINITY, Number.NEGATIVE_INFINITY];
  let largest = 0;
  for (let i = 0; i < positions.length; i++) {
    const value = positions[i]!;
    low[i % 3] = Math.min(low[i % 3]!, value);
    high[i % 3] = Math.max(high[i % 3]!, value);
    largest = Math.max(largest, Math.abs(value));
  }
  const side = Math.max(...low.map((value, axis) => high[axis]! - value));
  return { centre: low.map((value, axis) => value / 2 + high[axis]! / 2), extent: side || largest || 1 };
}

/** 'the x coordinate of vertex 4 of target' */
function nameCoordinate(name: string, index: number): string {
  return `the ${AXES[index % 3]} coordinate of vertex ${Math.floor(index / 3)} of ${name}`;
}
