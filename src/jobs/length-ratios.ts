import type { Positions } from '../contract/mesh.js';

/**
 * Ratios of lengths are compared as ratios of squares, for which the scale of the frame brings the coordinates near 1. A
 * single edge may be far shorter than that: its square loses digits to underflow, is 0, or has a quotient beyond all
 * doubles. Scaled coordinates are float32 numbers, so the square of a length is at most 3 (2 · 2¹²⁸)² < 2²⁶⁰, and over a
 * square of at least this it is a finite number; from 2⁻⁹⁶⁹ on squares have all their digits.
 */
export const LEAST_SQUARE = 2 ** -700;

/**
 * The length of an edge in an answer over its length in the target, or over `rest`, however short these are.
 *
 * @param rest its length at rest, the caller's unit; undefined = that in the target
 * @returns 0 if the edge has no reference
 */
export function ratioOfLengths(answer: Positions, target: Positions, i: number, j: number, rest?: number): number {
  const reference = rest ?? lengthBetween(target, i, j);
  return reference === 0 ? 0 : lengthBetween(answer, i, j) / reference;
}

/** Neither overflows nor underflows. */
export const lengthBetween = (x: Positions, i: number, j: number): number =>
  Math.hypot(x[3 * i]! - x[3 * j]!, x[3 * i + 1]! - x[3 * j + 1]!, x[3 * i + 2]! - x[3 * j + 2]!);
