import { type Contacts, NO_CONTACTS, spread, valueAt } from '../contacts.js';
import type { FrictionSettings } from '../friction.js';
import { BlockRows } from './block-rows.js';
import type { Constraint } from './constraint.js';

export interface ContactSettings {
  /** gap to be kept, m */
  readonly gap: number;
  /** D of the normal direction, against the diagonal of B·M⁻¹·Bᵀ; > 0, since contacts of a vertex depend on each other */
  readonly softness: number;
  /** D of the tangential directions, likewise (3.30) */
  readonly tangentialSoftness: number;
  /** absent = no tangential constraints */
  readonly friction?: FrictionSettings;
}

/**
 * Contacts of an answer as constraints (3.26, 3.28): the gap along the normal is kept, and the two points do not move along each
 * other. Unlike the thesis', they only push, and hold no stronger than Coulomb's law allows: {@link release} lets go of the others. What slides is held back by a
 * constant force, {@link addKinetic}.
 */
export class ContactConstraint implements Constraint {
  readonly rows: BlockRows;
  readonly softness: Float64Array;
  readonly kind = 'soft';
  readonly #contacts: Contacts;
  readonly #previous: Float64Array;
  readonly #settings: ContactSettings;
  /** float64[9·C]: normal and two tangents; zero where released */
  readonly #axes: Float64Array;
  /** float64[3·C]: what the multipliers of the tangential directions were cut to where a contact slides, as a vector */
  readonly #drags: Float64Array;

  /** @param previous float64[3·V]: where the time step begins */
  constructor(contacts: Contacts, previous: Float64Array, settings: ContactSettings) {
    this.#contacts = contacts;
    this.#previous = previous;
    this.#settings = settings;
    const { count, vertices, normals } = contacts;
    this.#axes = new Float64Array(9 * count);
    this.#drags = new Float64Array(3 * count);
    this.softness = new Float64Array(3 * count);
    // Places that a contact does not use repeat its first vertex with weight 0.
    this.rows = new BlockRows(Array.from({ length: count }, (_, c) => [...vertices.subarray(4 * c, 4 * c + 4)]));
    for (let c = 0; c < count; c++) {
      const n = normals.subarray(3 * c, 3 * c + 3) as unknown as [number, number, number];
      this.#axes.set([...n, ...(settings.friction ? tangentsOf(n) : [])], 9 * c);
      this.softness.set([settings.softness, settings.tangentialSoftness, settings.tangentialSoftness], 3 * c);
    }
    this.#fill();
  }

  evaluate(x: Float64Array, out: Float64Array, first: number): void {
    const moved = x.map((value, i) => value - this.#previous[i]!);
    for (let c = 0; c < this.#contacts.count; c++) {
      const [at, along] = [valueAt(this.#contacts, c, x), valueAt(this.#contacts, c, moved)];
      for (let k = 0; k < 3; k++) {
        const from = k === 0 ? at : along;
        let sum = 0;
        for (let i = 0; i < 3; i++) sum += this.#axes[9 * c + 3 * k + i]! * from[i]!;
        const isHeld = this.#axes.subarray(9 * c, 9 * c + 3).some((value) => value !== 0);
        out[first + 3 * c + k] = k === 0 && isHeld ? sum - this.#settings.gap : sum;
      }
    }
  }

  /**
   * Lets go of contacts that pull. Where none does, it lets go of the tangential directions that hold stronger than static friction does: these slide, and what they held with
   * is cut to μ_kinetic times the normal multiplier. Not before: what pulls is balanced by what pushes, and the normal multipliers of both may be many times the weight.
   * Multipliers are of the projection before, so that friction lags behind by one round; it is less than what would hold the contact, so it never turns a motion round.
   * @param multipliers float64[...]: of C(x) = D λ, x = x̃ − M⁻¹ Bᵀ λ: a contact pushes where its own is negative
   * @returns whether any was let go of
   */
  release(multipliers: Float64Array, first: number): boolean {
    const { friction = { static: 0, kinetic: 0 } } = this.#settings;
    const before = this.#axes.slice();
    const isPulled = this.#hasPull(multipliers, first);
    for (let c = 0; c < this.#contacts.count; c++) {
      const [n, t, u] = multipliers.subarray(first + 3 * c, first + 3 * c + 3) as unknown as [number, number, number];
      const held = Math.hypot(t, u);
      if (n > 0) {
        this.#axes.fill(0, 9 * c, 9 * c + 9);
        this.#drags.fill(0, 3 * c, 3 * c + 3);
      } else if (!isPulled && held > -friction.static * n) {
        const share = Math.min(1, (-friction.kinetic * n) / held);
        for (let i = 0; i < 3; i++) {
          const along = t * this.#axes[9 * c + 3 + i]! + u * this.#axes[9 * c + 6 + i]!;
          this.#drags[3 * c + i] = share * along;
        }
        this.#axes.fill(0, 9 * c + 3, 9 * c + 9);
      }
    }
    this.#fill();
    return before.some((value, i) => value !== this.#axes[i]);
  }

  #hasPull(multipliers: Float64Array, first: number): boolean {
    for (let c = 0; c < this.#contacts.count; c++) if (multipliers[first + 3 * c]! > 0) return true;
    return false;
  }

  /** The predicted state x̃ as kinetic friction leaves it. @param inverseMasses float64[V], 1/kg */
  addKinetic(predicted: Float64Array, inverseMasses: Float64Array): Float64Array {
    const pushed = new Float64Array(predicted.length);
    for (let c = 0; c < this.#contacts.count; c++) {
      const [x, y, z] = this.#drags.subarray(3 * c, 3 * c + 3) as unknown as [number, number, number];
      spread(this.#contacts, c, [x, y, z], pushed);
    }
    return predicted.map((value, i) => value - inverseMasses[Math.floor(i / 3)]! * pushed[i]!);
  }

  #fill(): void {
    const { count, weights } = this.#contacts;
    for (let c = 0; c < count; c++) {
      for (let v = 0; v < 4; v++) {
        const block = 9 * (4 * c + v);
        for (let k = 0; k < 9; k++) this.rows.values[block + k] = weights[4 * c + v]! * this.#axes[9 * c + k]!;
      }
    }
  }
}

/** Contacts for which a condition holds. */
export function chooseContacts(contacts: Contacts, isChosen: (c: number) => boolean): Contacts {
  const chosen = Array.from({ length: contacts.count }, (_, c) => c).filter(isChosen);
  if (chosen.length === 0) return NO_CONTACTS;
  const pick = <A extends Uint32Array | Float64Array>(array: A, width: number, out: A): A => {
    chosen.forEach((c, i) => {
      out.set(array.subarray(width * c, width * c + width), width * i);
    });
    return out;
  };
  const count = chosen.length;
  return {
    count,
    vertices: pick(contacts.vertices, 4, new Uint32Array(4 * count)),
    weights: pick(contacts.weights, 4, new Float64Array(4 * count)),
    normals: pick(contacts.normals, 3, new Float64Array(3 * count)),
  };
}

function tangentsOf([x, y, z]: readonly [number, number, number]): number[] {
  const [a, b, c] = Math.abs(x) < 0.6 ? [0, z, -y] : [-z, 0, x];
  const length = Math.hypot(a, b, c);
  const [p, q, r] = [a / length, b / length, c / length];
  return [p, q, r, y * r - z * q, z * p - x * r, x * q - y * p];
}
