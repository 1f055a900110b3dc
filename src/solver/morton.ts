/** 10 bits an axis. */
const GRID = 1023;

/** The cells that a Morton code counts: doubled centres of boxes less the least one, times the cells per unit of length. */
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
  for (let i = 0; i < count; i++) {
    const q = 6 * i;
    const x = box[q] + box[q + 3];
    const y = box[q + 1] + box[q + 4];
    const z = box[q + 2] + box[q + 5];
    if (x < lx) lx = x;
    if (x > hx) hx = x;
    if (y < ly) ly = y;
    if (y > hy) hy = y;
    if (z < lz) lz = z;
    if (z > hz) hz = z;
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

/** Stable radix sort of 0…count−1 by code: equal codes stay in index order. */
export function sortByCode(count: number, code: Uint32Array, order: Uint32Array): void {
  let from = new Uint32Array(count);
  let to = order;
  for (let i = 0; i < count; i++) from[i] = i;
  const bucket = new Uint32Array(1025);
  for (let shift = 0; shift < 30; shift += 10) {
    bucket.fill(0);
    for (let i = 0; i < count; i++) bucket[((code[i] >>> shift) & GRID) + 1]++;
    for (let b = 0; b < 1024; b++) bucket[b + 1] += bucket[b];
    for (let s = 0; s < count; s++) to[bucket[(code[from[s]] >>> shift) & GRID]++] = from[s];
    const swap = from;
    from = to as Uint32Array<ArrayBuffer>;
    to = swap;
  }
  if (from !== order) order.set(from);
}

/** Restores the order by code, then index, after the codes of `moved` have changed: the others are in order already. */
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
