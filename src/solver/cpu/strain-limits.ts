import { NO_CORNER } from '../../mesh/strain.js';
import { FLATTEST_STRAIN, HELD_STRAIN, HOLD_BACK_PASSES } from '../constants.js';
import { deformationGradient, determinant, polarRotation, principalStrains } from '../strain/deformation.js';
import type { StrainElements } from '../strain/elements.js';
import { ComponentShares } from './component-shares.js';
import { distanceAt } from './motion.js';
import { moveCorners } from './strain-tetrahedron.js';
import { SweepRounds } from './sweep-rounds.js';
import type { StrainRows } from './sweep-strains.js';
import type { Scratch } from './workspace.js';

/**
 * Strain limits of the pull-back: singular values of F = Σ_k y_k b_kᵀ within [s_min, s_max] (strain limiting paper,
 * Eqs. 2, 3).
 *
 * As in the paper (Eqs. 16, 17) each limit is a convex set, linear matrix inequalities of F:
 *
 *   A: σ_max(F) ≤ s_max          B: ½ (RᵀF + FᵀR) ⪰ s_min I
 *
 * R is the rotation of the element at the beginning of a step. B is the largest convex set around R in which no strain
 * is less than s_min and det F > 0. The next step takes the rotation of the result of this one. The paper passes both
 * sets to an interior-point solver, all elements at once; here each set has a matrix multiplier Λ (3×3, or 3×2), and a
 * sweep visits set after set, as it visits edges and contacts. Λ moves the corners by y_k ← y_k − w_k Λ b_k, so F by −Λ
 * K, K = Σ w_k b_k b_kᵀ. The step
 *
 *   Z = F + κ Λ,   Λ' = (Z − P(Z)) / κ,   κ ≥ ‖K‖,   P the nearest point of the set in the Frobenius norm
 *
 * is a proximal gradient step on the dual of min Σ m |y − y₀|² over one block. κ is its Lipschitz constant, so it never
 * overshoots, and if K = κ I (an equilateral element of equal masses) it is Dykstra's projection, like that of an edge.
 * P is in closed form (strain-turn.ts).
 *
 * The R of a triangle has two columns, so B keeps the triangle from turning over about any axis in the plane of R; F
 * alone, 3×2, does not show whether a triangle is turned over. The paper adds an auxiliary vertex on the normal of the
 * triangle for that purpose.
 */
export class StrainLimits {
  readonly #elements: StrainElements;
  readonly #inverseMass: Float32Array;
  /** float32[18·N] Λ of A and of B, by columns, and both after the previous sweep */
  readonly #push: Float32Array;
  readonly #last: Float32Array;
  /** float32[9·N] R, by columns; all 0 = not yet known */
  readonly #frame: Float32Array;
  /** in sweep order */
  readonly rows: StrainRows;
  /** largest strain beyond a limit in the last state whose excess was summed */
  #worst = 0;
  readonly #rounds = new SweepRounds();
  /** the values that the vertices of a component share */
  readonly shares: ComponentShares;

  /** @param longest the longest motion of a step, engine units */
  constructor(elements: StrainElements, inverseMass: Float32Array, longest: number, scratch: Scratch) {
    const { count, corners, gradients, limits, offsets } = elements;
    this.shares = new ComponentShares(elements, inverseMass, longest, scratch);
    this.#elements = elements;
    this.#inverseMass = inverseMass;
    this.#push = scratch.float32('strain multipliers', 18 * count).fill(0);
    this.#last = scratch.float32('strain multipliers before', 18 * count);
    this.#frame = scratch.float32('strain frames', 9 * count).fill(0);
    const strainCorners = scratch.uint32('strain corners', 4 * count);
    const strainMasses = scratch.float32('strain inverse masses', 4 * count);
    const strainGradients = scratch.float32('strain gradients', 9 * count);
    const strainLimits = scratch.float32('strain limits', 4 * count);
    strainCorners.set(corners);
    strainGradients.set(gradients);
    strainLimits.set(limits);
    for (let s = 0; s < 4 * count; s++) strainMasses[s] = corners[s] === NO_CORNER ? 0 : inverseMass[corners[s]];
    const multipliers = { strainPush: this.#push, lastStrainPush: this.#last, strainFrames: this.#frame };
    const arrays = { strainCorners, strainMasses, strainGradients, strainLimits, ...multipliers };
    this.rows = { offsets, colours: offsets.length - 1, arrays };
  }

  /** Sets Λ = 0, after the previous sweep as well: sweeps may begin without {@link begin}. */
  reset(): void {
    this.#push.fill(0);
    this.#last.fill(0);
  }

  /**
   * Begins the sweeps of a step, before any other row has moved y: y is moved by the multipliers of the last step,
   * scaled by the share of each component (ComponentShares.ofMultipliers), and each element gets its R: the rotation of
   * the moved y, which is close to the result of the sweeps. If that is flat, or a triangle whose normal is opposite to
   * that of y before, the rotation of y before is used, as in the paper; if that is flat, too, the last R, or that of
   * x.
   *
   * Rotations of y may contradict each other, where y crumples the mesh or crosses an obstacle: no state is then in the
   * sets B of all elements, and sweeps leave them over their limits. With the rotations of a state that keeps the
   * limits, that state is in every set, so the sets have a point in common, to which the sweeps converge.
   *
   * @param best the state that gives R instead, unless an element is flat there; undefined = that of y does
   */
  begin(x: Float32Array, y: Float32Array, best?: Float32Array): void {
    const { count, corners, gradients, componentOf, componentOfElement } = this.#elements;
    const before = y.slice();
    const arrays = { ...this.rows.arrays, y };
    for (let e = 0; e < count; e++) {
      const p = 18 * e;
      for (let k = 0; k < 9; k++) delta[k] = this.#push[p + k] + this.#push[p + 9 + k];
      moveCorners(arrays, e, delta);
    }
    const share = this.shares.ofMultipliers(before, y);
    for (let k = 0; k < y.length; k++) {
      const c = componentOf[Math.floor(k / 3)];
      if (c !== NO_CORNER && share[c] !== 1) y[k] = before[k] + share[c] * (y[k] - before[k]);
    }
    for (let e = 0; e < count; e++) {
      const own = share[componentOfElement[e]];
      for (let k = 18 * e; k < 18 * e + 18; k++) this.#push[k] *= own;
    }
    for (let e = 0; e < count; e++) {
      const triangle = corners[4 * e + 3] === NO_CORNER;
      const frame = this.#frame.subarray(9 * e, 9 * e + 9);
      if (best) {
        deformationGradient(best, corners, gradients, e, f);
        if (polarRotation(f, triangle, FLATTEST_STRAIN, rotation)) {
          frame.set(rotation);
          continue;
        }
      }
      deformationGradient(before, corners, gradients, e, f);
      const hasOwn = polarRotation(f, triangle, FLATTEST_STRAIN, rotation);
      const isInverted = !triangle && determinant(f) <= 0;
      deformationGradient(y, corners, gradients, e, f);
      const hasMoved = polarRotation(f, triangle, FLATTEST_STRAIN, moved);
      if (hasMoved && (triangle ? !hasOwn || isFacing(rotation, moved) : determinant(f) > 0)) frame.set(moved);
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
   * Whether the sweeps of a step should continue: an element exceeds its limits by more than permitted, and the sum of
   * squares may still fall (SweepRounds). If a component takes only a share s of its way
   * (ComponentShares.shortenMotions), a strain of y counts s times: it adds at most this to x + s (y − x).
   *
   * @param rounds number of rounds so far, at least 1
   * @param most largest permitted strain beyond a limit
   */
  wantsMoreSweeps(x: Float32Array, y: Float32Array, rounds: number, most: number): boolean {
    if (rounds === 1) this.#rounds.begin();
    const mayFall = this.#rounds.mayFall(this.#sumExcess(y, this.shares.ofMotions(x, y)), rounds);
    return mayFall && this.#worst > most;
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
    return this.#sumExcess(x, undefined);
  }

  /** @param share of each component, factor for its strains beyond limits; undefined = 1 */
  #sumExcess(x: Float32Array, share: Float64Array | undefined): number {
    const { count, corners, gradients, limits, componentOfElement } = this.#elements;
    let sum = 0;
    this.#worst = 0;
    for (let e = 0; e < count; e++) {
      deformationGradient(x, corners, gradients, e, f);
      const { least, most } = principalStrains(f, corners[4 * e + 3] === NO_CORNER);
      const q = 4 * e;
      const s = share ? share[componentOfElement[e]] : 1;
      const over = s * Math.max(0, most - limits[q + 1]);
      const under = limits[q] > 0 ? s * Math.max(0, limits[q] - least) : 0;
      this.#worst = Math.max(this.#worst, over, under);
      sum += (over * over + under * under) * limits[q + 3] * limits[q + 3];
    }
    return sum;
  }

  /**
   * Holds back vertices whose neighbours are held: if the corners of an element are granted different shares α of
   * their motions m in a piece of a step, F has an error of about |m_i| (α_i − α_j) / ℓ. For α_i > α_j and i dynamic,
   * α_i ← min(α_i, α_j + HELD_STRAIN ℓ / |m_i|): a slope that an element may have and a mesh can distribute over many
   * elements. Safe like EdgeLimits.holdBack, because α only falls.
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
}

// Shared by all calls, because a thread makes one call at a time and no call reads data of another.
const f = new Float64Array(9);
const delta = new Float64Array(9);
const rotation = new Float64Array(9);
const moved = new Float64Array(9);

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
