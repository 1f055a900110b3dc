import type { Fault } from './fault.js';
import { CRAWLING, FLOOR, MEETING, type Mutant, PATH, STRIDING, TUNNEL } from './mutant.js';

/*
 * The same faults in the kernels. The engine tries its adapter before it takes requests, and would refuse to start with
 * most of them; that it would is tested elsewhere (test/gpu), so it is made to look away here.
 */

const MUTED_PROOF: Fault = {
  file: 'gpu/engine.js',
  function: 'findObjection',
  instead: () => Promise.resolve(undefined),
};

const noCheck: Fault = {
  file: 'gpu/kernels/forward/check.wgsl',
  search: 'if (!holds) {',
  replacement: 'if (!holds && false) {',
};

const mutant = (
  name: string,
  description: string,
  faults: readonly Fault[],
  scenes: readonly string[],
  caughtBy: readonly string[],
  how: Pick<Mutant, 'sent' | 'mode'> = {},
): Mutant => ({ name, description, faults: [...faults, MUTED_PROOF], scenes, caughtBy, engine: 'webgpu', ...how });

const openBoxes: readonly Fault[] = [
  {
    file: 'gpu/kernels/forward/commit.wgsl',
    search: '(parameters.hasBoxes == 1u && !isInBox(i, written))',
    replacement: '(parameters.hasBoxes == 2u && !isInBox(i, written))',
  },
  {
    file: 'gpu/kernels/forward/guard.wgsl',
    search: 'let q = 6u * i;',
    replacement: 'let q = 6u * i;\n      motion[i].guard = box[q];',
  },
  {
    file: 'gpu/kernels/forward/guard.wgsl',
    search: 'alpha = min(alpha, boxShare(here[c], to[c], box[q + c], box[q + c + 3u]));',
    replacement: 'alpha = 1.0;',
  },
];

export const GPU_MUTANTS: readonly Mutant[] = [
  mutant(
    'kernel-no-bound-no-check',
    'pairs neither bound a step nor is it checked',
    [
      noCheck,
      { file: 'gpu/kernels/forward/bound.wgsl', search: 'if (bound < 1.0) {', replacement: 'if (bound < -1.0) {' },
    ],
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
        search: 'return budget / approach;',
        replacement: 'return min(1.0, 2.5 * budget / approach);',
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
        search: 'fn sharesVertex(v: vec4u) -> bool {',
        replacement:
          'fn sharesVertex(v: vec4u) -> bool {\n  if ((v.x + v.y + v.z) % 3u == 0u) {\n    return true;\n  }',
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
        search: 'let room = max(0.0, gap - parameters.floor);',
        replacement: 'let room = max(0.0, gap - 0.1 * parameters.floor);',
      },
      {
        file: 'gpu/kernels/forward/bound.wgsl',
        search: 'min(gap, parameters.floor) - 0.5 * parameters.floor',
        replacement: 'min(gap, 0.1 * parameters.floor) - 0.05 * parameters.floor',
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
      {
        file: 'gpu/kernels/forward/commit.wgsl',
        search: '(flags & REVERTED) != 0u ||',
        replacement: '(flags & REVERTED) == 0xffffffffu ||',
      },
      {
        file: 'gpu/kernels/forward/bound.wgsl',
        search: 'return budget / approach;',
        replacement: 'return min(1.0, 2.5 * budget / approach);',
      },
    ],
    ['matryoshka', 'layers', 'soup'],
    [MEETING, TUNNEL, FLOOR, PATH],
  ),
  mutant(
    'kernel-forgotten-border',
    'the search excludes every pair of kinematic elements, also those that guard the cloth at their border',
    [
      {
        file: 'gpu/kernels/search/element-boxes.wgsl',
        search: 'if (control.skipsKinematic != 0u && isAtBorder(slot)) {',
        replacement: 'if (control.skipsKinematic == 77u && isAtBorder(slot)) {',
      },
    ],
    ['heldBorders'],
    [MEETING, PATH],
  ),
  mutant(
    'kernel-no-growth',
    'hulls of trust boxes are not grown by half of δ, so that pairs outside P are disjoint and no more',
    [
      {
        file: 'gpu/kernels/search/element-boxes.wgsl',
        search: 'var growth = control.growth;',
        replacement: 'var growth = 0.0 * control.growth;',
      },
    ],
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
        search: 'bounds[n] = vec4f(0.0);',
        replacement: 'bounds[n] = vec4f(NO_BOUND);\n    limits[n] = Limit(-3.0e38, 3.0e38, 0.0, entry);',
      },
      {
        file: 'gpu/kernels/forward/bound.wgsl',
        search: 'atomicMin(&motion[ids[s]].alpha, 0u);',
        replacement: 'atomicMin(&motion[ids[s]].alpha, 0x3f800000u);',
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
    [
      ...openBoxes,
      {
        file: 'gpu/kernels/control/begin.wgsl',
        search: 'isInvalid = !(all(here >= lo) && all(here <= hi)) ||',
        replacement: 'isInvalid = (false && !(all(here >= lo) && all(here <= hi))) ||',
      },
    ],
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
    'kernel-distance-for-gap',
    'the computed distance is believed in the place of the gap that a plane certifies',
    [
      {
        file: 'gpu/kernels/forward/bound.wgsl',
        search: 'gap = min(heights.gap, pairDistance[p]);',
        replacement: 'gap = pairDistance[p];',
      },
      {
        file: 'gpu/kernels/forward/bound.wgsl',
        search: 'gap = measured.gap;',
        replacement: 'gap = measured.distance;',
      },
    ],
    ['longRods'],
    [MEETING, PATH, FLOOR],
    { sent: STRIDING },
  ),
  mutant(
    'kernel-forgotten-seams',
    'pairs of ignored parts are excluded also where they guard an element that spans parts',
    [
      {
        file: 'gpu/kernels/search/pair-rules.wgsl',
        search: 'if (isOnSeam || part.z != q',
        replacement: 'if ((isOnSeam && part.z != q) || part.z != q',
      },
    ],
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
    [
      {
        file: 'gpu/kernels/forward/list-bounded-pairs.wgsl',
        search: 'return lo - hi > max(delta, 0.5 * delta + 2.0 * errorOf(far)) + margin;',
        replacement: 'return lo - hi > 0.0;',
      },
    ],
    ['closeCalls'],
    [FLOOR],
  ),
  mutant(
    'kernel-passed-over-unrounded',
    'a pair is passed over by δ alone, however coarse the numbers are where the step leads',
    [
      {
        file: 'gpu/kernels/forward/list-bounded-pairs.wgsl',
        search: 'return lo - hi > max(delta, 0.5 * delta + 2.0 * errorOf(far)) + margin;',
        replacement: 'return lo - hi > delta;',
      },
    ],
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
        search: 'return vec2f(way.w * heightOf(n, way.xyz),',
        replacement: 'return vec2f(0.0 * way.w * heightOf(n, way.xyz),',
      },
    ],
    ['layers'],
    [MEETING, PATH, TUNNEL, FLOOR],
  ),
];
