import { type Blocks, type Force, Modes } from './force.js';

/**
 * Springs ½ (k/l₀) (l − l₀)²: strands of hair, and seams. The stiffness k is in N, so that it does not depend on the
 * mesh.
 */
export class Springs implements Force {
  readonly stencilSize = 2;
  readonly stencils: Uint32Array;
  readonly #lengths: Float64Array;
  readonly #stiffness: number;

  /**
   * @param pairs uint32[2·S]
   * @param rest float64[3·V]; l₀ is the distance in it
   * @param stiffness k, N
   */
  constructor(pairs: Uint32Array, rest: Float64Array, stiffness: number) {
    this.stencils = pairs;
    this.#stiffness = stiffness;
    this.#lengths = new Float64Array(pairs.length / 2);
    for (let s = 0; s < this.#lengths.length; s++) {
      this.#lengths[s] = lengthOf(rest, pairs[2 * s]!, pairs[2 * s + 1]!);
      if (!(this.#lengths[s]! > 0)) throw new RangeError(`Spring ${s} has no length in its rest shape.`);
    }
  }

  energy(x: Float64Array): number {
    let total = 0;
    for (let s = 0; s < this.#lengths.length; s++) {
      const rest = this.#lengths[s]!;
      const length = lengthOf(x, this.stencils[2 * s]!, this.stencils[2 * s + 1]!);
      total += ((this.#stiffness / rest) * (length - rest) ** 2) / 2;
    }
    return total;
  }

  addDerivatives(x: Float64Array, gradient: Float64Array, blocks: Blocks): void {
    const modes = new Modes(2, 4);
    const mode = new Float64Array(6);
    const n = new Float64Array(3);
    for (let s = 0; s < this.#lengths.length; s++) {
      const [a, b] = [3 * this.stencils[2 * s]!, 3 * this.stencils[2 * s + 1]!];
      const rest = this.#lengths[s]!;
      const length = lengthOf(x, a / 3, b / 3);
      if (length === 0) continue; // there is no direction in which to push
      const k = this.#stiffness / rest;
      for (let c = 0; c < 3; c++) n[c] = (x[b + c]! - x[a + c]!) / length;
      const tension = k * (length - rest);
      for (let c = 0; c < 3; c++) {
        gradient[a + c]! -= tension * n[c]!;
        gradient[b + c]! += tension * n[c]!;
      }
      // k n⊗n + (tension / l)(I − n⊗n); the second part is negative in compression and is then omitted.
      const across = Math.max(0, tension / length);
      for (let c = 0; c < 3; c++) {
        mode[c] = -n[c]!;
        mode[3 + c] = n[c]!;
      }
      modes.push(k - across, mode);
      for (let c = 0; across > 0 && c < 3; c++) {
        mode.fill(0);
        mode[c] = -1;
        mode[3 + c] = 1;
        modes.push(across, mode);
      }
      modes.addTo(blocks, s);
    }
  }
}

const lengthOf = (x: Float64Array, a: number, b: number): number =>
  Math.hypot(x[3 * b]! - x[3 * a]!, x[3 * b + 1]! - x[3 * a + 1]!, x[3 * b + 2]! - x[3 * a + 2]!);
