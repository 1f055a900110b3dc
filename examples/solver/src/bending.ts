import { type Blocks, type Force, NOT_STORED } from './force.js';

/**
 * Quadratic bending (Bergou et al. 2006): ½ k Σ_hinges 3 |Σ_i c_i x_i|² / (A₀ + A₁) over inner edges. The second
 * derivative is constant and positive semi-definite. The flat shape has no energy.
 */
export class QuadraticBending implements Force {
  readonly stencilSize = 4;
  readonly stencils: Uint32Array;
  /** float64[4·H]: c_i times the root of 3k / (A₀ + A₁) */
  readonly #weights: Float64Array;

  /**
   * @param hinges uint32[4·H]: the ends of an edge, then the two corners opposite to it; see {@link findHinges}
   * @param rest float64[3·V]
   * @param stiffness k, N·m
   */
  constructor(hinges: Uint32Array, rest: Float64Array, stiffness: number) {
    this.stencils = hinges;
    this.#weights = new Float64Array(hinges.length);
    for (let at = 0; at < hinges.length; at += 4) {
      const [a, b, c, d] = hinges.subarray(at, at + 4) as unknown as [number, number, number, number];
      const [atA, atB] = [0, 1].map((side) => {
        const [from, to] = side === 0 ? [a, b] : [b, a];
        return [cotangent(rest, from!, to!, c), cotangent(rest, from!, to!, d)];
      }) as [[number, number], [number, number]];
      const area = areaOf(rest, a, b, c) + areaOf(rest, a, b, d);
      const scale = Math.sqrt((3 * stiffness) / area);
      // The flat configuration and translations must be in the kernel: the weights sum to zero.
      const weights = [atB[0] + atB[1], atA[0] + atA[1], -atA[0] - atB[0], -atA[1] - atB[1]];
      weights.forEach((weight, i) => {
        this.#weights[at + i] = scale * weight;
      });
    }
  }

  energy(x: Float64Array): number {
    let total = 0;
    for (let at = 0; at < this.stencils.length; at += 4) {
      for (let c = 0; c < 3; c++) total += this.#bend(x, at, c) ** 2 / 2;
    }
    return total;
  }

  addDerivatives(x: Float64Array, gradient: Float64Array, { values, slots }: Blocks): void {
    const weights = this.#weights;
    for (let at = 0; at < this.stencils.length; at += 4) {
      for (let c = 0; c < 3; c++) {
        const bend = this.#bend(x, at, c);
        for (let i = 0; i < 4; i++) gradient[3 * this.stencils[at + i]! + c]! += weights[at + i]! * bend;
      }
      for (let i = 0; i < 4; i++) {
        for (let j = 0; j < 4; j++) {
          const slot = slots[4 * (at + i) + j]!;
          if (slot === NOT_STORED) continue;
          const product = weights[at + i]! * weights[at + j]!;
          values[slot]! += product;
          values[slot + 4]! += product;
          values[slot + 8]! += product;
        }
      }
    }
  }

  #bend(x: Float64Array, at: number, c: number): number {
    let sum = 0;
    for (let i = 0; i < 4; i++) sum += this.#weights[at + i]! * x[3 * this.stencils[at + i]! + c]!;
    return sum;
  }
}

/**
 * Finds, for every edge with exactly two triangles, its ends and the corners opposite to it.
 *
 * @param triangles uint32[3·T]
 */
export function findHinges(triangles: Uint32Array): Uint32Array {
  const opposite = new Map<string, { readonly ends: [number, number]; readonly corners: number[] }>();
  for (let i = 0; i < triangles.length; i += 3) {
    for (let k = 0; k < 3; k++) {
      const [a, b, c] = [0, 1, 2].map((j) => triangles[i + ((k + j) % 3)]!) as [number, number, number];
      const key = a < b ? `${a} ${b}` : `${b} ${a}`;
      const hinge = opposite.get(key) ?? { ends: [Math.min(a, b), Math.max(a, b)], corners: [] };
      hinge.corners.push(c);
      opposite.set(key, hinge);
    }
  }
  const found: number[] = [];
  for (const { ends, corners } of opposite.values()) if (corners.length === 2) found.push(...ends, ...corners);
  return Uint32Array.from(found);
}

const edge = (x: Float64Array, from: number, to: number): [number, number, number] => [
  x[3 * to]! - x[3 * from]!,
  x[3 * to + 1]! - x[3 * from + 1]!,
  x[3 * to + 2]! - x[3 * from + 2]!,
];

/** |p × q| and p · q for the edges from a corner. */
function productsAt(x: Float64Array, corner: number, p: number, q: number): { cross: number; dot: number } {
  const [a, b, c] = edge(x, corner, p);
  const [u, v, w] = edge(x, corner, q);
  return { cross: Math.hypot(b * w - c * v, c * u - a * w, a * v - b * u), dot: a * u + b * v + c * w };
}

const cotangent = (x: Float64Array, corner: number, p: number, q: number): number => {
  const { cross, dot } = productsAt(x, corner, p, q);
  return dot / cross;
};

const areaOf = (x: Float64Array, a: number, b: number, c: number): number => productsAt(x, a, b, c).cross / 2;
