import type { Gained } from '../../../src/solver/cpu/poor-steps.js';
import type { PullBackRun } from '../../../src/solver/cpu/pull-back-run.js';
import { FREE } from '../judge/free-judge.js';
import { NEAR } from '../judge/nearness-judge.js';
import { FLOOR, MEETING, type Mutant, noCheck, PATH, TUNNEL } from './mutant.js';

const PULL_BACK = 'src/solver/cpu/pull-back.js';
const PULL_BACK_STEP = 'src/solver/cpu/pull-back-step.js';
const EDGE_LIMITS = 'src/solver/cpu/edge-limits.js';

const PACES = 'src/solver/cpu/paces.js';

const AIMS = 'src/solver/cpu/contact-aims.js';

const OFFSET = 'contacts keep the offset that was asked';
const PIECES = 'a path has no more pieces than its steps';
const RETURN = 'a path does not leave its answer again';

/** Puts the vertices that a function of the paces lets rest onto their y. */
const putOntoTargets = (original: (...xy: Float32Array[]) => void, x: Float32Array, y: Float32Array): void => {
  const wanted = y.slice();
  original(x, y);
  for (let i = 0; i < x.length; i++) if (y[i] !== wanted[i]) x[i] = y[i] = wanted[i];
};

/** Faults in the additions of the qualities BALANCED and FINE: a phase after Algorithm 1 that keeps its best state. */
export const PULL_BACK_MUTANTS: readonly Mutant[] = [
  {
    name: 'best-state-unchecked',
    description:
      'the state that the pull-back keeps as its best one is its y, which no forward step has bounded or checked',
    faults: [
      {
        file: PULL_BACK_STEP,
        function: 'PullBackStep.keep',
        instead: (original: (run: PullBackRun, ...more: unknown[]) => void, run: PullBackRun, ...more: unknown[]) =>
          original({ ...run, x: run.y }, ...more),
      },
    ],
    scenes: ['layers', 'matryoshka'],
    caughtBy: [MEETING, TUNNEL, PATH],
    sent: { quality: 'BALANCED' },
  },
  {
    name: 'pull-back-outside-boxes',
    description: 'the pull-back omits a search that is due although vertices have left their boxes',
    faults: [
      {
        file: 'src/solver/cpu/proximity.js',
        function: 'Proximity.contains',
        instead: function (this: { readonly isValid: boolean }) {
          return this.isValid;
        },
      },
    ],
    scenes: ['changingPlaces'],
    caughtBy: [MEETING, PATH, FLOOR],
    mode: 'SESSION',
    sent: { quality: 'BALANCED' },
  },
  {
    name: 'path-beyond-best-state',
    description:
      'states after the best one are told as parts of the path, and a piece that nothing bounds leads back to it',
    faults: [
      {
        file: PULL_BACK,
        function: 'PullBack.run',
        instead: (original: (run: PullBackRun) => unknown, run: PullBackRun) => {
          const tell = (step: number): void => run.onState(run.x, { phase: 'PULL_BACK', step });
          return original({
            ...run,
            onState: () => undefined,
            nextPiece: () => {
              tell(run.stepNumber());
              return run.nextPiece();
            },
            onStep: (moving: number) => {
              const step = run.stepNumber();
              run.onStep(moving);
              tell(step);
            },
          });
        },
      },
    ],
    scenes: ['layers', 'hair', 'soup'],
    caughtBy: [PIECES, RETURN, PATH],
    sent: { quality: 'BALANCED' },
  },
  {
    name: 'hold-back-lets-go-no-check',
    description: 'holding back along edges grants every vertex its whole motion, and what was written is not checked',
    faults: [
      {
        file: EDGE_LIMITS,
        function: 'EdgeLimits.holdBack',
        instead: (_: unknown, _x: Float32Array, _y: Float32Array, alpha: Float32Array) => alpha.fill(1),
      },
      ...noCheck,
    ],
    scenes: ['layers', 'matryoshka'],
    caughtBy: [MEETING, TUNNEL, PATH, FLOOR],
    sent: { quality: 'BALANCED' },
  },
  {
    name: 'gain-unawaited',
    description: 'the pull-back ends with its first step, whatever it has gained',
    faults: [
      {
        file: 'src/solver/cpu/poor-steps.js',
        function: 'PoorSteps.after',
        instead: (original: (step: Gained) => string | undefined, step: Gained) => original(step) ?? 'CONVERGED',
      },
    ],
    scenes: ['hair', 'spike', 'handkerchiefs'],
    caughtBy: [NEAR],
    sent: { quality: 'BALANCED' },
  },
  {
    name: 'aims-ignored',
    description: 'contacts of the pull-back aim for no gap at all',
    faults: [{ file: AIMS, function: 'offsetOf', instead: () => 0 }],
    scenes: ['laidSheet'],
    caughtBy: [OFFSET],
    sent: { quality: 'BALANCED', offsetShare: 0.5 },
  },
  {
    name: 'aims-beyond-the-offset',
    description: 'contacts of the pull-back aim for twice the offset that was asked',
    faults: [
      {
        file: AIMS,
        function: 'offsetOf',
        instead: (original: (...of: unknown[]) => number, ...of: unknown[]) => 2 * original(...of),
      },
    ],
    scenes: ['laidSheet'],
    caughtBy: [OFFSET],
    sent: { quality: 'BALANCED', offsetShare: 0.3 },
  },
  {
    name: 'kept-do-not-rest',
    description: 'in the steps of the others, the vertices that something keeps far from their targets move as before',
    faults: [{ file: PACES, function: 'Paces.restKept', instead: () => undefined }],
    scenes: ['besideKeptPile'],
    caughtBy: [FREE],
    sent: { quality: 'BALANCED' },
  },
  {
    name: 'others-stopped-early',
    description: 'the steps of the others end with the first one, and are said to be complete',
    faults: [
      {
        file: PULL_BACK,
        function: 'PullBack.#pull',
        instead: (
          original: (run: PullBackRun, of: { readonly restsKept?: boolean }) => { readonly status: string },
          run: PullBackRun,
          of: { readonly restsKept?: boolean },
        ) => {
          if (!of.restsKept) return original(run, of);
          let steps = 0;
          const nextStep: PullBackRun['nextStep'] = (kind) => (steps++ > 0 ? 'STEP_LIMIT' : run.nextStep(kind));
          return { ...original({ ...run, nextStep }, of), status: 'CONVERGED' };
        },
      },
    ],
    scenes: ['besideKeptPile'],
    caughtBy: [FREE, NEAR],
    sent: { quality: 'BALANCED' },
  },
  {
    name: 'pushed-not-held',
    description: 'releasing steps move the vertices that rows push as well',
    faults: [{ file: PACES, function: 'Paces.holdPushed', instead: () => undefined }],
    scenes: ['besideRestingPile'],
    caughtBy: [FREE],
    sent: { quality: 'BALANCED' },
  },
  {
    name: 'others-unchecked',
    description: 'the vertices that rest in the steps of the others are put onto their y, which nothing has bounded',
    faults: [
      {
        file: PACES,
        function: 'Paces.restKept',
        instead: putOntoTargets,
      },
    ],
    scenes: ['besideKeptPile'],
    caughtBy: [MEETING, PATH, FLOOR],
    sent: { quality: 'BALANCED' },
  },
  {
    name: 'released-unchecked',
    description: 'the vertices that releasing steps hold are put onto their y, which nothing has bounded',
    faults: [
      {
        file: PACES,
        function: 'Paces.holdPushed',
        instead: putOntoTargets,
      },
    ],
    scenes: ['besideRestingPile'],
    caughtBy: [MEETING, PATH, FLOOR],
    sent: { quality: 'BALANCED' },
  },
];

const AIM = 'gpu/kernels/pull-back/aim.wgsl';

/** The same faults in the kernels. */
export const PULL_BACK_KERNEL_MUTANTS: readonly Mutant[] = [
  {
    name: 'kernel-kept-do-not-rest',
    description: 'in the steps of the others, the vertices that something keeps far from their targets move as before',
    faults: [
      {
        file: AIM,
        search: 'let isResting = pullBack.restsKept == 1u && kept != 0u;',
        replacement: 'let isResting = false;',
      },
    ],
    scenes: ['besideKeptPile'],
    caughtBy: [FREE],
    sent: { quality: 'BALANCED' },
    engine: 'webgpu',
  },
  {
    name: 'kernel-pushed-not-held',
    description: 'releasing steps move the vertices that rows push as well',
    faults: [
      {
        file: AIM,
        search: 'let isHeld = pullBack.phase == PHASE_PULL && pullBack.tau == 0.0 && wasPushed;',
        replacement: 'let isHeld = false;',
      },
    ],
    scenes: ['besideRestingPile'],
    caughtBy: [FREE],
    sent: { quality: 'BALANCED' },
    engine: 'webgpu',
  },
];
