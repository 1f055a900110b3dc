import { NO_CORNER } from '../../mesh/strain.js';
import {
  FLATTEST_STRAIN,
  HELD_STRAIN,
  HOLD_BACK_PASSES,
  MAX_STRAIN_SLACK,
  NEAR_LIMIT,
  STRAIN_SWEEPS,
  SWEPT_STRAIN,
} from '../constants.js';
import { deformationGradient, gramMatrix, polarRotation, principalStrains } from '../strain/deformation.js';
import type { StrainElements } from '../strain/elements.js';
import { symmetricEigen } from '../strain/symmetric-eigen.js';
import { distanceAt } from './motion.js';
import type { Scratch } from './workspace.js';

/**
 * Strain limits of the pull-back: singular values of F = Σ_k y_k b_kᵀ within [s_min, s_max] (strain limiting paper, Eqs. 2, 3).
 *
 * As in the paper (Eqs. 16, 17) each limit is a convex set, linear matrix inequalities of F:
 *
 *   A: σ_max(F) ≤ s_max          B: ½ (RᵀF + FᵀR) ⪰ s_min I
 *
 * R the rotation that the element has when a step begins: B is the largest convex set around it in which no strain is less than
 * s_min and det F > 0. The next step takes the rotation of what this one has found. The paper gives both to an interior-point
 * solver, all elements at once; here each set has a matrix multiplier Λ (3×3, or 3×2), and a sweep visits set after set,
 * as it visits edges and contacts. Λ moves the corners by y_k ← y_k − w_k Λ b_k, so F by −Λ K, K = Σ w_k b_k b_kᵀ. The step
 *
 *   Z = F + κ Λ,   Λ' = (Z − P(Z)) / κ,   κ ≥ ‖K‖,   P the nearest point of the set in the Frobenius norm
 *
 * is a proximal gradient step on the dual of min Σ m |y − y₀|² over one block; κ is its Lipschitz constant, so it never
 * overshoots, and where K = κ I (an equilateral element of equal masses) it is Dykstra's projection, as that of an edge. P is in closed form:
 * A clamps singular values, Z − P(Z) = Σ (1 − s_max/σ_i) Z v_i v_iᵀ over σ_i > s_max; B clamps eigenvalues d_i of
 * ½ (RᵀZ + ZᵀR), Z − P(Z) = −Σ (s_min − d_i) R v_i v_iᵀ over d_i < s_min.
 *
 * A triangle has R with two columns, so B keeps it from turning over about any axis in the plane of R: F alone, 3×2, cannot
 * tell a triangle that is turned over. The paper adds an auxiliary vertex on the normal of the triangle for that.
 */
export class StrainLimits {
  readonly #elements: StrainElements;
  readonly #inverseMass: Float32Array;
  /** float32[18·N] Λ of A and of B, by columns, and both after the sweep before */
  readonly #push: Float32Array;
  readonly #last: Float32Array;
  /** float32[9·N] R, by columns; all 0 = not known yet */
  readonly #frame: Float32Array;
  readonly #active: Uint32Array;
  #activeCount = 0;
  /** of the last state whose excess was summed: the largest strain beyond a limit */
  #worst = 0;
  #leastExcess = Number.POSITIVE_INFINITY;
  #bestRound = 1;
  /** by component: share of the way to y* that this step and the last one take, and float32[V] the paces of this step */
  readonly #pace: Float64Array;
  readonly #lastPace: Float64Array;

  constructor(elements: StrainElements, inverseMass: Float32Array, scratch: Scratch) {
    const { count, components } = elements;
    this.#elements = elements;
    this.#inverseMass = inverseMass;
    this.#push = scratch.float32('strain multipliers', 18 * count).fill(0);
    this.#last = scratch.float32('strain multipliers before', 18 * count);
    this.#frame = scratch.float32('strain frames', 9 * count).fill(0);
    this.#active = scratch.uint32('strain limits that act', count);
    this.#pace = new Float64Array(components).fill(1);
    this.#lastPace = new Float64Array(components).fill(1);
  }

  /** Λ = 0 */
  reset(): void {
    this.#push.fill(0);
  }

  /**
   * One share of the way to y* for all vertices of a component, the least of theirs: where x = P(x + t (y* − x)) for one t, x is
   * the point of the constraints that is nearest to y*; with shares of their own, vertices far from y* would count less.
   *
   * @param paceOf share of the way that a vertex would go by itself
   */
  settlePaces(paceOf: (v: number) => number): void {
    const { componentOf } = this.#elements;
    this.#lastPace.set(this.#pace);
    this.#pace.fill(1);
    for (let v = 0; v < componentOf.length; v++) {
      const c = componentOf[v];
      if (c !== NO_CORNER) this.#pace[c] = Math.min(this.#pace[c], paceOf(v));
    }
  }

  /** The share of vertex v in this step; undefined = no element that moves contains it. */
  paceOf(v: number): number | undefined {
    const c = this.#elements.componentOf[v];
    return c === NO_CORNER ? undefined : this.#pace[c];
  }

  /**
   * Begins the sweeps of a step: y is moved by the multipliers of the last step, scaled as the way to y* is (where x rests, Λ is
   * proportional to it), and each element gets its R: that of the moved y, which is about what the sweeps will find. Where that is
   * flat, or a triangle whose normal is opposed to that of y before, the rotation of y before is taken, as the paper does; if
   * that is flat too, the last R, or that of x.
   */
  begin(x: Float32Array, y: Float32Array): void {
    const { count, corners, gradients, componentOf } = this.#elements;
    const before = y.slice();
    for (let e = 0; e < count; e++) {
      const p = 18 * e;
      const c = this.#componentOf(e, componentOf);
      const share = this.#pace[c] / this.#lastPace[c];
      for (let k = p; k < p + 18; k++) this.#push[k] *= share;
      for (let k = 0; k < 9; k++) delta[k] = this.#push[p + k] + this.#push[p + 9 + k];
      this.#move(y, e, delta);
    }
    for (let e = 0; e < count; e++) {
      const triangle = corners[4 * e + 3] === NO_CORNER;
      const frame = this.#frame.subarray(9 * e, 9 * e + 9);
      deformationGradient(before, corners, gradients, e, f);
      const hasOwn = polarRotation(f, triangle, FLATTEST_STRAIN, rotation);
      const isInverted = !triangle && determinantSign(f) <= 0;
      deformationGradient(y, corners, gradients, e, f);
      const hasMoved = polarRotation(f, triangle, FLATTEST_STRAIN, moved);
      if (hasMoved && (triangle ? !hasOwn || isFacing(rotation, moved) : determinantSign(f) > 0)) frame.set(moved);
      else if (hasOwn && !isInverted) frame.set(rotation);
      else {
        deformationGradient(x, corners, gradients, e, f);
        if (polarRotation(f, triangle, FLATTEST_STRAIN, rotation)) frame.set(rotation);
        else if (hasOwn) frame.set(rotation);
      }
    }
    this.#last.set(this.#push);
  }

  /**
   * One sweep over y, colour by colour.
   *
   * @param isComplete look at every element, and settle which ones act until the next complete sweep
   * @param slack shortens the range of every element at both ends, by the strain that this length makes of its shortest height
   */
  sweep(y: Float32Array, isComplete: boolean, slack: number): void {
    if (!isComplete) {
      for (let a = 0; a < this.#activeCount; a++) this.#project(y, this.#active[a], slack);
      return;
    }
    this.#activeCount = 0;
    for (let e = 0; e < this.#elements.count; e++) {
      if (this.#project(y, e, slack)) this.#active[this.#activeCount++] = e;
    }
  }

  /**
   * Shortens the motion of each component, by one share for all its vertices, until none is longer than `longest`: a strain at
   * x + s (y − x) is no farther out of its limits than those of x and y (both sets of an element are convex), while vertices that stop
   * one by one would tear their elements.
   */
  shortenMotions(x: Float32Array, y: Float32Array, longest: number): void {
    const { componentOf, components } = this.#elements;
    const farthest = new Float64Array(components);
    for (let v = 0; v < componentOf.length; v++) {
      const c = componentOf[v];
      if (c !== NO_CORNER) farthest[c] = Math.max(farthest[c], distanceAt(x, y, 3 * v));
    }
    for (let v = 0; v < componentOf.length; v++) {
      const c = componentOf[v];
      if (c === NO_CORNER || farthest[c] <= longest) continue;
      const share = longest / farthest[c];
      for (let k = 3 * v; k < 3 * v + 3; k++) y[k] = x[k] + share * (y[k] - x[k]);
    }
  }

  /**
   * Whether the sweeps of a step should go on: an element is out of its limits by more than {@link SWEPT_STRAIN}, and the sum of
   * squares has reached a new low, by a tenth, in the last rounds. A sweep carries a pull by about one ring of elements, so that a
   * mesh which is strained as a whole takes several times its width; what contacts forbid is given up.
   *
   * @param rounds so far, from 1
   */
  wantsMoreSweeps(y: Float32Array, rounds: number): boolean {
    if (rounds === 1) this.#leastExcess = Number.POSITIVE_INFINITY;
    const excess = this.excess(y);
    if (excess < STRAIN_SWEEPS.gain * this.#leastExcess) {
      this.#leastExcess = excess;
      this.#bestRound = rounds;
    }
    return (
      this.#worst > SWEPT_STRAIN && rounds < STRAIN_SWEEPS.rounds && rounds - this.#bestRound < STRAIN_SWEEPS.patience
    );
  }

  /** Λ ← Λ + β (Λ − Λ_last), for the elements that act. */
  extrapolate(beta: number): void {
    const push = this.#push;
    const last = this.#last;
    for (let a = 0; a < this.#activeCount; a++) {
      for (let q = 18 * this.#active[a], end = q + 18; q < end; q++) {
        const now = push[q];
        push[q] = now + beta * (now - last[q]);
        last[q] = now;
      }
    }
  }

  /** The corners of the elements that act. */
  forEachActiveVertex(visit: (v: number) => void): void {
    const { corners } = this.#elements;
    for (let a = 0; a < this.#activeCount; a++) {
      for (let k = 4 * this.#active[a], end = k + 4; k < end; k++) if (corners[k] !== NO_CORNER) visit(corners[k]);
    }
  }

  /** Marks the other corners of elements with a marked one. @param marks uint8[V] 1 = marked */
  spread(marks: Uint8Array): void {
    const { count, corners } = this.#elements;
    for (let q = 0; q < 4 * count; q += 4) {
      const size = corners[q + 3] === NO_CORNER ? 3 : 4;
      let isMarked = false;
      for (let k = q; k < q + size; k++) if (marks[corners[k]] === 1) isMarked = true;
      if (!isMarked) continue;
      for (let k = q; k < q + size; k++) if (marks[corners[k]] === 0) marks[corners[k]] = 2;
    }
    for (let i = 0; i < marks.length; i++) if (marks[i] === 2) marks[i] = 1;
  }

  /** Σ (ℓ max(0, σ_max − s_max))² + (ℓ max(0, s_min − σ_min))² over all elements, squared engine units. */
  excess(x: Float32Array): number {
    const { count, corners, gradients, limits } = this.#elements;
    let sum = 0;
    this.#worst = 0;
    for (let e = 0; e < count; e++) {
      deformationGradient(x, corners, gradients, e, f);
      const { least, most } = principalStrains(f, corners[4 * e + 3] === NO_CORNER);
      const q = 4 * e;
      const over = Math.max(0, most - limits[q + 1]);
      const under = limits[q] > 0 ? Math.max(0, limits[q] - least) : 0;
      this.#worst = Math.max(this.#worst, over, under);
      sum += (over * over + under * under) * limits[q + 3] * limits[q + 3];
    }
    return sum;
  }

  /**
   * Holds vertices back whose neighbours are held: where corners of an element are granted shares α of motions m that differ, F errs
   * by about |m_i| (α_i − α_j) / ℓ. For α_i > α_j and i dynamic, α_i ← min(α_i, α_j + HELD_STRAIN ℓ / |m_i|): a slope that an
   * element may have and a mesh can spread over many. Safe, as EdgeLimits.holdBack: α only falls.
   */
  holdBack(x: Float32Array, y: Float32Array, alpha: Float32Array): void {
    const { count, corners, limits } = this.#elements;
    const motion = Float64Array.from(alpha, (_, v) => distanceAt(x, y, 3 * v));
    for (let pass = 0; pass < HOLD_BACK_PASSES; pass++) {
      let isShortened = false;
      for (let n = 0; n < count; n++) {
        const e = pass % 2 === 0 ? n : count - 1 - n;
        const size = corners[4 * e + 3] === NO_CORNER ? 3 : 4;
        let least = 1;
        for (let k = 4 * e; k < 4 * e + size; k++) least = Math.min(least, alpha[corners[k]]);
        for (let k = 4 * e; k < 4 * e + size; k++) {
          const v = corners[k];
          if (this.#inverseMass[v] === 0 || motion[v] === 0) continue;
          const most = Math.fround(least + (HELD_STRAIN * limits[4 * e + 3]) / motion[v]);
          if (alpha[v] <= most) continue;
          alpha[v] = most;
          isShortened = true;
        }
      }
      if (!isShortened) return;
    }
  }

  #componentOf(e: number, componentOf: Uint32Array): number {
    const { corners } = this.#elements;
    let k = 4 * e;
    while (componentOf[corners[k]] === NO_CORNER) k++;
    return componentOf[corners[k]];
  }

  /** @returns whether the element acts: it pushes, has pushed, or is near a limit */
  #project(y: Float32Array, e: number, slack: number): boolean {
    const { corners, gradients, limits } = this.#elements;
    const q = 4 * e;
    const kappa = limits[q + 2];
    const least = limits[q];
    const most = limits[q + 1];
    const short = Math.min(slack * Math.sqrt(kappa), MAX_STRAIN_SLACK * (Math.min(most, 2) - least));
    deformationGradient(y, corners, gradients, e, f);
    let acts = false;
    if (most < Number.POSITIVE_INFINITY) {
      acts = this.#projectUpper(y, e, most - short, kappa);
      if (acts && least > 0) deformationGradient(y, corners, gradients, e, f);
    }
    if (least > 0 && this.#projectLower(y, e, least + short, kappa)) acts = true;
    return acts;
  }

  #projectUpper(y: Float32Array, e: number, most: number, kappa: number): boolean {
    const p = 18 * e;
    const push = this.#push;
    let wasPushing = false;
    for (let k = 0; k < 9; k++) {
      if (push[p + k] !== 0) wasPushing = true;
      z[k] = f[k] + kappa * push[p + k];
    }
    gramMatrix(z, gram);
    const near = NEAR_LIMIT * most;
    // The trace is the sum of the squares of all strains.
    if (!wasPushing && gram[0] + gram[1] + gram[2] <= near * near) return false;
    symmetricEigen(gram, values, vectors);
    const largest = Math.max(values[0], values[1], values[2]);
    if (!wasPushing && largest <= most * most) return largest > near * near;
    for (let k = 0; k < 9; k++) delta[k] = -push[p + k];
    for (let i = 0; i < 3; i++) {
      if (values[i] <= most * most) continue;
      const share = (1 - most / Math.sqrt(values[i])) / kappa;
      const v = 3 * i;
      for (let r = 0; r < 3; r++) {
        const along = share * (z[r] * vectors[v] + z[3 + r] * vectors[v + 1] + z[6 + r] * vectors[v + 2]);
        delta[r] += along * vectors[v];
        delta[3 + r] += along * vectors[v + 1];
        delta[6 + r] += along * vectors[v + 2];
      }
    }
    for (let k = 0; k < 9; k++) push[p + k] += delta[k];
    this.#move(y, e, delta);
    return true;
  }

  #projectLower(y: Float32Array, e: number, least: number, kappa: number): boolean {
    const p = 18 * e + 9;
    const push = this.#push;
    const frame = this.#frame;
    const g = 9 * e;
    let wasPushing = false;
    for (let k = 0; k < 9; k++) {
      if (push[p + k] !== 0) wasPushing = true;
      z[k] = f[k] + kappa * push[p + k];
    }
    for (let i = 0; i < 3; i++) {
      for (let j = 0; j < 3; j++) {
        const a = g + 3 * i;
        product[3 * i + j] = frame[a] * z[3 * j] + frame[a + 1] * z[3 * j + 1] + frame[a + 2] * z[3 * j + 2];
      }
    }
    const near = least / NEAR_LIMIT;
    gram[0] = product[0];
    gram[1] = product[4];
    gram[3] = (product[1] + product[3]) / 2;
    // The third strain of a triangle has no limit: a number above all that do.
    const isTriangle = this.#elements.corners[4 * e + 3] === NO_CORNER;
    gram[2] = isTriangle ? Math.abs(gram[0]) + Math.abs(gram[1]) + 2 * Math.abs(gram[3]) + 2 * near : product[8];
    gram[4] = isTriangle ? 0 : (product[2] + product[6]) / 2;
    gram[5] = isTriangle ? 0 : (product[5] + product[7]) / 2;
    // Gershgorin: no eigenvalue is less than this.
    const off = Math.max(
      Math.abs(gram[3]) + Math.abs(gram[4]),
      Math.abs(gram[3]) + Math.abs(gram[5]),
      Math.abs(gram[4]) + Math.abs(gram[5]),
    );
    if (!wasPushing && Math.min(gram[0], gram[1], gram[2]) - off > near) return false;
    symmetricEigen(gram, values, vectors);
    const smallest = Math.min(values[0], values[1], values[2]);
    if (!wasPushing && smallest >= least) return smallest < near;
    for (let k = 0; k < 9; k++) delta[k] = -push[p + k];
    for (let i = 0; i < 3; i++) {
      if (values[i] >= least) continue;
      const share = (least - values[i]) / kappa;
      const v = 3 * i;
      for (let r = 0; r < 3; r++) {
        const along =
          share * (frame[g + r] * vectors[v] + frame[g + 3 + r] * vectors[v + 1] + frame[g + 6 + r] * vectors[v + 2]);
        delta[r] -= along * vectors[v];
        delta[3 + r] -= along * vectors[v + 1];
        delta[6 + r] -= along * vectors[v + 2];
      }
    }
    for (let k = 0; k < 9; k++) push[p + k] += delta[k];
    this.#move(y, e, delta);
    return true;
  }

  /** y_k ← y_k − w_k Δ b_k */
  #move(y: Float32Array, e: number, change: Float64Array): void {
    const { corners, gradients } = this.#elements;
    const w = this.#inverseMass;
    let ox = 0;
    let oy = 0;
    let oz = 0;
    for (let k = 1; k < 4; k++) {
      const v = corners[4 * e + k];
      if (v === NO_CORNER) break;
      const g = 9 * e + 3 * (k - 1);
      const mx = change[0] * gradients[g] + change[3] * gradients[g + 1] + change[6] * gradients[g + 2];
      const my = change[1] * gradients[g] + change[4] * gradients[g + 1] + change[7] * gradients[g + 2];
      const mz = change[2] * gradients[g] + change[5] * gradients[g + 1] + change[8] * gradients[g + 2];
      ox += mx;
      oy += my;
      oz += mz;
      y[3 * v] -= w[v] * mx;
      y[3 * v + 1] -= w[v] * my;
      y[3 * v + 2] -= w[v] * mz;
    }
    const o = corners[4 * e];
    y[3 * o] += w[o] * ox;
    y[3 * o + 1] += w[o] * oy;
    y[3 * o + 2] += w[o] * oz;
  }
}

// One thread, and nothing of one call is read in the next.
const f = new Float64Array(9);
const z = new Float64Array(9);
const delta = new Float64Array(9);
const product = new Float64Array(9);
const gram = new Float64Array(6);
const values = new Float64Array(3);
const vectors = new Float64Array(9);
const rotation = new Float64Array(9);
const moved = new Float64Array(9);

function determinantSign(m: Float64Array): number {
  return m[0] * (m[4] * m[8] - m[5] * m[7]) + m[1] * (m[5] * m[6] - m[3] * m[8]) + m[2] * (m[3] * m[7] - m[4] * m[6]);
}

/** Whether the planes of two rotations of a triangle, two columns each, face the same way. */
function isFacing(a: Float64Array, b: Float64Array): boolean {
  let sum = 0;
  for (let r = 0; r < 3; r++) {
    const s = (r + 1) % 3;
    const t = (r + 2) % 3;
    sum += (a[s] * a[3 + t] - a[t] * a[3 + s]) * (b[s] * b[3 + t] - b[t] * b[3 + s]);
  }
  return sum > 0;
}
