import type { Contour, DiagnosisFinding, IntersectionRegion } from '../contract/diagnosis.js';
import type { ElementPair } from '../contract/elements.js';
import type { KinematicPairs } from '../contract/parameters.js';
import { findSomeIntersections } from '../verify/state.js';
import type { PairRules } from '../verify/types.js';
import { patchDepth } from './depth.js';
import { finding, plural, type Subject, show } from './subject.js';

/** Pairs that are grouped into regions; all are counted. Further pairs would not add information to the regions. */
const MOST_PAIRS = 100_000;

/** Regions that a diagnosis lists. */
const MOST_REGIONS = 32;

/**
 * Pairs that the search may find: so many, and so many for each element. A mesh that lies twice in the same place has
 * six an element, but if all elements intersect each other, pairs grow with their square: 2,000 triangles that cross at
 * random have a million.
 */
const FOUND_PAIRS = 2 ** 18;
const FOUND_PAIRS_PER_ELEMENT = 16;

export interface Intersections {
  readonly findings: DiagnosisFinding[];
  readonly regions: IntersectionRegion[];
  readonly regionCount: number;
  /** of the pairs that count; a lower bound if the search has ended early */
  readonly pairCount: number;
  /** ms that the search took; undefined = it ended early */
  readonly searchMs: number | undefined;
}

/**
 * The intersections of the start, in regions that are connected through elements. If the search ends early, a finding says so.
 *
 * @param kinematicPairs whether pairs of wholly kinematic elements count
 * @param mostExcluded number of pairs that a resolve would exclude instead of refusing the start
 * @param now ms
 */
export function findIntersectionRegions(
  subject: Subject,
  about: { readonly kinematicPairs: KinematicPairs; readonly mostExcluded: number; readonly now: () => number },
): Intersections {
  const { checkpoint, maxElements } = subject;
  const { kinematicPairs, mostExcluded, now } = about;
  const begin = now();
  const { pairs, pairCount, isComplete, kinematic } = findPairs(subject, {
    kinematicPairs,
    maxPairs: MOST_PAIRS,
    checkpoint,
  });
  const searchMs = kinematic.isComplete ? now() - begin : undefined;
  const isAccepted = pairCount <= mostExcluded;
  const findings: DiagnosisFinding[] = [];
  const groups = groupPairs(pairs);
  groups.sort((a, b) => b.length - a.length);
  const regions = groups.slice(0, MOST_REGIONS).map((group) => describeRegion(subject, group));
  if (pairCount > 0) {
    const listed = regions.slice(0, 6).map(describe);
    const rest = groups.length > listed.length ? `; ${groups.length - listed.length} more` : '';
    const bound = pairCount > pairs.length ? ` (the regions are those of the first ${pairs.length})` : '';
    findings.push(
      finding({
        code: 'INTERSECTION',
        severity: isAccepted ? 'WARNING' : 'PROBLEM',
        count: pairCount,
        measure: Math.max(...regions.map(({ depth }) => depth)),
        unit: 'length',
        elements: pairs
          .slice(0, maxElements)
          .map(({ a, b }, index) => ({ kind: 'pair', index, vertices: [...a, ...b] })),
        message: `${isComplete ? '' : 'At least '}${plural(pairCount, 'pair of elements intersects', 'pairs of elements intersect')} in ${plural(groups.length, 'region')}${bound}: ${listed.join('; ')}${rest}.`,
        advice: isAccepted
          ? 'Under onIntersectingStart IGNORE_PAIRS these pairs are neither constrained nor tested until they separate, and only the target can separate them.'
          : mostExcluded > 0
            ? `Under onIntersectingStart IGNORE_PAIRS at most ${plural(mostExcluded, 'pair')} can be excluded. Untangle the start first (interstice untangle, POST /v1/untangle).`
            : 'A start must be free of intersections. Small ones: resolve with onIntersectingStart IGNORE_PAIRS (--on-intersecting-start), which excludes these pairs until they separate. Otherwise untangle the start first (interstice untangle, POST /v1/untangle).',
      }),
    );
  }
  if (kinematic.count > 0 && kinematicPairs === 'SKIP') {
    findings.push(
      finding({
        code: 'KINEMATIC_INTERSECTION',
        severity: 'NOTE',
        count: kinematic.count,
        message: `${kinematic.isComplete ? '' : 'At least '}${plural(kinematic.count, 'pair', 'pairs')} of kinematic elements intersect.`,
        advice: 'They are not constrained unless kinematicPairs is PROTECT; cloth between them has no room.',
      }),
    );
  }
  if (!kinematic.isComplete) findings.push(describeLeftOut(mostFound(subject), isComplete));
  return { findings, regions, regionCount: groups.length, pairCount, searchMs };
}

/** The pairs that intersect, those that count and, under SKIP, those of kinematic elements. */
interface FoundPairs {
  readonly pairs: readonly ElementPair[];
  readonly pairCount: number;
  readonly isComplete: boolean;
  readonly kinematic: { readonly count: number; readonly isComplete: boolean };
}

function findPairs(subject: Subject, rules: PairRules): FoundPairs {
  const { mesh, x } = subject;
  const most = mostFound(subject);
  const all = findSomeIntersections(mesh, x, rules, most);
  // Pairs of kinematic elements may have taken the place of others.
  const isAgain = !all.isComplete && all.kinematicIntersectionCount > 0 && rules.kinematicPairs === 'SKIP';
  const counted = isAgain ? findSomeIntersections(mesh, x, { ...rules, countsKinematic: false }, most) : all;
  return {
    pairs: counted.intersections,
    pairCount: counted.intersectionCount,
    isComplete: counted.isComplete,
    kinematic: { count: all.kinematicIntersectionCount, isComplete: all.isComplete },
  };
}

const mostFound = ({ mesh }: Subject): number =>
  FOUND_PAIRS + FOUND_PAIRS_PER_ELEMENT * (mesh.triangles.length / 3 + mesh.edges.length / 2 + mesh.particles.length);

/** @param isOfKinematic whether only pairs of kinematic elements are left out */
const describeLeftOut = (count: number, isOfKinematic: boolean): DiagnosisFinding =>
  finding({
    code: 'INTERSECTIONS_NOT_COUNTED',
    severity: 'NOTE',
    count,
    message: `The search for intersections ended when it had found ${plural(count, 'pair')}: more intersect${isOfKinematic ? ', all of them of kinematic elements' : ', so there may be further and larger regions'}.`,
    advice:
      'Nearly every element intersects nearly every other one. A check counts all pairs, however long that takes.',
  });

const CONTOURS: { readonly [K in Contour]: string } = {
  CLOSED: 'through the middle of a surface',
  BORDER: 'at a border',
  OPEN: 'ending inside a surface',
};

const describe = ({ names, pairCount, size, depth, contour }: IntersectionRegion): string =>
  `${names.length > 1 ? `${names[0]} through ${names[1]}` : `${names[0]} through itself`}, ${plural(pairCount, 'pair')}, ${show(size)} across, ${show(depth)} deep, ${CONTOURS[contour]}`;

/** Pairs that have a vertex in common, directly or through others. */
function groupPairs(pairs: readonly ElementPair[]): ElementPair[][] {
  const parent = new Map<number, number>();
  const find = (v: number): number => {
    let root = v;
    while ((parent.get(root) ?? root) !== root) root = parent.get(root)!;
    for (let at = v; at !== root; ) {
      const next = parent.get(at) ?? root;
      parent.set(at, root);
      at = next;
    }
    return root;
  };
  for (const { a, b } of pairs) {
    const root = find(a[0]);
    for (const v of [...a, ...b]) parent.set(find(v), root);
  }
  const groups = new Map<number, ElementPair[]>();
  for (const pair of pairs) {
    const root = find(pair.a[0]);
    const group = groups.get(root);
    if (group) group.push(pair);
    else groups.set(root, [pair]);
  }
  return [...groups.values()];
}

function describeRegion(subject: Subject, pairs: readonly ElementPair[]): IntersectionRegion {
  const { componentOf, names, checkpoint, maxElements } = subject;
  checkpoint();
  const low = [Infinity, Infinity, Infinity];
  const high = [-Infinity, -Infinity, -Infinity];
  const met = new Map<number, number>();
  for (const { a, b } of pairs) {
    const point = meetingPoint(subject.x, a, b);
    for (let axis = 0; axis < 3; axis++) {
      low[axis] = Math.min(low[axis], point[axis]);
      high[axis] = Math.max(high[axis], point[axis]);
    }
    for (const side of [a, b]) met.set(componentOf[side[0]], (met.get(componentOf[side[0]]) ?? 0) + 1);
  }
  const ranks = [...met].sort(([, n], [, m]) => m - n).map(([rank]) => rank);
  return {
    pairCount: pairs.length,
    pairs: pairs.slice(0, maxElements),
    size: Math.hypot(...high.map((end, axis) => end - low[axis])),
    depth: patchDepth(subject, pairs),
    centre: [0, 1, 2].map((axis) => (low[axis] + high[axis]) / 2) as [number, number, number],
    contour: contourOf(subject, pairs),
    names: ranks.slice(0, 2).map((rank) => names[rank]),
  };
}

/**
 * The point where an edge passes a triangle, by the signed distances of its ends; for other pairs the mean of a's
 * vertices. It is an estimate of the place of a region, on which no decision depends.
 */
function meetingPoint(x: Float64Array, a: readonly number[], b: readonly number[]): number[] {
  const share = a.length === 2 && b.length === 3 ? crossing(x, a, b) : 0.5;
  const [p, q] = [a[0], a[a.length - 1]];
  return [0, 1, 2].map((axis) => (1 - share) * x[3 * p + axis] + share * x[3 * q + axis]);
}

function crossing(x: Float64Array, a: readonly number[], b: readonly number[]): number {
  const [from, to] = a.map((v) => planeDistance(x, b, v));
  return from === to ? 0.5 : Math.min(1, Math.max(0, from / (from - to)));
}

/** Signed distance of a vertex to the plane of a triangle times the length of its normal. */
function planeDistance(x: Float64Array, [a, b, c]: readonly number[], v: number): number {
  const d = (i: number, axis: number): number => x[3 * i + axis] - x[3 * a + axis];
  const nx = d(b, 1) * d(c, 2) - d(b, 2) * d(c, 1);
  const ny = d(b, 2) * d(c, 0) - d(b, 0) * d(c, 2);
  const nz = d(b, 0) * d(c, 1) - d(b, 1) * d(c, 0);
  return nx * d(v, 0) + ny * d(v, 1) + nz * d(v, 2);
}

/**
 * The curve of an intersection consists of pieces, one for each pair of triangles that intersect, with its ends where
 * an edge of one passes the other. Such a point belongs to as many pieces as the edge has triangles. So the curve
 * leaves a surface at an edge with one triangle, and a piece with a single end leads to a vertex that both triangles
 * share, inside the surface.
 */
function contourOf({ surface }: Subject, pairs: readonly ElementPair[]): Contour {
  const ends = new Map<string, number>();
  let isAtBorder = false;
  const triangleOf = triangleFinder(surface);
  for (const { a, b } of pairs) {
    if (a.length !== 2 || b.length !== 3) return 'OPEN';
    const passed = triangleOf.byCorners(b);
    const around = triangleOf.byEdge(a[0], a[1]);
    if (around.length < 2) isAtBorder = true;
    for (const t of around) {
      const key = t < passed ? `${t} ${passed}` : `${passed} ${t}`;
      ends.set(key, (ends.get(key) ?? 0) + 1);
    }
  }
  for (const count of ends.values()) if (count % 2 === 1) return 'OPEN';
  return isAtBorder ? 'BORDER' : 'CLOSED';
}

interface TriangleFinder {
  byEdge(a: number, b: number): number[];
  /** -1 = there is none */
  byCorners(corners: readonly number[]): number;
}

/** Finds triangles by the ids of their vertices; an edge by bisection, since edges ascend. */
function triangleFinder({ triangles, edges, offsets, sides }: Subject['surface']): TriangleFinder {
  const edgeIndex = (a: number, b: number): number => {
    const [first, second] = a < b ? [a, b] : [b, a];
    let [low, high] = [0, edges.length / 2];
    while (low < high) {
      const middle = (low + high) >>> 1;
      const isBefore = edges[2 * middle] < first || (edges[2 * middle] === first && edges[2 * middle + 1] < second);
      if (isBefore) low = middle + 1;
      else high = middle;
    }
    return edges[2 * low] === first && edges[2 * low + 1] === second ? low : -1;
  };
  const byEdge = (a: number, b: number): number[] => {
    const edge = edgeIndex(a, b);
    return edge < 0 ? [] : Array.from(sides.subarray(offsets[edge], offsets[edge + 1]), (side) => Math.floor(side / 3));
  };
  return {
    byEdge,
    byCorners: ([a, b, c]) => byEdge(a, b).find((t) => triangles.subarray(3 * t, 3 * t + 3).includes(c)) ?? -1,
  };
}
