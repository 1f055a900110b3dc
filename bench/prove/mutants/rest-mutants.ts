import type { CollisionMesh } from '../../../src/mesh/types.js';
import { KEPT_LENGTHS, TOLD_HOLDING } from '../judge/edge-judge.js';
import type { Mutant } from './mutant.js';

const EDGES = 'src/solver/cpu/edges.js';
const ROWS = 'gpu/kernels/backward/edge-rows.wgsl';

const SENT = { quality: 'BALANCED' } as const;

/** L of an edge, by its number in the order of the sweeps. */
type LengthOf = (n: number, inTarget: number, scale: number) => number;

/** Measures an answer of a mesh. */
type Measure = (mesh: CollisionMesh, ...of: unknown[]) => unknown;

/** A report that ignores lengths at rest. */
const untold = (name: string, file: string, measure: string, caughtBy: string, sent: Mutant['sent']): Mutant => ({
  name,
  description: `${measure} does not know of lengths at rest`,
  faults: [
    {
      file,
      function: measure,
      instead: (original: Measure, mesh: CollisionMesh, ...of: unknown[]) =>
        original({ ...mesh, restLengths: undefined }, ...of),
    },
  ],
  scenes: ['restedSheet'],
  caughtBy: [caughtBy],
  isVerified: true,
  ...(sent ? { sent } : {}),
});

/** Faults of lengths at rest, on the CPU. They do not affect safety, so the judge tests the contract on lengths. */
export const REST_MUTANTS: readonly Mutant[] = [
  {
    name: 'rest-of-another-edge',
    description: 'the limit of an edge relates to the length at rest of the edge before it',
    faults: [
      {
        file: EDGES,
        function: 'EdgeLengths.lengthOf',
        instead: (original: LengthOf, n: number, inTarget: number, scale: number) =>
          original(n > 0 ? n - 1 : n, inTarget, scale),
      },
    ],
    scenes: ['restedSheet'],
    caughtBy: [KEPT_LENGTHS],
    sent: SENT,
  },
  {
    name: 'rest-unread',
    description: 'limits of edges relate to their lengths in the target',
    faults: [
      {
        file: EDGES,
        function: 'EdgeLengths.lengthOf',
        instead: (_: LengthOf, _n: number, inTarget: number) => inTarget,
      },
    ],
    scenes: ['restedSheet'],
    caughtBy: [KEPT_LENGTHS],
    sent: SENT,
  },
  untold('rest-untold-in-stretch', 'src/jobs/differences.js', 'measureStretch', 'report: maxStretch', SENT),
  untold(
    'rest-untold-in-overlong',
    'src/jobs/overlong-edges.js',
    'findOverlongEdges',
    'report: overlongEdges',
    undefined,
  ),
  untold('rest-untold-in-holding', 'src/jobs/holding-edges.js', 'findLimitingEdges', TOLD_HOLDING, SENT),
];

/** The same in the kernels. */
export const REST_KERNEL_MUTANTS: readonly Mutant[] = [
  {
    name: 'kernel-rest-of-another-edge',
    description: 'the limit of an edge relates to the length at rest of the edge before it',
    faults: [{ file: ROWS, search: 'length = edgeRest[e];', replacement: 'length = edgeRest[max(e, 1u) - 1u];' }],
    scenes: ['restedSheet'],
    caughtBy: [KEPT_LENGTHS],
    sent: SENT,
    engine: 'webgpu',
  },
  {
    name: 'kernel-rest-unread',
    description: 'limits of edges relate to their lengths in the target',
    faults: [{ file: ROWS, search: 'edgeRest[e] >= 0.0', replacement: 'edgeRest[e] < -2.0' }],
    scenes: ['restedSheet'],
    caughtBy: [KEPT_LENGTHS],
    sent: SENT,
    engine: 'webgpu',
  },
];
