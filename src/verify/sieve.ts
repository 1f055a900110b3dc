import type { CollisionMesh } from '../mesh/types.js';
import { team } from '../threads/here.js';
import { defineStage } from '../threads/stage.js';
import { ALL_KINEMATIC, expandPairs, joinLeaves, pairLeaves, type Reach, reachTo, slackOf } from './box-join.js';
import { ClosestPoints } from './closest.js';
import { type BorderElements, copyPoint, type ElementSet, type Relation } from './elements.js';
import { ExactMeeting, hasCommonPoint } from './exact-meeting.js';
import { type LeafElements, mostInLeaf } from './leaf-elements.js';
import type { MeshTree } from './mesh-tree.js';
import { type FoundPair, keepNear, nearestOf } from './near-pairs.js';
import { EDGE_EDGE, type PairCode, shapeOf, VERTEX_TRIANGLE } from './pair-kinds.js';
import { PathMeeting } from './path-pair.js';
import { arePlain } from './predicates.js';
import type { SharedArrays } from './shared-arrays.js';

/*
 * Searches on several threads. A thread drops the pairs that certainly do not count, which are nearly all, by the same tests
 * that decide on one thread; the requesting thread visits the remaining pairs, as if it had searched alone.
 */

/** Remaining pairs: MEET those with a common point in a state, PATH those that may meet on a path, NEAR none at all. */
export const SIEVES = ['MEET', 'NEAR', 'PATH'] as const;

export interface Sieve {
  readonly kind: (typeof SIEVES)[number];
  /** whether pairs of kinematic elements do not count */
  readonly skipsKinematic: boolean;
  /** PATH: pairs of kinematic elements can count nevertheless only if one of the elements is at the border */
  readonly border?: BorderElements | undefined;
  /** NEAR: the number of nearest pairs to find; default 1 */
  readonly keeps?: number;
}

export interface SieveResult {
  /** pairs with boxes within reach that count */
  readonly pairsTested: number;
  /** NEAR: the nearest pairs within reach, as many as requested, nearest first */
  readonly nearest: readonly FoundPair[];
  /** uint32[3·n] index of the relation, element of a, element of b */
  readonly left: Uint32Array;
}

/** Elements below which a search is over in some ten milliseconds. */
const MIN_ELEMENTS = 10_000;

/** Pairs of nodes that threads take one by one: enough that none of them is a large part of the whole. */
const TASKS = 1024;

/** Pairs of nodes that a thread takes at a time. */
const TASKS_PER_CHUNK = 4;

/** Nanoseconds per pair of nodes. */
const TASK_COST = 100_000;

/** Pairs that may remain. If a state has more of them, one thread searches it again. */
const MOST_LEFT = 2 ** 16;

const MAX_SETS = 5;
const MAX_RELATIONS = 4;

interface SetArrays {
  readonly start: Uint32Array;
  readonly order: Uint32Array;
  readonly corners: Uint32Array;
  readonly boxes: Float64Array;
  readonly kinematic: Uint8Array;
  /** uint8 by element, 1 = at the border */
  readonly border: Uint8Array;
}

type Prefixed<P extends string, T> = { readonly [K in keyof T & string as `${P}${Capitalize<K>}`]: T[K] };
type AllSets = Prefixed<'s0', SetArrays> &
  Prefixed<'s1', SetArrays> &
  Prefixed<'s2', SetArrays> &
  Prefixed<'s3', SetArrays> &
  Prefixed<'s4', SetArrays>;

type SieveArrays = AllSets & {
  /** uint32[2·T] pairs of nodes */
  readonly tasks: Uint32Array;
  readonly right: Uint32Array;
  readonly size: Uint32Array;
  readonly leaf: Uint32Array;
  readonly isKinematic: Uint8Array;
  /** float64[6·M] boxes of the nodes */
  readonly boxes: Float64Array;
  /** NEAR: float64[M] slack of the nodes (box-join.ts); empty = none */
  readonly slack: Float64Array;
  /** float64[3·V] the state, and the end of the path */
  readonly x: Float64Array;
  readonly to: Float64Array;
  /** int32[2] number of remaining pairs; bits of a float32 not below the reach */
  readonly shared: Int32Array;
  /** uint32[T] pairs tested by task */
  readonly tested: Uint32Array;
  /** float64[k·T] distances of the k nearest pairs of each task, ascending, Infinity if there are fewer */
  readonly least: Float64Array;
  /** uint32[3·k·T] index of the relation, element of a, element of b */
  readonly nearest: Uint32Array;
  readonly left: Uint32Array;
};

interface SieveNumbers {
  /** index into {@link SIEVES} */
  readonly kind: number;
  readonly skipsKinematic: number;
  /** number of pairs that each task keeps */
  readonly keeps: number;
  readonly isPlain: number;
  readonly gap: number;
  /** largest number of pairs of two leaves */
  readonly most: number;
  readonly relations: number;
  readonly code0: number;
  readonly a0: number;
  readonly b0: number;
  readonly code1: number;
  readonly a1: number;
  readonly b1: number;
  readonly code2: number;
  readonly a2: number;
  readonly b2: number;
  readonly code3: number;
  readonly a3: number;
  readonly b3: number;
}

export const SIEVE = defineStage(import.meta.url, 'sieve', sievePairs);

const bits = new Int32Array(1);
const float = new Float32Array(bits.buffer);

/** The bits of a float32 not below the value, ≥ 0; they have the order of the numbers. */
function bitsAbove(value: number): number {
  float[0] = value;
  if (float[0] < value) bits[0]++;
  return bits[0];
}

function fromBits(word: number): number {
  bits[0] = word;
  return float[0];
}

const NO_STATE = new Float64Array(0);

/** Of this thread, for one pair after the other; they live as long as it, and so does the code compiled for them. */
const meeting = new ExactMeeting(NO_STATE, true);
const path = new PathMeeting();
const closest = new ClosestPoints();
const points = new Float64Array(12);
const ends = new Float64Array(12);

function sievePairs(arrays: SieveArrays, numbers: SieveNumbers, from: number, to: number): void {
  const { tasks, right, size, leaf, isKinematic, boxes, x, shared, tested, least, nearest, left } = arrays;
  const sets = [0, 1, 2, 3, 4].map((n) => setOf(arrays as unknown as Record<string, unknown>, n));
  const all = numbers as unknown as Record<string, number>;
  const relations = Array.from({ length: numbers.relations }, (_, r) => ({
    code: all[`code${r}`] as PairCode,
    a: sets[all[`a${r}`]],
    b: sets[all[`b${r}`]],
  }));
  meeting.use(x, numbers.isPlain === 1);
  const found = new Uint32Array(2 * numbers.most);
  const reach: Reach = { gap: numbers.gap };
  const skips = numbers.skipsKinematic === 1;
  const { keeps } = numbers;
  let kept = 0;
  const isNear = SIEVES[numbers.kind] === 'NEAR';
  const isPath = SIEVES[numbers.kind] === 'PATH';
  let count = 0;
  const examine = (r: number, a: SetArrays, b: SetArrays, end: number): void => {
    const { code } = relations[r];
    for (let k = 0; k < end; k += 2) {
      const [p, q] = [found[k], found[k + 1]];
      const [i, j] = [a.order[p], b.order[q]];
      if (skips && a.kinematic[i] === 1 && b.kinematic[j] === 1) {
        const isGuarding = code === VERTEX_TRIANGLE || code === EDGE_EDGE;
        if (!isPath || !isGuarding || (a.border[i] === 0 && b.border[j] === 0)) continue;
      }
      count++;
      if (isNear) {
        gatherCorners(x, code, a.corners, 3 * p, b.corners, 3 * q, a === b, points);
        const last = kept + keeps - 1;
        if (!closest.findWithin(code, points, reach.gap) || closest.distance >= least[last]) continue;
        keepNear(least, nearest, kept, last, closest.distance, r, i, j);
        // The k nearest of all are no farther apart than those of a task.
        if (least[last] < Number.POSITIVE_INFINITY) reach.gap = lower(shared, reachTo(least[last]));
      } else if (isPath) {
        gatherCorners(x, code, a.corners, 3 * p, b.corners, 3 * q, a === b, points);
        gatherCorners(arrays.to, code, a.corners, 3 * p, b.corners, 3 * q, a === b, ends);
        if (path.findImpact(code, points, ends) !== undefined) leave(shared, left, r, i, j);
      } else {
        const { doubtfulPairs } = meeting;
        const isMeeting = hasCommonPoint(meeting, code, a.corners, 3 * p, b.corners, 3 * q);
        if (isMeeting || meeting.doubtfulPairs > doubtfulPairs) leave(shared, left, r, i, j);
      }
    }
  };
  const tree = { nodes: { right, size }, quiet: isKinematic, slack: isNear ? arrays.slack : undefined };
  for (let task = from; task < to; task++) {
    // Too many pairs remain, so that the result will not be used.
    if (Atomics.load(shared, 0) > MOST_LEFT) break;
    count = 0;
    kept = keeps * task;
    least.fill(Number.POSITIVE_INFINITY, kept, kept + keeps);
    if (isNear) reach.gap = Math.min(reach.gap, fromBits(Atomics.load(shared, 1)));
    joinLeaves(
      tree,
      boxes,
      reach,
      skippedBy(isPath, skips),
      (n, m, room) => {
        relations.forEach(({ a, b }, r) => {
          examine(r, a, b, pairLeaves(a, leaf[n], b, leaf[m], boxes, m, reach.gap + room, found));
          if (a !== b && n !== m)
            examine(r, a, b, pairLeaves(a, leaf[m], b, leaf[n], boxes, n, reach.gap + room, found));
        });
      },
      tasks[2 * task],
      tasks[2 * task + 1],
    );
    tested[task] = count;
  }
  meeting.use(NO_STATE, true);
}

/** On a path, pairs of kinematic elements may guard others, so that whole leaves of them are visited. */
const skippedBy = (isPath: boolean, skipsKinematic: boolean): number => (skipsKinematic && !isPath ? ALL_KINEMATIC : 0);

/** Reduces the reach of all threads to this one. @returns the reach */
function lower(shared: Int32Array, reach: number): number {
  const wanted = bitsAbove(Math.min(reach, LARGEST_FLOAT));
  for (let word = Atomics.load(shared, 1); wanted < word; ) {
    const before = Atomics.compareExchange(shared, 1, word, wanted);
    if (before === word) return fromBits(wanted);
    word = before;
  }
  return fromBits(Atomics.load(shared, 1));
}

/** Leaves the pair to the requesting thread. Beyond the capacity it is only counted. */
function leave(shared: Int32Array, left: Uint32Array, relation: number, i: number, j: number): void {
  const at = Atomics.add(shared, 0, 1);
  if (at < MOST_LEFT) left.set([relation, i, j], 3 * at);
}

/** Coordinates in the order of elements.ts: of two edges the one with the lower ids is side a. */
function gatherCorners(
  x: Float64Array,
  code: PairCode,
  a: Uint32Array,
  p: number,
  b: Uint32Array,
  q: number,
  isSameSet: boolean,
  points: Float64Array,
): void {
  const { a: sizeA, b: sizeB } = shapeOf(code);
  const isSwapped = isSameSet && (b[q] < a[p] || (b[q] === a[p] && sizeA > 1 && b[q + 1] < a[p + 1]));
  let at = 0;
  for (let k = 0; k < sizeA; k++) at = copyPoint(x, isSwapped ? b[q + k] : a[p + k], points, at);
  for (let k = 0; k < sizeB; k++) at = copyPoint(x, isSwapped ? a[p + k] : b[q + k], points, at);
}

function setOf(arrays: Record<string, unknown>, n: number): SetArrays {
  const get = <T>(name: string): T => arrays[`s${n}${name}`] as T;
  return {
    start: get('Start'),
    order: get('Order'),
    corners: get('Corners'),
    boxes: get('Boxes'),
    kinematic: get('Kinematic'),
    border: get('Border'),
  };
}

/** Whether a search of this mesh is worth more than one thread, and several threads are available. */
export function canSieve(mesh: CollisionMesh): boolean {
  const elements = mesh.triangles.length / 3 + mesh.edges.length / 2 + mesh.particles.length;
  // The requesting thread decides pair by pair which pairs of parts are ignored.
  return team.canShare && mesh.ignoredPartPairs.length === 0 && elements >= MIN_ELEMENTS;
}

/**
 * @param states one, or for PATH its start and its end
 * @param boxes float64[6·M] of the tree's nodes
 * @param gap reach of the search; NEAR: one of computed distances (box-join.ts)
 * @param shared holds the arrays of the threads
 * @returns undefined if too many pairs remain
 */
export function sieve(
  { kind, skipsKinematic, border, keeps = 1 }: Sieve,
  tree: MeshTree,
  boxes: Float64Array,
  states: readonly Float64Array[],
  relations: readonly Relation[],
  place: (set: ElementSet) => LeafElements,
  gap: number,
  shared: SharedArrays,
  checkpoint: () => void,
): SieveResult | undefined {
  const share = shared.share.bind(shared);
  const { nodes, isKinematic: quiet } = tree;
  const slack = kind === 'NEAR' ? slackOf(boxes) : undefined;
  const tasks = share(
    expandPairs({ nodes, quiet, slack }, boxes, gap, skippedBy(kind === 'PATH', skipsKinematic), TASKS),
  );
  const count = tasks.length / 2;
  const sets = [...new Set(relations.flatMap(({ a, b }) => [a, b]))];
  const named: Record<string, Uint8Array | Uint32Array | Float64Array> = {};
  let most = 1;
  for (let n = 0; n < MAX_SETS; n++) {
    const set = sets[n];
    const placed = set && place(set);
    const empty = new Uint32Array(0);
    named[`s${n}Start`] = placed ? share(placed.start) : empty;
    named[`s${n}Order`] = placed ? share(placed.order) : empty;
    named[`s${n}Corners`] = placed ? share(placed.corners) : empty;
    named[`s${n}Boxes`] = placed ? share(placed.boxes) : new Float64Array(0);
    named[`s${n}Kinematic`] = set ? share(set.kinematic) : new Uint8Array(0);
    named[`s${n}Border`] = set ? share(borderOf(set, border)) : new Uint8Array(0);
  }
  for (const { a, b } of relations) most = Math.max(most, mostInLeaf(place(a)) * mostInLeaf(place(b)));
  const words = shared.make(Int32Array, 2);
  words[0] = 0;
  words[1] = bitsAbove(Math.min(gap, LARGEST_FLOAT));
  const tested = shared.make(Uint32Array, count);
  const keptOfTask = kind === 'NEAR' ? keeps : 0;
  const least = shared.make(Float64Array, keptOfTask * count);
  const nearest = shared.make(Uint32Array, 3 * keptOfTask * count);
  const left = shared.make(Uint32Array, 3 * MOST_LEFT);
  const code = (r: number): number => relations[r]?.code ?? 0;
  const side = (r: number, of: 'a' | 'b'): number => (relations[r] ? sets.indexOf(relations[r][of]) : 0);
  const x = share(states[0]);
  team.run({
    stage: SIEVE,
    arrays: {
      ...(named as unknown as AllSets),
      ...{ tasks, right: share(tree.nodes.right), size: share(tree.nodes.size), leaf: share(tree.leaf) },
      ...{
        isKinematic: share(tree.isKinematic),
        boxes: share(boxes),
        slack: share(slack ?? new Float64Array(0)),
        x,
        to: share(states[1] ?? states[0]),
      },
      ...{ shared: words, tested, least, nearest, left },
    },
    numbers: {
      ...{
        kind: SIEVES.indexOf(kind),
        skipsKinematic: skipsKinematic ? 1 : 0,
        keeps: keptOfTask,
        isPlain: arePlain(x) ? 1 : 0,
      },
      ...{ gap, most, relations: relations.length },
      ...{ code0: code(0), a0: side(0, 'a'), b0: side(0, 'b'), code1: code(1), a1: side(1, 'a'), b1: side(1, 'b') },
      ...{ code2: code(2), a2: side(2, 'a'), b2: side(2, 'b'), code3: code(3), a3: side(3, 'a'), b3: side(3, 'b') },
    },
    ...{ count, chunk: TASKS_PER_CHUNK, cost: TASK_COST, pulse: checkpoint },
  });
  if (words[0] > MOST_LEFT) return undefined;
  return {
    pairsTested: tested.reduce((sum, each) => sum + each, 0),
    nearest: nearestOf(least, nearest, relations, keeps),
    left: new Uint32Array(left.subarray(0, 3 * words[0])),
  };
}

/** The largest float32. */
const LARGEST_FLOAT = (2 - 2 ** -23) * 2 ** 127;

function borderOf(set: ElementSet, border: BorderElements | undefined): Uint8Array {
  const marks = new Uint8Array(set.count);
  if (border) for (let i = 0; i < set.count; i++) if (set.kinematic[i] === 1 && border.has(set, i)) marks[i] = 1;
  return marks;
}

/** Relations and sets fit into the arguments of the stage. */
export function fitsSieve(relations: readonly Relation[]): boolean {
  return relations.length <= MAX_RELATIONS && new Set(relations.flatMap(({ a, b }) => [a, b])).size <= MAX_SETS;
}
