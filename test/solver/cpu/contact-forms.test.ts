import t from 'tap';
import { measurePair } from '../../../src/solver/cpu/certificate.js';
import { addVolumeTerm } from '../../../src/solver/cpu/contact-forms.js';
import type { PairSet } from '../../../src/solver/cpu/pair-set.js';
import { CORNERS, EE, SIDE_A, VE, VT } from '../../../src/solver/pair-kinds.js';
import { KIND_NAMES, KINDS, lonePair, placePair } from '../../support/pair-shapes.js';
import { seeded } from '../../support/random.js';

const random = seeded();
t.comment(`seed ${random.seed}`);

type Vector = readonly number[];
const minus = (p: Vector, q: Vector): Vector => p.map((value, c) => value - q[c]);
const dot = (p: Vector, q: Vector): number => p[0] * q[0] + p[1] * q[1] + p[2] * q[2];
const size = (p: Vector): number => Math.hypot(p[0], p[1], p[2]);
const cross = (p: Vector, q: Vector): Vector => [
  p[1] * q[2] - p[2] * q[1],
  p[2] * q[0] - p[0] * q[2],
  p[0] * q[1] - p[1] * q[0],
];

/**
 * Distance of the closest features, taken as unbounded (line, plane), and their measure S; what Eqs. 10–12 multiply.
 * Written down from the geometry alone: `used` are the slots with weight.
 */
function measure(points: readonly Vector[], kind: number, used: readonly number[]): { d: number; s: number } {
  const [p, q, r, w] = used.map((slot) => points[slot]);
  if (used.length === 2) return { d: size(minus(p, q)), s: 1 };
  if (used.length === 3) {
    // The slots of one side form the edge.
    const onA = used.filter((slot) => slot < SIDE_A[kind]).length;
    const [point, from, to] = onA === 2 ? [r, p, q] : [p, q, r];
    const along = minus(to, from);
    return { d: size(cross(minus(point, from), along)) / size(along), s: size(along) };
  }
  const n = kind === VT ? cross(minus(r, q), minus(w, q)) : cross(minus(q, p), minus(w, r));
  const between = kind === VT ? minus(p, q) : minus(p, r);
  return { d: Math.abs(dot(n, between)) / size(n), s: size(n) };
}

interface Placed {
  readonly pairs: PairSet;
  readonly x: Float32Array;
  readonly used: readonly number[];
}

function place(kind: number): Placed {
  const x = placePair(random, kind, 'general');
  const pairs = lonePair(kind);
  measurePair(pairs, 0, x, 0);
  const used = [0, 1, 2, 3].filter((s) => s < CORNERS[kind] && pairs.weight[s] > 0);
  return { pairs, x, used };
}

/** The whole Jacobian: s_k w_k n + d ∇_k log S, with the normal and distance of the pair in double. */
function jacobianOf({ pairs, x }: Placed, kind: number): Float64Array {
  const whole = new Float32Array(12);
  for (let s = 0; s < CORNERS[kind]; s++) {
    for (let c = 0; c < 3; c++) whole[3 * s + c] = (s < SIDE_A[kind] ? 1 : -1) * pairs.weight[s] * pairs.normal[c];
  }
  addVolumeTerm(pairs, 0, x, whole, 0);
  return Float64Array.from(whole);
}

/** All sines and areas well over the limits below which the gap form takes over. */
function isWellShaped({ x, used }: Placed, kind: number): boolean {
  const points = [0, 1, 2, 3].map((v) => [...x.subarray(3 * v, 3 * v + 3)]);
  if (used.length < 4) return true;
  const [u, v] =
    kind === VT
      ? [minus(points[2], points[1]), minus(points[3], points[1])]
      : [minus(points[1], points[0]), minus(points[3], points[2])];
  return size(cross(u, v)) > 0.25 * size(u) * size(v);
}

for (const kind of KINDS) {
  t.test(`${KIND_NAMES[kind]}: the Jacobian is the derivative of d·S/S₀, in every feature case`, async (t) => {
    const cases = new Map<string, number>();
    let worst = 0;
    for (let n = 0; n < 1500; n++) {
      const placed = place(kind);
      const { x, used, pairs } = placed;
      if (!isWellShaped(placed, kind)) continue;
      if (pairs.distance[0] < 0.05) continue;
      const points = [0, 1, 2, 3].map((v) => [...x.subarray(3 * v, 3 * v + 3)]);
      const reference = measure(points, kind, used).s;
      const jacobian = jacobianOf(placed, kind);
      const step = 1e-5;
      let scale = 1;
      for (const value of jacobian) scale = Math.max(scale, Math.abs(value));
      for (let s = 0; s < CORNERS[kind]; s++) {
        for (let c = 0; c < 3; c++) {
          const value = (offset: number): number => {
            const moved = points.map((point, v) =>
              v === s ? point.map((at, k) => at + (k === c ? offset : 0)) : point,
            );
            const { d, s: area } = measure(moved, kind, used);
            return (d * area) / reference;
          };
          const derivative = (value(step) - value(-step)) / (2 * step);
          worst = Math.max(worst, Math.abs(derivative - jacobian[3 * s + c]) / scale);
        }
      }
      const name = used.map((s) => (s < SIDE_A[kind] ? 'a' : 'b')).join('');
      cases.set(name, (cases.get(name) ?? 0) + 1);
    }
    t.ok(worst < 1e-3, `largest deviation ${worst}`);
    const all = [['abbb', 'abb', 'ab'], ['aabb', 'aab', 'abb', 'ab'], ['abb', 'ab'], ['ab']][kind];
    t.strictSame([...cases.keys()].sort(), all.sort(), 'every case was met');
    t.ok(
      [...cases.values()].every((count) => count > 5),
      [...cases].join(' '),
    );
  });

  t.test(`${KIND_NAMES[kind]}: the additional terms sum to zero, and vertices without weight get none`, async (t) => {
    for (let n = 0; n < 200; n++) {
      const { pairs, x, used } = place(kind);
      const term = new Float32Array(24);
      addVolumeTerm(pairs, 0, x, term, 12);
      const largest = term.reduce((most, value) => Math.max(most, Math.abs(value)), 1);
      for (let c = 0; c < 3; c++) {
        const sum = [0, 1, 2, 3].reduce((total, s) => total + term[12 + 3 * s + c], 0);
        if (Math.abs(sum) > 1e-6 * largest) t.fail(`a translation would change the volume by ${sum}`);
      }
      for (let s = 0; s < 4; s++) {
        if (!used.includes(s) && term.subarray(12 + 3 * s, 15 + 3 * s).some((value) => value !== 0))
          t.fail(`slot ${s}`);
      }
      if (term.subarray(0, 12).some((value) => value !== 0)) t.fail('another row was written');
    }
    t.pass('200 pairs');
  });
}

t.test('nearly parallel edges, slivers and edges without length get no volume term', async (t) => {
  const termOf = (kind: number, points: readonly number[]): Float32Array => {
    const x = Float32Array.from(points);
    const pairs = lonePair(kind);
    measurePair(pairs, 0, x, 0);
    const term = new Float32Array(12);
    addVolumeTerm(pairs, 0, x, term, 0);
    return term;
  };
  const isNone = (term: Float32Array): boolean => term.every((value) => value === 0);
  const crossed = (slope: number): Float32Array => termOf(EE, [-1, 0, 0.1, 1, 0, 0.1, -1, -slope, 0, 1, slope, 0]);
  t.ok(isNone(crossed(0.1)), 'a sine of 0.1');
  t.notOk(isNone(crossed(0.3)), 'a sine of 0.3');
  // One edge short, the other long, a right angle between them: no needle to the eye of the sine, but hardly any area.
  const sliver = (width: number): Float32Array => termOf(VT, [width / 3, 0.3, 0.1, 0, 0, 0, width, 0, 0, 0, 1, 0]);
  t.ok(isNone(sliver(2 ** -21)));
  t.notOk(isNone(sliver(1e-3)));
  const short = lonePair(VE);
  const x = Float32Array.of(0, 0, 1, 0, 0, 0, 0, 0, 0);
  measurePair(short, 0, x, 0);
  short.weight.set([1, 0.5, 0.5]);
  const term = new Float32Array(12);
  addVolumeTerm(short, 0, x, term, 0);
  t.ok(isNone(term), 'an edge without length, weights on both ends');
});
