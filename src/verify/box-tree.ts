/** Elements of a leaf: measured on cloth, scanning this many was faster than splitting them. */
const LEAF_SIZE = 6;
/** Elements 16 times larger or smaller than the others get a subtree of their own, so that they do not inflate boxes. */
const SIZE_CLASS_OCTAVES = 4;
const LARGEST_CLASS = 3;
/** Nodes split at the middle of the centres down to this many balanced depths, and at the median below. */
const MIDPOINT_DEPTH_FACTOR = 2;

/** The structure of a binary tree over boxes, without the boxes of its nodes. The left child of node n is node n + 1. */
export interface BoxTree {
  /** uint32[N] box by position in the tree */
  readonly order: Uint32Array;
  /** uint32[M] first position of a node */
  readonly first: Uint32Array;
  /** uint32[M] number of positions of a node */
  readonly size: Uint32Array;
  /** uint32[M] right child; 0 = leaf */
  readonly right: Uint32Array;
}

/** Elements from which a split takes long enough for a checkpoint before it. */
const CHECKPOINT_SIZE = 4096;

/**
 * @param boxes float64[6·N] min xyz, max xyz; N ≥ 1
 * @param checkpoint called before every long split; may throw
 */
export function buildBoxTree(boxes: Float64Array, checkpoint: () => void = () => {}): BoxTree {
  const count = boxes.length / 6;
  const builder = new TreeBuilder(boxes, count, checkpoint);
  builder.split(0, count);
  return builder.finish();
}

class TreeBuilder {
  private readonly order: Uint32Array;
  /** float64[3·N] half sums of the box's ends, by position; halved first so that huge coordinates do not overflow */
  private readonly centres: Float64Array;
  private readonly sizeClass: Int8Array;
  private readonly first: Uint32Array;
  private readonly size: Uint32Array;
  private readonly right: Uint32Array;
  private readonly midpointDepth: number;
  private used = 0;

  constructor(
    boxes: Float64Array,
    count: number,
    private readonly checkpoint: () => void,
  ) {
    this.sizeClass = classifySizes(boxes, count);
    this.order = sortByClass(this.sizeClass);
    this.centres = new Float64Array(3 * count);
    for (let place = 0; place < count; place++) {
      const at = 6 * this.order[place];
      for (let k = 0; k < 3; k++) this.centres[3 * place + k] = boxes[at + k] / 2 + boxes[at + 3 + k] / 2;
    }
    this.midpointDepth = MIDPOINT_DEPTH_FACTOR * Math.log2(count);
    // Both sides of a split have elements, so there are at most 2·count - 1 nodes.
    const capacity = Math.max(1, 2 * count - 1);
    this.first = new Uint32Array(capacity);
    this.size = new Uint32Array(capacity);
    this.right = new Uint32Array(capacity);
  }

  split(from: number, to: number, depth = 0): number {
    const node = this.used++;
    this.first[node] = from;
    this.size[node] = to - from;
    if (to - from <= LEAF_SIZE) return node;
    if (to - from > CHECKPOINT_SIZE) this.checkpoint();
    const middle = this.partition(from, to, depth);
    this.split(from, middle, depth + 1);
    this.right[node] = this.split(middle, to, depth + 1);
    return node;
  }

  finish(): BoxTree {
    const { order, used } = this;
    return {
      order,
      first: this.first.slice(0, used),
      size: this.size.slice(0, used),
      right: this.right.slice(0, used),
    };
  }

  private partition(from: number, to: number, depth: number): number {
    const { order, sizeClass } = this;
    if (sizeClass[order[from]] !== sizeClass[order[to - 1]]) {
      let boundary = from + 1;
      while (sizeClass[order[boundary]] === sizeClass[order[from]]) boundary++;
      return boundary;
    }
    const { axis, middle } = this.widestAxis(from, to);
    if (depth < this.midpointDepth) {
      const cut = this.partitionAt(from, to, axis, middle);
      if (cut > from && cut < to) return cut;
    }
    return this.partitionByMedian(from, to, axis);
  }

  private widestAxis(from: number, to: number): { axis: number; middle: number } {
    const { centres } = this;
    let lowX = Infinity;
    let lowY = Infinity;
    let lowZ = Infinity;
    let highX = -Infinity;
    let highY = -Infinity;
    let highZ = -Infinity;
    for (let at = 3 * from; at < 3 * to; at += 3) {
      const x = centres[at];
      const y = centres[at + 1];
      const z = centres[at + 2];
      if (x < lowX) lowX = x;
      if (x > highX) highX = x;
      if (y < lowY) lowY = y;
      if (y > highY) highY = y;
      if (z < lowZ) lowZ = z;
      if (z > highZ) highZ = z;
    }
    const extentX = highX - lowX;
    const extentY = highY - lowY;
    const extentZ = highZ - lowZ;
    if (extentX >= extentY && extentX >= extentZ) return { axis: 0, middle: lowX / 2 + highX / 2 };
    if (extentY >= extentZ) return { axis: 1, middle: lowY / 2 + highY / 2 };
    return { axis: 2, middle: lowZ / 2 + highZ / 2 };
  }

  private partitionAt(from: number, to: number, axis: number, value: number): number {
    const { centres } = this;
    let left = from;
    let right = to - 1;
    for (;;) {
      while (left <= right && centres[3 * left + axis] <= value) left++;
      while (left <= right && centres[3 * right + axis] > value) right--;
      if (left > right) return left;
      this.swap(left++, right--);
    }
  }

  private swap(p: number, q: number): void {
    const { order, centres } = this;
    const element = order[p];
    order[p] = order[q];
    order[q] = element;
    for (let k = 0; k < 3; k++) {
      const value = centres[3 * p + k];
      centres[3 * p + k] = centres[3 * q + k];
      centres[3 * q + k] = value;
    }
  }

  /** Sorts the range, which is rare and takes n log n even if all centres are equal. */
  private partitionByMedian(from: number, to: number, axis: number): number {
    const order = this.order.slice(from, to);
    const centres = this.centres.slice(3 * from, 3 * to);
    const rank = Uint32Array.from(order.keys()).sort(
      (i, j) => centres[3 * i + axis] - centres[3 * j + axis] || order[i] - order[j],
    );
    for (let k = 0; k < rank.length; k++) {
      this.order[from + k] = order[rank[k]];
      for (let c = 0; c < 3; c++) this.centres[3 * (from + k) + c] = centres[3 * rank[k] + c];
    }
    return (from + to) >>> 1;
  }
}

/** Element indices sorted by class, and by index within a class. */
function sortByClass(classes: Int8Array): Uint32Array {
  const order = new Uint32Array(classes.length);
  let place = 0;
  for (let wanted = -LARGEST_CLASS; wanted <= LARGEST_CLASS; wanted++) {
    for (let i = 0; i < classes.length; i++) if (classes[i] === wanted) order[place++] = i;
  }
  return order;
}

/** Classes of extent around the geometric mean; elements without extent (points) go to the lowest class. */
function classifySizes(boxes: Float64Array, count: number): Int8Array {
  const octaves = new Float64Array(count);
  let sum = 0;
  let sized = 0;
  for (let i = 0; i < count; i++) {
    const at = 6 * i;
    const extent = Math.max(boxes[at + 3] - boxes[at], boxes[at + 4] - boxes[at + 1], boxes[at + 5] - boxes[at + 2]);
    octaves[i] = Math.log2(Math.min(extent, Number.MAX_VALUE));
    if (extent <= 0) continue;
    sum += octaves[i];
    sized++;
  }
  const mean = sized > 0 ? sum / sized : 0;
  const classes = new Int8Array(count);
  for (let i = 0; i < count; i++) {
    const steps = Math.round((octaves[i] - mean) / SIZE_CLASS_OCTAVES);
    classes[i] = Math.max(-LARGEST_CLASS, Math.min(LARGEST_CLASS, steps));
  }
  return classes;
}
