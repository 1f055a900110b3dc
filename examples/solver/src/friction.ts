import type { ContactTerm } from './contact-term.js';
import { addSpringProducts, type Contacts, gapOf, massOf, valueAt } from './contacts.js';
import type { Repulsion } from './repulsion.js';

export interface FrictionSettings {
  /** Coulomb's coefficient below which nothing slides */
  readonly static: number;
  /** … and that of what slides */
  readonly kinetic: number;
}

export interface FrictionInput {
  readonly contacts: Contacts;
  /** float64[3·V]: the state at the beginning of the time step */
  readonly previous: Float64Array;
  /** float64[3·V]: the target without friction */
  readonly y: Float64Array;
  /** float64[V], 1/kg, 0 of kinematic vertices */
  readonly inverseMasses: Float64Array;
  /** gap below which a pair of the target counts as penetrating, m */
  readonly offset: number;
  /** what pushes pairs apart already */
  readonly repulsion: Repulsion;
  readonly timeStep: number;
}

/** The share of its slip that a pair keeps which sticks: makes its drag finite. */
const CREEP = 0.01;

/**
 * Friction as a filter of velocities (Bridson et al. 2002), implicit. The normal force of a contact is estimated from the
 * target y without friction: if its gap there is too small by p, it will get the impulse m p / h; a repulsion f has given f h.
 * So it is N = f + m p / h², and Coulomb's law bounds the friction by μ N.
 *
 * The tangential motion u of the two points during the step would end by the force m |u| / h² if their neighbours did not pull
 * them on. Friction is a drag c u, and the target is computed once more with it: ½ c |u|² joins the energy. Where μ_static N is
 * enough to end the motion, the pair sticks: c = m / (h² creep), which leaves it the share `creep` of u. Else it slides with
 * c = μ_kinetic N / |u|; as the drag makes u smaller, the force stays below μ_kinetic N. (To change y directly, vertex by vertex, would stretch the elements next to it: in a drape over a
 * sphere that stored more energy than the fall had set free.)
 */
export class Friction implements ContactTerm {
  readonly #contacts: Contacts;
  readonly #previous: Float64Array;
  /** float64[C], N/m */
  readonly #drags: Float64Array;

  constructor(input: FrictionInput, { static: sticking, kinetic }: FrictionSettings) {
    const { contacts, previous, y, inverseMasses, timeStep } = input;
    this.#contacts = contacts;
    this.#previous = previous;
    this.#drags = new Float64Array(contacts.count);
    const loads = normalForces(input);
    const motion = y.map((value, i) => value - previous[i]!);
    for (let c = 0; c < contacts.count; c++) {
      if (loads[c] === 0) continue;
      const slip = Math.hypot(...tangentOf(contacts, c, motion));
      const mass = massOf(contacts, c, inverseMasses);
      const isSticking = slip <= (sticking * loads[c]! * timeStep ** 2) / mass;
      this.#drags[c] = isSticking ? mass / (timeStep ** 2 * CREEP) : (kinetic * loads[c]!) / slip;
    }
  }

  /** The tangential force of a contact, N. */
  forceOf(c: number, x: Float64Array): number {
    const motion = x.map((value, i) => value - this.#previous[i]!);
    return this.#drags[c]! * Math.hypot(...tangentOf(this.#contacts, c, motion));
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
 * Normal force of every contact, N. A copy of y is pushed apart contact by contact: each sees what the ones before it have
 * changed, so that pairs that share vertices do not count the same penetration twice.
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

/** The part of Σ w v that is tangential to a contact. */
function tangentOf(contacts: Contacts, c: number, v: Float64Array): [number, number, number] {
  const [x, y, z] = valueAt(contacts, c, v);
  const [a, b, d] = [contacts.normals[3 * c]!, contacts.normals[3 * c + 1]!, contacts.normals[3 * c + 2]!];
  const along = a * x + b * y + d * z;
  return [x - along * a, y - along * b, z - along * d];
}
