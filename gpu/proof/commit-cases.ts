import { UNIT_ROUNDOFF } from '../../src/solver/constants.js';
import { heightErrorOf, makeProofCases, makeProofRandom, PROOF_POINTS, type ProofCases } from './proof-cases.js';

/**
 * Cases for the end of a step: vertex–triangle pairs with vertices of their own. Each vertex has a target, an α and a
 * trust box; each pair has a normal and the limits that its heights must keep. Vertex k of pair p is 4·p + k; vertex 0
 * is side a.
 */
export interface CommitCases {
  readonly pairs: number;
  /** float32[12·pairs] */
  readonly x: Float32Array<ArrayBuffer>;
  readonly y: Float32Array<ArrayBuffer>;
  /** float32[3·pairs] */
  readonly normals: Float32Array<ArrayBuffer>;
  /** float32[4·pairs] */
  readonly alpha: Float32Array<ArrayBuffer>;
  /** float32[4·pairs] r before the step, in (0, 1] */
  readonly residual: Float32Array<ArrayBuffer>;
  /** float32[24·pairs] lo xyz, hi xyz of each vertex */
  readonly box: Float32Array<ArrayBuffer>;
  /** float32[pairs] no height of side a may fall below `low`, and none of side b may rise above `high`; e of x */
  readonly low: Float32Array<ArrayBuffer>;
  readonly high: Float32Array<ArrayBuffer>;
  readonly error: Float32Array<ArrayBuffer>;
  labelOf(pair: number): string;
}

/** Of one point over the origin of the heights: h, Σ_c |n_c d_c| and Σ_c |d_c|. */
interface Sizes {
  readonly height: number;
  readonly spread: number;
  readonly extent: number;
}

/** Lengths of the motions y − x: the extent of a scene, a feature of it, and little more than rounding. */
const TRAVELS = [1, 1e-4, 1e-7];
/** Distances between a limit and the new height, in units of e: the verdict changes within about ±2. */
const MARGINS = [-64, -4, -2, -1, -0.5, -0.1, 0, 0.1, 0.5, 1, 2, 4, 64];
/**
 * Of this many vertices, one has a box face exactly at its expected position, and one has it one float32 further in.
 */
const BOX_KINDS = 4;

/** @param seed a different seed gives other cases of the same kinds @param perFamily number of cases of each kind */
export function makeCommitCases(seed?: number, perFamily?: number): CommitCases {
  const random = makeProofRandom(seed ?? 0x2c1b3c6d);
  const { pairs, points, normals, labelOf }: ProofCases = makeProofCases(seed, perFamily);
  const vertices = PROOF_POINTS * pairs;
  const x = Float32Array.from(points);
  const y = new Float32Array(3 * vertices);
  const alpha = new Float32Array(vertices);
  const box = new Float32Array(6 * vertices);
  const [low, high, error] = [0, 1, 2].map(() => new Float32Array(pairs));
  /** the results of float32 arithmetic for the vertices, with one rounding per operation */
  const expected = new Float32Array(3 * vertices);
  for (let v = 0; v < vertices; v++) {
    alpha[v] = pickAlpha(random);
    const travel = TRAVELS[Math.floor(TRAVELS.length * random())];
    for (let k = 3 * v; k < 3 * v + 3; k++) {
      // A copy must keep the sign of a zero, which arithmetic would lose.
      if (random() < 0.02) x[k] = -0;
      y[k] = random() < 0.02 ? -0 : x[k] + travel * (2 * random() - 1);
      expected[k] = alpha[v] === 1 ? y[k] : x[k] + Math.fround(alpha[v] * Math.fround(y[k] - x[k]));
    }
    fillBox(box, v, x, expected, Math.floor(BOX_KINDS * random()));
  }
  for (let pair = 0; pair < pairs; pair++) {
    // e of a check is the larger one of e of x and that of the written corner.
    let e = 0;
    const ofX = { spread: 0, extent: 0, height: 0 };
    const heights: number[] = [];
    for (let k = 0; k < PROOF_POINTS; k++) {
      const sizes = [expected, x].map((points) => {
        let [height, spread, extent] = [0, 0, 0];
        for (let c = 0; c < 3; c++) {
          const d = points[12 * pair + 3 * k + c] - x[12 * pair + c];
          const term = normals[3 * pair + c] * d;
          height += term;
          spread += Math.abs(term);
          extent += Math.abs(d);
        }
        return { height, spread, extent };
      });
      const [{ height, spread, extent }, before] = sizes as [Sizes, Sizes];
      heights.push(height);
      e = Math.max(e, heightErrorOf(spread, extent, Math.abs(height)));
      ofX.spread = Math.max(ofX.spread, before.spread);
      ofX.extent = Math.max(ofX.extent, before.extent);
      ofX.height = Math.max(ofX.height, Math.abs(before.height));
    }
    error[pair] = heightErrorOf(ofX.spread, ofX.extent, ofX.height);
    e = Math.max(e, error[pair]);
    const margin = () => e * MARGINS[Math.floor(MARGINS.length * random())];
    low[pair] = heights[0] - e - margin();
    high[pair] = heights[1 + Math.floor(3 * random())] + e + margin();
  }
  const residual = alpha.map(() => 1 - random());
  return { pairs, x, y, normals: Float32Array.from(normals), alpha, residual, box, low, high, error, labelOf };
}

/** Returns 0 and 1, for which a step must copy, as often as all other values. */
function pickAlpha(random: () => number): number {
  const kind = random();
  if (kind < 0.15) return 0;
  if (kind < 0.3) return 1;
  if (kind < 0.4) return Math.fround(1 - UNIT_ROUNDOFF);
  return kind < 0.5 ? 2 ** -20 * random() : Math.fround(random());
}

/**
 * Fills the box of a vertex. Kind 0: far away; 1: one axis ends at the expected position; 2: it ends one float32 before
 * it; 3: far away.
 */
function fillBox(box: Float32Array, v: number, x: Float32Array, expected: Float32Array, kind: number): void {
  for (let c = 0; c < 3; c++) {
    const here = x[3 * v + c];
    const there = expected[3 * v + c];
    box[6 * v + c] = Math.min(here, there) - 1;
    box[6 * v + 3 + c] = Math.max(here, there) + 1;
  }
  if (kind !== 1 && kind !== 2) return;
  const axis = v % 3;
  const here = x[3 * v + axis];
  const there = expected[3 * v + axis];
  if (here === there) return;
  const face = kind === 1 ? there : nextTowards(there, here);
  box[6 * v + axis + (there > here ? 3 : 0)] = face;
}

/** Returns the float32 next to `from`, in the direction of `to`. */
function nextTowards(from: number, to: number): number {
  const words = new Int32Array(1);
  const float = new Float32Array(words.buffer);
  float[0] = from;
  if (float[0] === 0) return from;
  words[0] += to > from === from > 0 ? 1 : -1;
  return float[0];
}
