import type { ElementPair } from '../../contract/elements.js';
import type { Contacts } from '../../contract/report.js';

/** Lines that mark elements and contacts, as float32[6·N]: the two ends of each line. Positions are float32[3·V]. */

/** Length of the tick that shows the normal of a contact, in median edges. */
const TICK = 0.5;
/** The same if the push is known: for a contact without push, and for the one with the largest push. */
const MIN_TICK = 0.12;
const MAX_TICK = 2;
/** Half the length of the arms of the cross that marks a vertex, in median edges. */
const CROSS = 0.35;

export function outlineOf(pairs: readonly ElementPair[], positions: ArrayLike<number>, edge: number): Float32Array {
  const ends: number[] = [];
  for (const { a, b } of pairs) {
    addElement(a, positions, edge, ends);
    addElement(b, positions, edge, ends);
  }
  return Float32Array.from(ends);
}

/** The lines between neighbours. @param points float32[3·n] */
export function curveOf(points: Float32Array, isClosed: boolean): Float32Array<ArrayBuffer> {
  const count = points.length / 3;
  const lines = isClosed ? count : count - 1;
  const ends = new Float32Array(6 * Math.max(0, lines));
  for (let k = 0; k < lines; k++) {
    ends.set(points.subarray(3 * k, 3 * k + 3), 6 * k);
    const next = (k + 1) % count;
    ends.set(points.subarray(3 * next, 3 * next + 3), 6 * k + 3);
  }
  return ends;
}

/** The sides of an element; a cross for a vertex. */
export function addElement(ids: readonly number[], positions: ArrayLike<number>, edge: number, ends: number[]): void {
  const at = (v: number, c: number) => positions[3 * v + c] ?? 0;
  if (ids.length === 1) {
    for (let c = 0; c < 3; c++) {
      for (const sign of [-1, 1])
        for (let k = 0; k < 3; k++) ends.push(at(ids[0]!, k) + (k === c ? sign * CROSS * edge : 0));
    }
    return;
  }
  const sides = ids.length === 2 ? 1 : ids.length;
  for (let s = 0; s < sides; s++) {
    for (const v of [ids[s]!, ids[(s + 1) % ids.length]!]) ends.push(at(v, 0), at(v, 1), at(v, 2));
  }
}

/**
 * A tick along the normal of each contact, from the middle between its closest points; proportional to the square root
 * of the push of the contact, if it is known.
 */
export function contactTicks(
  { vertices, weights, normals, distances, multipliers }: Contacts,
  positions: ArrayLike<number>,
  edge: number,
  isShown: (vertex: number) => boolean,
): Float32Array {
  const ends = new Float32Array(6 * distances.length);
  const most = multipliers?.length
    ? Math.max(
        multipliers.reduce((a, b) => Math.max(a, b), 0),
        1e-30,
      )
    : 0;
  let end = 0;
  for (let i = 0; i < distances.length; i++) {
    const [first, other] = [vertices[4 * i]!, vertices[4 * i + 3]!];
    if (!isShown(first) || (other !== NONE && !isShown(other))) continue;
    const length = most > 0 ? MIN_TICK + (MAX_TICK - MIN_TICK) * Math.sqrt(multipliers![i]! / most) : TICK;
    for (let k = 4 * i; k < 4 * i + 4; k++) {
      const v = vertices[k]!;
      if (v === NONE) continue;
      for (let c = 0; c < 3; c++) ends[end + c]! += 0.5 * weights[k]! * positions[3 * v + c]!;
    }
    for (let c = 0; c < 3; c++) ends[end + 3 + c] = ends[end + c]! + length * edge * normals[3 * i + c]!;
    end += 6;
  }
  return ends.slice(0, end);
}

/** Padding for the vertices of a contact with fewer than four. */
export const NONE = 0xffffffff;
