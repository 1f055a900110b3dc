/**
 * The error of a gap that a plane proves, as a share of the pair's extent M (the largest coordinate relative to its
 * first point). Let n be any vector of doubles, taken as exact, and u = 2^-53. A relative coordinate has an error of
 * u·M; a dot product of three terms n·x with |x| ≤ √3·M, that included, of less than 8u·|n|·M. The gap is a difference
 * of two of them and at most 4M·|n|; its own rounding, that of |n| and of the quotient are below 8u of it. All this is
 * less than 64u·M, and 2^-40 is 8192u.
 */
export const MARGIN = 2 ** -40;

/** Extents outside of this range prove nothing: products of four factors and their squares might over- or underflow. */
const SMALLEST_PROVEN = 2 ** -200;
const LARGEST_PROVEN = 2 ** 200;
/** Squared lengths below this may have lost their digits. */
const SMALLEST_SQUARE = 2 ** -900;

/**
 * Proves that two convex elements are farther apart than a distance, by a direction along which their projections are.
 * Any direction is a proof (the points of an element lie between its corners along it), so none has to be optimal; if
 * none of the tried directions suffices, nothing is proven.
 */
export class Separation {
  /** float64[15] corners of a, then of b, relative to the first corner of a */
  readonly #local = new Float64Array(15);
  #sizeA = 0;
  #end = 0;
  #extent = 0;
  #best = -1;

  /** @param x float64[3·V], finite */
  constructor(private readonly x: Float64Array) {}

  /**
   * A lower bound of the distance of two elements, one to three corners each.
   *
   * @param a vertices of side a from p on @param b vertices of side b from q on
   * @param enough a bound from here on need not be improved
   * @returns below 0 = nothing is proven
   */
  gapOf(a: Uint32Array, p: number, sizeA: number, b: Uint32Array, q: number, sizeB: number, enough: number): number {
    this.#localise(a, p, sizeA, b, q, sizeB);
    const extent = this.#extent;
    if (!(extent >= SMALLEST_PROVEN && extent <= LARGEST_PROVEN)) return -1;
    this.#best = -1;
    this.#tryMeans(sizeA, sizeB);
    if (this.#best <= enough) this.#tryNormals(sizeA, sizeB, enough);
    return this.#best;
  }

  #localise(a: Uint32Array, p: number, sizeA: number, b: Uint32Array, q: number, sizeB: number): void {
    const x = this.x;
    const local = this.#local;
    const o = 3 * a[p];
    const ox = x[o];
    const oy = x[o + 1];
    const oz = x[o + 2];
    let extent = 0;
    let at = 0;
    for (let k = 0; k < sizeA + sizeB; k++) {
      const v = 3 * (k < sizeA ? a[p + k] : b[q + k - sizeA]);
      const dx = x[v] - ox;
      const dy = x[v + 1] - oy;
      const dz = x[v + 2] - oz;
      local[at++] = dx;
      local[at++] = dy;
      local[at++] = dz;
      extent = Math.max(extent, Math.abs(dx), Math.abs(dy), Math.abs(dz));
    }
    this.#sizeA = sizeA;
    this.#end = at;
    this.#extent = extent;
  }

  /** Along the line between the means of both sides, which separates neighbours in one plane. */
  #tryMeans(sizeA: number, sizeB: number): void {
    const local = this.#local;
    let dx = 0;
    let dy = 0;
    let dz = 0;
    for (let k = 0; k < this.#end; k += 3) {
      const share = k < 3 * sizeA ? -1 / sizeA : 1 / sizeB;
      dx += share * local[k];
      dy += share * local[k + 1];
      dz += share * local[k + 2];
    }
    this.#try(dx, dy, dz);
  }

  /** Along the normal of a triangle, and along the common normals of an edge and others. */
  #tryNormals(sizeA: number, sizeB: number, enough: number): void {
    if (sizeB === 1 || sizeA + sizeB < 4) return;
    const b = 3 * sizeA;
    if (sizeB === 3) this.#tryAcross(b, b + 3, b, b + 6);
    if (sizeA === 1 || this.#best > enough) return;
    this.#tryAcross(0, 3, b, b + 3);
    if (sizeB === 2 || this.#best > enough) return;
    this.#tryAcross(0, 3, b + 3, b + 6);
    this.#tryAcross(0, 3, b + 6, b);
  }

  /** Along the cross product of two differences of corners, by their places in `local`. */
  #tryAcross(from: number, to: number, first: number, second: number): void {
    const l = this.#local;
    const ux = l[to] - l[from];
    const uy = l[to + 1] - l[from + 1];
    const uz = l[to + 2] - l[from + 2];
    const vx = l[second] - l[first];
    const vy = l[second + 1] - l[first + 1];
    const vz = l[second + 2] - l[first + 2];
    this.#try(uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx);
  }

  #try(dx: number, dy: number, dz: number): void {
    const squared = dx * dx + dy * dy + dz * dz;
    if (!(squared > SMALLEST_SQUARE)) return;
    const local = this.#local;
    const firstOfB = 3 * this.#sizeA;
    let lowA = Infinity;
    let highA = -Infinity;
    let lowB = Infinity;
    let highB = -Infinity;
    for (let k = 0; k < this.#end; k += 3) {
      const along = dx * local[k] + dy * local[k + 1] + dz * local[k + 2];
      if (k < firstOfB) {
        if (along < lowA) lowA = along;
        if (along > highA) highA = along;
      } else {
        if (along < lowB) lowB = along;
        if (along > highB) highB = along;
      }
    }
    const apart = lowB - highA > lowA - highB ? lowB - highA : lowA - highB;
    const gap = apart / Math.sqrt(squared) - MARGIN * this.#extent;
    if (gap > this.#best) this.#best = gap;
  }
}
