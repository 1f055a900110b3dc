import type { Positions } from '../../../src/contract/mesh.js';
import type { Differences } from '../../../src/jobs/differences.js';
import type { CollisionMesh } from '../../../src/mesh/types.js';
import type { StateToMap } from '../../../src/solver/frame.js';
import { CONTRACT_MUTANTS } from './contract-mutants.js';
import { FLIGHT_MUTANTS } from './flight-mutants.js';
import { IMPULSE_MUTANTS } from './impulse-mutants.js';
import { INTAKE_MUTANTS } from './intake-mutants.js';
import { BOUND, FLOOR, MEETING, type Mutant, noBound, noCheck, PATH, TUNNEL } from './mutant.js';
import { PULL_BACK_MUTANTS } from './pull-back-mutants.js';
import { REST_MUTANTS } from './rest-mutants.js';
import { RIGID_MUTANTS } from './rigid-mutants.js';
import { STRAIN_MUTANTS } from './strain-mutants.js';
import { SUBTLE_MUTANTS } from './subtle-mutants.js';
import { UNTANGLE_MUTANTS } from './untangle-mutants.js';
import { VERIFIER_MUTANTS } from './verifier-mutants.js';

const WALK = 'src/solver/cpu/walk.js';
const PROXIMITY = 'src/solver/cpu/proximity.js';
const PAIR_BUDGET = 'src/solver/pair-budget.js';
const BOXES = 'src/solver/cpu/boxes.js';
const FRAME = 'src/solver/frame.js';
const DIFFERENCES = 'src/jobs/differences.js';
const OVERLONG = 'src/jobs/overlong-edges.js';
const REPORT = 'src/jobs/report.js';

/** Offers a pair to a walk of the search. */
type Offer = (walk: unknown, kind: number, ...vertices: number[]) => void;

export const MUTANTS: readonly Mutant[] = [
  {
    name: 'no-bound-no-check',
    description: 'pairs neither bound a step nor is it checked',
    faults: [noBound, ...noCheck],
    scenes: ['layers', 'sandInABag'],
    caughtBy: [MEETING, TUNNEL, PATH],
  },
  {
    name: 'double-budget-no-check',
    description: 'either side of a pair may use up the whole gap',
    faults: [
      {
        file: BOUND,
        function: 'budgetOf',
        instead: (_: unknown, _gamma: number, _share: number, room: number) => Math.fround(2.5 * room),
      },
      ...noCheck,
    ],
    scenes: ['layers', 'matryoshka', 'soup'],
    caughtBy: [MEETING, TUNNEL, FLOOR, PATH],
  },
  {
    name: 'dropped-pairs',
    description: 'the search loses every third pair that it finds',
    faults: [
      {
        file: WALK,
        function: 'keep',
        instead: (
          original: (walk: unknown, ...pair: number[]) => void,
          walk: unknown,
          v0: number,
          v1: number,
          v2: number,
          ...rest: number[]
        ) => {
          if ((v0 + v1 + v2) % 3 !== 0) original(walk, v0, v1, v2, ...rest);
        },
      },
    ],
    scenes: ['layers', 'sandInABag', 'soup'],
    caughtBy: [MEETING, TUNNEL, FLOOR, PATH],
  },
  {
    name: 'no-vertex-triangle-pairs',
    description: 'the search drops vertex-triangle pairs',
    faults: [
      {
        file: WALK,
        function: 'offer',
        // kind 0 is VT
        instead: (original: Offer, walk: unknown, kind: number, ...vertices: number[]) => {
          if (kind !== 0) original(walk, kind, ...vertices);
        },
      },
    ],
    scenes: ['sandInABag', 'layers'],
    caughtBy: [MEETING, TUNNEL, FLOOR, PATH],
  },
  {
    name: 'no-edge-edge-pairs',
    description: 'the search drops edge-edge pairs',
    faults: [
      {
        file: WALK,
        function: 'offer',
        // kind 1 is EE
        instead: (original: Offer, walk: unknown, kind: number, ...vertices: number[]) => {
          if (kind !== 1) original(walk, kind, ...vertices);
        },
      },
    ],
    scenes: ['chain', 'layers', 'hair'],
    caughtBy: [MEETING, TUNNEL, FLOOR, PATH],
  },
  {
    name: 'boxes-not-kept',
    description: 'vertices leave their trust boxes, so that pairs outside P can meet',
    faults: [
      { file: BOXES, function: 'boxBound', instead: () => 1 },
      { file: BOXES, function: 'isInBox', instead: () => true },
    ],
    scenes: ['soup', 'sandInABag', 'layers'],
    caughtBy: [MEETING, TUNNEL, FLOOR, PATH],
  },
  {
    name: 'no-floor',
    description: 'the floor is a billionth of what it should be',
    faults: [
      {
        file: FRAME,
        function: 'floorOf',
        instead: (original: (...of: unknown[]) => number, ...of: unknown[]) => 1e-9 * original(...of),
      },
    ],
    scenes: ['soup', 'layers', 'spike', 'matryoshka'],
    caughtBy: [FLOOR, MEETING],
  },
  {
    name: 'low-floor',
    description: 'the floor is a third of what it should be',
    faults: [
      {
        file: FRAME,
        function: 'floorOf',
        instead: (original: (...of: unknown[]) => number, ...of: unknown[]) => 0.3 * original(...of),
      },
    ],
    scenes: ['soup', 'layers', 'spike', 'matryoshka'],
    caughtBy: [FLOOR, MEETING],
  },
  {
    name: 'coarse-answer',
    description: 'answers in float64 are rounded to float32',
    faults: [
      {
        file: FRAME,
        function: 'CoordinateFrame.toCaller',
        instead: (original: (state: StateToMap) => Positions, state: StateToMap) => {
          const { start, target } = state;
          return original(state).map((p, i) => (p === start[i] || p === target[i] ? p : Math.fround(p)));
        },
      },
    ],
    scenes: ['layers', 'spike', 'matryoshka'],
    caughtBy: [MEETING, FLOOR, TUNNEL],
    sent: { offset: 1e4 },
  },
  ...VERIFIER_MUTANTS,
  {
    name: 'caught-engine',
    description: 'the engine is wrong and the service falls back, which is safe and still a fault',
    faults: [noBound, ...noCheck],
    scenes: ['sandInABag', 'layers'],
    caughtBy: ['the engine was never caught'],
    isVerified: true,
  },
  {
    name: 'wrong-rms',
    description: 'the report divides by one vertex too many',
    faults: [
      {
        file: DIFFERENCES,
        function: 'compareToTarget',
        instead: (original: (...of: unknown[]) => Differences, mesh: CollisionMesh, ...of: unknown[]) => {
          const differences = original(mesh, ...of);
          return { ...differences, rms: differences.rms * Math.sqrt(mesh.vertexCount / (mesh.vertexCount + 1)) };
        },
      },
    ],
    scenes: ['layers'],
    caughtBy: ['report: distanceToTargetRms'],
    isVerified: true,
  },
  {
    name: 'wrong-stretch',
    description: 'the report measures the stretch of every other edge only',
    faults: [
      ...['largestRatioOfAll', 'largestRatio'].map((name) => ({
        file: DIFFERENCES,
        function: name,
        instead: (original: (...of: unknown[]) => number, edges: Uint32Array, ...of: unknown[]) =>
          original(
            edges.filter((_, n) => n % 4 < 2),
            ...of,
          ),
      })),
    ],
    scenes: ['soup', 'layers', 'hair'],
    caughtBy: ['report: maxStretch'],
    isVerified: true,
  },
  {
    name: 'forgotten-edges',
    description: 'the report counts no edge over its limit',
    faults: [
      { file: OVERLONG, function: 'findOverlongEdges', instead: () => ({ count: 0, worst: undefined, worstIndex: 0 }) },
    ],
    scenes: ['soup', 'layers', 'hair'],
    caughtBy: ['report: overlongEdges'],
    isVerified: true,
  },
  {
    name: 'early-convergence',
    description: 'the status is CONVERGED although vertices are unfinished',
    faults: [{ file: REPORT, function: 'statusOf', instead: () => 'CONVERGED' }],
    scenes: ['matryoshka', 'twistedTube', 'chain'],
    caughtBy: ['report: CONVERGED'],
    isVerified: true,
  },
  {
    name: 'forgotten-kinematic',
    description: 'unreached kinematic vertices are not counted',
    faults: [
      {
        file: REPORT,
        function: 'buildReport',
        instead: (original: (...of: unknown[]) => { report: object }, ...of: unknown[]) => {
          const built = original(...of);
          return { ...built, report: { ...built.report, unreachedKinematic: 0 } };
        },
      },
    ],
    scenes: ['pinch'],
    caughtBy: ['report: unreachedKinematic'],
    isVerified: true,
  },
  {
    name: 'coarse-tolerance-accepted',
    description: 'requests are accepted although their scalar cannot hold the tolerance',
    faults: [{ file: FRAME, function: 'isTooCoarse', instead: () => false }],
    scenes: ['layers'],
    caughtBy: ['TOLERANCE_TOO_SMALL where the scalar is too coarse', 'a right request is answered', MEETING],
    isVerified: true,
    sent: { scalar: 'FLOAT32', offset: 1e4 },
  },
  {
    name: 'stale-proximity-set',
    description:
      'a session uses its proximity set again although vertices have left their boxes, and their boxes are not kept',
    faults: [
      { file: BOXES, function: 'boxBound', instead: () => 1 },
      { file: BOXES, function: 'isInBox', instead: () => true },
    ],
    scenes: ['soup', 'layers'],
    caughtBy: [MEETING, TUNNEL, FLOOR, PATH],
    mode: 'SESSION',
  },
  {
    name: 'grains-pass-grains',
    description: 'grains are not kept from each other',
    faults: [
      {
        file: WALK,
        function: 'offer',
        // kind 3 is VV
        instead: (original: Offer, walk: unknown, kind: number, ...vertices: number[]) => {
          if (kind !== 3) original(walk, kind, ...vertices);
        },
      },
    ],
    scenes: ['gatheringGrains'],
    caughtBy: [FLOOR, PATH, MEETING],
  },
  {
    name: 'forgotten-border',
    description:
      'the search excludes every pair of kinematic elements, also those that guard the cloth at their border',
    faults: [{ file: 'src/solver/exclusion-rules.js', function: 'findKinematicBorder', instead: () => undefined }],
    scenes: ['heldBorders'],
    caughtBy: [MEETING, PATH],
  },
  {
    name: 'no-growth',
    description: 'hulls of trust boxes are not grown by half of δ, so that pairs outside P are disjoint and no more',
    faults: [
      {
        file: BOXES,
        function: 'fillTrustBoxes',
        instead: (original: (...of: unknown[]) => void, boxes: { growth: number }, ...of: unknown[]) => {
          original(boxes, ...of);
          boxes.growth = 0;
        },
      },
    ],
    scenes: ['closingGrains'],
    caughtBy: [FLOOR],
    sent: { corner: 'ONE_SHORT_STEP' },
  },
  {
    name: 'touching-pairs-move',
    description: 'pairs without a certificate do not stop their vertices',
    faults: [{ file: BOUND, function: 'freeze', instead: () => undefined }],
    scenes: ['slivers'],
    caughtBy: [FLOOR, MEETING, PATH],
  },
  {
    name: 'cut-pairs',
    description: 'a search that exceeds its budget leaves P incomplete',
    faults: [
      { file: PAIR_BUDGET, constant: 'MIN_COMFORTABLE_PAIRS', value: '1 << 6' },
      { file: PAIR_BUDGET, constant: 'PAIRS_PER_VERTEX', value: '1' },
      {
        file: PROXIMITY,
        function: 'Proximity.#attempt',
        instead: (original: (...of: unknown[]) => boolean, ...of: unknown[]) => {
          original(...of);
          return true;
        },
      },
    ],
    scenes: ['layers', 'matryoshka'],
    caughtBy: [MEETING, TUNNEL, FLOOR, PATH],
  },
  {
    name: 'unseen-rounding',
    description: 'the start is not tested after rounding to float32',
    faults: [{ file: 'src/jobs/start-check.js', function: 'checkEngineRounding', instead: () => undefined }],
    scenes: ['hairsBreadth'],
    caughtBy: [MEETING, PATH, FLOOR],
  },
  ...SUBTLE_MUTANTS,
  ...FLIGHT_MUTANTS,
  ...RIGID_MUTANTS,
  ...IMPULSE_MUTANTS,
  ...CONTRACT_MUTANTS,
  ...PULL_BACK_MUTANTS,
  ...INTAKE_MUTANTS,
  ...STRAIN_MUTANTS,
  ...REST_MUTANTS,
  ...UNTANGLE_MUTANTS,
];
