import type { ElementPair } from '../contract/elements.js';
import type { ProximityPair } from './excluded-pairs.js';

/**
 * Proximity pairs that a step neither constrains nor bounds nor checks (ExcludedPairs: a list; other rules: a
 * predicate). The order of an element's vertices has no meaning.
 */
export interface LeftOutPairs {
  /** the pairs of elements from which they follow, as far as they are listed */
  readonly items: readonly ElementPair[];
  /** the proximity pairs themselves; absent = they follow from a rule and are not listed */
  readonly proximityPairs?: () => Iterable<ProximityPair>;
  isSameAs(other: LeftOutPairs | undefined): boolean;
  hasVertexTriangle(a: number, i: number, j: number, k: number): boolean;
  hasEdgeEdge(a: number, b: number, c: number, d: number): boolean;
  hasVertexEdge(a: number, i: number, j: number): boolean;
  hasVertexVertex(a: number, i: number): boolean;
  /** whether one of the five proximity pairs of edge ab and triangle ijk is left out */
  hasEdgeTriangle(a: number, b: number, i: number, j: number, k: number): boolean;
}
