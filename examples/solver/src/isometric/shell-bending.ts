import { BlockRows } from './block-rows.js';
import type { Constraint } from './constraint.js';
import type { Subdivision } from './subdivision.js';

/**
 * Bending of an isometric surface (3.5, 3.8) with the Laplacian of Crouzeix-Raviart elements over the red nodes:
 *
 *     B(x) = ½ k Σ |(L x)ᵢ − Tᵢ (L x₀)ᵢ|² / mᵢ,      Lᵢⱼ = −2 cot ∠(eᵢ, eⱼ),  mᵢ = (A₁ + A₂) / 3
 *
 * over inner edges, so that a flat sheet has no energy at its border, either. Tᵢ turns the curvature at rest with the
 * hinge at i; it is constant during a time step. As a constraint it is r(x) = h (L x − T L x₀) √(k / m), whose ½ |r|²
 * is h² B.
 */
export class ShellBending implements Constraint {
  readonly rows: BlockRows;
  readonly softness: Float64Array;
  readonly scale = 'absolute';
  /** no row is hard */
  readonly damping = 0;
  readonly #mesh: Subdivision;
  /** red nodes with two triangles */
  readonly #inner: readonly number[];
  /** float64[3·inner]: r of the shape at rest, unturned, and turned */
  readonly #atRest: Float64Array;
  readonly #turned: Float64Array;
  /** of the hinges at rest */
  readonly #frames: readonly Float64Array[];
  readonly #timeStep: number;

  /**
   * @param rest float64[3·V]
   * @param stiffness k, N·m
   * @param timeStep h, s
   */
  constructor(mesh: Subdivision, rest: Float64Array, stiffness: number, timeStep: number) {
    this.#mesh = mesh;
    this.#timeStep = timeStep;
    const inner = [...mesh.trianglesOfEdge.keys()].filter((edge) => mesh.trianglesOfEdge[edge]!.length === 2);
    this.#inner = inner.map((edge) => mesh.blackCount + edge);
    const rows = inner.map((edge) => weightsOf(mesh, rest, edge));
    this.rows = new BlockRows(rows.map(({ weights }) => [...weights.keys()]));
    this.softness = new Float64Array(3 * rows.length).fill(1);
    let block = 0;
    for (const { weights, mass } of rows) {
      const scale = timeStep * Math.sqrt(stiffness / mass);
      for (const weight of weights.values()) this.rows.setScalar(block++, scale * weight);
    }
    this.#frames = this.#inner.map((red) => this.#frameAt(rest, red));
    this.#atRest = new Float64Array(3 * inner.length);
    this.rows.multiply(rest, this.#atRest);
    this.#turned = this.#atRest.slice();
  }

  /** Turns the curvature at rest to the hinges of x. */
  turnTo(x: Float64Array): void {
    this.#inner.forEach((red, i) => {
      const [now, before] = [this.#frameAt(x, red), this.#frames[i]!];
      const local = [0, 1, 2].map((axis) => {
        let sum = 0;
        for (let c = 0; c < 3; c++) sum += before[3 * axis + c]! * this.#atRest[3 * i + c]!;
        return sum;
      });
      for (let c = 0; c < 3; c++) {
        this.#turned[3 * i + c] = local[0]! * now[c]! + local[1]! * now[3 + c]! + local[2]! * now[6 + c]!;
      }
    });
  }

  evaluate(x: Float64Array, out: Float64Array, first: number): void {
    this.rows.multiply(x, out, first);
    for (let i = 0; i < this.#turned.length; i++) out[first + i]! -= this.#turned[i]!;
  }

  /** B(x) with the curvature at rest turned to x, J. */
  energy(x: Float64Array): number {
    this.turnTo(x);
    const r = new Float64Array(this.#turned.length);
    this.evaluate(x, r, 0);
    return r.reduce((sum, value) => sum + value * value, 0) / (2 * this.#timeStep ** 2);
  }

  /**
   * Rows: along the edge of a red node, the mean normal of its triangles made perpendicular to it, and their product.
   */
  #frameAt(x: Float64Array, red: number): Float64Array {
    const { edges, blackCount, trianglesOfEdge, middles } = this.#mesh;
    const edge = red - blackCount;
    const along = unit(between(x, edges[2 * edge]!, edges[2 * edge + 1]!));
    const normal = [0, 0, 0];
    for (const triangle of trianglesOfEdge[edge]!) {
      const [a, b, c] = middles.subarray(3 * triangle, 3 * triangle + 3) as unknown as [number, number, number];
      unit(cross(between(x, a, b), between(x, a, c))).forEach((value, i) => {
        normal[i]! += value;
      });
    }
    const side = unit(cross(normal as [number, number, number], along));
    return Float64Array.from([...along, ...cross(along, side), ...side]);
  }
}

/** Row of L at an edge by node, and its mass. */
function weightsOf(mesh: Subdivision, rest: Float64Array, edge: number) {
  const red = mesh.blackCount + edge;
  const weights = new Map<number, number>([[red, 0]]);
  let mass = 0;
  for (const triangle of mesh.trianglesOfEdge[edge]!) {
    const nodes = mesh.middles.subarray(3 * triangle, 3 * triangle + 3);
    const k = nodes.indexOf(red);
    for (const j of [(k + 1) % 3, (k + 2) % 3]) {
      // The edges opposite to corners k and j meet at the third corner; the triangle of the red nodes is similar to the
      // base one.
      const third = nodes[3 - k - j]!;
      const [u, v] = [between(rest, third, red), between(rest, third, nodes[j]!)];
      const double = Math.hypot(...cross(u, v));
      const weight = (-2 * (u[0] * v[0] + u[1] * v[1] + u[2] * v[2])) / double;
      weights.set(nodes[j]!, (weights.get(nodes[j]!) ?? 0) + weight);
      weights.set(red, weights.get(red)! - weight);
      if (j === (k + 1) % 3) mass += (2 * double) / 3; // the area of the base triangle is four times double / 2
    }
  }
  return { weights, mass };
}

type Vector = [number, number, number];
const between = (x: Float64Array, a: number, b: number): Vector => [
  x[3 * b]! - x[3 * a]!,
  x[3 * b + 1]! - x[3 * a + 1]!,
  x[3 * b + 2]! - x[3 * a + 2]!,
];
const cross = (a: Vector, b: Vector): Vector => [
  a[1] * b[2] - a[2] * b[1],
  a[2] * b[0] - a[0] * b[2],
  a[0] * b[1] - a[1] * b[0],
];
const unit = (a: Vector): Vector => {
  const length = Math.hypot(...a) || 1; // a folded hinge has no mean normal, so its curvature at rest is ignored for a time step
  return [a[0] / length, a[1] / length, a[2] / length];
};
