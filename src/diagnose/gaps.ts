import type { DiagnosisFinding } from '../contract/diagnosis.js';
import { findDistances } from '../verify/distance.js';
import { finding, type Subject, show } from './subject.js';

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
 * certified, so that the two elements do not move; gaps below the contact offset are widened in the answer.
 *
 * @param isFree whether there are no intersections; only then distances are meaningful
 */
export function findThinGaps(subject: Subject, lengths: Lengths, isFree: boolean): DiagnosisFinding[] {
  if (!isFree) return [];
  const { mesh, x, checkpoint, maxElements } = subject;
  const { activationDistance: delta, contactOffset, floor } = lengths;
  const rules = { kinematicPairs: 'SKIP', maxPairs: Math.max(1, maxElements), checkpoint } as const;
  const { minDistance, closePairs } = findDistances(mesh, x, rules, contactOffset);
  if (minDistance === undefined) return [];
  const isTight = minDistance < floor;
  const elements = closePairs.map(({ a, b }, index) => ({ kind: 'pair', index, vertices: [...a, ...b] }));
  return [
    finding({
      code: 'THIN_GAP',
      severity: isTight ? 'WARNING' : 'NOTE',
      count: closePairs.length,
      measure: minDistance,
      unit: 'length',
      elements,
      message: `The smallest gap is ${show(minDistance)}, ${show(minDistance / delta)} of δ (${show(delta)}); ${closePairs.length >= rules.maxPairs ? 'at least ' : ''}${closePairs.length} pairs are below ${show(contactOffset)}, the gap of an answer.`,
      advice: isTight
        ? `Below ${show(floor)} single precision cannot tell such a pair from one that touches: the service opens the gap where it can, and may hold the pair in place. Move the layers apart, or send double precision nearer to the origin.`
        : 'Accepted: the answer opens such gaps, which moves the layers apart by the same amount. A smaller contactOffset keeps the gaps.',
    }),
  ];
}
