/** The triangle nearest to a point; it is found with a tree that halves the triangles along the Morton curve. */
export interface Nearest {
  /** index in the triangles of the mesh; -1 = none within reach */
  triangle: number;
  distance: number;
  /** the point of the triangle */
  x: number;
  y: number;
  z: number;
}

const LEAF = 8;

/** Triangles between two pulses while a tree is built; each takes some microseconds. */
const TRIANGLES_PER_PULSE = 4096;

export class TriangleTree {
  readonly #x: Float64Array;
  readonly #triangles: Uint32Array;
  readonly #order: Uint32Array;
  /** 6 numbers per node: low, high. Node n has the children 2n + 1 and 2n + 2. */
  readonly #boxes: Float64Array;
  readonly #found: Nearest = { triangle: -1, distance: Infinity, x: 0, y: 0, z: 0 };
  readonly #point = new Float64Array(3);

  /**
   * @param x float64[3·V]
   * @param triangles uint32[3·T]
   * @param chosen indices of triangles
   * @param pulse called at short intervals while the tree is built; may throw
   */
  constructor(x: Float64Array, triangles: Uint32Array, chosen: Uint32Array, pulse?: () => void) {
    this.#x = x;
    this.#triangles = triangles;
    this.#order = alongCurve(x, triangles, chosen, pulse);
    const depth = Math.max(0, Math.ceil(Math.log2(Math.max(1, chosen.length / LEAF))));
    this.#boxes = new Float64Array(6 * (2 ** (depth + 1) - 1));
    this.#build(0, 0, chosen.length, depth, pulse);
  }

  /** @param within largest distance of a result. The result is overwritten by the next call. */
  nearest(px: number, py: number, pz: number, within = Infinity): Nearest {
    const found = this.#found;
    found.triangle = -1;
    found.distance = within;
    if (this.#order.length > 0) this.#visit(0, 0, this.#order.length, px, py, pz);
    return found;
  }

  #build(node: number, from: number, to: number, depth: number, pulse?: () => void): void {
    if (to - from > TRIANGLES_PER_PULSE) pulse?.();
    const box = this.#boxes.subarray(6 * node, 6 * node + 6);
    for (let axis = 0; axis < 3; axis++) {
      let [low, high] = [Infinity, -Infinity];
      for (let k = from; k < to; k++) {
        for (let c = 0; c < 3; c++) {
          const value = this.#x[3 * this.#triangles[3 * this.#order[k] + c] + axis];
          low = Math.min(low, value);
          high = Math.max(high, value);
        }
      }
      box[axis] = low;
      box[axis + 3] = high;
    }
    if (depth === 0) return;
    const middle = (from + to) >>> 1;
    this.#build(2 * node + 1, from, middle, depth - 1, pulse);
    this.#build(2 * node + 2, middle, to, depth - 1, pulse);
  }

  #distanceToBox(node: number, px: number, py: number, pz: number): number {
    const b = 6 * node;
    const boxes = this.#boxes;
    const dx = Math.max(boxes[b] - px, 0, px - boxes[b + 3]);
    const dy = Math.max(boxes[b + 1] - py, 0, py - boxes[b + 4]);
    const dz = Math.max(boxes[b + 2] - pz, 0, pz - boxes[b + 5]);
    return Math.sqrt(dx * dx + dy * dy + dz * dz);
  }

  #visit(node: number, from: number, to: number, px: number, py: number, pz: number): void {
    if (from === to) return;
    const left = 2 * node + 1;
    if (6 * left >= this.#boxes.length) {
      for (let k = from; k < to; k++) this.#compare(this.#order[k], px, py, pz);
      return;
    }
    const middle = (from + to) >>> 1;
    const [near, far] = [this.#distanceToBox(left, px, py, pz), this.#distanceToBox(left + 1, px, py, pz)];
    if (near <= far) {
      if (near < this.#found.distance) this.#visit(left, from, middle, px, py, pz);
      if (far < this.#found.distance) this.#visit(left + 1, middle, to, px, py, pz);
    } else {
      if (far < this.#found.distance) this.#visit(left + 1, middle, to, px, py, pz);
      if (near < this.#found.distance) this.#visit(left, from, middle, px, py, pz);
    }
  }

  #compare(triangle: number, px: number, py: number, pz: number): void {
    const point = this.#point;
    closestOnTriangle(this.#x, this.#triangles, triangle, px, py, pz, point);
    const distance = Math.hypot(px - point[0], py - point[1], pz - point[2]);
    if (!(distance < this.#found.distance)) return;
    Object.assign(this.#found, { triangle, distance, x: point[0], y: point[1], z: point[2] });
  }
}

/** Cells of the curve along each axis, 2 to the power of this at most: codes of 30 bits. */
const MOST_BITS = 10;

/** Bits of an integer that a double represents exactly. */
const EXACT_BITS = 53;

/** The triangles in the order of the Morton codes of their first corners; close codes belong to close corners. */
export function alongCurve(
  x: Float64Array,
  triangles: Uint32Array,
  chosen: Uint32Array,
  pulse?: () => void,
): Uint32Array {
  const low = [Infinity, Infinity, Infinity];
  const high = [-Infinity, -Infinity, -Infinity];
  for (const t of chosen) {
    for (let axis = 0; axis < 3; axis++) {
      const value = x[3 * triangles[3 * t] + axis];
      low[axis] = Math.min(low[axis], value);
      high[axis] = Math.max(high[axis], value);
    }
  }
  const size = Math.max(high[0] - low[0], high[1] - low[1], high[2] - low[2]);
  // The code in the high and the place in the low bits of a double: beyond 2^23 triangles codes have fewer bits.
  const placeBits = Math.ceil(Math.log2(Math.max(1, chosen.length)));
  const places = 2 ** placeBits;
  const bits = Math.min(MOST_BITS, Math.floor((EXACT_BITS - placeBits) / 3));
  const scale = size > 0 ? (2 ** bits - 1) / size : 0;
  const keys = Float64Array.from(chosen, (t, k) => {
    if (k % TRIANGLES_PER_PULSE === 0) pulse?.();
    let code = 0;
    for (let axis = 0; axis < 3; axis++) {
      const cell = Math.floor((x[3 * triangles[3 * t] + axis] - low[axis]) * scale);
      for (let bit = 0; bit < bits; bit++) code += ((cell >>> bit) & 1) * 2 ** (3 * bit + axis);
    }
    return code * places + k;
  }).sort();
  return Uint32Array.from(keys, (key) => chosen[key % places]);
}

/** The point of a triangle that is nearest to p (Ericson, Real-Time Collision Detection, 5.1.5: by the region of p). */
function closestOnTriangle(
  x: Float64Array,
  triangles: Uint32Array,
  triangle: number,
  px: number,
  py: number,
  pz: number,
  out: Float64Array,
): void {
  const [a, b, c] = [3 * triangles[3 * triangle], 3 * triangles[3 * triangle + 1], 3 * triangles[3 * triangle + 2]];
  const [ax, ay, az] = [x[a], x[a + 1], x[a + 2]];
  const [ux, uy, uz] = [x[b] - ax, x[b + 1] - ay, x[b + 2] - az];
  const [vx, vy, vz] = [x[c] - ax, x[c + 1] - ay, x[c + 2] - az];
  const [wx, wy, wz] = [px - ax, py - ay, pz - az];
  const [uu, uv, vv] = [ux * ux + uy * uy + uz * uz, ux * vx + uy * vy + uz * vz, vx * vx + vy * vy + vz * vz];
  const [uw, vw] = [ux * wx + uy * wy + uz * wz, vx * wx + vy * wy + vz * wz];
  const [s, t] = parametersOf(uu, uv, vv, uw, vw);
  out[0] = ax + s * ux + t * vx;
  out[1] = ay + s * uy + t * vy;
  out[2] = az + s * uz + t * vz;
}

/** s, t ≥ 0 with s + t ≤ 1 that bring a + s·u + t·v nearest to p, where w = p − a. */
function parametersOf(uu: number, uv: number, vv: number, uw: number, vw: number): [number, number] {
  const between = (value: number): number => (value > 0 ? Math.min(1, value) : 0);
  if (uw <= 0 && vw <= 0) return [0, 0];
  const [uwB, vwB] = [uw - uu, vw - uv];
  if (uwB >= 0 && vwB <= uwB) return [1, 0];
  const onU = uw * vwB - uwB * vw;
  if (onU <= 0 && uw >= 0 && uwB <= 0) return [between(uw / (uw - uwB)), 0];
  const [uwC, vwC] = [uw - uv, vw - vv];
  if (vwC >= 0 && uwC <= vwC) return [0, 1];
  const onV = uwC * vw - uw * vwC;
  if (onV <= 0 && vw >= 0 && vwC <= 0) return [0, between(vw / (vw - vwC))];
  const onW = uwB * vwC - uwC * vwB;
  if (onW <= 0 && vwB - uwB >= 0 && uwC - vwC >= 0) {
    const share = between((vwB - uwB) / (vwB - uwB + (uwC - vwC)));
    return [1 - share, share];
  }
  const sum = onU + onV + onW;
  return sum > 0 ? [onV / sum, onU / sum] : [0, 0];
}
