import type { PairKind } from '../contract/elements.js';
import type { PairCounts } from '../contract/report.js';
import type { LeftOutPairs } from '../mesh/left-out-pairs.js';
import { MIN_AREA_SHARE, MIN_SINE } from './constants.js';

/** Elements that a search pairs up, as in CollisionMesh; `rods` are the edges from `rodStart` on. */
export type ElementSet = 'contactVertices' | 'triangles' | 'edges' | 'rods' | 'particles';

/** Vertices of an element. */
export const ELEMENT_SIZE: Readonly<Record<ElementSet, number>> = {
  contactVertices: 1,
  triangles: 3,
  edges: 2,
  rods: 2,
  particles: 1,
};

/** The interior closest features of a kind whose elements span a plane. */
export interface PairPlane {
  /** Slots (p, q, r, s): the plane is spanned by u = x_q − x_p and v = x_s − x_r. */
  readonly slots: readonly [number, number, number, number];
  /** |u × v| below which the volume form falls back to the gap form. @param uu |u|² @param vv |v|² */
  readonly minArea: (uu: number, vv: number) => number;
}

/**
 * Everything that distinguishes one kind of proximity pair from another. A pair occupies up to four vertex slots, side
 * a first, unused slots last. A new kind is one entry here, its closest-point function (cpu/closest.ts) and its
 * kernels'.
 */
export interface PairKindEntry {
  /** name in the paper and in WGSL, where its value is the index in {@link PAIR_KINDS} */
  readonly symbol: string;
  /** name in reports and errors */
  readonly name: PairKind;
  /** field of the report that counts these pairs */
  readonly count: Exclude<keyof PairCounts, 'activeContacts' | 'colours'>;
  /** the elements of each side */
  readonly a: ElementSet;
  readonly b: ElementSet;
  /** undefined if the sides span no plane: only the closest points give a normal */
  readonly plane?: PairPlane;
  /** Whether a request excludes this pair. @param v vertex ids in slot order */
  readonly isExcluded: (excluded: LeftOutPairs, v0: number, v1: number, v2: number, v3: number) => boolean;
}

/** The kinds of proximity pair, in the order in which a search appends them to P; the index is the kind's code. */
export const PAIR_KINDS: readonly PairKindEntry[] = [
  {
    symbol: 'VT',
    name: 'VERTEX_TRIANGLE',
    count: 'vertexTriangle',
    a: 'contactVertices',
    b: 'triangles',
    plane: { slots: [1, 2, 1, 3], minArea: (uu, vv) => MIN_AREA_SHARE * Math.max(uu, vv) },
    isExcluded: (excluded, a, i, j, k) => excluded.hasVertexTriangle(a, i, j, k),
  },
  {
    symbol: 'EE',
    name: 'EDGE_EDGE',
    count: 'edgeEdge',
    a: 'edges',
    b: 'edges',
    plane: { slots: [0, 1, 2, 3], minArea: (uu, vv) => MIN_SINE * Math.sqrt(uu * vv) },
    isExcluded: (excluded, a, b, c, d) => excluded.hasEdgeEdge(a, b, c, d),
  },
  {
    // Only particles against rods: the edges of a triangle belong to it and VT covers them.
    symbol: 'VE',
    name: 'VERTEX_EDGE',
    count: 'vertexEdge',
    a: 'particles',
    b: 'rods',
    isExcluded: (excluded, a, i, j) => excluded.hasVertexEdge(a, i, j),
  },
  {
    symbol: 'VV',
    name: 'VERTEX_VERTEX',
    count: 'vertexVertex',
    a: 'particles',
    b: 'particles',
    isExcluded: (excluded, a, i) => excluded.hasVertexVertex(a, i),
  },
];

/** Codes of the kinds. Slots: VT [a | i j k], EE [a b | c d], VE [a | i j], VV [a | i]. */
export const VT = 0;
export const EE = 1;
export const VE = 2;
export const VV = 3;

/** Vertices on side a, by kind. */
export const SIDE_A: readonly number[] = PAIR_KINDS.map(({ a }) => ELEMENT_SIZE[a]);

/** Vertices on both sides, by kind. */
export const CORNERS: readonly number[] = PAIR_KINDS.map(({ a, b }) => ELEMENT_SIZE[a] + ELEMENT_SIZE[b]);
