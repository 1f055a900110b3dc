import type { ContactTerm } from './contact-term.js';
import { addSpringProducts, type Contacts, gapOf, massOf, spread } from './contacts.js';

export interface RepulsionSettings {
  /** pairs nearer than this repel each other, m */
  readonly distance: number;
  /**
   * Stiffness over the mass that a contact moves, 1/s²: independent of the resolution of a mesh. A layer that rests
   * under gravity g is pressed by g / stiffness into the distance.
   */
  readonly stiffness: number;
}

/**
 * The quadratic repulsion between proximity pairs of the last answer: ½ k (distance − gap)² wherever the gap is smaller
 * than the distance. It keeps most pairs from meeting, so that fewer contacts remain for the service.
 *
 * One point of a layer belongs to many pairs at once. With the stiffness k = s m of a pair alone (s: the setting, m:
 * the mass that the pair moves) and its weights w, for which Σ|w| is 2, the second derivative H of all pairs obeys
 *
 *     vᵀ H v ≤ Σ_c k_c (Σ_v |w_cv| |v_v|)² ≤ 2 Σ_v |v_v|² Σ_c k_c |w_cv| = 2 s Σ_v m_v |v_v|² L_v      (Cauchy–Schwarz)
 *
 * with the load L_v = Σ_c m_c |w_cv| / m_v of a vertex. A pair's stiffness is divided by the largest load of its
 * vertices if that exceeds 1, so that no load exceeds 1: the pairs of a vertex together push like a single one, H ≤ 2 s
 * M, however fine one of two meshes is relative to the other. Kinematic vertices have infinite mass and no load.
 *
 * Normals and nearest points are those of the answer, constant during a step, so the energy is exactly quadratic.
 */
export class Repulsion implements ContactTerm {
  readonly #contacts: Contacts;
  readonly #distance: number;
  /** float64[C], N/m; 0 if the pair is not near enough */
  readonly #stiffness: Float64Array;

  /** @param x float64[3·V], the state that decides which pairs push */
  constructor(contacts: Contacts, x: Float64Array, inverseMasses: Float64Array, settings: RepulsionSettings) {
    this.#contacts = contacts;
    this.#distance = settings.distance;
    this.#stiffness = new Float64Array(contacts.count);
    const isNear = (c: number): boolean => gapOf(contacts, c, x) < settings.distance;
    const { count, vertices, weights } = contacts;
    const loads = new Float64Array(inverseMasses.length);
    for (let c = 0; c < count; c++) {
      if (!isNear(c)) continue;
      const mass = massOf(contacts, c, inverseMasses);
      for (let k = 4 * c; k < 4 * c + 4; k++) {
        loads[vertices[k]!]! += mass * Math.abs(weights[k]!) * inverseMasses[vertices[k]!]!;
      }
    }
    for (let c = 0; c < count; c++) {
      if (!isNear(c)) continue;
      let most = 1;
      for (let k = 4 * c; k < 4 * c + 4; k++) if (weights[k] !== 0) most = Math.max(most, loads[vertices[k]!]!);
      this.#stiffness[c] = (settings.stiffness * massOf(contacts, c, inverseMasses)) / most;
    }
  }

  /** Joules. */
  energy(x: Float64Array): number {
    let total = 0;
    for (let c = 0; c < this.#contacts.count; c++) {
      total += (this.#stiffness[c]! * (this.#distance - gapOf(this.#contacts, c, x)) ** 2) / 2;
    }
    return total;
  }

  /** Returns the push of a contact, N: positive = apart. */
  forceOf(c: number, x: Float64Array): number {
    return this.#stiffness[c]! * (this.#distance - gapOf(this.#contacts, c, x));
  }

  addGradient(x: Float64Array, gradient: Float64Array): void {
    for (let c = 0; c < this.#contacts.count; c++) {
      if (this.#stiffness[c]! > 0) this.#spread(c, -this.forceOf(c, x), gradient);
    }
  }

  /** out += second derivative · v: every contact adds k (w⊗n)(w⊗n)ᵀ. */
  addProduct(v: Float64Array, out: Float64Array): void {
    addSpringProducts(this.#contacts, this.#stiffness, 'ALONG', v, out);
  }

  /** @param blocks float64[9·V] */
  addDiagonal(blocks: Float64Array): void {
    const { count, vertices, weights, normals } = this.#contacts;
    for (let c = 0; c < count; c++) {
      const stiffness = this.#stiffness[c]!;
      if (stiffness === 0) continue;
      for (let k = 4 * c; k < 4 * c + 4; k++) {
        const a = stiffness * weights[k]! ** 2;
        const at = 9 * vertices[k]!;
        for (let i = 0; i < 3; i++) {
          for (let j = 0; j < 3; j++) blocks[at + 3 * i + j]! += a * normals[3 * c + i]! * normals[3 * c + j]!;
        }
      }
    }
  }

  #spread(c: number, size: number, out: Float64Array): void {
    const { normals } = this.#contacts;
    const n = 3 * c;
    spread(this.#contacts, c, [size * normals[n]!, size * normals[n + 1]!, size * normals[n + 2]!], out);
  }
}
