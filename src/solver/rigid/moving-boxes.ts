/** Numbers of a moving box: lo xyz, hi xyz at x, then at z. An empty box is inverted, and apart from all others. */
export const MOVING_BOX = 12;

/**
 * The boxes of groups and of the elements at rest, while groups move straight from x to z.
 *
 * @param vertices uint32[C] that can touch something
 * @param label uint8[V] 0 = rests
 * @param labels number of labels, 0 included
 * @returns float32[12·labels]
 */
export function boxesOfLabels(
  vertices: Uint32Array,
  label: Uint8Array,
  labels: number,
  x: Float32Array,
  z: Float32Array,
): Float32Array {
  const boxes = new Float32Array(MOVING_BOX * labels);
  for (let q = 0; q < boxes.length; q++) boxes[q] = q % 6 < 3 ? Number.POSITIVE_INFINITY : Number.NEGATIVE_INFINITY;
  for (const v of vertices) include(boxes, MOVING_BOX * label[v], x, z, v);
  return boxes;
}

function include(boxes: Float32Array, q: number, x: Float32Array, z: Float32Array, v: number): void {
  for (let c = 0; c < 3; c++) {
    const [from, to] = [x[3 * v + c], z[3 * v + c]];
    if (from < boxes[q + c]) boxes[q + c] = from;
    if (from > boxes[q + 3 + c]) boxes[q + 3 + c] = from;
    if (to < boxes[q + 6 + c]) boxes[q + 6 + c] = to;
    if (to > boxes[q + 9 + c]) boxes[q + 9 + c] = to;
  }
}

const element = new Float32Array(MOVING_BOX);

/**
 * The elements that may meet an element of another label: those that are not apart from all boxes of other labels. All
 * others need no search, which saves most of the work if groups come near few other elements.
 *
 * @param corner uint32[size·E] @param boxes of {@link boxesOfLabels}
 * @returns uint32[N] ascending
 */
export function elementsThatMayMeet(
  corner: Uint32Array,
  size: number,
  label: Uint8Array,
  boxes: Float32Array,
  x: Float32Array,
  z: Float32Array,
  margin: number,
): Uint32Array {
  const found = new Uint32Array(corner.length / size);
  let count = 0;
  for (let e = 0; e < found.length; e++) {
    const own = MOVING_BOX * label[corner[size * e]];
    element.set(EMPTY);
    for (let s = size * e; s < size * e + size; s++) include(element, 0, x, z, corner[s]);
    for (let q = 0; q < boxes.length; q += MOVING_BOX) {
      if (q === own || areApart(element, 0, boxes, q, margin)) continue;
      found[count++] = e;
      break;
    }
  }
  return found.slice(0, count);
}

const EMPTY = Float32Array.from({ length: MOVING_BOX }, (_, q) =>
  q % 6 < 3 ? Number.POSITIVE_INFINITY : Number.NEGATIVE_INFINITY,
);

/**
 * Whether an axis keeps two moving boxes more than `margin` apart at both ends, in the same order, and so all the way
 * (motion-tree.ts).
 */
export function areApart(a: Float32Array, p: number, b: Float32Array, q: number, margin: number): boolean {
  for (let c = 0; c < 3; c++) {
    if (a[p + c] - b[q + 3 + c] > margin && a[p + 6 + c] - b[q + 9 + c] > margin) return true;
    if (b[q + c] - a[p + 3 + c] > margin && b[q + 6 + c] - a[p + 9 + c] > margin) return true;
  }
  return false;
}
