import { CRAWLING, FLOOR, FORWARD, MEETING, type Mutant, noCheck, PATH, STRIDING, TUNNEL } from './mutant.js';

const CERTIFICATE = 'src/solver/cpu/certificate.js';

const PAIRS = 'src/solver/cpu/pairs.js';

/** Faults that the margins of the other rules hide in nearly every scene, and faults in what few requests ask for. */
export const SUBTLE_MUTANTS: readonly Mutant[] = [
  {
    name: 'unseen-narrowing',
    fault: 'what rounding to a float32 answer does to a float64 start is not looked at',
    edits: [
      {
        file: 'src/jobs/start-check.js',
        search: 'if (!(start instanceof Float64Array && target instanceof Float32Array))',
        replacement: 'if (true)',
      },
    ],
    scenes: ['neighbours'],
    caughtBy: [MEETING, PATH, FLOOR],
    sent: { isNarrowed: true, offset: 130 },
  },
  {
    name: 'no-check',
    fault: 'what a step has written is not read again; bounds are as they should be',
    edits: [noCheck],
    scenes: ['slidingGrains'],
    caughtBy: [MEETING, PATH, FLOOR],
    sent: CRAWLING,
  },
  {
    name: 'no-error-bound',
    fault: 'heights over a plane count as exact: e = 0, in the certificate and in the check',
    edits: [
      {
        file: CERTIFICATE,
        search: 'heights.error = f(8 * UNIT_ROUNDOFF * reach);',
        replacement: 'heights.error = 0;',
      },
      {
        file: FORWARD,
        search: 'const bound = Math.max(error,',
        replacement: 'const bound = 0 * Math.max(error,',
      },
    ],
    scenes: ['grainsOverSails'],
    caughtBy: [MEETING, PATH, FLOOR],
    sent: STRIDING,
  },
  {
    name: 'distance-for-gap',
    fault:
      'the computed distance is believed in the place of the gap that a plane certifies, and the only direction that is tried is two thousandths off, as one in float32 may be',
    edits: [
      { file: FORWARD, search: 'const gap = pairs.gap[p];', replacement: 'const gap = pairs.distance[p];' },
      {
        file: CERTIFICATE,
        search: 'const nx = f(closest.x / distance);',
        replacement: 'const nx = f(closest.x / distance + 2e-3);',
      },
      {
        file: CERTIFICATE,
        search: 'const ny = f(closest.y / distance);',
        replacement: 'const ny = f(closest.y / distance - 2e-3);',
      },
      {
        file: CERTIFICATE,
        search: 'candidates.push([f(closest.x / distance), f(closest.y / distance),',
        replacement: 'candidates.push([f(closest.x / distance + 2e-3), f(closest.y / distance - 2e-3),',
      },
      {
        file: CERTIFICATE,
        search: 'if (last.some((component) => component !== 0))',
        replacement: 'if (false)',
      },
    ],
    scenes: ['longRods'],
    caughtBy: [MEETING, PATH, FLOOR],
    sent: STRIDING,
  },
  {
    name: 'passed-over-without-room',
    fault: 'a pair is passed over where its last normal parts it at both ends of its way, by however little',
    edits: [{ file: FORWARD, search: 'if (!(lo - hi > apart))', replacement: 'if (!(lo - hi > 0))' }],
    scenes: ['closeCalls'],
    caughtBy: [FLOOR],
  },
  {
    name: 'passed-over-where-it-is',
    fault: 'a pair is passed over where its last normal parts it before the step, wherever it goes in it',
    edits: [
      {
        file: FORWARD,
        search: 'const to0 = this.alphaGuard[vertex[q]] *',
        replacement: 'const to0 = 0 *',
      },
      { file: FORWARD, search: 'const to = from + this.alphaGuard[v] *', replacement: 'const to = from + 0 *' },
    ],
    scenes: ['layers'],
    caughtBy: [MEETING, PATH, TUNNEL, FLOOR],
  },
  {
    name: 'passed-over-unrounded',
    fault: 'a pair is passed over by δ alone, however coarse the numbers are where the step leads',
    edits: [{ file: FORWARD, search: 'Math.max(delta, delta / 2 + WRITING * farthest)', replacement: 'delta' }],
    scenes: ['farFlights'],
    caughtBy: [MEETING, PATH],
    sent: STRIDING,
  },
  {
    name: 'pairs-of-old-lists',
    fault: 'where little moves pairs are gathered from lists of an earlier P',
    edits: [
      {
        file: 'src/solver/cpu/active-pairs.js',
        search: 'if (this.#revision === pairs.revision)',
        replacement: 'if (this.#revision !== 0)',
      },
    ],
    scenes: ['pebbles'],
    caughtBy: [MEETING, PATH, FLOOR],
  },
  {
    name: 'lists-of-another-session',
    fault: 'where little moves pairs are gathered from lists of the P that another session of the same thread has',
    edits: [
      {
        file: PAIRS,
        search:
          'count = 0;\n    /** names the list of pairs: another one after every {@link clear} and {@link keepOnly} */\n    revision = ++revisionsGiven',
        replacement: 'count = 0;\n    revision = 1',
      },
      {
        file: PAIRS,
        search: 'this.count = 0;\n        this.revision = ++revisionsGiven',
        replacement: 'this.count = 0;\n        this.revision++',
      },
    ],
    scenes: ['pebbles'],
    caughtBy: [MEETING, PATH, FLOOR],
    mode: 'TURNS',
  },
  {
    name: 'excluded-for-ever',
    fault: 'a pair that was excluded because it intersected is never guarded again',
    edits: [
      {
        file: 'src/jobs/excluded.js',
        search: 'items.push(...findNear(mesh, start, parted, floor));',
        replacement: 'items.push(...parted);',
      },
    ],
    scenes: ['tangle'],
    caughtBy: ['report: ignoredPairCount', MEETING, PATH],
    mode: 'WHOLE_SESSION',
    isVerified: true,
    sent: { isIgnoring: true },
  },
  {
    name: 'excluded-too-much',
    fault: 'every pair of vertices and triangles that both have to do with an intersection is excluded',
    edits: [
      {
        file: 'src/mesh/excluded-pairs.js',
        search: 'this.knows(a, i, j, k) && this.keys.has(vertexTriangleKey(a, i, j, k))',
        replacement: 'this.knows(a, i, j, k)',
      },
    ],
    scenes: ['tangle'],
    caughtBy: [MEETING, PATH],
    mode: 'WHOLE_SESSION',
    sent: { isIgnoring: true },
  },
];
