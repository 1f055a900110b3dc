import { allocate, release } from '../../threads/arrays.js';
import { team } from '../../threads/here.js';
import { defineStage, type NoNumbers } from '../../threads/stage.js';
import { overlapLeaf, overlaps, type Tree } from '../bvh.js';
import { LEAF_SIZE } from '../constants.js';
import type { PairPredicate } from '../exclusion-rules.js';
import { CORNERS } from '../pair-kinds.js';
import { pairActivationDistance } from '../part-distances.js';
import { apartAlong, areBoxesApart } from './box-separation.js';
import { CLOSEST_POINTS, closest } from './closest.js';
import type { PairSet } from './pair-set.js';

/** Leaves of a chunk: about 5,000 pairs if everything is in contact, about a millisecond. */
const LEAVES_PER_CHUNK = 32;

/** Chunks of a run. The pairs of a run are appended to P before the next run begins, so that its memory is reused. */
const CHUNKS_PER_RUN = 64;

/** Chunks of a run per thread: about three milliseconds. */
const CHUNKS_PER_THREAD = 4;

/** Pairs of a block. Threads take blocks as they need them; a chunk leaves at most one of its blocks partly empty. */
const BLOCK_PAIRS = 512;

/**
 * Initial number of blocks of a chunk, for 32 pairs per element; if a run needs more, they are allocated and the run is
 * repeated.
 */
const FIRST_BLOCKS = 16;

/** Nanoseconds per leaf, if few pairs are found. */
const LEAF_COST = 20_000;
/** Nanoseconds per block. */
const BLOCK_COST = 5000;

/** One side of a walk. */
export interface WalkedElements {
  readonly tree: Tree & { readonly order: Uint32Array };
  /** uint32[size·N] vertices of the elements */
  readonly corners: Uint32Array;
  readonly size: number;
  /** elements before this one are not searched */
  readonly first: number;
}

/** The data that a walk reads besides its trees. */
export interface WalkInput {
  /** float32[6·V] trust boxes */
  readonly box: Float32Array;
  /** float32[3·V] current state */
  readonly x: Float32Array;
  /** pairs that stay farther apart than this anywhere in their boxes are excluded; engine units */
  readonly cutoff: number;
  /** float32[V] δ by vertex, which replaces the cutoff; undefined = one for all */
  readonly distances: Float32Array | undefined;
  /** a function of this thread; if there is one, this thread walks alone */
  readonly isIgnored: PairPredicate | undefined;
  /** pairs that P may have */
  readonly budget: number;
  readonly pulse: (() => void) | undefined;
}

/** Thrown if P exceeds its budget; the caller tries again with smaller boxes. */
export class PairBudgetExceeded {
  /** @param found number of pairs so far; the search has ended early */
  constructor(readonly found = 0) {}
}

/** The pairs that the threads of a run have found, before they are put in order. */
export class FoundPairs {
  #blocks = 0;
  /** int32[4·BLOCK_PAIRS·blocks] and float32[3·BLOCK_PAIRS·blocks] */
  vertices: Int32Array = new Int32Array(0);
  normals: Float32Array = new Float32Array(0);
  /** int32[2·blocks] chunk and number of pairs of each block */
  blocks: Int32Array = new Int32Array(0);
  /** int32[2] blocks taken, pairs found */
  taken: Int32Array = new Int32Array(0);
  /** uint32[blocks] blocks in the order of chunks, and index in P of the first pair of each */
  order: Uint32Array = new Uint32Array(0);
  offsets: Uint32Array = new Uint32Array(0);

  get count(): number {
    return this.#blocks;
  }

  get bytes(): number {
    return this.#arrays.reduce((sum, { byteLength }) => sum + byteLength, 0);
  }

  /** Makes room for this many blocks. */
  reserve(blocks: number): void {
    if (blocks <= this.#blocks) return;
    this.free();
    this.#blocks = blocks;
    this.vertices = allocate(Int32Array, 4 * BLOCK_PAIRS * blocks);
    this.normals = allocate(Float32Array, 3 * BLOCK_PAIRS * blocks);
    this.blocks = allocate(Int32Array, 2 * blocks);
    this.taken = allocate(Int32Array, 2);
    this.order = allocate(Uint32Array, blocks);
    this.offsets = allocate(Uint32Array, blocks);
  }

  free(): void {
    release(...this.#arrays);
    this.#blocks = 0;
    this.vertices = new Int32Array(0);
    this.normals = new Float32Array(0);
    this.blocks = new Int32Array(0);
    this.taken = new Int32Array(0);
    this.order = new Uint32Array(0);
    this.offsets = new Uint32Array(0);
  }

  get #arrays() {
    return [this.vertices, this.normals, this.blocks, this.taken, this.order, this.offsets];
  }
}

interface WalkArrays {
  readonly box: Float32Array;
  readonly x: Float32Array;
  readonly distances: Float32Array;
  readonly aBox: Float32Array;
  readonly aMask: Uint8Array;
  readonly aNode: Float32Array;
  readonly aNodeMask: Uint8Array;
  readonly aOrder: Uint32Array;
  readonly aCorners: Uint32Array;
  readonly bBox: Float32Array;
  readonly bMask: Uint8Array;
  readonly bNode: Float32Array;
  readonly bNodeMask: Uint8Array;
  readonly bOrder: Uint32Array;
  readonly bCorners: Uint32Array;
  readonly vertices: Int32Array;
  readonly normals: Float32Array;
  readonly blocks: Int32Array;
  readonly taken: Int32Array;
}

interface WalkNumbers {
  readonly kind: number;
  readonly cutoff: number;
  /** whether `distances` replaces the cutoff */
  readonly hasDistances: number;
  readonly aCount: number;
  readonly aLeaves: number;
  readonly aSize: number;
  readonly bCount: number;
  readonly bLeaves: number;
  readonly bSize: number;
  readonly bFirst: number;
  readonly isSelf: number;
  /** leaf of a with which the run begins */
  readonly firstLeaf: number;
  /** pairs that the run may find */
  readonly budget: number;
  readonly blockCount: number;
}

/** A chunk of a walk on one thread. */
interface Walk {
  readonly arrays: WalkArrays;
  readonly numbers: WalkNumbers;
  readonly chunk: number;
  /** current block of the chunk, −1 = none yet */
  block: number;
  /** pairs in the block */
  count: number;
  /** whether room or budget is exhausted: later pairs are lost, and the run is discarded */
  isOver: boolean;
}

/** Excluded pairs of this thread. */
let ignores: PairPredicate | undefined;

/** Walks tree b for some leaves of tree a. */
export const WALK = defineStage(import.meta.url, 'walk', walkLeaves);

function walkLeaves(arrays: WalkArrays, numbers: WalkNumbers, from: number, to: number): void {
  const { aBox, aMask, aNode, aNodeMask, aOrder, aCorners, bBox, bMask, bNode, bNodeMask, bOrder, bCorners } = arrays;
  const { kind, aCount, aLeaves, aSize, bCount, bLeaves, bSize, bFirst, isSelf, firstLeaf } = numbers;
  const a: Tree = { count: aCount, leaves: aLeaves, box: aBox, mask: aMask, node: aNode, nodeMask: aNodeMask };
  const b: Tree = { count: bCount, leaves: bLeaves, box: bBox, mask: bMask, node: bNode, nodeMask: bNodeMask };
  const walk: Walk = { arrays, numbers, chunk: from / LEAVES_PER_CHUNK, block: -1, count: BLOCK_PAIRS, isOver: false };
  const corners = CORNERS[kind];
  const isEdge = aSize === 2;
  const visit = (count: number): void => {
    for (let n = 0; n < 2 * count; n += 2) {
      const other = bOrder[overlaps[n + 1]];
      if (other < bFirst) continue;
      const q = aSize * aOrder[overlaps[n]];
      const r = bSize * other;
      const v0 = aCorners[q];
      // An edge against an edge, or a vertex against one to three vertices.
      const v1 = isEdge ? aCorners[q + 1] : bCorners[r];
      const v2 = corners > 2 ? bCorners[isEdge ? r : r + 1] : -1;
      const v3 = corners > 3 ? bCorners[isEdge ? r + 1 : r + 2] : -1;
      if (v0 === v2 || v0 === v3 || (isEdge ? v1 === v2 || v1 === v3 : v0 === v1)) continue;
      offer(walk, kind, v0, v1, v2, v3);
    }
  };
  for (let leaf = from; leaf < to && !walk.isOver; leaf++) overlapLeaf(a, b, firstLeaf + leaf, isSelf === 1, visit);
  closeBlock(walk);
}

/** Takes a candidate unless a direction separates it everywhere in its boxes. */
function offer(walk: Walk, kind: number, v0: number, v1: number, v2: number, v3: number): void {
  const { x, box, distances } = walk.arrays;
  if (ignores?.(kind, v0, v1, v2, v3)) return;
  CLOSEST_POINTS[kind](x, v0, v1, v2, v3);
  const d = Math.sqrt(closest.squared);
  const isApart = d > 0;
  apartAlong.x = isApart ? closest.x / d : 0;
  apartAlong.y = isApart ? closest.y / d : 0;
  apartAlong.z = isApart ? closest.z / d : 0;
  const { cutoff: common, hasDistances } = walk.numbers;
  apartAlong.by = hasDistances === 1 ? pairActivationDistance(distances, kind, v0, v1, v2, v3) : common;
  if (isApart && d > apartAlong.by && areBoxesApart(box, x, kind, v0, v1, v2, v3)) return;
  keep(walk, v0, v1, v2, v3);
}

/** Takes a candidate with the normal in `apartAlong`. */
function keep(walk: Walk, v0: number, v1: number, v2: number, v3: number): void {
  if (walk.count === BLOCK_PAIRS) openBlock(walk);
  if (walk.isOver) return;
  const { vertices, normals } = walk.arrays;
  const p = walk.block * BLOCK_PAIRS + walk.count++;
  vertices[4 * p] = v0;
  vertices[4 * p + 1] = v1;
  vertices[4 * p + 2] = v2;
  vertices[4 * p + 3] = v3;
  keepNormal(normals, p);
}

function keepNormal(normals: Float32Array, p: number): void {
  normals[3 * p] = apartAlong.x;
  normals[3 * p + 1] = apartAlong.y;
  normals[3 * p + 2] = apartAlong.z;
}

function openBlock(walk: Walk): void {
  closeBlock(walk);
  const { taken } = walk.arrays;
  const { budget, blockCount } = walk.numbers;
  const block = Atomics.add(taken, 0, 1);
  // The number found so far, without the blocks that are still open; if it exceeds the budget, so does the total.
  walk.isOver = block >= blockCount || Atomics.load(taken, 1) > budget;
  walk.block = walk.isOver ? -1 : block;
  walk.count = 0;
}

function closeBlock({ arrays: { blocks, taken }, chunk, block, count }: Walk): void {
  if (block < 0) return;
  blocks[2 * block] = chunk;
  blocks[2 * block + 1] = count;
  Atomics.add(taken, 1, count);
}

interface CollectArrays extends Pick<WalkArrays, 'vertices' | 'normals' | 'blocks'> {
  readonly order: Uint32Array;
  readonly offsets: Uint32Array;
  readonly toVertex: Int32Array;
  readonly toNormal: Float32Array;
}

/** Copies blocks to their places in P. */
const COLLECT = defineStage(import.meta.url, 'collect', collectBlocks);

function collectBlocks(arrays: CollectArrays, _: NoNumbers, from: number, to: number): void {
  const { vertices, normals, blocks, order, offsets, toVertex, toNormal } = arrays;
  for (let n = from; n < to; n++) {
    const p = order[n] * BLOCK_PAIRS;
    const end = p + blocks[2 * order[n] + 1];
    toVertex.set(vertices.subarray(4 * p, 4 * end), 4 * offsets[n]);
    toNormal.set(normals.subarray(3 * p, 3 * end), 3 * offsets[n]);
  }
}

/**
 * Appends to P every pair of overlapping elements that share no vertex, except those that a direction separates
 * everywhere in their boxes: by leaf of a, then in the order in which b is walked, regardless of the number of threads.
 *
 * @param cursor the kind, and the leaf of a with which to begin; advanced after the pairs found have been appended
 * @throws PairBudgetExceeded, and what `pulse` throws
 */
export function pairUp(
  cursor: { readonly kind: number; leaf: number },
  a: WalkedElements,
  b: WalkedElements,
  input: WalkInput,
  pairs: PairSet,
  found: FoundPairs,
): void {
  if (a.tree.count === 0 || b.tree.count === 0) return;
  const { box, x, cutoff, distances, isIgnored, budget, pulse } = input;
  const { kind } = cursor;
  const leaves = Math.ceil(a.tree.count / LEAF_SIZE);
  found.reserve(FIRST_BLOCKS * Math.min(CHUNKS_PER_RUN, Math.ceil(leaves / LEAVES_PER_CHUNK)));
  ignores = isIgnored;
  // The pairs of a run are kept if the next run is abandoned, so runs are only as long as threads need to share them
  // evenly.
  const chunksPerRun = Math.min(CHUNKS_PER_RUN, CHUNKS_PER_THREAD * team.slots);
  try {
    while (cursor.leaf < leaves) {
      const { leaf: firstLeaf } = cursor;
      const count = Math.min(leaves - firstLeaf, LEAVES_PER_CHUNK * chunksPerRun);
      const left = budget - pairs.count;
      const { vertices, normals, blocks, taken } = found;
      taken.fill(0);
      team.run({
        stage: WALK,
        arrays: {
          ...{ box, x, distances: distances ?? new Float32Array(0) },
          ...{ aBox: a.tree.box, aMask: a.tree.mask, aNode: a.tree.node, aNodeMask: a.tree.nodeMask },
          ...{ aOrder: a.tree.order, aCorners: a.corners },
          ...{ bBox: b.tree.box, bMask: b.tree.mask, bNode: b.tree.node, bNodeMask: b.tree.nodeMask },
          ...{ bOrder: b.tree.order, bCorners: b.corners },
          ...{ vertices, normals, blocks, taken },
        },
        numbers: {
          ...{ kind, cutoff, hasDistances: distances ? 1 : 0 },
          ...{ aCount: a.tree.count, aLeaves: a.tree.leaves, aSize: a.size },
          ...{ bCount: b.tree.count, bLeaves: b.tree.leaves, bSize: b.size, bFirst: b.first },
          ...{ isSelf: a.tree === b.tree ? 1 : 0, firstLeaf, budget: left, blockCount: found.count },
        },
        ...{ count, chunk: LEAVES_PER_CHUNK, cost: isIgnored ? 0 : LEAF_COST, pulse },
      });
      if (taken[1] > left) throw new PairBudgetExceeded(pairs.count + taken[1]);
      if (taken[0] > found.count) found.reserve(Math.max(taken[0], 2 * found.count));
      else {
        append(kind, pairs, found);
        cursor.leaf += count;
      }
    }
  } finally {
    ignores = undefined;
  }
}

/** Appends the pairs that a run has found. */
function append(kind: number, pairs: PairSet, found: FoundPairs): void {
  const { vertices, normals, blocks, taken, order, offsets } = found;
  const count = taken[0];
  const starts = new Uint32Array(CHUNKS_PER_RUN + 1);
  for (let n = 0; n < count; n++) starts[blocks[2 * n] + 1]++;
  for (let c = 0; c < CHUNKS_PER_RUN; c++) starts[c + 1] += starts[c];
  // A thread takes the blocks of a chunk in ascending order.
  for (let n = 0; n < count; n++) order[starts[blocks[2 * n]]++] = n;
  let to = pairs.count;
  for (let n = 0; n < count; n++) {
    offsets[n] = to;
    to += blocks[2 * order[n] + 1];
  }
  pairs.extend(kind, to - pairs.count);
  const arrays = { vertices, normals, blocks, order, offsets, toVertex: pairs.vertex, toNormal: pairs.normal };
  team.run({ stage: COLLECT, arrays, numbers: {}, count, chunk: 8, cost: BLOCK_COST });
}
