import type { CollisionMesh } from '../mesh/types.js';
import { joinTree, joinTrees, type Reach } from './box-join.js';
import { type BoxTree, boundElements, buildBoxTree } from './box-tree.js';
import { type ElementSet, EXCLUDED, KINEMATIC, PairFilter, type Relation } from './elements.js';
import type { PairRules } from './types.js';

/** @param isKinematic both elements are kinematic throughout */
export type VisitPair = (i: number, j: number, isKinematic: boolean) => void;

/** Finds the pairs worth a test: boxes within reach, no common vertex, not of ignored parts. */
export class PairSearch {
  private readonly filter: PairFilter;
  private readonly trees = new Map<ElementSet, BoxTree>();

  /** @param states each float64[3·V]; boxes enclose all of them and every straight path between them */
  constructor(
    mesh: CollisionMesh,
    private readonly states: readonly Float64Array[],
  ) {
    this.filter = new PairFilter(mesh);
  }

  forEach({ a, b }: Relation, reach: Reach, visit: VisitPair): void {
    const { filter } = this;
    const classify = (i: number, j: number): void => {
      const status = filter.classify(a, i, b, j);
      if (status !== EXCLUDED) visit(i, j, status === KINEMATIC);
    };
    if (a === b) joinTree(this.treeOf(a), reach, classify);
    else joinTrees(this.treeOf(a), this.treeOf(b), reach, classify);
  }

  /** The same of given pairs, whose boxes are not looked at. @param pairs uint32[2·n] element of a, element of b */
  forEachOf({ a, b }: Relation, pairs: Uint32Array, visit: VisitPair): void {
    for (let k = 0; k < pairs.length; k += 2) {
      const status = this.filter.classify(a, pairs[k], b, pairs[k + 1]);
      if (status !== EXCLUDED) visit(pairs[k], pairs[k + 1], status === KINEMATIC);
    }
  }

  private treeOf(set: ElementSet): BoxTree {
    let tree = this.trees.get(set);
    if (!tree) this.trees.set(set, (tree = buildBoxTree(boundElements(set, this.states))));
    return tree;
  }
}

/** Are kinematic pairs left out? */
export function skipsKinematic(rules: PairRules): boolean {
  return rules.kinematicPairs === 'SKIP';
}
