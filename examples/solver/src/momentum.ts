import type { Model } from './model.js';

type Vector = readonly [number, number, number];

/** The effect of contacts on the momentum of the dynamic vertices in one step. */
export interface Impulses {
  /**
   * N·s: Σ m (x' − y) / h. Nearly zero if dynamic bodies touch only each other, because contact forces are equal and
   * opposite; a pull-back may leave a remainder
   */
  readonly linear: Vector;
  /** N·m·s: Σ m x' × (x' − y) / h, about the origin */
  readonly angular: Vector;
  /** N·s: Σ m |x' − y| / h, with which |linear| is to be compared */
  readonly total: number;
}

/**
 * Returns the impulses that change the target of the dynamics into the answer.
 * @param y float64[3·V], the target
 * @param x float64[3·V], the answer
 */
export function contactImpulses({ masses, isKinematic }: Model, y: Float64Array, x: Float64Array, h: number): Impulses {
  const linear: [number, number, number] = [0, 0, 0];
  const angular: [number, number, number] = [0, 0, 0];
  let total = 0;
  for (let v = 0; v < masses.length; v++) {
    if (isKinematic[v]) continue;
    const at = 3 * v;
    const p = [0, 1, 2].map((c) => (masses[v]! * (x[at + c]! - y[at + c]!)) / h) as unknown as Vector;
    total += Math.hypot(...p);
    for (let c = 0; c < 3; c++) {
      const [i, j] = [(c + 1) % 3, (c + 2) % 3];
      linear[c]! += p[c]!;
      angular[c]! += x[at + i]! * p[j]! - x[at + j]! * p[i]!;
    }
  }
  return { linear, angular, total };
}

export interface Energies {
  /** J */
  readonly kinetic: number;
  /** of all forces, J */
  readonly elastic: number;
  /** in the field of gravity, relative to the origin, J */
  readonly potential: number;
}

export function energiesOf(model: Model, x: Float64Array, velocity: Float64Array): Energies {
  const { masses, gravity, isKinematic } = model;
  let [kinetic, potential] = [0, 0];
  for (let i = 0; i < x.length; i++) {
    const v = Math.floor(i / 3);
    if (isKinematic[v]) continue;
    kinetic += (masses[v]! * velocity[i]! ** 2) / 2;
    potential -= masses[v]! * gravity[i % 3]! * x[i]!;
  }
  const elastic = model.forces.reduce((sum, force) => sum + force.energy(x), 0);
  return { kinetic, elastic, potential };
}
