import type { CollisionMesh } from '../mesh/types.js';
import { spanStates } from './bounds.js';
import { ALL_KINEMATIC, ALL_RESTING, joinLeaves, pairLeaves, type Reach, slackOf } from './box-join.js';
import type { PairList } from './clearance.js';
import { type ElementSet, EXCLUDED, KINEMATIC, PairFilter, type Relation } from './elements.js';
import { type LeafElements, mostInLeaf, placeElements, shareElements } from './leaf-elements.js';
import { openMeshTree } from './mesh-tree.js';
import { SharedArrays } from './shared-arrays.js';
import { canSieve, fitsSieve, type Sieve, type SieveResult, sieve } from './sieve.js';
import type { PairRules } from './types.js';

/** @param isKinematic all vertices of both elements are kinematic */
export type VisitPair = (relation: Relation, i: number, j: number, isKinematic: boolean) => void;

/** Leaf pairs, or given pairs, between two calls of a checkpoint: less than a millisecond. */
const CHECKPOINT_INTERVAL = 256;

/** Finds the pairs to test: with boxes within reach and no common vertex, and not of ignored parts. */
export class PairSearch {
  private readonly filter: PairFilter;
  private sinceCheckpoint = 0;

  /**
   * @param checkpoint of {@link PairRules}
   * @param keepsGuards for paths: pairs of ignored parts are visited if others depend on them (BorderElements in
   *   elements.ts)
   */
  constructor(
    private readonly mesh: CollisionMesh,
    private readonly checkpoint: () => void = () => {},
    keepsGuards = false,
  ) {
    this.filter = new PairFilter(mesh, keepsGuards);
  }

  /**
   * @param states each float64[3·V]; boxes enclose all of them and every straight path between them
   * @param relations of the elements of the same mesh
   * @param skipsKinematic pairs of two kinematic elements need not be visited, although some may be
   * @param resting uint8[V]: pairs of two elements all of whose vertices are marked are not visited; absent = all are
   *   visited
   * @param byDistance the reach is one of computed distances (box-join.ts), of one state
   */
  forEach(
    states: readonly Float64Array[],
    relations: readonly Relation[],
    reach: Reach,
    skipsKinematic: boolean,
    visit: VisitPair,
    resting?: Uint8Array,
    byDistance = false,
  ): void {
    if (relations.length === 0) return;
    const { tree, boxes, place } = this.open(states, resting !== undefined);
    const { nodes, leaf } = tree;
    const quiet = resting ? tree.quietNodes(resting) : tree.isKinematic;
    const skipped = (skipsKinematic ? ALL_KINEMATIC : 0) | (resting ? ALL_RESTING : 0);
    const sides = relations.map((relation) => ({ relation, a: place(relation.a), b: place(relation.b) }));
    const found = new Uint32Array(2 * Math.max(...sides.map(({ a, b }) => mostInLeaf(a) * mostInLeaf(b))));
    const visitFound = ({ relation, a, b }: (typeof sides)[number], end: number): void => {
      for (let k = 0; k < end; k += 2) {
        if (resting && rests(resting, a, found[k]) && rests(resting, b, found[k + 1])) continue;
        const i = a.order[found[k]];
        const j = b.order[found[k + 1]];
        const status = this.filter.classifyApart(relation.a, i, relation.b, j);
        if (status !== EXCLUDED) visit(relation, i, j, status === KINEMATIC);
      }
    };
    const slack = byDistance ? slackOf(boxes) : undefined;
    joinLeaves({ nodes, quiet, slack }, boxes, reach, skipped, (n, m, room) => {
      this.count();
      for (const side of sides) {
        const { a, b } = side;
        if (resting) {
          a.prepare(leaf[n]);
          a.prepare(leaf[m]);
          b.prepare(leaf[n]);
          b.prepare(leaf[m]);
        }
        visitFound(side, pairLeaves(a, leaf[n], b, leaf[m], boxes, m, reach.gap + room, found));
        if (a !== b && n !== m) visitFound(side, pairLeaves(a, leaf[m], b, leaf[n], boxes, n, reach.gap + room, found));
      }
    });
  }

  /**
   * The same on several threads, for decisions that need only the pair itself (sieve.ts): visits the remaining pairs.
   *
   * @returns undefined if this search is not worth several threads, or there are none; it must then be made by
   *   {@link forEach}
   */
  sift(
    states: readonly Float64Array[],
    relations: readonly Relation[],
    gap: number,
    by: Sieve,
    visit: VisitPair,
  ): SieveResult | undefined {
    if (relations.length === 0 || !canSieve(this.mesh) || !fitsSieve(relations)) return undefined;
    const result = this.sieve(states, relations, gap, by);
    if (!result) return undefined;
    const { left } = result;
    for (let k = 0; k < left.length; k += 3) {
      const relation = relations[left[k]];
      const status = this.filter.classifyApart(relation.a, left[k + 1], relation.b, left[k + 2]);
      if (status !== EXCLUDED) visit(relation, left[k + 1], left[k + 2], status === KINEMATIC);
    }
    return result;
  }

  private sieve(
    states: readonly Float64Array[],
    relations: readonly Relation[],
    gap: number,
    by: Sieve,
  ): SieveResult | undefined {
    const shared = new SharedArrays();
    try {
      const own = states.map((x) => shared.share(x));
      const { tree, boxes, place } = this.open(own, false, shared);
      return sieve(by, tree, boxes, own, relations, place, gap, shared, this.checkpoint);
    } finally {
      shared.release();
    }
  }

  private open(states: readonly Float64Array[], isLazy = false, shared?: SharedArrays) {
    this.checkpoint();
    const { lows, highs } = spanStates(states, shared);
    const { tree, boxes } = openMeshTree(this.mesh, lows, highs, this.checkpoint, shared);
    const placed = new Map<ElementSet, LeafElements>();
    const place = (set: ElementSet): LeafElements => {
      let elements = placed.get(set);
      this.checkpoint();
      if (elements) return elements;
      const members = tree.membersOf(set);
      elements = shared
        ? shareElements(set, members, lows, highs, shared)
        : placeElements(set, members, lows, highs, isLazy);
      placed.set(set, elements);
      return elements;
    };
    return { tree, boxes, place };
  }

  /** Visits the first pairs of a list, whatever their boxes. @param count their number */
  forEachListed(relations: readonly Relation[], { codes, pairs }: PairList, count: number, visit: VisitPair): void {
    const byCode = new Map(relations.map((relation) => [relation.code as number, relation]));
    for (let n = 0; n < count; n++) {
      this.count();
      const relation = byCode.get(codes[n])!;
      const [i, j] = [pairs[2 * n], pairs[2 * n + 1]];
      const status = this.filter.classifyApart(relation.a, i, relation.b, j);
      if (status !== EXCLUDED) visit(relation, i, j, status === KINEMATIC);
    }
  }

  /** Visits given pairs; skips other codes. @param pairs uint32[3·n] code of a relation, element of a, element of b */
  forEachOfCodes(relations: readonly Relation[], pairs: Uint32Array, visit: VisitPair): void {
    for (let k = 0; k < pairs.length; k += 3) {
      const relation = relations.find(({ code }) => code === pairs[k]);
      if (relation) this.forEachOf(relation, pairs.subarray(k + 1, k + 3), visit);
    }
  }

  /** Visits given pairs, whatever their boxes. @param pairs uint32[2·n] element of a, element of b */
  forEachOf(relation: Relation, pairs: Uint32Array, visit: VisitPair): void {
    for (let k = 0; k < pairs.length; k += 2) {
      this.count();
      const status = this.filter.classify(relation.a, pairs[k], relation.b, pairs[k + 1]);
      if (status !== EXCLUDED) visit(relation, pairs[k], pairs[k + 1], status === KINEMATIC);
    }
  }

  private count(): void {
    if (++this.sinceCheckpoint < CHECKPOINT_INTERVAL) return;
    this.sinceCheckpoint = 0;
    this.checkpoint();
  }
}

/** Whether all vertices of the element at a place have the mark. */
function rests(resting: Uint8Array, { corners }: LeafElements, place: number): boolean {
  const k = 3 * place;
  return resting[corners[k]] === 1 && resting[corners[k + 1]] === 1 && resting[corners[k + 2]] === 1;
}

/** Whether kinematic pairs are skipped. */
export function skipsKinematic(rules: PairRules): boolean {
  return rules.kinematicPairs === 'SKIP';
}
