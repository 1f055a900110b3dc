import { CONTRACT_MUTANTS } from './contract-mutants.js';
import { FLOOR, FORWARD, MEETING, type Mutant, noCheck, PATH, TUNNEL } from './mutant.js';
import type { Edit } from './planting.js';
import { SUBTLE_MUTANTS } from './subtle-mutants.js';

const SEARCH = 'src/solver/cpu/search.js';

const noBound: Edit = {
  file: FORWARD,
  search: `const bound = budget > 0 ? f(budget / approach) : 0;`,
  replacement: 'const bound = 1;',
};

export const MUTANTS: readonly Mutant[] = [
  {
    name: 'no-bound-no-check',
    fault: 'pairs neither bound a step nor is it checked',
    edits: [noBound, noCheck],
    scenes: ['layers', 'sandInABag'],
    caughtBy: [MEETING, TUNNEL, PATH],
  },
  {
    name: 'double-budget-no-check',
    fault: 'either side of a pair may use up the whole gap',
    edits: [
      {
        file: FORWARD,
        search: 'const budget = f((s < sideA ? budgetA : budgetB) + f(gamma * slack));',
        replacement: 'const budget = f(f(2.5 * room) + f(gamma * slack));',
      },
      noCheck,
    ],
    scenes: ['layers', 'matryoshka', 'soup'],
    caughtBy: [MEETING, TUNNEL, FLOOR, PATH],
  },
  {
    name: 'dropped-pairs',
    fault: 'the search loses every third pair that it finds',
    edits: [
      {
        file: SEARCH,
        search: '#keep(kind, v0, v1, v2, v3, nx, ny, nz) {',
        replacement: '#keep(kind, v0, v1, v2, v3, nx, ny, nz) {\n        if ((v0 + v1 + v2) % 3 === 0) return;',
      },
    ],
    scenes: ['layers', 'sandInABag', 'soup'],
    caughtBy: [MEETING, TUNNEL, FLOOR, PATH],
  },
  {
    name: 'no-vertex-triangle-pairs',
    fault: 'vertex-triangle pairs are not looked for',
    edits: [{ file: SEARCH, search: 'if (a !== i && a !== j && a !== k)', replacement: 'if (false)' }],
    scenes: ['sandInABag', 'layers'],
    caughtBy: [MEETING, TUNNEL, FLOOR, PATH],
  },
  {
    name: 'no-edge-edge-pairs',
    fault: 'edge-edge pairs are not looked for',
    edits: [{ file: SEARCH, search: 'if (a !== c && a !== d && b !== c && b !== d)', replacement: 'if (false)' }],
    scenes: ['chain', 'layers', 'hair'],
    caughtBy: [MEETING, TUNNEL, FLOOR, PATH],
  },
  {
    name: 'boxes-not-kept',
    fault: 'vertices leave their trust boxes, so that pairs outside P can meet',
    edits: [
      { file: FORWARD, search: 'a = boxBound(box, i, x, y);', replacement: 'a = 1;' },
      { file: FORWARD, search: 'if (box && !isInBox(box, i, next))', replacement: 'if (false)' },
    ],
    scenes: ['soup', 'sandInABag', 'layers'],
    caughtBy: [MEETING, TUNNEL, FLOOR, PATH],
  },
  {
    name: 'no-floor',
    fault: 'the floor is a billionth of what it should be',
    edits: [
      {
        file: 'src/solver/frame.js',
        search: 'return floor * frame.scale;',
        replacement: 'return 1e-9 * floor * frame.scale;',
      },
    ],
    scenes: ['soup', 'layers', 'spike', 'matryoshka'],
    caughtBy: [FLOOR, MEETING],
  },
  {
    name: 'low-floor',
    fault: 'the floor is a third of what it should be',
    edits: [
      {
        file: 'src/solver/frame.js',
        search: 'return floor * frame.scale;',
        replacement: 'return 0.3 * floor * frame.scale;',
      },
    ],
    scenes: ['soup', 'layers', 'spike', 'matryoshka'],
    caughtBy: [FLOOR, MEETING],
  },
  {
    name: 'coarse-answer',
    fault: 'answers in float64 are rounded to float32 on the way out',
    edits: [
      {
        file: 'src/solver/frame.js',
        search: 'out[i] = ox + engine[i] / this.scale;',
        replacement: 'out[i] = Math.fround(ox + engine[i] / this.scale);',
      },
      {
        file: 'src/solver/frame.js',
        search: 'out[i + 1] = oy + engine[i + 1] / this.scale;',
        replacement: 'out[i + 1] = Math.fround(oy + engine[i + 1] / this.scale);',
      },
      {
        file: 'src/solver/frame.js',
        search: 'out[i + 2] = oz + engine[i + 2] / this.scale;',
        replacement: 'out[i + 2] = Math.fround(oz + engine[i + 2] / this.scale);',
      },
    ],
    scenes: ['layers', 'spike', 'matryoshka'],
    caughtBy: [MEETING, FLOOR, TUNNEL],
    sent: { offset: 1e4 },
  },
  {
    name: 'blind-verifier',
    fault: 'the verifier finds nothing, so intersecting starts are accepted',
    edits: [{ file: 'src/verify/state.js', search: 'intersectionCount++;\n        listed', replacement: 'listed' }],
    scenes: ['crossed'],
    caughtBy: ['an intersecting start is refused'],
    isVerified: true,
  },
  {
    name: 'half-blind-verifier',
    fault: 'the verifier overlooks one pair in four',
    edits: [
      {
        file: 'src/verify/state.js',
        search: 'intersectionCount++;\n        listed',
        replacement: 'if ((i + j) % 4 !== 0) intersectionCount++;\n        listed',
      },
    ],
    scenes: ['crossed'],
    caughtBy: ['INTERSECTING_START counts the pairs', 'an intersecting start is refused'],
    isVerified: true,
  },
  {
    name: 'caught-engine',
    fault: 'the engine is wrong and the service falls back: safe, and still a fault',
    edits: [noBound, noCheck],
    scenes: ['sandInABag', 'layers'],
    caughtBy: ['the engine was never caught'],
    isVerified: true,
  },
  {
    name: 'wrong-rms',
    fault: 'the report divides by one vertex too many',
    edits: [
      {
        file: 'src/jobs/differences.js',
        search: 'sumSquared / mesh.vertexCount)',
        replacement: 'sumSquared / (mesh.vertexCount + 1))',
      },
    ],
    scenes: ['layers'],
    caughtBy: ['report: distanceToTargetRms'],
    isVerified: true,
  },
  {
    name: 'wrong-stretch',
    fault: 'the report measures the stretch of every other edge only',
    edits: [
      {
        file: 'src/jobs/differences.js',
        search:
          'e < edges.length; e += 2) {\n        const i = edges[e];\n        const j = edges[e + 1];\n        if ((isOff[i] | isOff[j]) === 0)\n            continue;',
        replacement:
          'e < edges.length; e += 4) {\n        const i = edges[e];\n        const j = edges[e + 1];\n        if ((isOff[i] | isOff[j]) === 0)\n            continue;',
      },
      {
        file: 'src/jobs/differences.js',
        search: 'let nearlyLargest = 0;\n    for (let e = 0; e < edges.length; e += 2)',
        replacement: 'let nearlyLargest = 0;\n    for (let e = 0; e < edges.length; e += 4)',
      },
    ],
    scenes: ['soup', 'layers', 'hair'],
    caughtBy: ['report: maxStretch'],
    isVerified: true,
  },
  {
    name: 'early-convergence',
    fault: 'the status is CONVERGED although vertices are unfinished',
    edits: [
      {
        file: 'src/jobs/report.js',
        search: 'status: statusOf(resolution, verification)',
        replacement: "status: 'CONVERGED'",
      },
    ],
    scenes: ['matryoshka', 'twistedTube', 'chain'],
    caughtBy: ['report: CONVERGED'],
    isVerified: true,
  },
  {
    name: 'forgotten-kinematic',
    fault: 'unreached kinematic vertices are not counted',
    edits: [
      {
        file: 'src/jobs/report.js',
        search: 'unreachedKinematic: differences.unreachedKinematic.length',
        replacement: 'unreachedKinematic: 0',
      },
    ],
    scenes: ['pinch'],
    caughtBy: ['report: unreachedKinematic'],
    isVerified: true,
  },
  {
    name: 'coarse-tolerance-accepted',
    fault: 'requests are taken whose scalar cannot hold the tolerance',
    edits: [
      { file: 'src/solver/frame.js', search: 'if (floor > delta / FLOORS_PER_DELTA) {', replacement: 'if (false) {' },
    ],
    scenes: ['layers'],
    caughtBy: ['TOLERANCE_TOO_SMALL where the scalar is too coarse', 'a right request is answered', MEETING],
    isVerified: true,
    sent: { scalar: 'FLOAT32', offset: 1e4 },
  },
  {
    name: 'stale-proximity-set',
    fault:
      'a session uses its proximity set again although vertices have left their boxes, and their boxes are not kept',
    edits: [
      { file: 'src/solver/cpu/proximity.js', search: 'if (!isInBox(box, i, x))\n', replacement: 'if (false)\n' },
      { file: FORWARD, search: 'if (box && !isInBox(box, i, next))', replacement: 'if (false)' },
      { file: FORWARD, search: 'a = boxBound(box, i, x, y);', replacement: 'a = 1;' },
    ],
    scenes: ['soup', 'layers'],
    caughtBy: [MEETING, TUNNEL, FLOOR, PATH],
    mode: 'SESSION',
  },
  {
    name: 'grains-pass-grains',
    fault: 'grains are not kept from each other',
    edits: [{ file: SEARCH, search: 'sink.add(VV,', replacement: 'void (VV,' }],
    scenes: ['gatheringGrains'],
    caughtBy: [FLOOR, PATH, MEETING],
  },
  {
    name: 'forgotten-border',
    fault: 'the search excludes every pair of kinematic elements, also those that guard the cloth at their border',
    edits: [
      {
        file: 'src/solver/cpu/proximity.js',
        search: 'settings.skipKinematicPairs ? findKinematicBorder(mesh) : undefined',
        replacement: 'undefined',
      },
    ],
    scenes: ['heldBorders'],
    caughtBy: [MEETING, PATH],
  },
  {
    name: 'no-growth',
    fault: 'hulls of trust boxes are not grown by half of δ, so that pairs outside P are disjoint and no more',
    edits: [{ file: 'src/solver/cpu/boxes.js', search: ': f(settings.delta / 2);', replacement: ': 0;' }],
    scenes: ['closingGrains'],
    caughtBy: [FLOOR],
    sent: { corner: 'ONE_SHORT_STEP' },
  },
  {
    name: 'touching-pairs-move',
    fault: 'pairs without a certificate do not stop their vertices',
    edits: [{ file: FORWARD, search: 'this.#freeze(input, p);', replacement: '' }],
    scenes: ['slivers'],
    caughtBy: [FLOOR, MEETING, PATH],
  },
  {
    name: 'cut-pairs',
    fault: 'a search that passes its budget leaves P as far as it got',
    edits: [
      {
        file: 'src/solver/cpu/proximity.js',
        search: 'const PAIRS_AT_LEAST = 1 << 16;',
        replacement: 'const PAIRS_AT_LEAST = 1 << 6;',
      },
      {
        file: 'src/solver/cpu/proximity.js',
        search: 'const PAIRS_PER_VERTEX = 64;',
        replacement: 'const PAIRS_PER_VERTEX = 1;',
      },
      {
        file: 'src/solver/cpu/proximity.js',
        search: 'if (thrown instanceof PairBudgetExceeded)\n                return false;',
        replacement: 'if (thrown instanceof PairBudgetExceeded)\n                return true;',
      },
    ],
    scenes: ['layers', 'matryoshka'],
    caughtBy: [MEETING, TUNNEL, FLOOR, PATH],
  },
  {
    name: 'unseen-rounding',
    fault: 'what rounding to float32 does to the start is not looked at',
    edits: [
      {
        file: 'src/jobs/start-check.js',
        search: 'if (frame.isExact(start, startEngine))',
        replacement: 'if (true)',
      },
    ],
    scenes: ['hairsBreadth'],
    caughtBy: [MEETING, PATH, FLOOR],
  },
  ...SUBTLE_MUTANTS,
  ...CONTRACT_MUTANTS,
];
