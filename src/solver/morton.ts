/** 10 bits per axis. */
const GRID = 1023;

/**
 * The cells that a Morton code counts: doubled centres of boxes minus the least one, times the cells per unit of
 * length.
 */
export interface Grid {
  readonly x: number;
  readonly y: number;
  readonly z: number;
  readonly cells: number;
}

export function gridOf(count: number, box: Float32Array): Grid {
  let lx = Number.POSITIVE_INFINITY;
  let ly = lx;
  let lz = lx;
  let hx = Number.NEGATIVE_INFINITY;
  let hy = hx;
  let hz = hx;
  // Without branches: along a row of a grid every box is a new extreme, which processors predict badly.
  for (let i = 0; i < count; i++) {
    const q = 6 * i;
    const x = box[q] + box[q + 3];
    const y = box[q + 1] + box[q + 4];
    const z = box[q + 2] + box[q + 5];
    lx = Math.min(lx, x);
    hx = Math.max(hx, x);
    ly = Math.min(ly, y);
    hy = Math.max(hy, y);
    lz = Math.min(lz, z);
    hz = Math.max(hz, z);
  }
  // One cell size for the three axes keeps nodes of flat scenes compact; a single point gets cell 0.
  const extent = Math.max(hx - lx, hy - ly, hz - lz);
  return { x: lx, y: ly, z: lz, cells: extent > 0 ? GRID / extent : 0 };
}

export const isSameGrid = (a: Grid, b: Grid): boolean =>
  a.x === b.x && a.y === b.y && a.z === b.z && a.cells === b.cells;

export function mortonCode(box: Float32Array, i: number, { x, y, z, cells }: Grid): number {
  const q = 6 * i;
  const cx = Math.floor((box[q] + box[q + 3] - x) * cells);
  const cy = Math.floor((box[q + 1] + box[q + 4] - y) * cells);
  const cz = Math.floor((box[q + 2] + box[q + 5] - z) * cells);
  return spread(cx) | (spread(cy) << 1) | (spread(cz) << 2);
}

/**
 * From this many numbers on, sorting by two digits of 15 bits is faster than by three of 10, which have fewer counters
 * to clear.
 */
const MANY = 1 << 15;

/** Sorts 0…count−1 by code with a stable radix sort: equal codes stay in index order. `code` is not changed. */
export function sortByCode(count: number, code: Uint32Array, order: Uint32Array): void {
  if (count < MANY) sortByThreeDigits(count, code, order);
  else sortByTwoDigits(count, code, order);
}

function sortByThreeDigits(count: number, code: Uint32Array, order: Uint32Array): void {
  const low = new Uint32Array(1 << 10);
  const middle = new Uint32Array(1 << 10);
  const high = new Uint32Array(1 << 10);
  for (let s = 0; s < count; s++) {
    const c = code[s];
    low[c & 1023]++;
    middle[(c >>> 10) & 1023]++;
    high[c >>> 20]++;
  }
  for (const digit of [low, middle, high]) toPlaces(digit);
  // Few codes stay in the caches, so they are looked up by index.
  const spare = new Uint32Array(count);
  for (let s = 0; s < count; s++) order[low[code[s] & 1023]++] = s;
  for (let n = 0; n < count; n++) spare[middle[(code[order[n]] >>> 10) & 1023]++] = order[n];
  for (let n = 0; n < count; n++) order[high[code[spare[n]] >>> 20]++] = spare[n];
}

function sortByTwoDigits(count: number, code: Uint32Array, order: Uint32Array): void {
  const low = new Uint32Array(1 << 15);
  const high = new Uint32Array(1 << 15);
  for (let s = 0; s < count; s++) {
    const c = code[s];
    low[c & 32767]++;
    high[c >>> 15]++;
  }
  toPlaces(low);
  toPlaces(high);
  // The high digit lies beside the index, because a look-up by index would miss the caches.
  const pairs = new Uint32Array(2 * count);
  for (let s = 0; s < count; s++) {
    const c = code[s];
    const n = 2 * low[c & 32767]++;
    pairs[n] = c >>> 15;
    pairs[n + 1] = s;
  }
  for (let n = 0; n < 2 * count; n += 2) order[high[pairs[n]]++] = pairs[n + 1];
}

/** Replaces the number of codes with each value of a digit by the number of those with a lower one. */
function toPlaces(sizes: Uint32Array): void {
  let sum = 0;
  for (let digit = 0; digit < sizes.length; digit++) {
    const size = sizes[digit];
    sizes[digit] = sum;
    sum += size;
  }
}

/**
 * Returns the order (uint32[V]) of points by their Morton codes, then by index: the order of the leaves of a tree over
 * them. The codes are those that {@link mortonCode} gives for boxes without extent.
 *
 * @param x float32[3·V]
 */
export function mortonOrder(x: Float32Array): Uint32Array {
  const count = x.length / 3;
  let [lx, ly, lz] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
  let [hx, hy, hz] = [-lx, -ly, -lz];
  for (let k = 0; k < x.length; k += 3) {
    const inX = x[k];
    const inY = x[k + 1];
    const inZ = x[k + 2];
    lx = Math.min(lx, inX);
    hx = Math.max(hx, inX);
    ly = Math.min(ly, inY);
    hy = Math.max(hy, inY);
    lz = Math.min(lz, inZ);
    hz = Math.max(hz, inZ);
  }
  // mortonCode sums the two bounds of a box, which doubles the coordinates of a point: the factor cancels exactly.
  const extent = Math.max(hx - lx, hy - ly, hz - lz);
  const cells = extent > 0 ? GRID / extent : 0;
  const code = new Uint32Array(count);
  for (let v = 0, k = 0; v < count; v++, k += 3) {
    // Not negative, and at most GRID: (extent (1 + u)) (GRID / extent) (1 + u)² is below GRID + 1.
    const inX = SPREAD[((x[k] - lx) * cells) | 0];
    const inY = SPREAD[((x[k + 1] - ly) * cells) | 0];
    const inZ = SPREAD[((x[k + 2] - lz) * cells) | 0];
    code[v] = inX | (inY << 1) | (inZ << 2);
  }
  const order = new Uint32Array(count);
  sortByCode(count, code, order);
  return order;
}

/** Restores the order by code, then index, after the codes of `moved` have changed: the others are already in order. */
export function moveInOrder(order: Uint32Array, count: number, code: Uint32Array, moved: number[]): void {
  const isMoved = new Uint8Array(count);
  for (const i of moved) isMoved[i] = 1;
  moved.sort((i, j) => code[i] - code[j] || i - j);
  const rest = new Uint32Array(count - moved.length);
  let kept = 0;
  for (let s = 0; s < count; s++) if (isMoved[order[s]] === 0) rest[kept++] = order[s];
  let to = 0;
  let r = 0;
  for (const i of moved) {
    while (r < kept && (code[rest[r]] < code[i] || (code[rest[r]] === code[i] && rest[r] < i))) order[to++] = rest[r++];
    order[to++] = i;
  }
  while (r < kept) order[to++] = rest[r++];
}

/** Spreads ten bits to every third bit. */
function spread(value: number): number {
  let v = Math.min(GRID, Math.max(0, value));
  v = (v | (v << 16)) & 0x030000ff;
  v = (v | (v << 8)) & 0x0300f00f;
  v = (v | (v << 4)) & 0x030c30c3;
  return (v | (v << 2)) & 0x09249249;
}

/** The value of {@link spread} for each cell of an axis. */
const SPREAD = Uint32Array.from({ length: GRID + 1 }, (_, cell) => spread(cell));
