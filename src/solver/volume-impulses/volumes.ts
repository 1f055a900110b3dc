import { VT } from '../pair-kinds.js';

/**
 * The collision tetrahedra of one round: their vertices, their target volumes, and their signed volumes V and gradients
 * F = ∂V/∂x (Eqs. 2 and 3) at the current positions. Positions and results in engine units.
 *
 * V = det(b − a, c − a, d − a) / 6 for the vertices a, b, c, d in slot order, negated if that is below 0 at x^n. The
 * gradient at a vertex is a third of the area of the opposite face times its inward normal, which is Eq. 3: one cross
 * product, and no division. The gradient at a is the negative sum of the others, so an impulse F p does not change
 * linear momentum.
 */
export class Volumes {
  count = 0;
  /** int32[4·n] in slot order */
  vertex = new Int32Array(0);
  /** uint8[n] */
  kind = new Uint8Array(0);
  /** float64[n] ±1: V > 0 at x^n */
  orientation = new Float64Array(0);
  /** float64[n] V_goal */
  goal = new Float64Array(0);
  /** float64[n] */
  volume = new Float64Array(0);
  /** float64[12·n] F_a, F_b, F_c, F_d */
  gradient = new Float64Array(0);

  clear(): void {
    this.count = 0;
  }

  /**
   * Adds a tetrahedron whose goal is its volume at x^n.
   *
   * @param x float32[3·V] x^n
   */
  add(kind: number, x: ArrayLike<number>, v0: number, v1: number, v2: number, v3: number): void {
    const n = this.count++;
    if (n === this.kind.length) this.#grow();
    this.kind[n] = kind;
    const corners = [v0, v1, v2, v3];
    for (let s = 0; s < 4; s++) this.vertex[4 * n + s] = corners[s];
    this.orientation[n] = 1;
    this.#evaluateOne(n, x);
    if (this.volume[n] < 0) {
      this.orientation[n] = -1;
      this.#evaluateOne(n, x);
    }
    this.goal[n] = this.volume[n];
  }

  /** Computes V and F at these positions. @param x [3·V] */
  evaluate(x: ArrayLike<number>): void {
    for (let n = 0; n < this.count; n++) this.#evaluateOne(n, x);
  }

  /** Returns a key of the pair. */
  keyOf(n: number): string {
    const { vertex } = this;
    return `${this.kind[n]}:${vertex[4 * n]},${vertex[4 * n + 1]},${vertex[4 * n + 2]},${vertex[4 * n + 3]}`;
  }

  /**
   * Returns the growth of V per length if the first side of the pair moves along its gradient: |Σ F| over its vertices.
   */
  sideGradient(n: number): number {
    const g = this.gradient;
    const k = 12 * n;
    const isVertexTriangle = this.kind[n] === VT;
    const at = (c: number): number => g[k + c] + (isVertexTriangle ? 0 : g[k + 3 + c]);
    return Math.hypot(at(0), at(1), at(2));
  }

  #evaluateOne(n: number, x: ArrayLike<number>): void {
    const { vertex, gradient } = this;
    const a = 3 * vertex[4 * n];
    const b = 3 * vertex[4 * n + 1];
    const c = 3 * vertex[4 * n + 2];
    const d = 3 * vertex[4 * n + 3];
    const sixth = this.orientation[n] / 6;
    const bx = x[b] - x[a];
    const by = x[b + 1] - x[a + 1];
    const bz = x[b + 2] - x[a + 2];
    const cx = x[c] - x[a];
    const cy = x[c + 1] - x[a + 1];
    const cz = x[c + 2] - x[a + 2];
    const dx = x[d] - x[a];
    const dy = x[d + 1] - x[a + 1];
    const dz = x[d + 2] - x[a + 2];
    const k = 12 * n;
    const g = gradient;
    g[k + 3] = sixth * (cy * dz - cz * dy);
    g[k + 4] = sixth * (cz * dx - cx * dz);
    g[k + 5] = sixth * (cx * dy - cy * dx);
    g[k + 6] = sixth * (dy * bz - dz * by);
    g[k + 7] = sixth * (dz * bx - dx * bz);
    g[k + 8] = sixth * (dx * by - dy * bx);
    g[k + 9] = sixth * (by * cz - bz * cy);
    g[k + 10] = sixth * (bz * cx - bx * cz);
    g[k + 11] = sixth * (bx * cy - by * cx);
    for (let i = 0; i < 3; i++) g[k + i] = -(g[k + 3 + i] + g[k + 6 + i] + g[k + 9 + i]);
    this.volume[n] = bx * g[k + 3] + by * g[k + 4] + bz * g[k + 5];
  }

  #grow(): void {
    const length = Math.max(64, 2 * this.kind.length);
    const grown = <T extends { set(from: T): void }>(to: T, from: T): T => {
      to.set(from);
      return to;
    };
    this.vertex = grown(new Int32Array(4 * length), this.vertex);
    this.kind = grown(new Uint8Array(length), this.kind);
    this.orientation = grown(new Float64Array(length), this.orientation);
    this.goal = grown(new Float64Array(length), this.goal);
    this.volume = grown(new Float64Array(length), this.volume);
    this.gradient = grown(new Float64Array(12 * length), this.gradient);
  }
}
