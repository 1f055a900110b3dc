import type { Mutant } from './mutant.js';

const PROJECTIONS = 'src/solver/cpu/strain-projections.js';
const SWEEP = 'gpu/kernels/strain/sweep.wgsl';

const KEPT = 'strains are kept where nothing is in the way';
const TOLD = 'report: strain';
const SENT = { quality: 'BALANCED' } as const;

/** Of an element whose strains are bounded; the bound is among the arguments. */
type Bounding = (...of: unknown[]) => number;

/** Faults of strain limits, on the CPU. They do not affect safety, so the judge tests the contract on strains. */
export const STRAIN_MUTANTS: readonly Mutant[] = [
  {
    name: 'strain-limit-doubled',
    description: 'an element may be longer by twice what its limit allows',
    faults: [
      {
        file: PROJECTIONS,
        function: 'boundStretch',
        instead: (original: Bounding, f: unknown, push: unknown, at: unknown, most: number, ...more: unknown[]) =>
          original(f, push, at, 2 * most - 1, ...more),
      },
    ],
    scenes: ['strainedSheet'],
    caughtBy: [KEPT],
    sent: SENT,
  },
  {
    name: 'strain-floor-lowered',
    description: 'an element may be shorter by twice what its limit allows',
    faults: [
      {
        file: PROJECTIONS,
        function: 'boundShrink',
        instead: (original: Bounding, ...of: unknown[]) =>
          original(...of.slice(0, 6), 2 * (of[6] as number) - 1, ...of.slice(7)),
      },
    ],
    scenes: ['strainedSheet', 'strainedSolid'],
    caughtBy: [KEPT],
    sent: SENT,
  },
  {
    name: 'strain-elements-left-out',
    description: 'every seventh element is in no colour of the sweeps',
    faults: [
      {
        file: 'src/solver/cpu/strain-limits.js',
        function: 'StrainLimits.#project',
        instead: (original: (...of: unknown[]) => boolean, y: Float32Array, e: number, slack: number) =>
          e % 7 === 3 ? false : original(y, e, slack),
      },
    ],
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
    name: 'kernel-strain-limit-doubled',
    description: 'an element may be longer by twice what its limit allows',
    faults: [
      {
        file: SWEEP,
        function: 'boundStretch',
        body: 'return original_boundStretch(f, begun, 2.0 * most - 1.0, kappa);',
      },
    ],
    scenes: ['strainedSheet'],
    caughtBy: [KEPT],
    sent: SENT,
    engine: 'webgpu',
  },
  {
    name: 'kernel-strain-floor-lowered',
    description: 'an element may be shorter by twice what its limit allows',
    faults: [
      {
        file: SWEEP,
        function: 'boundShrink',
        body: 'return original_boundShrink(f, begun, frame, ofTriangle, 2.0 * least - 1.0, kappa);',
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
