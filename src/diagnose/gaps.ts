import type { DiagnosisFinding } from '../contract/diagnosis.js';
import type { KinematicPairs } from '../contract/parameters.js';
import { fillContactOffsets, lengthOfPair } from '../mesh/part-lengths.js';
import { countClosePairs } from '../verify/distance.js';
import { finding, plural, type Subject, show } from './subject.js';

/** Lengths that a resolve would use, the caller's unit. */
export interface Lengths {
  /** δ */
  readonly activationDistance: number;
  /** gap that contacts aim for in the answer */
  readonly contactOffset: number;
  /** the smallest gap that the numbers can represent: the certified floor */
  readonly floor: number;
}

/**
 * Compares the smallest distances of the start with those that a resolve needs: below the floor no step can be
 * certified, so that the two elements do not move; gaps below the contact offset of a pair are widened in the answer.
 *
 * @param isFree whether there are no intersections; only then distances are meaningful
 */
export function findThinGaps(
  subject: Subject,
  lengths: Lengths & { readonly kinematicPairs: KinematicPairs },
  isFree: boolean,
): DiagnosisFinding[] {
  if (!isFree) return [];
  const { mesh, x, checkpoint, maxElements } = subject;
  const { activationDistance: delta, contactOffset, floor, kinematicPairs } = lengths;
  const rules = { kinematicPairs, maxPairs: maxElements, checkpoint } as const;
  const usual = { delta, offsetShare: contactOffset / delta, scale: 1 };
  const offsets = fillContactOffsets(mesh.parts, usual, new Float64Array(mesh.vertexCount).fill(contactOffset));
  const most = Math.max(floor, ...new Set(offsets));
  const gapOf = (a: readonly number[], b: readonly number[]): number => Math.max(floor, offsetOf(offsets, a, b));
  const found = countClosePairs(mesh, x, rules, most, (a, b, distance) => distance <= gapOf(a, b));
  const { minDistance, closePairs, closeCount: count } = found;
  if (minDistance === undefined || count === 0) return [];
  const isTight = minDistance < floor;
  const elements = closePairs.map(({ a, b }, index) => ({ kind: 'pair', index, vertices: [...a, ...b] }));
  const hasOwn = mesh.parts.some((part) => part.activationDistance !== undefined || part.contactOffset !== undefined);
  const gap = hasOwn
    ? 'the gap that an answer leaves between their parts'
    : `${show(Math.max(contactOffset, floor))}, the gap of an answer`;
  return [
    finding({
      code: 'THIN_GAP',
      severity: isTight ? 'WARNING' : 'NOTE',
      count,
      measure: minDistance,
      unit: 'length',
      elements,
      message: `The smallest gap is ${show(minDistance)}, ${show(minDistance / delta)} of δ (${show(delta)}); ${plural(count, 'pair is', 'pairs are')} below ${gap}.`,
      advice: isTight
        ? `Below ${show(floor)} single precision cannot tell such a pair from one that touches: the service opens the gap where it can, and may hold the pair in place. Move the layers apart, or send double precision nearer to the origin.`
        : 'Accepted: the answer opens such gaps, which moves the layers apart by the same amount. A smaller contactOffset keeps the gaps.',
    }),
  ];
}

/** The contact offset of a pair. @param offsets float64[V] @param a vertices of its sides */
function offsetOf(offsets: Float64Array, a: readonly number[], b: readonly number[]): number {
  const [v0, v1, v2 = -1, v3 = -1] = [...a, ...b];
  return lengthOfPair(offsets, a.length, a.length + b.length, v0, v1, v2, v3);
}
