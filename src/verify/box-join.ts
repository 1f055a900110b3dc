import type { BoxTree } from './box-tree.js';

/** How far apart along an axis two boxes may be and still be visited. A visitor may lower it while the join runs. */
export interface Reach {
  gap: number;
}

type Visit = (i: number, j: number) => void;

/** Visits all pairs (element of a, element of b) whose closed boxes are within reach of each other. */
export function joinTrees(a: BoxTree, b: BoxTree, reach: Reach, visit: Visit): void {
  runJoin(a, b, [0, 0], reach, visit);
}

/** Visits all unordered pairs of different elements whose closed boxes are within reach of each other, each once. */
export function joinTree(tree: BoxTree, reach: Reach, visit: Visit): void {
  const pending = [0];
  while (pending.length > 0) {
    const node = pending.pop() as number;
    const right = tree.right[node];
    if (right === 0) {
      visitWithinLeaf(tree, node, reach, visit);
      continue;
    }
    // Neighbours first: a reach that shrinks does so early, before distant pairs are expanded.
    pending.push(right, node + 1);
    runJoin(tree, tree, [node + 1, right], reach, visit);
  }
}

function runJoin(a: BoxTree, b: BoxTree, stack: number[], reach: Reach, visit: Visit): void {
  while (stack.length > 0) {
    const m = stack.pop() as number;
    const n = stack.pop() as number;
    const rightA = a.right[n];
    const rightB = b.right[m];
    if (rightA === 0 && rightB === 0) {
      // The reach may have shrunk since the pair was put down.
      if (isWithin(a.nodes, 6 * n, b.nodes, 6 * m, reach.gap)) visitLeaves(a, n, b, m, reach, visit);
    } else if (rightB === 0 || (rightA !== 0 && a.size[n] >= b.size[m])) {
      if (isWithin(a.nodes, 6 * rightA, b.nodes, 6 * m, reach.gap)) stack.push(rightA, m);
      if (isWithin(a.nodes, 6 * n + 6, b.nodes, 6 * m, reach.gap)) stack.push(n + 1, m);
    } else {
      if (isWithin(a.nodes, 6 * n, b.nodes, 6 * rightB, reach.gap)) stack.push(n, rightB);
      if (isWithin(a.nodes, 6 * n, b.nodes, 6 * m + 6, reach.gap)) stack.push(n, m + 1);
    }
  }
}

function visitLeaves(a: BoxTree, n: number, b: BoxTree, m: number, reach: Reach, visit: Visit): void {
  const endA = a.first[n] + a.size[n];
  const firstB = b.first[m];
  const endB = firstB + b.size[m];
  const boxes = b.boxes;
  for (let p = a.first[n]; p < endA; p++) {
    if (!isWithin(a.boxes, 6 * p, b.nodes, 6 * m, reach.gap)) continue;
    const lowX = a.boxes[6 * p];
    const lowY = a.boxes[6 * p + 1];
    const lowZ = a.boxes[6 * p + 2];
    const highX = a.boxes[6 * p + 3];
    const highY = a.boxes[6 * p + 4];
    const highZ = a.boxes[6 * p + 5];
    for (let q = firstB; q < endB; q++) {
      const at = 6 * q;
      const gap = reach.gap;
      if (lowX - boxes[at + 3] > gap || boxes[at] - highX > gap) continue;
      if (lowY - boxes[at + 4] > gap || boxes[at + 1] - highY > gap) continue;
      if (lowZ - boxes[at + 5] > gap || boxes[at + 2] - highZ > gap) continue;
      visit(a.order[p], b.order[q]);
    }
  }
}

function visitWithinLeaf(tree: BoxTree, node: number, reach: Reach, visit: Visit): void {
  const end = tree.first[node] + tree.size[node];
  for (let p = tree.first[node]; p < end; p++) {
    for (let q = p + 1; q < end; q++) {
      if (isWithin(tree.boxes, 6 * p, tree.boxes, 6 * q, reach.gap)) visit(tree.order[p], tree.order[q]);
    }
  }
}

/** With gap = 0 this is exact: a rounded difference of two doubles is positive only if the difference is. */
function isWithin(a: Float64Array, i: number, b: Float64Array, j: number, gap: number): boolean {
  return (
    a[i] - b[j + 3] <= gap &&
    b[j] - a[i + 3] <= gap &&
    a[i + 1] - b[j + 4] <= gap &&
    b[j + 1] - a[i + 4] <= gap &&
    a[i + 2] - b[j + 5] <= gap &&
    b[j + 2] - a[i + 5] <= gap
  );
}
