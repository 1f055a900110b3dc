import type { Fault, Replacement } from './fault.js';
import type { Mutant } from './mutant.js';

const SWEEP = 'gpu/kernels/strain/sweep.wgsl';

const KEPT = 'strains are kept where nothing is in the way';
const TOLD = 'report: strain';
const SENT = { quality: 'BALANCED' } as const;

/** The projection of an element, whose arguments are its kind, the arrays, and the least and the largest strain. */
type Projection = (kind: unknown, arrays: unknown, e: number, least: number, most: number) => boolean;

/** A fault in the projection of elements. */
const inProjection = (instead: Replacement): Fault[] => [
  { file: 'src/solver/cpu/strain-turn.js', function: 'projectElement', instead },
];

/**
 * Faults of strain limits, on the CPU. They do not affect safety, so the judge tests the contract on strains. A limit
 * that is wrong by much is found only by chance: every step then exceeds the true limits so far that the start remains
 * the best state. Half a percent is three times what the judge tolerates (judge/strain-judge.ts).
 */
export const STRAIN_MUTANTS: readonly Mutant[] = [
  {
    name: 'strain-limit-raised',
    description: 'an element may be longer by half a percent than its limit allows',
    faults: inProjection(
      (original: Projection, kind: unknown, arrays: unknown, e: number, least: number, most: number) =>
        original(kind, arrays, e, least, most + 0.005),
    ),
    scenes: ['strainedSheet'],
    caughtBy: [KEPT],
    sent: SENT,
  },
  {
    name: 'strain-floor-lowered',
    description: 'an element may be shorter by half a percent than its limit allows',
    faults: inProjection(
      (original: Projection, kind: unknown, arrays: unknown, e: number, least: number, most: number) =>
        original(kind, arrays, e, least - 0.005, most),
    ),
    scenes: ['strainedSheet', 'strainedSolid'],
    caughtBy: [KEPT],
    sent: SENT,
  },
  {
    name: 'strain-elements-left-out',
    description: 'every seventh element is in no colour of the sweeps',
    faults: inProjection(
      (original: Projection, kind: unknown, arrays: unknown, e: number, least: number, most: number) =>
        e % 7 === 3 ? false : original(kind, arrays, e, least, most),
    ),
    scenes: ['strainedSheet', 'strainedSolid'],
    caughtBy: [KEPT],
    sent: SENT,
  },
  {
    name: 'strains-untold',
    description: 'the report counts no element out of its limits',
    faults: [
      {
        file: 'src/jobs/strained-elements.js',
        function: 'findStrainedElements',
        instead: () => ({ violated: 0, inverted: 0, min: 1, max: 1 }),
      },
    ],
    scenes: ['strainedSheet'],
    caughtBy: [TOLD],
    isVerified: true,
  },
];

/** The same in the kernels. */
export const STRAIN_KERNEL_MUTANTS: readonly Mutant[] = [
  {
    name: 'kernel-strain-limit-raised',
    description: 'an element may be longer by half a percent than its limit allows',
    faults: [
      {
        file: SWEEP,
        function: 'boundStretch',
        body: 'return original_boundStretch(f, begun, most + 0.005, kappa);',
      },
    ],
    scenes: ['strainedSheet'],
    caughtBy: [KEPT],
    sent: SENT,
    engine: 'webgpu',
  },
  {
    name: 'kernel-strain-floor-lowered',
    description: 'an element may be shorter by half a percent than its limit allows',
    faults: [
      {
        file: SWEEP,
        function: 'boundShrink',
        body: 'return original_boundShrink(f, begun, frame, ofTriangle, least - 0.005, kappa);',
      },
    ],
    scenes: ['strainedSheet', 'strainedSolid'],
    caughtBy: [KEPT],
    sent: SENT,
    engine: 'webgpu',
  },
  {
    name: 'kernel-strain-elements-left-out',
    description: 'every seventh element is in no colour of the sweeps',
    faults: [
      {
        file: SWEEP,
        function: 'projectElement',
        body: 'if (e % 7u == 3u) { return false; } return original_projectElement(e);',
      },
    ],
    scenes: ['strainedSheet', 'strainedSolid'],
    caughtBy: [KEPT],
    sent: SENT,
    engine: 'webgpu',
  },
];
