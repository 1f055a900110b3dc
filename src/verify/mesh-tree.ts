import type { CollisionMesh } from '../mesh/types.js';
import { team } from '../threads/here.js';
import { boundCorners, joinBoxes } from './bounds.js';
import { ALL_KINEMATIC, ALL_RESTING } from './box-join.js';
import { type BoxTree, buildBoxTree } from './box-tree.js';
import { collectElements, type ElementSet, keptElements, type MeshElements } from './elements.js';
import { BOUND_LEAVES, LEAVES_CHUNK, LEAVES_COST } from './leaf-boxes.js';
import type { Members } from './leaf-elements.js';
import { SharedArrays } from './shared-arrays.js';

/**
 * A tree is too loose for a state if the sum of its boxes' extents is this many times that of the state for which it
 * was built. A build takes about as long as a search, so it must save one.
 */
const LOOSE = 1.5;

/**
 * One tree over all elements of a mesh, built for one state and valid for all: a leaf has the same elements in every state,
 * and only its box changes. A search through a loose tree finds the same pairs more slowly.
 */
export class MeshTree {
  readonly elements: MeshElements;
  readonly nodes: BoxTree;
  /** uint32[M] number of a leaf among the leaves; meaningless for other nodes */
  readonly leaf: Uint32Array;
  /** uint8[M] 1 = all vertices below are kinematic */
  readonly isKinematic: Uint8Array;
  /** sum of the boxes' extents in the state that it was built for */
  private tightness = Number.POSITIVE_INFINITY;
  private readonly carriers: Carriers;
  /** uint32[3·N] corners of the carriers by position */
  private readonly corners: Uint32Array;
  /** uint32[N] leaf of a carrier */
  private readonly leafOf: Uint32Array;
  private readonly leafCount: number;
  private readonly rodStart: number;
  private readonly members = new Map<ElementSet, Members>();

  constructor(
    mesh: CollisionMesh,
    elements: MeshElements,
    carriers: Carriers,
    lows: Float64Array,
    highs: Float64Array,
    checkpoint?: () => void,
  ) {
    this.elements = elements;
    this.carriers = carriers;
    this.rodStart = elements.edges.count - elements.rods.count;
    const { count, corners } = carriers;
    this.nodes = buildBoxTree(boundCorners(corners, lows, highs), checkpoint);
    const { order, first, size, right } = this.nodes;
    this.corners = new Uint32Array(3 * count);
    for (let place = 0; place < count; place++) {
      for (let k = 0; k < 3; k++) this.corners[3 * place + k] = corners[3 * order[place] + k];
    }
    this.leaf = new Uint32Array(right.length);
    this.leafOf = new Uint32Array(count);
    this.isKinematic = new Uint8Array(right.length);
    let leaves = 0;
    for (let node = 0; node < right.length; node++) {
      if (right[node] !== 0) continue;
      const end = first[node] + size[node];
      for (let place = first[node]; place < end; place++) this.leafOf[order[place]] = leaves;
      this.leaf[node] = leaves++;
    }
    this.leafCount = leaves;
    for (let node = right.length - 1; node >= 0; node--) {
      const isAllBelow =
        right[node] === 0
          ? isAll(mesh.kinematic, this.corners, 3 * first[node], 3 * size[node])
          : this.isKinematic[node + 1] === 1 && this.isKinematic[right[node]] === 1;
      if (isAllBelow) this.isKinematic[node] = ALL_KINEMATIC;
    }
  }

  /**
   * @param lows float64[3·V] smallest coordinates that a vertex has in the states in question
   * @param highs float64[3·V] largest
   * @param shared if other threads help, and read the boxes
   * @returns float64[6·M] boxes of nodes
   */
  bound(lows: Float64Array, highs: Float64Array, shared?: SharedArrays): Float64Array {
    const { right } = this.nodes;
    const count = right.length;
    const boxes = shared ? shared.make(Float64Array, 6 * count) : new Float64Array(6 * count);
    const share = <T extends Uint32Array>(array: T): T => shared?.share(array) ?? array;
    const [corners, first, size] = [this.corners, this.nodes.first, this.nodes.size].map(share);
    const arrays = { corners, first, size, right: share(right), lows, highs, boxes };
    team.run({ stage: BOUND_LEAVES, arrays, numbers: {}, count, chunk: LEAVES_CHUNK, cost: LEAVES_COST });
    // Children come after their parent, so backwards means bottom-up.
    for (let node = count - 1; node >= 0; node--) {
      if (right[node] !== 0) joinBoxes(boxes, 6 * node + 6, 6 * right[node], 6 * node);
    }
    return boxes;
  }

  /** @param resting uint8[V] @returns uint8[M] {@link ALL_KINEMATIC}, {@link ALL_RESTING} if everything below rests */
  quietNodes(resting: Uint8Array): Uint8Array {
    const { first, size, right } = this.nodes;
    const quiet = this.isKinematic.slice();
    for (let node = right.length - 1; node >= 0; node--) {
      const isQuiet =
        right[node] === 0
          ? isAll(resting, this.corners, 3 * first[node], 3 * size[node])
          : (quiet[node + 1] & quiet[right[node]] & ALL_RESTING) !== 0;
      if (isQuiet) quiet[node] |= ALL_RESTING;
    }
    return quiet;
  }

  /** @param boxes of the state that it was built for */
  measure(boxes: Float64Array): void {
    this.tightness = sumOfExtents(boxes);
  }

  isLooseIn(boxes: Float64Array): boolean {
    return sumOfExtents(boxes) > LOOSE * this.tightness;
  }

  /** @param set one of {@link elements} */
  membersOf(set: ElementSet): Members {
    let members = this.members.get(set);
    if (!members) this.members.set(set, (members = this.sort(set)));
    return members;
  }

  private sort(set: ElementSet): Members {
    const { leafOf } = this;
    const { ofEdge, ofVertex } = this.carriers;
    const offset = set === this.elements.rods ? this.rodStart : 0;
    const leaves = new Uint32Array(set.count);
    const start = new Uint32Array(this.leafCount + 1);
    for (let i = 0; i < set.count; i++) {
      const carrier = set.size === 3 ? i : set.size === 2 ? ofEdge[offset + i] : ofVertex[set.vertices[i]];
      leaves[i] = leafOf[carrier];
      start[leaves[i] + 1]++;
    }
    for (let n = 0; n < this.leafCount; n++) start[n + 1] += start[n];
    const next = start.slice();
    const order = new Uint32Array(set.count);
    for (let i = 0; i < set.count; i++) order[next[leaves[i]]++] = i;
    return { order, start };
  }
}

/** Whether the vertices ids[from …] all have a mark. */
function isAll(marks: Uint8Array, ids: Uint32Array, from: number, count: number): boolean {
  for (let k = from; k < from + count; k++) if (marks[ids[k]] === 0) return false;
  return true;
}

/** Meshes do not change, so a tree lives as long as its mesh. */
const trees = new WeakMap<CollisionMesh, MeshTree>();

/**
 * The tree of a mesh, and the boxes of its nodes: kept from the last search, or rebuilt if it has become loose.
 *
 * @param checkpoint called regularly; if it throws, the kept tree remains
 * @param shared of {@link MeshTree.bound}
 */
export function openMeshTree(
  mesh: CollisionMesh,
  lows: Float64Array,
  highs: Float64Array,
  checkpoint?: () => void,
  shared?: SharedArrays,
): { readonly tree: MeshTree; readonly boxes: Float64Array } {
  const kept = trees.get(mesh);
  const attempt = shared && new SharedArrays();
  try {
    const boxes = kept?.bound(lows, highs, attempt);
    if (kept && boxes && !kept.isLooseIn(boxes)) {
      if (attempt) shared.takeOver(attempt);
      return { tree: kept, boxes };
    }
  } finally {
    attempt?.release();
  }
  const tree = new MeshTree(mesh, collectElements(mesh), collectCarriers(mesh), lows, highs, checkpoint);
  const built = tree.bound(lows, highs, shared);
  tree.measure(built);
  trees.set(mesh, tree);
  return { tree, boxes: built };
}

/** Everything that the verifier keeps for a mesh as long as the mesh lives, including arrays of the mesh itself. */
export function keptFor(mesh: CollisionMesh): readonly unknown[] {
  return [trees.get(mesh), keptElements(mesh)];
}

function sumOfExtents(boxes: Float64Array): number {
  let sum = 0;
  for (let at = 0; at < boxes.length; at += 6) {
    sum += boxes[at + 3] - boxes[at] + (boxes[at + 4] - boxes[at + 1]) + (boxes[at + 5] - boxes[at + 2]);
  }
  return sum;
}

/**
 * The leaves of a tree: the triangles of a mesh, then its edges without a triangle, then its points without either.
 * Every edge and every vertex belongs to one carrier that contains it, so one tree over the carriers finds the pairs of
 * all three kinds of elements.
 */
export interface Carriers {
  readonly count: number;
  /** uint32[3·count] vertices; those with fewer than three repeat the last one */
  readonly corners: Uint32Array;
  /** uint32[E] carrier of an edge */
  readonly ofEdge: Uint32Array;
  /** uint32[V] carrier of a vertex; NO_CARRIER = it can touch nothing */
  readonly ofVertex: Uint32Array;
}

export const NO_CARRIER = 0xffffffff;

export function collectCarriers({ vertexCount, triangles, edges, contactVertices }: CollisionMesh): Carriers {
  const ofVertex = new Uint32Array(vertexCount).fill(NO_CARRIER);
  for (let k = 0; k < triangles.length; k++) {
    if (ofVertex[triangles[k]] === NO_CARRIER) ofVertex[triangles[k]] = Math.floor(k / 3);
  }
  const ofEdge = findTriangleOfEdges(vertexCount, triangles, edges);
  const loose: number[] = [];
  let count = triangles.length / 3;
  for (let e = 0; e < ofEdge.length; e++) {
    if (ofEdge[e] !== NO_CARRIER) continue;
    const [p, q] = [edges[2 * e], edges[2 * e + 1]];
    loose.push(p, q, q);
    if (ofVertex[p] === NO_CARRIER) ofVertex[p] = count;
    if (ofVertex[q] === NO_CARRIER) ofVertex[q] = count;
    ofEdge[e] = count++;
  }
  for (const vertex of contactVertices) {
    if (ofVertex[vertex] !== NO_CARRIER) continue;
    loose.push(vertex, vertex, vertex);
    ofVertex[vertex] = count++;
  }
  const corners = new Uint32Array(3 * count);
  corners.set(triangles);
  corners.set(loose, triangles.length);
  return { count, corners, ofEdge, ofVertex };
}

/** The first triangle with this edge as a side, or NO_CARRIER. */
function findTriangleOfEdges(vertexCount: number, triangles: Uint32Array, edges: Uint32Array): Uint32Array {
  const edgeCount = edges.length / 2;
  // Edges by their lower vertex: hardly more than three each, so a linear search finds a side.
  const start = new Uint32Array(vertexCount + 1);
  for (let e = 0; e < edgeCount; e++) start[Math.min(edges[2 * e], edges[2 * e + 1]) + 1]++;
  for (let v = 0; v < vertexCount; v++) start[v + 1] += start[v];
  const next = start.slice();
  const byLower = new Uint32Array(edgeCount);
  for (let e = 0; e < edgeCount; e++) byLower[next[Math.min(edges[2 * e], edges[2 * e + 1])]++] = e;
  const found = new Uint32Array(edgeCount).fill(NO_CARRIER);
  for (let k = 0; k < triangles.length; k++) {
    const p = triangles[k];
    const q = triangles[k % 3 === 2 ? k - 2 : k + 1];
    const low = Math.min(p, q);
    const high = Math.max(p, q);
    for (let n = start[low]; n < start[low + 1]; n++) {
      const e = byLower[n];
      if (found[e] === NO_CARRIER && Math.max(edges[2 * e], edges[2 * e + 1]) === high) found[e] = Math.floor(k / 3);
    }
  }
  return found;
}
