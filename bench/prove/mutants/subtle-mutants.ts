import type { PairSet } from '../../../src/solver/cpu/pair-set.js';
import {
  BOUND,
  CRAWLING,
  FLOOR,
  MEETING,
  type Mutant,
  noCheck,
  notGuardedAgain,
  PATH,
  STRIDING,
  TUNNEL,
} from './mutant.js';

const CERTIFICATE = 'src/solver/cpu/certificate.js';

const PAIR_SET = 'src/solver/cpu/pair-set.js';

/** Faults that the margins of other rules hide in nearly every scene, and faults of options that few requests use. */
export const SUBTLE_MUTANTS: readonly Mutant[] = [
  {
    name: 'unseen-narrowing',
    description: 'the start is not tested after rounding to the narrower scalar of the answer',
    faults: [{ file: 'src/jobs/start-check.js', function: 'checkNarrowing', instead: () => undefined }],
    scenes: ['neighbours'],
    caughtBy: [MEETING, PATH, FLOOR],
    sent: { isNarrowed: true, offset: 130 },
  },
  {
    name: 'no-check',
    description: 'the positions that a step has written are not checked; its bounds are correct',
    faults: [...noCheck],
    scenes: ['slidingGrains'],
    caughtBy: [MEETING, PATH, FLOOR],
    sent: CRAWLING,
  },
  {
    name: 'no-error-bound',
    description: 'heights over a plane count as exact: e = 0 in the certificate and in the check',
    faults: [{ file: CERTIFICATE, function: 'heightError', instead: () => 0 }],
    scenes: ['grainsOverSails'],
    caughtBy: [MEETING, PATH, FLOOR],
    sent: STRIDING,
  },
  {
    name: 'single-heights-over-plains',
    description: 'heights over elements of hundreds of edges are computed in float32, with the e of heights in double',
    faults: [
      {
        file: CERTIFICATE,
        function: 'heightInDouble',
        instead: (
          _: unknown,
          x: Float32Array,
          k: number,
          from: Float32Array,
          o: number,
          ...n: readonly [number, number, number]
        ) => {
          const f = Math.fround;
          const term = (c: 0 | 1 | 2) => f(n[c] * f(x[k + c] - from[o + c]));
          return f(f(term(0) + term(1)) + term(2));
        },
      },
    ],
    scenes: ['vastGround'],
    caughtBy: [MEETING, PATH, FLOOR],
    sent: STRIDING,
  },
  {
    name: 'forgotten-rounding-at-rest',
    description: 'vertices at rest count as if float32 did not round them',
    faults: [{ file: 'src/solver/resting.js', function: 'largestRounding', instead: () => 0 }],
    scenes: ['vastGround'],
    caughtBy: [MEETING, PATH, FLOOR],
    sent: { corner: 'STRIDE' },
  },
  {
    name: 'distance-for-gap',
    description:
      'the computed distance replaces the gap that a plane certifies, and the only direction that is tried is two thousandths off, as one in float32 may be',
    faults: [
      {
        file: CERTIFICATE,
        function: 'measurePair',
        instead: (original: (...of: unknown[]) => void, pairs: PairSet, p: number, ...of: unknown[]) => {
          original(pairs, p, ...of);
          pairs.gap[p] = pairs.distance[p];
        },
      },
      {
        file: CERTIFICATE,
        function: 'closestDirection',
        instead: (original: (out: Float32Array, distance: number) => void, out: Float32Array, distance: number) => {
          original(out, distance);
          out[0] = out[0]! + 2e-3;
          out[1] = out[1]! - 2e-3;
        },
      },
      // No normal remains from the search.
      {
        file: 'src/solver/cpu/walk.js',
        function: 'keepNormal',
        instead: (_: unknown, normals: Float32Array, p: number) => {
          normals.fill(0, 3 * p, 3 * p + 3);
        },
      },
    ],
    scenes: ['longRods'],
    caughtBy: [MEETING, PATH, FLOOR],
    sent: STRIDING,
  },
  {
    name: 'passed-over-without-room',
    description: 'a pair is skipped where its last normal separates it at both ends of its motion, by however little',
    faults: [{ file: BOUND, function: 'marginToSkip', instead: () => 0 }],
    scenes: ['closeCalls'],
    caughtBy: [FLOOR],
  },
  {
    name: 'passed-over-where-it-is',
    description: 'a pair is skipped where its last normal separates it before the step, wherever it moves in it',
    faults: [{ file: BOUND, function: 'heightAfter', instead: (_: unknown, from: number) => from }],
    scenes: ['layers'],
    caughtBy: [MEETING, PATH, TUNNEL, FLOOR],
  },
  {
    name: 'passed-over-unrounded',
    description: 'a pair is skipped by δ alone, however coarse the numbers are where the step leads',
    faults: [{ file: BOUND, function: 'marginToSkip', instead: (_: unknown, delta: number) => delta }],
    scenes: ['farFlights'],
    caughtBy: [MEETING, PATH],
    sent: STRIDING,
  },
  {
    name: 'pairs-of-old-lists',
    description: 'where little moves pairs are gathered from lists of an earlier P',
    faults: [
      {
        file: 'src/solver/cpu/active-pairs.js',
        function: 'ActivePairs.#incidence',
        instead: (
          original: (pairs: PairSet, vertexCount: number) => Uint32Array,
          pairs: PairSet,
          vertexCount: number,
        ) => original(Object.create(pairs, { revision: { value: 1 } }), vertexCount),
      },
      // Otherwise lists are made for a P that serves many steps, which scenes of pebbles seldom have.
      { file: 'src/solver/cpu/active-pairs.js', function: 'ActivePairs.#isIncidenceWorth', instead: () => true },
    ],
    scenes: ['pebbles'],
    caughtBy: [MEETING, PATH, FLOOR],
  },
  {
    name: 'lists-of-another-session',
    description:
      'where little moves pairs are gathered from lists of the P that another session of the same thread has',
    faults: [
      { file: PAIR_SET, constant: 'PairSet.revision', value: '1' },
      {
        file: PAIR_SET,
        function: 'PairSet.clear',
        instead: function (this: PairSet, original: () => void) {
          const { revision } = this;
          original();
          this.revision = revision + 1;
        },
      },
    ],
    scenes: ['pebbles'],
    caughtBy: [MEETING, PATH, FLOOR],
    mode: 'TURNS',
  },
  {
    name: 'excluded-for-ever',
    description: 'a pair that was excluded because it intersected is never guarded again',
    faults: [notGuardedAgain],
    scenes: ['tangle'],
    caughtBy: ['report: ignoredPairCount', MEETING, PATH],
    mode: 'WHOLE_SESSION',
    isVerified: true,
    sent: { isIgnoring: true },
  },
  {
    name: 'excluded-too-much',
    description: 'every pair of a vertex and a triangle that both belong to some intersection is excluded',
    faults: [
      {
        file: 'src/mesh/excluded-pairs.js',
        function: 'ExcludedPairs.hasVertexTriangle',
        instead: function (this: { areRelevant(...vertices: number[]): boolean }, _: unknown, ...vertices: number[]) {
          return this.areRelevant(...vertices);
        },
      },
    ],
    scenes: ['tangle'],
    caughtBy: [MEETING, PATH],
    mode: 'WHOLE_SESSION',
    sent: { isIgnoring: true },
  },
];
