import { type Contacts, NO_CONTACTS, valueAt } from '../contacts.js';
import type { FrictionSettings } from '../friction.js';
import { BlockRows } from './block-rows.js';
import type { Constraint, Switching } from './constraint.js';

export interface ContactSettings {
  /** gap to maintain, m */
  readonly gap: number;
  /** D of the tangential directions, relative to the diagonal of B·M⁻¹·Bᵀ (3.30) */
  readonly tangentialSoftness: number;
  /** absent = no tangential constraints */
  readonly friction?: FrictionSettings;
}

/** A gap is kept if it differs from the required one by at most this share. */
const KEPT = 0.01;
/** Releases of a contact in a projection after which it holds without friction. */
const MAX_RELEASES = 2;
/**
 * Damping of normal rows. Answers list several pairs at a vertex, whose rows are nearly dependent: with less, their
 * multipliers may be large and of opposite signs, and contacts are released and hold again in turn. With more, the weight
 * of a large body needs many iterations.
 */
const DAMPING = 1e-4;

/**
 * Contacts of an answer as constraints (3.26, 3.28): the gap along the normal is maintained, and the two points do not
 * move along each other. Unlike those of the thesis, they only push: a normal row holds while its multiplier is
 * negative, and tangential rows hold with it. They hold no more strongly than Coulomb's law allows, either: rows that
 * exceed static friction slide from then on, and their multipliers are those of kinetic friction.
 */
export class ContactConstraint implements Constraint, Switching {
  readonly rows: BlockRows;
  readonly softness: Float64Array;
  readonly scale = 'relative';
  readonly damping = DAMPING;
  readonly switching = this;
  readonly prescribed: Float64Array;
  readonly #contacts: Contacts;
  readonly #previous: Float64Array;
  readonly #settings: ContactSettings;
  /** float64[9·C]: normal and two tangents, zero without friction */
  readonly #axes: Float64Array;
  /** float64[2·C]: the direction in which the multipliers of a sliding contact point, zero if it does not slide */
  readonly #slips: Float64Array;
  /** uint32[C]: how often the normal row of a contact was released in this projection */
  readonly #releases: Uint32Array;

  /** @param previous float64[3·V]: the state at the beginning of the time step */
  constructor(contacts: Contacts, previous: Float64Array, settings: ContactSettings) {
    this.#contacts = contacts;
    this.#previous = previous;
    this.#settings = settings;
    const { count, vertices, normals, weights } = contacts;
    this.#axes = new Float64Array(9 * count);
    this.#slips = new Float64Array(2 * count);
    this.#releases = new Uint32Array(count);
    this.softness = new Float64Array(3 * count);
    this.prescribed = new Float64Array(3 * count);
    // Unused entries of a contact repeat its first vertex with weight 0.
    this.rows = new BlockRows(Array.from({ length: count }, (_, c) => [...vertices.subarray(4 * c, 4 * c + 4)]));
    for (let c = 0; c < count; c++) {
      const n = normals.subarray(3 * c, 3 * c + 3) as unknown as [number, number, number];
      this.#axes.set([...n, ...(settings.friction ? tangentsOf(n) : [])], 9 * c);
      this.softness.set([0, settings.tangentialSoftness, settings.tangentialSoftness], 3 * c);
      for (let v = 0; v < 4; v++) {
        for (let k = 0; k < 9; k++) {
          this.rows.values[9 * (4 * c + v) + k] = weights[4 * c + v]! * this.#axes[9 * c + k]!;
        }
      }
    }
  }

  evaluate(x: Float64Array, out: Float64Array, first: number): void {
    const moved = x.map((value, i) => value - this.#previous[i]!);
    for (let c = 0; c < this.#contacts.count; c++) {
      const [at, along] = [valueAt(this.#contacts, c, x), valueAt(this.#contacts, c, moved)];
      for (let k = 0; k < 3; k++) {
        const from = k === 0 ? at : along;
        let sum = 0;
        for (let i = 0; i < 3; i++) sum += this.#axes[9 * c + 3 * k + i]! * from[i]!;
        out[first + 3 * c + k] = k === 0 ? sum - this.#settings.gap : sum;
      }
    }
  }

  /**
   * A normal row that holds is released if it pulls, and λ + C / D, what its multiplier would become if nothing moved,
   * is not negative, either. It holds again if the gap is too small. An iteration is needed if this has changed, or a
   * gap that is held is not yet as required. Tangential rows of a contact that is released again and again hold no more:
   * they may be what makes it pull.
   */
  decide(multipliers: Float64Array, violations: Float64Array, damping: Float64Array): boolean {
    const { friction = { kinetic: 0 }, gap } = this.#settings;
    let isNeeded = false;
    for (let c = 0; c < this.#contacts.count; c++) {
      const n = 3 * c;
      const [force, violation] = [multipliers[n]!, violations[n]!];
      const held = Number.isNaN(this.prescribed[n]!);
      const holds = held ? force < 0 || force + violation / damping[n]! < 0 : violation < -KEPT * gap;
      if (holds !== held || (holds && Math.abs(violation) > KEPT * gap)) isNeeded = true;
      if (held && !holds) this.#releases[c]!++;
      this.prescribed[n] = holds ? Number.NaN : 0;
      const [t, u] = [this.#slips[2 * c]!, this.#slips[2 * c + 1]!];
      const sticks = holds && t === 0 && u === 0 && this.#releases[c]! < MAX_RELEASES;
      const drag = holds && this.#releases[c]! < MAX_RELEASES ? -friction.kinetic * Math.min(0, force) : 0;
      this.prescribed[n + 1] = sticks ? Number.NaN : drag * t;
      this.prescribed[n + 2] = sticks ? Number.NaN : drag * u;
    }
    return isNeeded;
  }

  settle(multipliers: Float64Array): boolean {
    const { friction = { static: 0 } } = this.#settings;
    let isNeeded = false;
    for (let n = 0; n < multipliers.length; n += 3) {
      const [t, u] = [multipliers[n + 1]!, multipliers[n + 2]!];
      const held = Math.hypot(t, u);
      if (!Number.isNaN(this.prescribed[n + 1]!) || held <= -friction.static * multipliers[n]!) continue;
      this.#slips.set([t / held, u / held], (2 * n) / 3);
      isNeeded = true;
    }
    return isNeeded;
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
