import { invertSymmetric, type Rotation, turn, type Vector } from './rotation.js';
import type { Twist } from './twist.js';

const SWEEPS = 64;

/**
 * Share of the trace of an inertia tensor that is added along its diagonal, because points on a line have no inertia
 * about the line.
 */
const REGULARISED = 1e-6;

/** The inertia of a group, in which every vertex has the mass 1. */
export class Inertia {
  readonly #inverseMass: number;
  readonly #tensor: readonly number[];
  /** undefined = a point, which does not turn */
  readonly #inverse: Rotation | undefined;

  /** @param centre the mean of the vertices at x */
  constructor(vertices: Uint32Array, x: Float32Array, centre: Vector) {
    this.#inverseMass = 1 / vertices.length;
    const m = [0, 0, 0, 0, 0, 0, 0, 0, 0];
    for (const v of vertices) {
      const [a, b, c] = [x[3 * v] - centre[0], x[3 * v + 1] - centre[1], x[3 * v + 2] - centre[2]];
      m[0] += b * b + c * c;
      m[4] += a * a + c * c;
      m[8] += a * a + b * b;
      m[1] -= a * b;
      m[2] -= a * c;
      m[5] -= b * c;
    }
    const bias = REGULARISED * (m[0] + m[4] + m[8]);
    this.#tensor = [m[0] + bias, m[1], m[2], m[1], m[4] + bias, m[5], m[2], m[5], m[8] + bias];
    this.#inverse = invertSymmetric(this.#tensor);
  }

  /** Root mean square of the displacements that the two twists have in common: √⟨a, b⟩, 0 if they oppose each other. */
  common(a: Twist, b: Twist): number {
    const [x, y, z] = turn(this.#tensor as unknown as Rotation, a.spin);
    const turned = x * b.spin[0] + y * b.spin[1] + z * b.spin[2];
    const shifted = a.shift[0] * b.shift[0] + a.shift[1] * b.shift[1] + a.shift[2] * b.shift[2];
    return Math.sqrt(Math.max(0, shifted + turned * this.#inverseMass));
  }

  /** M⁻¹ of a force and a moment. */
  yieldTo(force: Vector, moment: Vector): { readonly shift: Vector; readonly spin: Vector } {
    const [x, y, z] = force;
    const w = this.#inverseMass;
    return { shift: [w * x, w * y, w * z], spin: this.#inverse ? turn(this.#inverse, moment) : [0, 0, 0] };
  }
}

/** One side of a pair: the corner that crosses first, and the index of its group; −1 = at rest. */
export interface Side {
  readonly group: number;
  /** x of the corner */
  readonly at: Vector;
  /** its displacement along n beyond v + ω × r: the second-order term of the rotation */
  readonly beyond: number;
}

/** Along n, side a must not come nearer to side b by more than `room`. */
export interface Obstacle {
  readonly normal: Vector;
  readonly a: Side;
  readonly b: Side;
  readonly room: number;
}

/** One row: J u ≥ limit, over the six components of each of two groups. */
interface Row {
  readonly parts: readonly RowPart[];
  readonly limit: number;
  /** J M⁻¹ Jᵀ */
  readonly stiffness: number;
  multiplier: number;
}

interface RowPart {
  readonly group: number;
  readonly force: Vector;
  readonly moment: Vector;
  readonly shift: Vector;
  readonly spin: Vector;
}

/**
 * Returns the twists nearest to the wanted ones, in the metric of Σ |displacement|², that satisfy all rows
 *
 *   n·(v_a + ω_a × r_a) − n·(v_b + ω_b × r_b) ≥ −room − second order,
 *
 * by projected Gauss-Seidel on the multipliers. So a group slides past obstacles and turns aside. Rows are only
 * guidance: the safety of the motion is tested on the numbers that are written.
 *
 * @param inertias by group; undefined = does not yield
 */
export function slidePast(
  wishes: readonly Twist[],
  inertias: readonly (Inertia | undefined)[],
  obstacles: readonly Obstacle[],
): Twist[] {
  const shifts = wishes.map(({ shift }) => [...shift]);
  const spins = wishes.map(({ spin }) => [...spin]);
  const rows = obstacles.map((obstacle) => rowOf(obstacle, wishes, inertias)).filter(({ stiffness }) => stiffness > 0);
  for (let sweep = 0; sweep < SWEEPS; sweep++) {
    let hasChanged = false;
    for (const row of rows) {
      let value = -row.limit;
      for (const { group, force, moment } of row.parts) value += dot(force, shifts[group]) + dot(moment, spins[group]);
      const multiplier = Math.max(0, row.multiplier - value / row.stiffness);
      const change = multiplier - row.multiplier;
      if (change === 0) continue;
      row.multiplier = multiplier;
      hasChanged = true;
      for (const { group, shift, spin } of row.parts) {
        for (let c = 0; c < 3; c++) {
          shifts[group][c] += change * shift[c];
          spins[group][c] += change * spin[c];
        }
      }
    }
    if (!hasChanged) break;
  }
  return wishes.map(({ centre }, g) => ({ centre, shift: toVector(shifts[g]), spin: toVector(spins[g]) }));
}

function rowOf(
  { normal, a, b, room }: Obstacle,
  wishes: readonly Twist[],
  inertias: readonly (Inertia | undefined)[],
): Row {
  const parts: RowPart[] = [];
  let stiffness = 0;
  for (const [side, sign] of [
    [a, 1],
    [b, -1],
  ] as const) {
    const inertia = inertias[side.group];
    if (!inertia) continue;
    const { centre } = wishes[side.group];
    const arm: Vector = [side.at[0] - centre[0], side.at[1] - centre[1], side.at[2] - centre[2]];
    const force: Vector = [sign * normal[0], sign * normal[1], sign * normal[2]];
    // n·(ω × r) = ω·(r × n)
    const moment = cross(arm, force);
    const { shift, spin } = inertia.yieldTo(force, moment);
    stiffness += dot(force, shift) + dot(moment, spin);
    parts.push({ group: side.group, force, moment, shift, spin });
  }
  return { parts, limit: -room - a.beyond + b.beyond, stiffness, multiplier: 0 };
}

const dot = (a: ArrayLike<number>, b: ArrayLike<number>): number => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];

const cross = ([a, b, c]: Vector, [x, y, z]: Vector): Vector => [b * z - c * y, c * x - a * z, a * y - b * x];

const toVector = ([x, y, z]: readonly number[]): Vector => [x, y, z];
