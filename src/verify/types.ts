import type { ElementPair } from '../contract/elements.js';
import type { ExcludedPairs } from '../mesh/excluded-pairs.js';
import type { LeftOutPairs } from '../mesh/left-out-pairs.js';

export interface PairRules {
  /** SKIP: pairs of two wholly kinematic elements are counted separately and not reported. */
  readonly kinematicPairs: 'SKIP' | 'PROTECT';
  /** false: under SKIP, pairs of two wholly kinematic elements are not even searched for, and their count is 0; default true */
  readonly countsKinematic?: boolean | undefined;
  /** maximum number of listed pairs; counts are always complete */
  readonly maxPairs: number;
  /** pairs that intersected at the start: neither they nor what depends on them is a finding */
  readonly excluded?: LeftOutPairs | undefined;
  /**
   * Called about every millisecond during a search. An error that it throws ends the test. It does not affect the
   * findings.
   */
  readonly checkpoint?: (() => void) | undefined;
  /** Whether there is time for a longer test that shortens later ones. It does not affect the findings. Default true */
  readonly hasTimeToPrepare?: (() => boolean) | undefined;
}

/** Rules whose excluded pairs are a list. */
export type ListedPairRules = PairRules & { readonly excluded?: ExcludedPairs | undefined };

export interface StateFindings {
  /** edge-triangle (and codimensional) pairs with a common point, ignored and skipped ones excluded */
  readonly intersectionCount: number;
  readonly intersections: readonly ElementPair[];
  /** pairs of two wholly kinematic elements with a common point, counted also when skipped */
  readonly kinematicIntersectionCount: number;
  /** pairs that this test decided, without pairs of two elements that are at rest since the remembered state */
  readonly pairsTested: number;
  /** pairs that the floating-point filter could not decide, so that the exact predicate did */
  readonly doubtfulPairs: number;
  /** pairs with a common point that {@link PairRules.excluded} excludes, all of them, in order; counted nowhere above */
  readonly excludedPairs?: readonly ElementPair[];
}

export interface DistanceFindings {
  /** smallest distance between non-adjacent elements within the requested distance; undefined if there is none */
  readonly minDistance: number | undefined;
  /** the closest pairs, ascending by distance */
  readonly closePairs: readonly ElementPair[];
}

export interface PathFindings {
  /**
   * no pair begins to meet on the straight path; never true for a path that collides and whose start is free, but may be
   * false for one that does not
   */
  readonly pathFree: boolean;
  /** lower bound of the first impact's time in [0, 1]; undefined if the path is free */
  readonly earliestImpact: number | undefined;
  readonly collisionCount: number;
  readonly collisions: readonly ElementPair[];
}
