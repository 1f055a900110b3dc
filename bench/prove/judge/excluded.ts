import { distanceOf, type Vector } from './nearest.js';
import { findMeetings, type Meeting, type StateRules } from './state-judge.js';
import type { Surface } from './surface.js';
import { findTouching } from './touching.js';

/*
 * Which pairs a start under IGNORE_PAIRS may exclude, from the contract's words alone. An edge begins or ceases to pierce
 * a triangle only where one of five pairs meets: an end of it with the triangle, or the edge with a side. These five of
 * every pair that intersects are nobody's to keep apart, and whatever rests on one of them is not promised either. Where paths
 * are tested as well (PATH), pairs that touch without piercing anything are excluded too: no path from there is free of them.
 */

type Elements = readonly number[];

/** The five of an edge and a triangle; any other pair is its own. */
function servingPairs(a: Elements, b: Elements): (readonly [Elements, Elements])[] {
  if (a.length !== 2 || b.length !== 3) return [[a, b]];
  const [i, j, k] = b;
  return [
    [[a[0]], b],
    [[a[1]], b],
    [a, [i, j]],
    [a, [j, k]],
    [a, [k, i]],
  ];
}

const idsOf = (element: Elements): string => [...element].sort((p, q) => p - q).join(' ');
const nameOf = (a: Elements, b: Elements): string => [idsOf(a), idsOf(b)].sort().join('|');

/** Pairs that are not promised in one request. */
export class Excused {
  readonly #pairs = new Map<string, readonly [Elements, Elements]>();

  constructor(meetings: readonly Meeting[]) {
    for (const { a, b } of meetings) {
      for (const pair of servingPairs(a, b)) this.#pairs.set(nameOf(...pair), pair);
    }
  }

  /** Whether a pair, or for an edge and a triangle one of its five, is among them. */
  has(a: Elements, b: Elements): boolean {
    if (this.#pairs.size === 0) return false;
    return servingPairs(a, b).some((pair) => this.#pairs.has(nameOf(...pair)));
  }

  /** How many pairs lose their promise: edges and triangles, and pairs that serve none of these. */
  count({ edges, triangles }: Surface): number {
    const edgesAt = new Map<number, Elements[]>();
    for (const edge of edges) for (const v of edge) listed(edgesAt, v).push(edge);
    const trianglesAt = new Map<string, Elements[]>();
    for (const triangle of triangles) {
      for (const apex of triangle) listed(trianglesAt, idsOf(triangle.filter((v) => v !== apex))).push(triangle);
    }
    const dependent = new Set<string>();
    let alone = 0;
    for (const [a, b] of this.#pairs.values()) {
      const served: (readonly [Elements, Elements])[] =
        a.length === 1 && b.length === 3
          ? listed(edgesAt, a[0]).map((edge) => [edge, b])
          : [
              ...listed(trianglesAt, idsOf(b)).map((triangle) => [a, triangle] as const),
              ...listed(trianglesAt, idsOf(a)).map((triangle) => [b, triangle] as const),
            ];
      const apart = served.filter(([e, t]) => e.length === 2 && !e.some((v) => t.includes(v)));
      if (apart.length === 0) alone++;
      for (const pair of apart) dependent.add(nameOf(...pair));
    }
    return dependent.size + alone;
  }
}

/** What one request may exclude. */
export interface Excluded {
  readonly excused: Excused;
  /** what the report's count has to lie between: they differ only while a pair is within the floor of parting, or within the
   *  rounding of a path test of touching */
  readonly fewest: number;
  readonly most: number;
}

/**
 * The pairs that a session has excluded and that have not parted yet. A pair is guarded again from the first start on in
 * which it does not intersect and all of its five are further apart than the floor.
 */
export class ExcludedMemory {
  #earlier: readonly Meeting[] = [];

  /** The service knows no more of them: another start, another session. */
  forget(): void {
    this.#earlier = [];
  }

  /**
   * @param floor no less than the service's, the caller's unit: within it a pair may be guarded or not
   * @param hasPaths the answer's path is tested too, so that what touches in the start is excluded
   */
  settle(surface: Surface, start: ArrayLike<number>, rules: StateRules, floor: number, hasPaths = false): Excluded {
    const meetings = findMeetings(surface, start, rules);
    const known = new Set(meetings.map(({ a, b }) => nameOf(a, b)));
    const at = (v: number): Vector => [start[3 * v], start[3 * v + 1], start[3 * v + 2]];
    const isNear = ([a, b]: readonly [Elements, Elements]) => !(distanceOf(a.map(at), b.map(at)) > floor);
    const near = this.#earlier.filter(({ a, b }) => !known.has(nameOf(a, b)) && servingPairs(a, b).some(isNear));
    const { certain, possible } = hasPaths
      ? findTouching({ ...surface, excused: new Excused(meetings) }, start, rules)
      : { certain: [], possible: [] };
    const fewest = new Excused([...meetings, ...certain]).count(surface);
    this.#earlier = [...meetings, ...certain, ...possible, ...near];
    const excused = new Excused(this.#earlier);
    const isSettled = near.length + possible.length === 0;
    return { excused, fewest, most: isSettled ? fewest : excused.count(surface) };
  }
}

function listed<K, V>(map: Map<K, V[]>, key: K): V[] {
  const list = map.get(key) ?? [];
  map.set(key, list);
  return list;
}
