import { NO_CORNER } from '../../mesh/strain.js';
import { COMPLETE_EVERY, MAX_MOMENTUM, MAX_STRAIN_MOMENTUM } from '../constants.js';
import { ActingItems } from './acting-items.js';
import type { EdgeLimits } from './edge-limits.js';
import { MOMENTUM } from './momentum.js';
import type { StrainLimits } from './strain-limits.js';
import { NO_EDGES } from './sweep-edges.js';
import { PART, SweepPlan } from './sweep-plan.js';
import { NO_ROWS } from './sweep-rows.js';
import { runSweeps, type SweepNumbers, type SweptArrays } from './sweep-run.js';
import { NO_STRAINS } from './sweep-strains.js';
import type { WarmContacts } from './warm-contacts.js';
import type { Scratch } from './workspace.js';

/** A contact nearer to its offset than this many δ takes part in every sweep; all others only in complete sweeps. */
const NEAR_CONTACT = 0.1;

/** The limits of edges and strains that sweeps enforce (shape-limits.ts). */
export interface SweptLimits {
  readonly edges?: EdgeLimits | undefined;
  readonly strains?: StrainLimits | undefined;
  wantsMoreSweeps?(x: Float32Array, y: Float32Array, rounds: number, most: number): boolean;
}

/**
 * Projected Gauss-Seidel sweeps over limits of edges and strains, and contacts, extrapolated (Nesterov). y is linear in
 * the multipliers, so y, c and λ are extrapolated alike: z ← z + β (z − z_last) after each sweep but the last, with β =
 * min(β_max, k/(k + 3)). β_max is MAX_MOMENTUM, and in further rounds for strain limits MAX_STRAIN_MOMENTUM. k restarts at
 * 0 if the momentum points away from the motion of the sweep, ⟨y_from − y, y − y_last⟩ > 0, where y_from is y at the
 * beginning of the sweep. Without this restart the iteration diverges.
 *
 * Vertices that no acting row touches keep their y in these sweeps, so only touched ones are stored and compared.
 *
 * All sweeps between two complete ones, with the momentum between them, are one ordered run of chunks, so that threads
 * synchronise as rarely as the order allows.
 */
export class AcceleratedSweeps {
  readonly #inverseMass: Float32Array;
  readonly #scratch: Scratch;
  /** float32[3·V] y before the first sweep */
  readonly #first: Float32Array;
  readonly #lastY: Float32Array;
  readonly #fromY: Float32Array;
  /** uint32[count] vertices of acting rows, and uint8[V] their marks */
  readonly #touched: Uint32Array;
  readonly #isTouched: Uint8Array;
  readonly #momentum: Float64Array;
  #count = 0;

  constructor(inverseMass: Float32Array, scratch: Scratch) {
    const vertices = inverseMass.length;
    this.#inverseMass = inverseMass;
    this.#scratch = scratch;
    this.#first = scratch.float32('y before the sweeps', 3 * vertices);
    this.#lastY = scratch.float32('y after the last sweep', 3 * vertices);
    this.#fromY = scratch.float32('y before the sweep', 3 * vertices);
    this.#touched = scratch.uint32('touched vertices', vertices);
    this.#isTouched = scratch.uint8('touched', vertices);
    this.#momentum = scratch.float64('momentum', MOMENTUM.words);
  }

  /**
   * Limits of edges and strains first, contacts last in every sweep.
   *
   * @param x float32[3·V] state of the contact rows
   * @param y float32[3·V] moved
   * @param options.slack shortens every edge limit, engine units
   * @param options.sweeps number of sweeps, and of further sweeps in each round that the limits require
   * @param options.mostExcess squared engine units: the largest excess over edge limits that needs no further round;
   *   absent = any excess
   * @param options.pulse called at short intervals; may throw, and y is then undefined
   */
  run(
    x: Float32Array,
    y: Float32Array,
    limits: SweptLimits | undefined,
    contacts: WarmContacts | undefined,
    options: {
      readonly sweeps: number;
      readonly delta: number;
      readonly slack: number;
      readonly mostExcess?: number;
      readonly pulse?: (() => void) | undefined;
    },
  ): void {
    const { sweeps, delta, slack, mostExcess = Number.POSITIVE_INFINITY, pulse = () => {} } = options;
    this.#first.set(y);
    this.#isTouched.fill(0);
    this.#count = 0;
    this.#momentum.fill(0);
    const swept = this.#prepare(x, y, limits, contacts);
    const numbers = { near: NEAR_CONTACT * delta, slack, pulse };
    let end = sweeps;
    for (let n = 0; n < end; ) {
      const isComplete = n % COMPLETE_EVERY === 0;
      const times = isComplete ? 1 : Math.min(end - n, COMPLETE_EVERY - (n % COMPLETE_EVERY));
      this.#momentum[MOMENTUM.most] = n >= sweeps && limits?.strains ? MAX_STRAIN_MOMENTUM : MAX_MOMENTUM;
      this.#sweep(swept, { ...numbers, isComplete, times, hasMomentum: n > 0 });
      n += times;
      // No momentum follows the last sweep, because extrapolation would violate the rows that it has just projected.
      if (n === end && limits?.wantsMoreSweeps?.(x, y, end / sweeps, mostExcess)) end += sweeps;
    }
  }

  #prepare(
    x: Float32Array,
    y: Float32Array,
    limits: SweptLimits | undefined,
    contacts: WarmContacts | undefined,
  ): Swept {
    const edges = limits?.edges?.rows ?? NO_EDGES;
    const strains = limits?.strains?.rows ?? NO_STRAINS;
    const rows = contacts?.rows ?? NO_ROWS;
    const actingEdges = new ActingItems(this.#scratch.uint32('edge limits that act', edges.arrays.limit.length));
    const elements = strains.arrays.strainLimits.length / 4;
    const actingStrains = new ActingItems(this.#scratch.uint32('strain limits that act', elements));
    const acting = new ActingItems(this.#scratch.uint32('contacts that act', rows.arrays.lambda.length));
    const lists = { actingEdges: actingEdges.list, actingStrains: actingStrains.list, acting: acting.list };
    return {
      ...{ edges, strains, rows, actingEdges, actingStrains, acting },
      arrays: {
        ...{ x, y, ...edges.arrays, ...strains.arrays, ...rows.arrays, ...lists },
        ...{ touched: this.#touched, lastY: this.#lastY, fromY: this.#fromY, momentum: this.#momentum },
      },
    };
  }

  /**
   * Makes a complete sweep, or several sweeps over the rows that act; with or without a step of the momentum before the
   * first one.
   */
  #sweep(swept: Swept, { isComplete, near, slack, times, hasMomentum, pulse }: How): void {
    const { edges, strains, rows, actingEdges, actingStrains, acting, arrays } = swept;
    const numbers: SweepNumbers = { isComplete: isComplete ? 1 : 0, near, slack };
    const plan = new SweepPlan();
    if (hasMomentum) plan.addMomentum(this.#count, actingEdges.count, actingStrains.count, acting.count);
    plan.addColours(PART.EDGES, isComplete ? edges : actingEdges);
    plan.addColours(PART.STRAINS, isComplete ? strains : actingStrains);
    plan.addColours(PART.CONTACTS, isComplete ? rows : acting);
    plan.repeat(times);
    const counts = runSweeps(plan, arrays, numbers, this.#scratch, pulse);
    if (!isComplete) return;
    actingEdges.gather(PART.EDGES, plan, counts, edges);
    actingStrains.gather(PART.STRAINS, plan, counts, strains);
    acting.gather(PART.CONTACTS, plan, counts, rows);
    this.#touchActing(swept);
  }

  /** Adds the vertices of the rows that act. */
  #touchActing({ arrays, actingEdges, actingStrains, acting }: Swept): void {
    const { ends, strainCorners, corner } = arrays;
    for (let a = 0; a < actingEdges.count; a++) {
      const n = 2 * actingEdges.list[a];
      this.#touch(ends[n]);
      this.#touch(ends[n + 1]);
    }
    for (let a = 0; a < actingStrains.count; a++) {
      for (let s = 4 * actingStrains.list[a], end = s + 4; s < end; s++) {
        if (strainCorners[s] !== NO_CORNER) this.#touch(strainCorners[s]);
      }
    }
    for (let a = 0; a < acting.count; a++) {
      for (let s = 4 * acting.list[a], end = s + 4; s < end; s++) this.#touch(corner[s] / 3);
    }
  }

  #touch(v: number): void {
    if (this.#isTouched[v] === 1 || this.#inverseMass[v] === 0) return;
    this.#isTouched[v] = 1;
    const q = 3 * this.#count;
    for (let c = 0; c < 3; c++) {
      this.#lastY[q + c] = this.#first[3 * v + c];
      this.#fromY[q + c] = this.#first[3 * v + c];
    }
    this.#touched[this.#count++] = v;
  }
}

/** What is swept in a step. */
interface Swept {
  readonly edges: EdgeLimits['rows'];
  readonly strains: StrainLimits['rows'];
  readonly rows: WarmContacts['rows'];
  readonly actingEdges: ActingItems;
  readonly actingStrains: ActingItems;
  readonly acting: ActingItems;
  readonly arrays: Omit<SweptArrays, 'sums'>;
}

interface How {
  readonly isComplete: boolean;
  readonly near: number;
  readonly slack: number;
  /** sweeps, 1 if complete */
  readonly times: number;
  readonly hasMomentum: boolean;
  readonly pulse: () => void;
}
