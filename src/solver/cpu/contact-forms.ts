import type { ContactForm } from '../../contract/parameters.js';
import { PAIR_KINDS, SIDE_A } from '../pair-kinds.js';
import type { PairArrays } from './pair-set.js';

type TermPairs = Pick<PairArrays, 'kind' | 'vertex' | 'weight' | 'distance'>;

/**
 * Adds the terms that a contact form has beyond the gap form to the Jacobian of pair p: float32[12] from `at` on, slot
 * by slot.
 */
type ContactTerm = (pairs: TermPairs, p: number, x: Float32Array, jacobian: Float32Array, at: number) => void;

/** The contact forms; undefined = the gap form alone. A new form is one entry and its kernels' function. */
export const CONTACT_TERMS: Readonly<Record<ContactForm, ContactTerm | undefined>> = {
  GAP: undefined,
  VOLUME: addVolumeTerm,
};

/**
 * Adds d ∇_k log S to the Jacobian of pair p, which turns the gap of Eqs. 10–12 into a volume. With a constant
 * reference shape the volume ratio is c = d S / (δ S₀) − 1, S being the measure of the closest features:
 *
 *   vertex – face interior   S = |u × v|   ∇_j log S = (v × N)/S, ∇_k = (N × u)/S, ∇_i = −(∇_j + ∇_k)
 *   edge – edge, interior    S = |u × v|   ∇_b = (v × N)/S, ∇_a = −∇_b, ∇_d = (N × u)/S, ∇_c = −∇_d
 *   vertex – edge interior   S = |u|       ∇_j = u/|u|², ∇_i = −∇_j
 *   vertex – vertex          S = 1
 *
 * The rows sum to zero over the vertices, so the constraint resists no translation.
 */
export function addVolumeTerm(pairs: TermPairs, p: number, x: Float32Array, jacobian: Float32Array, at: number): void {
  const w = pairs.weight;
  const v = pairs.vertex;
  const kind = pairs.kind[p];
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
    // A vertex against the interior of an edge, whatever the kind: the two slots of the same side are the edge.
    const [s, t] = used[1] < SIDE_A[kind] ? [used[0], used[1]] : [used[1], used[2]];
    const u = difference(s, t);
    const uu = dot(u, u);
    if (!(uu > 0)) return;
    const g = scale(u, 1 / uu);
    add(t, g, 1);
    add(s, g, -1);
    return;
  }
  const { plane } = PAIR_KINDS[kind];
  if (used.length !== 4 || !plane) return;
  const [a, b, c, e] = plane.slots;
  const u = difference(a, b);
  const v2 = difference(c, e);
  const n = cross(u, v2);
  const area = Math.sqrt(dot(n, n));
  if (!(area > plane.minArea(dot(u, u), dot(v2, v2)))) return;
  const unit = scale(n, 1 / area);
  const ofFirst = scale(cross(v2, unit), 1 / area);
  const ofSecond = scale(cross(unit, u), 1 / area);
  add(b, ofFirst, 1);
  add(a, ofFirst, -1);
  add(e, ofSecond, 1);
  add(c, ofSecond, -1);
}

type Vector = [number, number, number];
const dot = (a: Vector, b: Vector): number => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
const scale = (a: Vector, s: number): Vector => [a[0] * s, a[1] * s, a[2] * s];
const cross = (a: Vector, b: Vector): Vector => [
  a[1] * b[2] - a[2] * b[1],
  a[2] * b[0] - a[0] * b[2],
  a[0] * b[1] - a[1] * b[0],
];
