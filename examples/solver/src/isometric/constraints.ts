import { BlockRows } from './block-rows.js';
import type { Constraint } from './constraint.js';
import { cornersOfBlack, extrapolation, type Subdivision } from './subdivision.js';

/**
 * Damping of the hard constraints, relative (Constraint.damping), which are dependent where a sheet is flat and at its
 * border. A nearly flat sheet can yield only across itself, in directions in which B·M⁻¹·Bᵀ is small: where it is less
 * than this, iterations hardly correct the constraints, and with 1e-5 thirty are too few for a sheet of 2601 nodes that
 * begins to bend (frames 10 to 12 of `runner/isometric.js --scene sphere-drape --size quarter --frames 12`). With less,
 * the linear system is scaled worse.
 */
const DAMPING = 1e-7;

/** For every two red nodes of a triangle, |xᵢ − xⱼ| is as at rest (3.1): one row of blocks per triangle. */
export class Inextensibility implements Constraint {
  readonly rows: BlockRows;
  readonly softness: Float64Array;
  readonly scale = 'relative';
  readonly damping = DAMPING;
  /** float64[3·T], m: of the red nodes k + 1 and k + 2 of a triangle */
  readonly #lengths: Float64Array;
  readonly #middles: Uint32Array;

  constructor({ middles }: Subdivision, rest: Float64Array) {
    this.#middles = middles;
    this.#lengths = new Float64Array(middles.length);
    const nodes: number[][] = [];
    for (let i = 0; i < middles.length; i += 3) nodes.push([...middles.subarray(i, i + 3)]);
    this.rows = new BlockRows(nodes);
    this.softness = new Float64Array(middles.length);
    this.evaluate(rest, this.#lengths, 0);
  }

  evaluate(x: Float64Array, out: Float64Array, first: number): void {
    const { values } = this.rows;
    for (let i = 0; i < this.#middles.length; i++) {
      const [from, k] = [i - (i % 3), i % 3];
      const [a, b] = [(k + 1) % 3, (k + 2) % 3];
      const [p, q] = [3 * this.#middles[from + a]!, 3 * this.#middles[from + b]!];
      const d = [x[p]! - x[q]!, x[p + 1]! - x[q + 1]!, x[p + 2]! - x[q + 2]!] as const;
      const length = Math.hypot(...d);
      for (let c = 0; c < 3; c++) {
        values[9 * (from + a) + 3 * k + c] = d[c]! / length;
        values[9 * (from + b) + 3 * k + c] = -d[c]! / length;
      }
      out[first + i] = length - this.#lengths[i]!;
    }
  }

  /** Largest | |xᵢ − xⱼ| / rest − 1 |. */
  strain(x: Float64Array): number {
    const values = new Float64Array(this.#lengths.length);
    this.evaluate(x, values, 0);
    return values.reduce((most, value, i) => Math.max(most, Math.abs(value) / this.#lengths[i]!), 0);
  }
}

/** Differences of weighted sums of positions: C is linear, its derivative constant. */
class Linear implements Constraint {
  readonly rows: BlockRows;
  readonly softness: Float64Array;
  readonly scale = 'relative';
  readonly damping = DAMPING;

  constructor(terms: readonly (readonly (readonly [node: number, weight: number])[])[]) {
    const sums = terms.map((row) => {
      const byNode = new Map<number, number>();
      for (const [node, weight] of row) byNode.set(node, (byNode.get(node) ?? 0) + weight);
      return [...byNode].filter(([, weight]) => weight !== 0);
    });
    this.rows = new BlockRows(sums.map((row) => row.map(([node]) => node)));
    for (const [block, [, weight]] of sums.flat().entries()) this.rows.setScalar(block, weight);
    this.softness = new Float64Array(3 * sums.length);
  }

  evaluate(x: Float64Array, out: Float64Array, first: number): void {
    this.rows.multiply(x, out, first);
  }
}

const extrapolated = (mesh: Subdivision, corner: number, scale: number): [number, number][] => {
  const [a, b, c] = extrapolation(mesh, corner);
  return [
    [a, scale],
    [b, scale],
    [c, -scale],
  ];
};

/** A black node is the mean of the positions that its triangles give it (3.3). */
export const conforming = (mesh: Subdivision): Constraint =>
  new Linear(
    cornersOfBlack(mesh).flatMap((corners, black) => {
      if (corners.length === 0) return [];
      return [[[black, 1], ...corners.flatMap((corner) => extrapolated(mesh, corner, -1 / corners.length))]];
    }),
  );

/** The two border triangles at a border vertex agree on its position (3.4). Corners of one triangle need none. */
export const border = (mesh: Subdivision): Constraint =>
  new Linear(
    cornersOfBlack(mesh).flatMap((corners) => {
      const atBorder = corners.filter((corner) =>
        extrapolation(mesh, corner)
          .slice(0, 2)
          .some((red) => mesh.trianglesOfEdge[red - mesh.blackCount]!.length === 1),
      );
      if (atBorder.length !== 2) return [];
      return [[...extrapolated(mesh, atBorder[0]!, 1), ...extrapolated(mesh, atBorder[1]!, -1)]];
    }),
  );
