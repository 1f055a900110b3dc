/** Names of the kinds of pairs, as in the contract. */
export type PairKind = 'VERTEX_TRIANGLE' | 'EDGE_EDGE' | 'VERTEX_EDGE' | 'VERTEX_VERTEX' | 'EDGE_TRIANGLE';

/** One element of a mesh, in the caller's own numbering. */
export interface ElementRef {
  /** "vertex", "edge", "triangle", "particle", "part", ... */
  readonly kind: string;
  /** Index among the elements of its kind. */
  readonly index: number;
  /** Ids of its vertices. */
  readonly vertices: readonly number[];
}

/** Two elements by the ids of their vertices. */
export interface ElementPair {
  readonly kind: PairKind;
  readonly a: readonly number[];
  readonly b: readonly number[];
  /** In the caller's unit; absent if it is not known. */
  readonly distance?: number;
  /** Unit vector from b to a. */
  readonly normal?: readonly [number, number, number];
}
