import type { ElementPair, PairKind } from '../contract/elements.js';

/**
 * Codes of the kinds of pairs; they also give the order in which findings are listed. 1 to 4 are the contract's
 * codes.
 */
export const VERTEX_TRIANGLE = 1;
export const EDGE_EDGE = 2;
export const VERTEX_EDGE = 3;
export const VERTEX_VERTEX = 4;
export const EDGE_TRIANGLE = 5;

export type PairCode = 1 | 2 | 3 | 4 | 5;

interface KindShape {
  readonly name: PairKind;
  /** Vertices on side a and on side b. */
  readonly a: 1 | 2;
  readonly b: 1 | 2 | 3;
}

const SHAPES: Record<PairCode, KindShape> = {
  1: { name: 'VERTEX_TRIANGLE', a: 1, b: 3 },
  2: { name: 'EDGE_EDGE', a: 2, b: 2 },
  3: { name: 'VERTEX_EDGE', a: 1, b: 2 },
  4: { name: 'VERTEX_VERTEX', a: 1, b: 1 },
  5: { name: 'EDGE_TRIANGLE', a: 2, b: 3 },
};

export function shapeOf(code: PairCode): KindShape {
  return SHAPES[code];
}

const CODES: Record<PairKind, PairCode> = {
  VERTEX_TRIANGLE: 1,
  EDGE_EDGE: 2,
  VERTEX_EDGE: 3,
  VERTEX_VERTEX: 4,
  EDGE_TRIANGLE: 5,
};

export function codeOf(kind: PairKind): PairCode {
  return CODES[kind];
}

/** One pair found: its kind and the vertex ids of side a followed by those of side b. */
export interface Finding {
  readonly code: PairCode;
  readonly ids: readonly number[];
  readonly distance?: number;
  readonly normal?: readonly [number, number, number];
}

export function toElementPair(finding: Finding): ElementPair {
  const shape = SHAPES[finding.code];
  return {
    kind: shape.name,
    a: finding.ids.slice(0, shape.a),
    b: finding.ids.slice(shape.a),
    ...(finding.distance === undefined ? {} : { distance: finding.distance }),
    ...(finding.normal === undefined ? {} : { normal: finding.normal }),
  };
}

/** Order by kind, then by vertex ids, which makes lists independent of the order in which pairs were found. */
export function compareFindings(left: Finding, right: Finding): number {
  if (left.code !== right.code) return left.code - right.code;
  for (let k = 0; k < left.ids.length; k++) {
    const difference = left.ids[k] - right.ids[k];
    if (difference !== 0) return difference;
  }
  return 0;
}

/** Keeps the first `capacity` of all findings offered, in the given order, in memory proportional to the capacity. */
export class FirstFindings {
  private readonly kept: Finding[] = [];
  /** Set once more than `capacity` findings were offered: a finding that does not precede it can never be listed. */
  private last: Finding | undefined;

  constructor(
    private readonly capacity: number,
    private readonly compare: (left: Finding, right: Finding) => number,
  ) {}

  offer(finding: Finding): void {
    if (this.capacity <= 0) return;
    if (this.last !== undefined && this.compare(finding, this.last) >= 0) return;
    this.kept.push(finding);
    // Sorting only when the list is twice as long as needed keeps the cost of one offer logarithmic.
    if (this.kept.length >= 2 * this.capacity) this.shrink();
  }

  /** The worst finding that is still listed, once the list is full; later ones must precede it. */
  get worst(): Finding | undefined {
    return this.last;
  }

  list(): Finding[] {
    this.shrink();
    return [...this.kept];
  }

  private shrink(): void {
    this.kept.sort(this.compare);
    if (this.kept.length > this.capacity) this.kept.length = this.capacity;
    if (this.kept.length === this.capacity) this.last = this.kept[this.capacity - 1];
  }
}
