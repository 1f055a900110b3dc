/**
 * Rows of vertex ids as keys of elements. Sorting makes the order of everything that is built from them independent of
 * the caller's element order. No choice of ids can make it slow, whereas ids can be chosen to collide in a hash table.
 */

/** Bits sorted per pass: 2048 counters stay in the first-level cache. */
const DIGIT_BITS = 11;

/** Copies `rows` (uint32[width·n]) with the ids of each row ascending: a row's identity, whatever its orientation. */
export function ascendingRows(rows: Uint32Array, width: number): Uint32Array {
  const sorted = new Uint32Array(rows);
  if (width === 3) {
    sortTriples(sorted);
    return sorted;
  }
  for (let start = 0; start < sorted.length; start += width) {
    for (let i = start + 1; i < start + width; i++) {
      const value = sorted[i]!;
      let j = i;
      for (; j > start && sorted[j - 1]! > value; j--) sorted[j] = sorted[j - 1]!;
      sorted[j] = value;
    }
  }
  return sorted;
}

/** Sorts in place like {@link ascendingRows}, for triples, the most frequent rows of a mesh. */
function sortTriples(rows: Uint32Array): void {
  for (let start = 0; start < rows.length; start += 3) {
    const a = rows[start]!;
    const b = rows[start + 1]!;
    const c = rows[start + 2]!;
    const low = a < b ? a : b;
    const high = a < b ? b : a;
    rows[start] = c < low ? c : low;
    rows[start + 1] = c < low ? low : c < high ? c : high;
    rows[start + 2] = c < high ? high : c;
  }
}

/** Up to this many rows with the same first id are compared with each other; more are sorted. */
const FEW_ROWS = 24;

/**
 * The first row that repeats an earlier one, and the earliest that it repeats; undefined = all rows differ. Linear time
 * if few rows begin with the same id; if many do, they are sorted.
 *
 * @param rows uint32[width·n], each row ascending, values below `limit`
 */
export function findRepeatedRow(
  rows: Uint32Array,
  width: number,
  limit: number,
): { readonly repeated: number; readonly original: number } | undefined {
  const { starts, members } = groupRows(rows, width, limit);
  let repeated = rows.length;
  let original = 0;
  for (let id = 0; id < limit; id++) {
    const from = starts[id]!;
    const to = starts[id + 1]!;
    if (to - from > FEW_ROWS) {
      const found = findAmongMany(rows, width, limit, members.subarray(from, to));
      if (found && found.repeated < repeated) ({ repeated, original } = found);
      continue;
    }
    // Members ascend, so the first that is equal is the earliest.
    for (let m = from + 1; m < to && members[m]! < repeated; m++) {
      for (let n = from; n < m; n++) {
        if (!isSameRow(rows, width, members[n]!, members[m]!)) continue;
        repeated = members[m]!;
        original = members[n]!;
        break;
      }
    }
  }
  return repeated < rows.length ? { repeated, original } : undefined;
}

/** Rows by their first id: those of id v are members[starts[v]] to members[starts[v + 1] − 1], ascending. */
function groupRows(
  rows: Uint32Array,
  width: number,
  limit: number,
): { readonly starts: Uint32Array; readonly members: Uint32Array } {
  const starts = new Uint32Array(limit + 1);
  for (let i = 0; i < rows.length; i += width) starts[rows[i]! + 1]!++;
  for (let id = 0; id < limit; id++) starts[id + 1]! += starts[id]!;
  const next = starts.slice();
  const members = new Uint32Array(rows.length / width);
  for (let row = 0, i = 0; i < rows.length; row++, i += width) members[next[rows[i]!]!++] = row;
  return { starts, members };
}

function findAmongMany(
  rows: Uint32Array,
  width: number,
  limit: number,
  members: Uint32Array,
): { readonly repeated: number; readonly original: number } | undefined {
  const own = new Uint32Array(width * members.length);
  for (let m = 0; m < members.length; m++) {
    for (let i = 0; i < width; i++) own[width * m + i] = rows[width * members[m]! + i]!;
  }
  const order = sortRows(own, width, limit);
  let repeated = members.length;
  let original = 0;
  forEachGroup(own, width, order, (from, to) => {
    if (to - from > 1 && order[from + 1]! < repeated) {
      repeated = order[from + 1]!;
      original = order[from]!;
    }
  });
  return repeated < members.length ? { repeated: members[repeated]!, original: members[original]! } : undefined;
}

/**
 * Returns the order (uint32[n], row indices) in which the rows of `rows` (uint32[width·n], values below `limit`) ascend
 * lexicographically. Stable: equal rows keep the order of their indices. Linear time (radix sort, last column first).
 */
export function sortRows(rows: Uint32Array, width: number, limit: number): Uint32Array {
  const count = rows.length / width;
  let order = new Uint32Array(count);
  for (let i = 0; i < count; i++) order[i] = i;
  let other = new Uint32Array(count);
  const bits = Math.max(1, 32 - Math.clz32(limit - 1));
  const passes = Math.ceil(bits / DIGIT_BITS);
  const digitBits = Math.ceil(bits / passes);
  const mask = 2 ** digitBits - 1;
  const starts = new Uint32Array(mask + 1);
  for (let column = width - 1; column >= 0; column--) {
    for (let pass = 0; pass < passes; pass++) {
      const shift = pass * digitBits;
      starts.fill(0);
      for (let i = column; i < rows.length; i += width) starts[(rows[i]! >>> shift) & mask]!++;
      let sum = 0;
      for (let digit = 0; digit <= mask; digit++) {
        const size = starts[digit]!;
        starts[digit] = sum;
        sum += size;
      }
      for (let i = 0; i < count; i++) {
        const row = order[i]!;
        const digit = (rows[row * width + column]! >>> shift) & mask;
        other[starts[digit]!++] = row;
      }
      [order, other] = [other, order];
    }
  }
  return order;
}

/**
 * Calls `visit` once for each set of equal rows, with the half-open range of `order` that lists its members (ascending
 * row indices, because the sort is stable).
 */
export function forEachGroup(
  rows: Uint32Array,
  width: number,
  order: Uint32Array,
  visit: (from: number, to: number) => void,
): void {
  for (let from = 0; from < order.length; ) {
    let to = from + 1;
    while (to < order.length && isSameRow(rows, width, order[from]!, order[to]!)) to++;
    visit(from, to);
    from = to;
  }
}

function isSameRow(rows: Uint32Array, width: number, a: number, b: number): boolean {
  for (let i = 0; i < width; i++) if (rows[a * width + i] !== rows[b * width + i]) return false;
  return true;
}

/** uint32: `a` followed by `b`. */
export function joinArrays(a: Uint32Array, b: Uint32Array): Uint32Array {
  if (b.length === 0) return a;
  if (a.length === 0) return b;
  const joined = new Uint32Array(a.length + b.length);
  joined.set(a);
  joined.set(b, a.length);
  return joined;
}
