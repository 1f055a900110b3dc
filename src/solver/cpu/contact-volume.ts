import { EE, type PairSet, VT } from './pairs.js';

/** Below this sine of their angle two edges turn instead of parting when their volume is enforced: gap form then. */
const MIN_SINE = 0.15;

/** A triangle with less than this share of its longest edge squared as twice its area has no usable area: gap form. */
const MIN_AREA_SHARE = 1e-6;

/**
 * Adds d ∇_k log S to the Jacobian of pair p: what makes Eqs. 10–12 a volume instead of a gap. With the reference shape
 * r constant the volume ratio is c = d S / (δ S₀) − 1, S the measure of the closest features:
 *
 *   vertex – face interior   S = |u × v|   ∇_j log S = (v × N)/S, ∇_k = (N × u)/S, ∇_i = −(∇_j + ∇_k)
 *   edge – edge, interior    S = |u × v|   ∇_b = (v × N)/S, ∇_a = −∇_b, ∇_d = (N × u)/S, ∇_c = −∇_d
 *   vertex – edge interior   S = |u|       ∇_j = u/|u|², ∇_i = −∇_j
 *   vertex – vertex          S = 1
 *
 * The rows sum to zero over the vertices, so the constraint resists no translation.
 */
export function addVolumeTerm(pairs: PairSet, p: number, x: Float32Array, jacobian: Float32Array, at: number): void {
  const w = pairs.weight;
  const v = pairs.vertex;
  const used: number[] = [];
  for (let s = 0; s < 4; s++) if (v[4 * p + s] >= 0 && w[4 * p + s] > 0) used.push(s);
  const d = pairs.distance[p];
  const difference = (s: number, t: number): Vector => {
    const i = 3 * v[4 * p + s];
    const j = 3 * v[4 * p + t];
    return [x[j] - x[i], x[j + 1] - x[i + 1], x[j + 2] - x[i + 2]];
  };
  const add = (s: number, g: Vector, sign: number): void => {
    for (let c = 0; c < 3; c++) jacobian[at + 3 * s + c] += sign * d * g[c];
  };
  if (used.length === 3) {
    // One vertex against an edge interior, wherever the pair came from: the two slots on the same side are the edge.
    const [s, t] = pairs.kind[p] === EE && used[1] === 1 ? [0, 1] : [used[1], used[2]];
    const u = difference(s, t);
    const uu = dot(u, u);
    if (!(uu > 0)) return;
    const g = scale(u, 1 / uu);
    add(t, g, 1);
    add(s, g, -1);
    return;
  }
  if (used.length !== 4) return;
  const isFace = pairs.kind[p] === VT;
  const u = isFace ? difference(1, 2) : difference(0, 1);
  const e = isFace ? difference(1, 3) : difference(2, 3);
  const n = cross(u, e);
  const area = Math.sqrt(dot(n, n));
  const smallest = isFace
    ? MIN_AREA_SHARE * Math.max(dot(u, u), dot(e, e))
    : MIN_SINE * Math.sqrt(dot(u, u) * dot(e, e));
  if (!(area > smallest)) return;
  const unit = scale(n, 1 / area);
  const second = scale(cross(e, unit), 1 / area);
  const third = scale(cross(unit, u), 1 / area);
  if (isFace) {
    add(2, second, 1);
    add(3, third, 1);
    add(1, second, -1);
    add(1, third, -1);
  } else {
    add(1, second, 1);
    add(0, second, -1);
    add(3, third, 1);
    add(2, third, -1);
  }
}

type Vector = [number, number, number];
const dot = (a: Vector, b: Vector): number => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
const scale = (a: Vector, s: number): Vector => [a[0] * s, a[1] * s, a[2] * s];
const cross = (a: Vector, b: Vector): Vector => [
  a[1] * b[2] - a[2] * b[1],
  a[2] * b[0] - a[0] * b[2],
  a[0] * b[1] - a[1] * b[0],
];
