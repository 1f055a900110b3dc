import type { DiagnosisFinding } from '../contract/diagnosis.js';
import type { KinematicPairs } from '../contract/parameters.js';
import { fillContactOffsets, lengthOfPair } from '../mesh/part-lengths.js';
import type { CollisionMesh } from '../mesh/types.js';
import { countClosePairs, type IsClose } from '../verify/distance.js';
import { finding, plural, type Subject, show } from './subject.js';

/** Lengths that a resolve would use, the caller's unit. */
export interface Lengths {
  /** δ */
  readonly activationDistance: number;
  /** the gap to which contacts open pairs that begin nearer; undefined = the method opens none */
  readonly opening: Opening | undefined;
  /** the floor: steps leave at least half of it, and no room to pairs that are nearer */
  readonly floor: number;
  /** whether the floor follows from the rounding of coordinates, rather than from δ */
  readonly isFloorRounding: boolean;
}

export interface Opening {
  /** for parts without lengths of their own, the caller's unit */
  readonly gap: number;
  /** of the parameters and of parts, the length that determines it: itself, or as a share of it */
  readonly by: 'contactOffset' | 'activationDistance';
}

/**
 * Pairs that the search for gaps may measure: so many, and so many for each element. Meshes whose elements are thin and
 * lie side by side have some tens of pairs an element within reach, but if all elements are within reach of each other,
 * pairs grow with their square: 2,400 triangles have 43 million.
 */
const MEASURED_PAIRS = 2 ** 18;
const MEASURED_PAIRS_PER_ELEMENT = 256;

/**
 * Compares the smallest distances of the start with those that a resolve needs: pairs nearer than the floor have no room to
 * approach, and contacts open pairs that are nearer than their contact offset or, under quality FAST, than their share of δ.
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
  const { activationDistance: delta, floor, kinematicPairs } = lengths;
  // A resolve is refused then (TOLERANCE_TOO_SMALL), and every pair of the mesh may be nearer than the floor.
  if (floor > delta) return [];
  const rules = { kinematicPairs, maxPairs: maxElements, checkpoint } as const;
  const gaps = gapsByVertex(mesh, lengths);
  const different = new Set(gaps);
  const most = Math.max(floor, ...different);
  const isClose: IsClose = (ids, sideA, distance) => distance <= Math.max(floor, gapBetween(gaps, ids, sideA));
  // With one gap for all, no pair beyond it is visited.
  const elementCount = mesh.contactVertices.length + mesh.edges.length / 2 + mesh.triangles.length / 3;
  const mostMeasured = MEASURED_PAIRS + MEASURED_PAIRS_PER_ELEMENT * elementCount;
  const found = countClosePairs(mesh, x, rules, most, different.size === 1 ? () => true : isClose, mostMeasured);
  const { minDistance, closePairs, closeCount: count, measuredCount, isComplete } = found;
  const leftOut = isComplete ? [] : [describeLeftOut(measuredCount)];
  if (minDistance === undefined || count === 0) return leftOut;
  const isTight = minDistance < floor;
  if (!isTight && !lengths.opening) return leftOut;
  const elements = closePairs.map(({ a, b }, index) => ({ kind: 'pair', index, vertices: [...a, ...b] }));
  return [
    finding({
      code: 'THIN_GAP',
      severity: isTight ? 'WARNING' : 'NOTE',
      count,
      measure: minDistance,
      unit: 'length',
      elements,
      message: `The smallest gap${isComplete ? '' : ' that was found'} is ${show(minDistance)}, ${show(minDistance / delta)} of δ (${show(delta)}); ${isComplete ? '' : 'at least '}${plural(count, 'pair is', 'pairs are')} below ${nameGap(mesh, lengths)}.`,
      advice: isTight ? adviseTight(lengths) : adviseOpen(lengths.opening!),
    }),
    ...leftOut,
  ];
}

const describeLeftOut = (measuredCount: number): DiagnosisFinding =>
  finding({
    code: 'GAPS_NOT_MEASURED',
    severity: 'NOTE',
    count: measuredCount,
    message: `The search for thin gaps ended after ${plural(measuredCount, 'pair', 'pairs')} of elements whose boxes are near each other: more are, so there may be further and thinner gaps.`,
    advice:
      'Nearly every element lies beside nearly every other one. A check with reportPairsCloserThan finds the closest pairs, however long that takes.',
  });

/** float64[V] the gap to which contacts open the pairs of a vertex, the caller's unit. */
function gapsByVertex({ parts, vertexCount }: CollisionMesh, { activationDistance, opening }: Lengths): Float64Array {
  const gaps = new Float64Array(vertexCount).fill(opening?.gap ?? 0);
  if (!opening) return gaps;
  const usual = { delta: activationDistance, offsetShare: opening.gap / activationDistance, scale: 1 };
  const read = opening.by === 'contactOffset' ? parts : parts.map((part) => ({ ...part, contactOffset: undefined }));
  return fillContactOffsets(read, usual, gaps);
}

function nameGap({ parts }: CollisionMesh, { opening, floor }: Lengths): string {
  if (!opening) return `${show(floor)}, the floor of a motion`;
  const hasOwn = parts.some((part) => part.activationDistance !== undefined || part[opening.by] !== undefined);
  return hasOwn
    ? 'the gap to which an answer opens nearer pairs of their parts'
    : `${show(Math.max(opening.gap, floor))}, the gap to which an answer opens nearer pairs`;
}

function adviseTight({ opening, floor, isFloorRounding }: Lengths): string {
  const cause = isFloorRounding
    ? `Below ${show(floor)} single precision cannot tell such a pair from one that touches`
    : `Below ${show(floor)}, the floor for this δ, such a pair has no room to approach`;
  const remedy = isFloorRounding
    ? 'send double precision nearer to the origin'
    : 'use a smaller activationDistance, from which the floor follows';
  return opening
    ? `${cause}: the service opens the gap where it can, and may hold the pair in place. Move the layers apart, or ${remedy}.`
    : `${cause}, and method VOLUME_IMPULSES opens no gap: a motion that brings it nearer is not made, so the answer may stop near the start. Move the layers apart, ${remedy}, or use method TWO_WAY, which opens gaps.`;
}

function adviseOpen({ by }: Opening): string {
  const accepted =
    'Accepted: where something moves, the answer opens such gaps, which moves the layers apart by the same amount.';
  return by === 'contactOffset'
    ? `${accepted} A smaller contactOffset keeps the gaps.`
    : `${accepted} A smaller activationDistance keeps the gaps; under FAST and PAPER contactOffset has no effect.`;
}

/** The gap to which contacts open a pair. @param gaps float64[V] @param ids its vertices, `sideA` of them of side a */
const gapBetween = (gaps: Float64Array, ids: readonly number[], sideA: number): number =>
  lengthOfPair(gaps, sideA, ids.length, ids[0], ids[1], ids[2] ?? -1, ids[3] ?? -1);
