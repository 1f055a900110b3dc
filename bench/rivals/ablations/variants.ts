import type { ParametersInput } from '../../../src/contract/parameters.js';
import type { Ablation } from './algorithm-1.js';
import { augmentedLagrangian, jacobi } from './optimisers.js';

export interface Variant {
  readonly name: string;
  /** differences from preset PAPER: one sweep, volume constraints, isotropic rule, σ = 1.1 */
  readonly parameters?: ParametersInput;
  readonly ablation?: Ablation;
}

/** A group is one figure: the paper's method and the methods with which it is compared. */
export interface Group {
  readonly name: string;
  /** file name of the plot */
  readonly file: string;
  readonly variants: readonly Variant[];
}

/** FLT_EPSILON: below this change of ‖r‖∞ in a step the paper ends the augmented Lagrangian method. */
const LEAST_CHANGE = 2 ** -23;

const GAP: ParametersInput = { contact: 'GAP' };

/** The method of the paper, the first of every group. */
export const PAPER: Variant = { name: 'as in the paper' };

export const GROUPS: readonly Group[] = [
  {
    name: 'Form of the constraints (Fig. 6)',
    file: 'constraints',
    variants: [
      { name: 'gap', parameters: GAP },
      { name: 'gap, linearised at y', parameters: GAP, ablation: { isLinearisedAtTarget: true } },
      { name: 'no edge lengths', parameters: { stretchLimit: 0 } },
    ],
  },
  {
    name: 'Sweeps of a step (Fig. 7)',
    file: 'sweeps',
    variants: [2, 4, 8, 16].map((sweepsPerStep) => ({
      name: `${sweepsPerStep} sweeps`,
      parameters: { sweepsPerStep },
    })),
  },
  {
    name: 'Optimiser (Figs. 8 and 9)',
    file: 'optimiser',
    variants: [
      { name: 'projected Jacobi', ablation: { optimiser: jacobi(1) } },
      ...[20, 100].map((iterations) => ({
        name: `augmented Lagrangian, ${iterations}`,
        ablation: { optimiser: augmentedLagrangian(iterations), leastChange: LEAST_CHANGE },
      })),
    ],
  },
  {
    name: 'Forward step (Fig. 11)',
    file: 'forward',
    variants: [
      { name: 'half-spaces', parameters: { forward: 'PLANAR' } },
      { name: 'CCD, one step size', ablation: { impactSteps: 'SHARED' } },
      { name: 'CCD, by vertex', ablation: { impactSteps: 'OWN' } },
    ],
  },
  {
    name: 'Momentum: y carried on, or begun at y* in every step',
    file: 'momentum',
    variants: [{ name: 'y from y*', ablation: { isTargetRebuilt: true } }],
  },
];
