import { BECOMES_FREE, RIGHT_SIDE } from '../untangling/try-untangling.js';
import {
  COUNTED,
  FREE_IS_EXACT,
  IN_LIMITS,
  NO_WORSE,
  NOTHING_ELSE_MET,
  TOLD,
  WHOLE_PATH,
} from '../untangling/untangling-judge.js';
import type { Mutant } from './mutant.js';

const LOOP = 'src/untangle/untangle.js';
const LEFT_OUT = 'src/untangle/left-out.js';
const JOB = 'src/jobs/untangle-job.js';
const MODE = 'UNTANGLE';

interface Answered {
  readonly report: object;
}
interface Findings {
  readonly intersectionCount: number;
  readonly intersections: readonly unknown[];
}

const LEFT_OUT_TOO_MANY: Mutant = {
  name: 'left-out-too-many',
  description: 'while regions are pushed, nothing is kept apart',
  faults: ['hasVertexTriangle', 'hasEdgeEdge'].map((name) => ({
    file: LEFT_OUT,
    function: `RegionsLeftOut.${name}`,
    instead: () => true,
  })),
  scenes: ['covered'],
  caughtBy: [NOTHING_ELSE_MET],
  mode: MODE,
  isVerified: true,
};

const REGION_FORGOTTEN: Mutant = {
  name: 'region-forgotten',
  description: 'what is on the wrong side of the sheet of an edge is left there',
  faults: [
    {
      file: 'src/untangle/regions.js',
      function: 'regionsOf',
      instead: (original: (...of: unknown[]) => unknown[], ...of: unknown[]) => original(...of).slice(2),
    },
  ],
  scenes: ['dented', 'body'],
  caughtBy: [BECOMES_FREE],
  mode: MODE,
  isVerified: true,
};

const FREE_TOO_SOON: Mutant = {
  name: 'free-too-soon',
  description: 'a state in which few pairs intersect passes for free',
  faults: [
    {
      file: LOOP,
      function: 'Untangling.#test',
      instead: async (original: (x: unknown) => Promise<Findings>, x: unknown) => {
        const findings = await original(x);
        return findings.intersectionCount > 12 ? findings : { ...findings, intersectionCount: 0, intersections: [] };
      },
    },
  ],
  scenes: ['dented', 'body'],
  caughtBy: [FREE_IS_EXACT],
  mode: MODE,
  isVerified: true,
};

/** Faults of untangling, on the reference engine. */
export const UNTANGLE_MUTANTS: readonly Mutant[] = [
  LEFT_OUT_TOO_MANY,
  REGION_FORGOTTEN,
  FREE_TOO_SOON,
  {
    name: 'path-states-dropped',
    description: 'the path that is told has the pull-back alone',
    faults: [
      {
        file: 'src/untangle/path.js',
        function: 'Path.recorder',
        instead: (original: (...of: unknown[]) => object, x: unknown, leftOut: unknown) =>
          leftOut ? {} : original(x, leftOut),
      },
    ],
    scenes: ['dented', 'crossed'],
    caughtBy: [WHOLE_PATH, NOTHING_ELSE_MET],
    mode: MODE,
    isVerified: true,
  },
  {
    name: 'best-state-lost',
    description: 'an untangling that is cut short answers with its start, not with the best state that it has found',
    faults: [
      {
        file: LOOP,
        function: 'Untangling.#answer',
        instead: (original: (...of: unknown[]) => unknown, found: { readonly free: unknown }, pulled: unknown) =>
          found.free ? original(found, pulled) : original({ ...found, best: undefined }, undefined),
      },
    ],
    scenes: ['body', 'crossed'],
    caughtBy: [NO_WORSE],
    mode: MODE,
    isVerified: true,
  },
  {
    name: 'displacement-unlimited',
    description: 'vertices go farther than they may',
    faults: [{ file: LOOP, function: 'Untangling.#isNear', instead: () => true }],
    scenes: ['crossed', 'body', 'dented'],
    caughtBy: [IN_LIMITS],
    mode: MODE,
    isVerified: true,
  },
  {
    name: 'hints-unheard',
    description: 'neither hints nor bodies decide which side is wrong',
    faults: [{ file: 'src/untangle/sides.js', function: 'toldSides', instead: () => undefined }],
    scenes: ['crossed', 'body'],
    caughtBy: [RIGHT_SIDE],
    mode: MODE,
    isVerified: true,
  },
  {
    name: 'remaining-untold',
    description: 'an answer that is not free names none of the pairs that are left',
    faults: [
      {
        file: LOOP,
        function: 'Untangling.#answer',
        instead: async (original: (...of: unknown[]) => Promise<Answered>, ...of: unknown[]) => {
          const answer = await original(...of);
          return { ...answer, report: { ...answer.report, remaining: [] } };
        },
      },
    ],
    scenes: ['crossed', 'interleaved'],
    caughtBy: [COUNTED],
    mode: MODE,
    isVerified: true,
  },
  {
    name: 'stretch-against-the-start',
    description: 'an untangling measures stretch against the start where lengths at rest are given',
    faults: [
      {
        file: 'src/untangle/measures.js',
        function: 'lengthsAtRest',
        instead: (original: (...of: unknown[]) => unknown, edges: object, start: unknown) =>
          original({ ...edges, rest: undefined }, start),
      },
    ],
    scenes: ['dented', 'crossed'],
    caughtBy: [TOLD],
    mode: MODE,
    isVerified: true,
  },
  {
    name: 'rounded-answer',
    description: 'the answer is rounded after it was tested',
    faults: [
      {
        file: JOB,
        function: 'untangleJob',
        instead: async (original: (...of: unknown[]) => Promise<{ positions: Float64Array }>, ...of: unknown[]) => {
          const answer = await original(...of);
          return { ...answer, positions: answer.positions.map((p) => Number(p.toPrecision(3))) };
        },
      },
    ],
    scenes: ['dented', 'body'],
    caughtBy: [FREE_IS_EXACT, TOLD],
    mode: MODE,
    isVerified: true,
  },
];

/** The same with the pull-back on the device. */
export const UNTANGLE_DEVICE_MUTANTS: readonly Mutant[] = [LEFT_OUT_TOO_MANY, FREE_TOO_SOON].map((mutant) => ({
  ...mutant,
  name: `device-${mutant.name}`,
  engine: 'webgpu' as const,
}));
