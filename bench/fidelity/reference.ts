import type { Status } from '../../src/contract/report.js';
import type { ResolveRequest } from '../../src/contract/requests.js';
import { TwoWay } from '../../src/solver/cpu/two-way.js';
import { Workspace } from '../../src/solver/cpu/workspace.js';
import { type Settings, toSettings } from '../../src/solver/settings.js';
import { prepare } from '../measure-engines.js';
import { type Fidelity, measureFidelity } from './measure.js';

/**
 * An approximation of the optimum at which the pull-back aims, at the cost of much time:
 *
 *   minimise ½ Σ m_i |x_i − y*_i|²  subject to  gaps ≥ contact offset,  edges ≤ σ L*,  along a free path from the start.
 *
 * The feasible set is not convex, so this is a local minimum: the best of several runs of the CPU engine's own steps
 * with different step sizes, each with hundreds of sweeps per step, and ended by a gain that is a seventieth of that
 * which ends BALANCED. Lengths are in the unit of the request.
 */
export interface Reference extends Fidelity {
  readonly status: Status;
  readonly steps: number;
  /** τ of the best run */
  readonly tau: number;
  /** parameters of the problem: contact offset in δ, and σ */
  readonly offset: number;
  readonly sigma: number;
}

/** Sweeps per step; BALANCED makes 32. */
const SWEEPS = 300;
/** Share of the merit that a step must gain, in BALANCED 0.007; three consecutive steps that gain less end the run. */
const MIN_GAIN = 1e-4;
/** Step sizes, each of which gets a run of its own. */
const TAUS = [0.4, 0.2, 0.1, 0.05];
const STEP_LIMIT = 3000;

/** @param tell reports every run, because each may take minutes */
export function findReference(request: ResolveRequest, tell: (text: string) => void): Reference {
  const { mesh, parameters, units, x, y } = prepare({ request });
  const { pullBack, ...settings } = toSettings({ ...parameters, quality: 'BALANCED' }, units);
  if (!pullBack) throw new Error('The quality BALANCED has no pull-back.');
  const { offset } = pullBack;
  const { sigma } = settings;
  let best: Reference | undefined;
  for (const tau of TAUS) {
    const patient: Settings = {
      ...settings,
      stepLimit: STEP_LIMIT,
      pullBack: { ...pullBack, sweeps: SWEEPS, tau, minGain: MIN_GAIN },
    };
    const { positions, status, steps } = new TwoWay(mesh, patient, new Workspace()).resolve({ x, y });
    const { rms, max, ...shape } = measureFidelity(mesh, positions, y, sigma);
    const found = { rms: rms / units.scale, max: max / units.scale, ...shape };
    tell(
      `  τ ${tau}: ${status} after ${steps} steps, rms ${found.rms.toPrecision(4)}, ${found.overlong} overlong edges`,
    );
    if (!best || isBetter(found, best)) best = { ...found, status, steps, tau, offset, sigma };
  }
  if (!best) throw new Error('No run was made.');
  return best;
}

/** Fewer overlong edges come first: an answer that violates limits may be nearer than any that satisfies them. */
function isBetter(a: Fidelity, b: Fidelity): boolean {
  return a.overlong === b.overlong ? a.rms < b.rms : a.overlong < b.overlong;
}
