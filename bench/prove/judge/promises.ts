import type { Element, PairList, Surface } from './surface.js';

/*
 * Which pairs of elements the contract promises to keep apart.
 */

export interface StateRules {
  readonly kinematicPairs: 'SKIP' | 'PROTECT';
}

export interface Pair {
  readonly a: Element;
  readonly b: Element;
}

/**
 * Whether the contract promises anything for this pair: no common vertex, not both kinematic under SKIP, not ignored,
 * not excluded because of intersections in the start.
 */
export function isPromised(surface: Surface, a: Element, b: Element, { kinematicPairs }: StateRules): boolean {
  for (const v of a) if (b.includes(v)) return false;
  const { kinematic, partOf, ignoredParts, excused } = surface;
  if (kinematicPairs === 'SKIP' && a.every((v) => kinematic[v]) && b.every((v) => kinematic[v])) return false;
  if (excused?.has(a, b)) return false;
  if (ignoredParts.size === 0) return true;
  const [p, q] = [partOf[a[0]], partOf[b[0]]];
  const isWhole = a.every((v) => partOf[v] === p) && b.every((v) => partOf[v] === q);
  return !(isWhole && ignoredParts.has(nameOf([p, q])));
}

/** Edges by each of their vertices, and triangles by each of their sides. */
class Incidence {
  readonly #edgesAt = new Map<number, Element[]>();
  readonly #trianglesAt = new Map<string, Element[]>();

  constructor({ edges, triangles }: Surface) {
    for (const edge of edges) for (const v of edge) listed(this.#edgesAt, v).push(edge);
    for (const triangle of triangles) {
      for (const apex of triangle) {
        listed(this.#trianglesAt, nameOf(triangle.filter((v) => v !== apex))).push(triangle);
      }
    }
  }

  /** Pairs of an edge and a triangle that begin to meet when the proximity pair of a and b does. */
  *guardedBy(a: Element, b: Element): Generator<Pair> {
    if (a.length === 1 && b.length === 3) {
      for (const edge of this.#edgesAt.get(a[0]) ?? []) yield { a: edge, b };
    } else if (a.length === 2 && b.length === 2) {
      for (const triangle of this.#trianglesAt.get(nameOf(b)) ?? []) yield { a, b: triangle };
      for (const triangle of this.#trianglesAt.get(nameOf(a)) ?? []) yield { a: b, b: triangle };
    }
  }
}

/**
 * The pairs that may not meet on a path. Besides the promised ones these are pairs of kinematic elements under SKIP,
 * and of ignored parts, in which a promised pair of an edge and a triangle can begin to meet: a vertex and a triangle
 * through an edge at the vertex, two edges through a triangle at one of them.
 */
export class GuardedPairs implements PairList {
  readonly #incidence: Incidence;

  constructor(
    private readonly surface: Surface,
    private readonly rules: StateRules,
  ) {
    this.#incidence = new Incidence(surface);
  }

  has(a: Element, b: Element): boolean {
    if (isPromised(this.surface, a, b, this.rules)) return true;
    if (a.some((v) => b.includes(v))) return false;
    for (const guarded of this.#incidence.guardedBy(a, b)) {
      if (isPromised(this.surface, guarded.a, guarded.b, this.rules)) return true;
    }
    return false;
  }
}

/**
 * The proximity pairs through which two elements can begin to meet: for an edge and a triangle five, an end of the edge with
 * the triangle or the edge with a side of it; any other pair is its own.
 */
export function proximityPairsOf({ a, b }: Pair): Pair[] {
  if (a.length !== 2 || b.length !== 3) return [{ a, b }];
  const [i, j, k] = b;
  return [
    { a: [a[0]], b },
    { a: [a[1]], b },
    { a, b: [i, j] },
    { a, b: [j, k] },
    { a, b: [k, i] },
  ];
}

/** Pairs that are not promised in one request, because some intersect or touch in its start. */
export class Excused implements PairList {
  readonly #pairs = new Map<string, Pair>();

  constructor(meetings: readonly Pair[]) {
    for (const meeting of meetings) {
      for (const pair of proximityPairsOf(meeting)) this.#pairs.set(nameOfPair(pair), pair);
    }
  }

  /** Whether a pair, or for an edge and a triangle one of its five proximity pairs, is among them. */
  has(a: Element, b: Element): boolean {
    if (this.#pairs.size === 0) return false;
    return proximityPairsOf({ a, b }).some((pair) => this.#pairs.has(nameOfPair(pair)));
  }

  /** Whether all pairs of the other are among these. */
  includes(other: Excused): boolean {
    return [...other.#pairs.keys()].every((name) => this.#pairs.has(name));
  }

  /** Number of pairs that lose their promise: edges and triangles, and proximity pairs that guard none of these. */
  count(surface: Surface): number {
    const incidence = new Incidence(surface);
    const dependent = new Set<string>();
    let alone = 0;
    for (const { a, b } of this.#pairs.values()) {
      const guarded = [...incidence.guardedBy(a, b)].filter((pair) => !pair.a.some((v) => pair.b.includes(v)));
      if (guarded.length === 0) alone++;
      for (const pair of guarded) dependent.add(nameOfPair(pair));
    }
    return dependent.size + alone;
  }
}

const nameOf = (element: Element): string => [...element].sort((p, q) => p - q).join(' ');

/** The same for both orders of a pair and for all orders of a side's vertices. */
export const nameOfPair = ({ a, b }: Pair): string => [nameOf(a), nameOf(b)].sort().join('|');

function listed<K, V>(map: Map<K, V[]>, key: K): V[] {
  const list = map.get(key) ?? [];
  map.set(key, list);
  return list;
}
