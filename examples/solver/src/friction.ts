import type { ContactTerm } from './contact-term.js';
import { addSpringProducts, type Contacts, gapOf, massOf, valueAt } from './contacts.js';
import type { Repulsion } from './repulsion.js';

export interface FrictionSettings {
  /** Coulomb's coefficient below which no contact slides */
  readonly static: number;
  /** … and the coefficient of sliding contacts */
  readonly kinetic: number;
}

export interface FrictionInput {
  readonly contacts: Contacts;
  /** float64[3·V]: the state at the beginning of the time step */
  readonly previous: Float64Array;
  /** float64[3·V]: the target without friction */
  readonly y: Float64Array;
  /** float64[V], 1/kg, 0 for kinematic vertices */
  readonly inverseMasses: Float64Array;
  /** gap below which a pair of the target counts as penetrating, m */
  readonly offset: number;
  /** pushes of the repulsion, which already acts between pairs */
  readonly repulsion: Repulsion;
  readonly timeStep: number;
}

/** The share of its slip that a sticking pair keeps, which makes its drag finite. */
const CREEP = 0.01;

/** Factor on Coulomb's limit that allows for the error of a coarsely solved trial. */
const TRIAL_ERROR = 1.1;

/**
 * The largest drag on a sliding pair, in units of μ N / |u|: it is less than Coulomb's law requires only if friction
 * takes more than nine tenths of a slip.
 */
const MOST_DRAG = 10;

/**
 * Friction as a filter of velocities (Bridson et al. 2002), implicit. The normal force of a contact is estimated from
 * the target y without friction: if its gap there is too small by p, it will get the impulse m p / h; a repulsion f has
 * given f h. So it is N = f + m p / h², and Coulomb's law bounds the friction by μ N.
 *
 * Let u be the tangential motion of the two points of a contact during the step, and e its direction. If its N acted on
 * every pair against its slip, u would become shorter by
 *
 *     t = h² e · Σ_v w_v a_v,      a_v = Σ_c N_c w_cv e_c / m_v
 *
 * of which the pair alone contributes N h² / m; m is the mass that it moves. Only t matters: pairs at the same place
 * together hold like a single one, whatever their number. Friction is a drag c u, and the target is computed once more
 * with it: ½ c |u|² is added to the energy. Drags c = d N leave u' = u / (1 + d t).
 *
 * - If μ_static t ≥ |u|, friction suffices to end the motion, and the pair sticks: d = 1 / (creep t), u' ≈ creep u.
 * - Otherwise it slides, and its force d N u' is μ_kinetic N with d = μ_kinetic / (|u| − μ_kinetic t).
 *
 * This ignores the other connections of the vertices: cloth that is held elsewhere is pulled on, and a drag would hold
 * it with whatever force that takes. So the target with these drags is a trial (`yieldTo`): a pair that exceeds
 * Coulomb's law there slides with d = μ_kinetic / |u|, with which it never exceeds the law, because u' is no longer
 * than u.
 *
 * (Changing y directly, vertex by vertex, would stretch the adjacent elements: in a drape over a sphere that stored
 * more energy than the fall had released.)
 */
export class Friction implements ContactTerm {
  readonly #contacts: Contacts;
  readonly #previous: Float64Array;
  readonly #coefficients: FrictionSettings;
  /** float64[C], N/m */
  readonly #drags: Float64Array;
  /** float64[C]: N in newtons, |u| in metres, and uint8[C]: 1 = sticks */
  readonly #forces: Float64Array;
  readonly #slips: Float64Array;
  readonly #sticks: Uint8Array;

  constructor(input: FrictionInput, coefficients: FrictionSettings) {
    const { contacts, previous } = input;
    this.#contacts = contacts;
    this.#previous = previous;
    this.#coefficients = coefficients;
    this.#drags = new Float64Array(contacts.count);
    this.#sticks = new Uint8Array(contacts.count);
    this.#forces = normalForces(input);
    const { slips, shortened } = slipsOf(input, this.#forces);
    this.#slips = slips;
    const { static: sticking, kinetic } = coefficients;
    for (let c = 0; c < contacts.count; c++) {
      const most = shortened[c]!;
      if (most === 0) continue;
      const slip = slips[c]!;
      const stuck = 1 / (CREEP * most);
      const sliding = kinetic / Math.max(slip - kinetic * most, slip / MOST_DRAG);
      this.#sticks[c] = Number(slip <= sticking * most);
      this.#drags[c] = this.#forces[c]! * (this.#sticks[c] ? stuck : Math.min(stuck, sliding));
    }
  }

  /**
   * Makes the pairs slide whose friction would exceed Coulomb's law.
   *
   * @param y float64[3·V]: the target with the current drags
   */
  yieldTo(y: Float64Array): void {
    const { static: sticking, kinetic } = this.#coefficients;
    const motion = y.map((value, i) => value - this.#previous[i]!);
    for (let c = 0; c < this.#drags.length; c++) {
      if (this.#drags[c] === 0) continue;
      const slip = Math.hypot(...tangentOf(this.#contacts, c, motion));
      const most = (this.#sticks[c] ? sticking : kinetic) * this.#forces[c]!;
      if (this.#drags[c]! * slip <= TRIAL_ERROR * most) continue;
      this.#sticks[c] = 0;
      this.#drags[c] = (kinetic * this.#forces[c]!) / Math.max(slip, this.#slips[c]!);
    }
  }

  energy(x: Float64Array): number {
    const motion = x.map((value, i) => value - this.#previous[i]!);
    let total = 0;
    for (let c = 0; c < this.#contacts.count; c++) {
      const [u, v, w] = tangentOf(this.#contacts, c, motion);
      total += (this.#drags[c]! * (u * u + v * v + w * w)) / 2;
    }
    return total;
  }

  addGradient(x: Float64Array, gradient: Float64Array): void {
    this.addProduct(
      x.map((value, i) => value - this.#previous[i]!),
      gradient,
    );
  }

  addProduct(v: Float64Array, out: Float64Array): void {
    addSpringProducts(this.#contacts, this.#drags, 'ACROSS', v, out);
  }

  addDiagonal(blocks: Float64Array): void {
    const { count, vertices, weights, normals } = this.#contacts;
    for (let c = 0; c < count; c++) {
      const drag = this.#drags[c]!;
      if (drag === 0) continue;
      for (let k = 4 * c; k < 4 * c + 4; k++) {
        const a = drag * weights[k]! ** 2;
        const at = 9 * vertices[k]!;
        for (let i = 0; i < 3; i++) {
          for (let j = 0; j < 3; j++) {
            blocks[at + 3 * i + j]! += a * (Number(i === j) - normals[3 * c + i]! * normals[3 * c + j]!);
          }
        }
      }
    }
  }
}

/**
 * Normal force of every contact, N. A copy of y is pushed apart contact by contact, and each takes the changes of the
 * previous ones into account, so that pairs that share vertices do not count the same penetration twice.
 */
function normalForces({ contacts, y, inverseMasses, offset, repulsion, timeStep }: FrictionInput): Float64Array {
  const { count, vertices, weights, normals } = contacts;
  const z = y.slice();
  const forces = new Float64Array(count);
  for (let c = 0; c < count; c++) {
    const mass = massOf(contacts, c, inverseMasses);
    if (mass === 0) continue;
    const penetration = Math.max(0, offset - gapOf(contacts, c, z));
    forces[c] = Math.max(0, repulsion.forceOf(c, y)) + (mass * penetration) / timeStep ** 2;
    if (penetration === 0) continue;
    for (let k = 4 * c; k < 4 * c + 4; k++) {
      const a = mass * weights[k]! * inverseMasses[vertices[k]!]! * penetration;
      for (let i = 0; i < 3; i++) z[3 * vertices[k]! + i]! += a * normals[3 * c + i]!;
    }
  }
  return forces;
}

/** |u| and t of every contact, float64[C], m; t is 0 if nothing is pressed, or nothing can be moved. */
function slipsOf({ contacts, previous, y, inverseMasses, timeStep }: FrictionInput, forces: Float64Array) {
  const { count, vertices, weights } = contacts;
  const motion = y.map((value, i) => value - previous[i]!);
  const slips = new Float64Array(count);
  const directions = new Float64Array(3 * count);
  const accelerations = new Float64Array(motion.length);
  for (let c = 0; c < count; c++) {
    if (forces[c] === 0) continue;
    const u = tangentOf(contacts, c, motion);
    const slip = Math.hypot(...u);
    if (slip === 0) continue;
    slips[c] = slip;
    for (let i = 0; i < 3; i++) directions[3 * c + i] = u[i]! / slip;
    for (let k = 4 * c; k < 4 * c + 4; k++) {
      const a = forces[c]! * weights[k]! * inverseMasses[vertices[k]!]!;
      for (let i = 0; i < 3; i++) accelerations[3 * vertices[k]! + i]! += a * directions[3 * c + i]!;
    }
  }
  const shortened = Float64Array.from({ length: count }, (_, c) => {
    const mass = massOf(contacts, c, inverseMasses);
    if (forces[c] === 0 || mass === 0) return 0;
    const [x, z, w] = valueAt(contacts, c, accelerations);
    const along = directions[3 * c]! * x + directions[3 * c + 1]! * z + directions[3 * c + 2]! * w;
    // If others drive it on, this is its own effect.
    return timeStep ** 2 * Math.max(along, forces[c]! / mass);
  });
  return { slips, shortened };
}

/** Returns the tangential part of Σ w v with respect to a contact. */
function tangentOf(contacts: Contacts, c: number, v: Float64Array): [number, number, number] {
  const [x, y, z] = valueAt(contacts, c, v);
  const [a, b, d] = [contacts.normals[3 * c]!, contacts.normals[3 * c + 1]!, contacts.normals[3 * c + 2]!];
  const along = a * x + b * y + d * z;
  return [x - along * a, y - along * b, z - along * d];
}
