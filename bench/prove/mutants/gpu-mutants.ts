import { CONVOY_MUTANTS } from './convoy-mutants.js';
import type { Fault } from './fault.js';
import { CRAWLING, FLOOR, MEETING, type Mutant, PATH, STRIDING, TUNNEL } from './mutant.js';
import { PULL_BACK_KERNEL_MUTANTS } from './pull-back-mutants.js';
import { REST_KERNEL_MUTANTS } from './rest-mutants.js';
import { STRAIN_KERNEL_MUTANTS } from './strain-mutants.js';
import { UNTANGLE_DEVICE_MUTANTS } from './untangle-mutants.js';

/*
 * The same faults in the kernels. The engine tests its adapter before it accepts requests, and would refuse to start
 * with most of them. That it does so is tested elsewhere (test/gpu), so the test is disabled here.
 */

const MUTED_PROOF: Fault = {
  file: 'gpu/engine.js',
  function: 'findObjection',
  instead: () => Promise.resolve(undefined),
};

const noCheck: Fault = { file: 'gpu/kernels/forward/check.wgsl', function: 'holds', body: 'return true;' };

const mutant = (
  name: string,
  description: string,
  faults: readonly Fault[],
  scenes: readonly string[],
  caughtBy: readonly string[],
  how: Pick<Mutant, 'sent' | 'mode'> = {},
): Mutant => ({ name, description, faults: [...faults, MUTED_PROOF], scenes, caughtBy, engine: 'webgpu', ...how });

const openBoxes: readonly Fault[] = [
  { file: 'gpu/kernels/forward/commit-vertex.wgsl', function: 'leavesBox', body: 'return false;' },
  { file: 'gpu/kernels/common/box-share.wgsl', function: 'boxShare', body: 'return 1.0;' },
];

export const GPU_MUTANTS: readonly Mutant[] = [
  mutant(
    'kernel-no-bound-no-check',
    'pairs neither bound a step nor is it checked',
    [noCheck, { file: 'gpu/kernels/forward/bound.wgsl', function: 'keepBound', body: '' }],
    ['layers', 'sandInABag'],
    [MEETING, TUNNEL, FLOOR, PATH],
  ),
  mutant(
    'kernel-double-budget-no-check',
    'either side of a pair may use up far more than the gap',
    [
      noCheck,
      {
        file: 'gpu/kernels/forward/bound.wgsl',
        function: 'boundOf',
        body: 'let bound = original_boundOf(budget, approach); return select(min(1.0, 2.5 * bound), bound, bound == NO_BOUND);',
      },
    ],
    ['matryoshka', 'layers', 'soup'],
    [MEETING, TUNNEL, FLOOR, PATH],
  ),
  mutant(
    'kernel-dropped-pairs',
    'the search loses every third pair that it finds',
    [
      {
        file: 'gpu/kernels/search/walk-pairs.wgsl',
        function: 'sharesVertex',
        body: 'return (v.x + v.y + v.z) % 3u == 0u || original_sharesVertex(v);',
      },
    ],
    ['layers', 'sandInABag', 'soup'],
    [MEETING, TUNNEL, FLOOR, PATH],
  ),
  mutant(
    'kernel-low-floor',
    'steps are bounded and checked against a tenth of the floor',
    [
      {
        file: 'gpu/kernels/forward/bound.wgsl',
        function: 'roomOf',
        body: 'return max(0.0, gap - 0.1 * parameters.floor);',
      },
      {
        file: 'gpu/kernels/forward/bound.wgsl',
        function: 'reserveOf',
        body: 'return 0.5 * max(0.0, min(gap, 0.1 * parameters.floor) - 0.05 * parameters.floor);',
      },
    ],
    ['soup', 'layers', 'spike', 'matryoshka'],
    [FLOOR, MEETING],
  ),
  mutant(
    'kernel-boxes-not-kept',
    'vertices leave their trust boxes, so that pairs outside P can meet',
    openBoxes,
    ['soup', 'sandInABag', 'layers'],
    [MEETING, TUNNEL, FLOOR, PATH],
  ),
  mutant(
    'kernel-commit-ignores-check',
    'a step that its check sends back is taken all the same, and its bound is too long',
    [
      { file: 'gpu/kernels/forward/commit-vertex.wgsl', function: 'isReverted', body: 'return false;' },
      {
        file: 'gpu/kernels/forward/bound.wgsl',
        function: 'boundOf',
        body: 'let bound = original_boundOf(budget, approach); return select(min(1.0, 2.5 * bound), bound, bound == NO_BOUND);',
      },
    ],
    ['matryoshka', 'layers', 'soup'],
    [MEETING, TUNNEL, FLOOR, PATH],
  ),
  mutant(
    'kernel-forgotten-border',
    'the search excludes every pair of kinematic elements, also those that guard the cloth at their border',
    [{ file: 'gpu/kernels/search/element-boxes.wgsl', function: 'isAtBorder', body: 'return false;' }],
    ['heldBorders'],
    [MEETING, PATH],
  ),
  mutant(
    'kernel-no-growth',
    'hulls of trust boxes are not grown by half of δ, so that pairs outside P are disjoint and no more',
    [{ file: 'gpu/kernels/search/element-boxes.wgsl', function: 'growthOf', body: 'return 0.0;' }],
    ['closingGrains'],
    [FLOOR],
    { sent: { corner: 'ONE_SHORT_STEP' } },
  ),
  mutant(
    'kernel-touching-pairs-move',
    'pairs without a certificate do not stop their vertices',
    [
      {
        file: 'gpu/kernels/forward/bound.wgsl',
        function: 'freeze',
        body: 'bounds[n] = vec4f(NO_BOUND); limits[n] = Limit(-3.0e38, 3.0e38, 0.0, limits[n].entry);',
      },
    ],
    ['slivers'],
    [FLOOR, MEETING, PATH],
  ),
  mutant(
    'kernel-cut-pairs',
    'the search forgets what it finds beyond some number of pairs',
    [
      {
        file: 'gpu/kernels/search/plan.wgsl',
        search: 'addSaturating(control.capacity, 1u)), demand, fits);',
        replacement: 'addSaturating(control.capacity, 1u)), min(demand, 300u), fits);',
      },
      {
        file: 'gpu/kernels/search/plan.wgsl',
        search: 'control.pairCount = select(control.pairCount, demand, isTaken);',
        replacement: 'control.pairCount = select(control.pairCount, min(demand, 300u), isTaken);',
      },
    ],
    ['layers', 'matryoshka'],
    [MEETING, TUNNEL, FLOOR, PATH],
  ),
  mutant(
    'kernel-stale-proximity-set',
    'a session uses its proximity set again although vertices have left their boxes, and their boxes are not kept',
    [...openBoxes, { file: 'gpu/kernels/control/begin.wgsl', function: 'isInside', body: 'return true;' }],
    ['soup', 'layers'],
    [MEETING, TUNNEL, FLOOR, PATH],
    { mode: 'SESSION' },
  ),
  mutant(
    'kernel-no-check',
    'what a step has written is not read again; bounds are as they should be',
    [noCheck],
    ['slidingGrains'],
    [MEETING, PATH, FLOOR],
    { sent: CRAWLING },
  ),
  mutant(
    'kernel-no-error-bound',
    'heights over a plane count as exact: e = 0, in the certificate and in the check',
    [
      {
        file: 'gpu/kernels/common/heights.wgsl',
        function: 'errorOf',
        body: 'return 0.0;',
      },
    ],
    ['grainsOverSails'],
    [MEETING, PATH, FLOOR],
    { sent: STRIDING },
  ),
  mutant(
    'kernel-single-heights-over-plains',
    'heights over elements of hundreds of edges are those of float32, with the e of heights in integers',
    [
      {
        file: 'gpu/kernels/common/long-heights.wgsl',
        function: 'longHeightOf',
        body: 'return heightOf(n, at - o);',
      },
    ],
    ['vastGround'],
    [MEETING, PATH, FLOOR],
    { sent: STRIDING },
  ),
  mutant(
    'kernel-distance-for-gap',
    'the computed distance is believed in the place of the gap that a plane certifies',
    [{ file: 'gpu/kernels/common/heights.wgsl', function: 'gapOf', body: 'return distance;' }],
    ['longRods'],
    [MEETING, PATH, FLOOR],
    { sent: STRIDING },
  ),
  mutant(
    'kernel-forgotten-seams',
    'pairs of ignored parts are excluded also where they guard an element that spans parts',
    [{ file: 'gpu/kernels/search/pair-rules.wgsl', function: 'hasSeam', body: 'return false;' }],
    ['sewnParts'],
    [MEETING, PATH],
  ),
  mutant(
    'kernel-ignored-unasked',
    'the search of the list of ignored parts takes the next one for the one that it looks for',
    [
      {
        file: 'gpu/kernels/search/pair-rules.wgsl',
        search: 'if (listed == q) {',
        replacement: 'if (listed >= q) {',
      },
    ],
    ['sewnParts'],
    [MEETING, PATH, FLOOR],
  ),
  mutant(
    'kernel-passed-over-without-room',
    'a pair is passed over where its last normal parts it at both ends of its way, by however little',
    [{ file: 'gpu/kernels/forward/list-bounded-pairs.wgsl', function: 'isSkipped', body: 'return gap > 0.0;' }],
    ['closeCalls'],
    [FLOOR],
  ),
  mutant(
    'kernel-passed-over-unrounded',
    'a pair is passed over by δ alone, however coarse the numbers are where the step leads',
    [{ file: 'gpu/kernels/forward/list-bounded-pairs.wgsl', function: 'isSkipped', body: 'return gap > delta;' }],
    ['farFlights'],
    [MEETING, PATH],
    { sent: STRIDING },
  ),
  mutant(
    'kernel-passed-over-where-it-is',
    'a pair is passed over where its last normal parts it before the step, wherever it goes in it',
    [
      {
        file: 'gpu/kernels/forward/list-bounded-pairs.wgsl',
        function: 'motionOf',
        body: 'return vec2f(0.0, original_motionOf(v, n).y);',
      },
    ],
    ['layers'],
    [MEETING, PATH, TUNNEL, FLOOR],
  ),
  ...STRAIN_KERNEL_MUTANTS,
  ...PULL_BACK_KERNEL_MUTANTS,
  ...REST_KERNEL_MUTANTS,
  ...UNTANGLE_DEVICE_MUTANTS,
  ...CONVOY_MUTANTS,
];
