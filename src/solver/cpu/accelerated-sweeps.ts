import { COMPLETE_EVERY, MAX_MOMENTUM } from '../constants.js';
import type { ShapeLimits } from './shape-limits.js';
import type { WarmContacts } from './warm-contacts.js';
import type { Scratch } from './workspace.js';

/**
 * Projected Gauss-Seidel sweeps over limits of edges and strains, and contacts, extrapolated (Nesterov). y is linear in the multipliers, so
 * y, c and λ are extrapolated alike: z ← z + β (z − z_last) after each sweep but the last, β = min(0.9, k/(k + 3)), and
 * k = 0 where the momentum points away from where the sweep went: ⟨y_from − y, y − y_last⟩ > 0, y_from the point that the
 * sweep began with. Without that restart the iteration diverges.
 *
 * Vertices that no acting row touches keep their y in these sweeps, so only touched ones are stored and compared.
 */
export class AcceleratedSweeps {
  readonly #inverseMass: Float32Array;
  /** float32[3·V] y before the first sweep */
  readonly #first: Float32Array;
  /** float32[3·count] of the touched vertices: y after the sweep before; y that the sweep began with */
  readonly #last: Float32Array;
  readonly #from: Float32Array;
  /** uint32[count] vertices of acting rows, and uint8[V] their marks */
  readonly #touched: Uint32Array;
  readonly #isTouched: Uint8Array;
  #count = 0;

  constructor(inverseMass: Float32Array, scratch: Scratch) {
    const vertices = inverseMass.length;
    this.#inverseMass = inverseMass;
    this.#first = scratch.float32('y before the sweeps', 3 * vertices);
    this.#last = scratch.float32('y after the last sweep', 3 * vertices);
    this.#from = scratch.float32('y before the sweep', 3 * vertices);
    this.#touched = scratch.uint32('touched vertices', vertices);
    this.#isTouched = scratch.uint8('touched', vertices);
  }

  /**
   * Limits of edges and strains first, contacts last in every sweep.
   *
   * @param x float32[3·V] state of the contact rows
   * @param y float32[3·V] moved
   * @param options.slack shortens every edge limit, engine units
   * @param options.sweeps how many, and how many more each time that the limits want more
   * @param options.mostExcess squared engine units: what edges over their limits may add up to, or there are more sweeps; absent = anything
   * @param options.pulse called between sweeps; may throw, and y is then undefined
   */
  run(
    x: Float32Array,
    y: Float32Array,
    limits:
      | (Pick<ShapeLimits, 'sweep' | 'extrapolate' | 'forEachActiveVertex'> &
          Partial<Pick<ShapeLimits, 'wantsMoreSweeps'>>)
      | undefined,
    contacts: WarmContacts | undefined,
    options: {
      readonly sweeps: number;
      readonly delta: number;
      readonly slack: number;
      readonly mostExcess?: number;
      readonly pulse?: (() => void) | undefined;
    },
  ): void {
    const { sweeps, delta, slack, mostExcess = Number.POSITIVE_INFINITY, pulse } = options;
    this.#first.set(y);
    this.#isTouched.fill(0);
    this.#count = 0;
    const touch = (v: number): void => this.#touch(v);
    let end = sweeps;
    for (let n = 0, k = 0; n < end; n++, k++) {
      if (n > 0) pulse?.();
      const isComplete = n % COMPLETE_EVERY === 0;
      limits?.sweep(y, isComplete, slack);
      contacts?.sweep(x, y, isComplete, delta);
      if (isComplete) {
        limits?.forEachActiveVertex(touch);
        contacts?.forEachActiveVertex(touch);
      }
      // The last one is not extrapolated: its y satisfies the rows as well as they can be.
      if (n === end - 1) {
        if (!limits?.wantsMoreSweeps?.(x, y, end / sweeps, mostExcess)) break;
        end += sweeps;
      }
      let beta = momentumOf(k);
      if (this.#extrapolate(y, beta)) {
        this.#stay(y);
        k = 0;
        beta = 0;
      }
      limits?.extrapolate(beta);
      contacts?.extrapolate(beta);
    }
  }

  #touch(v: number): void {
    if (this.#isTouched[v] === 1 || this.#inverseMass[v] === 0) return;
    this.#isTouched[v] = 1;
    const q = 3 * this.#count;
    for (let c = 0; c < 3; c++) {
      this.#last[q + c] = this.#first[3 * v + c];
      this.#from[q + c] = this.#first[3 * v + c];
    }
    this.#touched[this.#count++] = v;
  }

  /** y and what is kept of it, for the next sweep. @returns whether the momentum points away from where the sweep went */
  #extrapolate(y: Float32Array, beta: number): boolean {
    const touched = this.#touched;
    const last = this.#last;
    const from = this.#from;
    const end = 3 * this.#count;
    let sum = 0;
    for (let n = 0, q = 0; q < end; n++, q += 3) {
      const k = 3 * touched[n];
      for (let c = 0; c < 3; c++) {
        const now = y[k + c];
        const by = now - last[q + c];
        sum += (from[q + c] - now) * by;
        const ahead = Math.fround(now + beta * by);
        y[k + c] = ahead;
        from[q + c] = ahead;
        last[q + c] = now;
      }
    }
    return sum > 0;
  }

  /** Takes the momentum back: z + β (z − z_last) with β = 0, which is z unless numbers have overflown. */
  #stay(y: Float32Array): void {
    const touched = this.#touched;
    const last = this.#last;
    const from = this.#from;
    const end = 3 * this.#count;
    for (let n = 0, q = 0; q < end; n++, q += 3) {
      const k = 3 * touched[n];
      for (let c = 0; c < 3; c++) {
        const now = last[q + c];
        y[k + c] = now + 0 * (y[k + c] - now);
        from[q + c] = y[k + c];
      }
    }
  }
}

function momentumOf(k: number): number {
  return Math.min(MAX_MOMENTUM, k / (k + 3));
}
