import { ERROR_FACTOR, LONG_SPREAD, UNDERFLOW_ERROR } from '../../src/solver/constants.js';
import { LONG_EXTENT_ERROR, LONG_ROUNDING } from '../kernels/constants.js';

/** Points of one pair: the first is the origin of its heights. */
export const PROOF_POINTS = 4;

/** Larger heights are not computed in integers, nor are those of a pair whose lo or hi is larger (kernels/common/long-heights.wgsl). */
export const LONG_HEIGHT = 100;
export const LONG_GAP = 72;

/** e of heights that are computed in float32. @param spread Σ_c |n_c d_c| */
export const coarseErrorOf = (spread: number): number => ERROR_FACTOR * spread + UNDERFLOW_ERROR;

/**
 * e of heights as kernels compute them: in integers where float32 would be too coarse (docs/method.md, S1).
 *
 * @param spread Σ_c |n_c d_c|, the largest @param extent Σ_c |d_c|, the largest @param height |h| of one corner
 * @param most heights from which on they are those of float32
 */
export function heightErrorOf(spread: number, extent: number, height: number, most = LONG_HEIGHT): number {
  const coarse = coarseErrorOf(spread);
  if (!(coarse > ERROR_FACTOR * LONG_SPREAD) || height >= most) return coarse;
  return LONG_ROUNDING + LONG_EXTENT_ERROR * extent + 2 * ERROR_FACTOR * height;
}

/** The same of a pair. @param height max(|lo|, |hi|) */
export const pairErrorOf = (spread: number, extent: number, height: number): number =>
  heightErrorOf(spread, extent, height, LONG_GAP);

export interface ProofCases {
  readonly pairs: number;
  /** float32[12·pairs] */
  readonly points: Float32Array;
  /** float32[3·pairs] unit vectors to float32 accuracy */
  readonly normals: Float32Array;
  labelOf(pair: number): string;
}

type Vector = readonly [number, number, number];

/** How far a mesh may stretch relative to its smallest feature before certified gaps become useless anyway. */
const EXTENT_TO_FEATURE = 1e4;
const PAIRS_PER_FAMILY = 1024;

const scaleTo = (v: Vector, length: number): Vector => {
  const factor = length / Math.hypot(...v);
  return [v[0] * factor, v[1] * factor, v[2] * factor];
};

const add = (a: Vector, b: Vector): Vector => [a[0] + b[0], a[1] + b[1], a[2] + b[2]];

const cross = (a: Vector, b: Vector): Vector => [
  a[1] * b[2] - a[2] * b[1],
  a[2] * b[0] - a[0] * b[2],
  a[0] * b[1] - a[1] * b[0],
];

/** One family of cases: a normal and four points. */
interface Family {
  readonly label: string;
  make(direction: () => Vector, random: () => number): { readonly normal: Vector; readonly points: readonly Vector[] };
}

const ORIGIN: Vector = [0, 0, 0];
const FEATURE = 1 / EXTENT_TO_FEATURE;

const FAMILIES: readonly Family[] = [
  {
    label: 'random',
    make: (direction, random) => ({
      normal: direction(),
      points: [0, 1, 2, 3].map(() => scaleTo(direction(), random())),
    }),
  },
  {
    // The common part of the points must cancel before it is multiplied.
    label: 'small features far from the origin',
    make: (direction) => {
      const centre = scaleTo(direction(), 1);
      return { normal: direction(), points: [0, 1, 2, 3].map(() => add(centre, scaleTo(direction(), FEATURE))) };
    },
  },
  {
    // Large terms of opposite sign: the heights consist only of rounding, and may not exceed e.
    label: 'long edges in the plane',
    make: (direction, random) => {
      const normal = direction();
      const inPlane = () => scaleTo(cross(normal, direction()), 0.5 + random());
      return { normal, points: [ORIGIN, inPlane(), inPlane(), add(inPlane(), scaleTo(normal, FEATURE))] };
    },
  },
  {
    // A point at the distance of a feature from a triangle with edges as long as the extent, moved away from the
    // origin.
    label: 'a close point over a long triangle',
    make: (direction, random) => {
      const normal = direction();
      const base = scaleTo(direction(), 1);
      const corner = () => add(base, scaleTo(cross(normal, direction()), 0.1 + random()));
      return { normal, points: [add(base, scaleTo(normal, FEATURE)), corner(), corner(), corner()] };
    },
  },
  {
    // Engine units: a ground plane of tens of thousands of edges, whose heights are computed in integers.
    label: 'a close point over a plane of tens of thousands of edges',
    make: (direction, random) => {
      const normal = direction();
      const size = 1000 * 60 ** random();
      const base = scaleTo(direction(), 30 * random());
      const corner = () => add(base, scaleTo(cross(normal, direction()), size * (0.2 + random())));
      const beside = add(base, scaleTo(direction(), random()));
      return { normal, points: [add(beside, scaleTo(normal, 0.1 * random())), corner(), corner(), corner()] };
    },
  },
  {
    // Like an edge of such a plane: its far end is the origin of the heights.
    label: 'a close edge beside an edge of tens of thousands of edges',
    make: (direction, random) => {
      const normal = direction();
      const along = scaleTo(cross(normal, direction()), 1);
      const size = 1000 * 60 ** random();
      const near = () => add(scaleTo(along, 3 * random()), scaleTo(normal, -0.2 * random()));
      return { normal, points: [scaleTo(along, -size), scaleTo(along, size * random()), near(), near()] };
    },
  },
  {
    label: 'equal points and axis-aligned normals',
    make: (direction, random) => {
      const point = scaleTo(direction(), 1);
      const axis = Math.floor(3 * random());
      const normal: Vector = [axis === 0 ? 1 : 0, axis === 1 ? -1 : 0, axis === 2 ? 1 : 0];
      return { normal, points: [point, point, scaleTo(direction(), FEATURE), scaleTo(direction(), 1)] };
    },
  },
];

/**
 * Returns the cases of the proof of heights, the same on every call; another seed gives other cases of the same kinds.
 *
 * @param perFamily number of cases of each kind
 */
export function makeProofCases(seed = 0x1f123bb5, perFamily = PAIRS_PER_FAMILY): ProofCases {
  const random = makeProofRandom(seed);
  const direction = (): Vector => {
    for (;;) {
      const v: Vector = [2 * random() - 1, 2 * random() - 1, 2 * random() - 1];
      const length = Math.hypot(...v);
      if (length > 0.1 && length <= 1) return scaleTo(v, 1);
    }
  };
  const pairs = FAMILIES.length * perFamily;
  const points = new Float32Array(3 * PROOF_POINTS * pairs);
  const normals = new Float32Array(3 * pairs);
  for (let pair = 0; pair < pairs; pair++) {
    const made = FAMILIES[Math.floor(pair / perFamily)].make(direction, random);
    points.set(made.points.flat(), 3 * PROOF_POINTS * pair);
    normals.set(made.normal, 3 * pair);
  }
  return { pairs, points, normals, labelOf: (pair) => FAMILIES[Math.floor(pair / perFamily)].label };
}

/** Mulberry32 with a fixed seed, so that every adapter gets the same cases. */
export function makeProofRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let z = Math.imul(state ^ (state >>> 15), state | 1);
    z ^= z + Math.imul(z ^ (z >>> 7), z | 61);
    return ((z ^ (z >>> 14)) >>> 0) / 2 ** 32;
  };
}
