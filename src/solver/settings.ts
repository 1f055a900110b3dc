import type { ContactForm, ForwardRule, Parameters, Quality } from '../contract/parameters.js';
import type { EngineUnits } from './engine.js';
import { reservedStepsOf, shorteningStepsOf } from './step-shares.js';

/** How steps of the pull-back towards y* proceed. */
export interface PullStage {
  /** sweeps of a step */
  readonly sweeps: number;
  /** τ: share of the way to y* of a vertex that was pushed recently */
  readonly tau: number;
  /** share of the merit that a step must gain; three steps in a row that gain less end the stage (cpu/poor-steps.ts) */
  readonly minGain: number;
}

/** How the pull-back proceeds (cpu/pull-back.ts); undefined = Algorithm 1 alone. */
export interface PullBackSettings extends PullStage {
  /** how it goes on from where such steps gain too little; undefined = it does not */
  readonly finer: PullStage | undefined;
  /** contact offset over δ (cpu/contact-aims.ts) */
  readonly offset: number;
  /** steps of the step limit that Algorithm 1 leaves to it (step-shares.ts) */
  readonly reservedSteps: number;
  /** those that its steps towards y* leave to its last steps */
  readonly shorteningSteps: number;
}

/** Parameters in the form that an engine uses: every length is in engine units and already a float32. */
export interface Settings {
  /** δ */
  readonly delta: number;
  /** ρ, by which a trust box is grown */
  readonly reach: number;
  /** longest free motion that one search covers */
  readonly leap: number;
  /** Dmin of Algorithm 1 (guard RADIUS only) */
  readonly searchRadiusMin: number;
  /** Dmax of Algorithm 1 (guard RADIUS only) */
  readonly searchRadiusMax: number;
  /** d_floor: the gap that no approach budget may use */
  readonly floor: number;
  /** σ of Eq. 13; 0 = no edge length constraints */
  readonly sigma: number;
  /** γ of Eq. 17 */
  readonly gamma: number;
  /** ε */
  readonly epsilon: number;
  /** L */
  readonly stepLimit: number;
  readonly sweeps: number;
  readonly forward: ForwardRule;
  readonly contact: ContactForm;
  /** the guard of pairs outside P: a trust box per vertex (TUNED), or the radius D of Algorithm 1 (PAPER) */
  readonly guard: 'BOXES' | 'RADIUS';
  readonly skipKinematicPairs: boolean;
  readonly pullBack: PullBackSettings | undefined;
  /** engine units per caller's unit; activation distances of parts are multiplied by it */
  readonly scale: number;
}

export function toSettings(parameters: Parameters, units: EngineUnits): Settings {
  const length = (value: number): number => Math.fround(value * units.scale);
  return {
    delta: length(parameters.activationDistance),
    reach: length(parameters.reach),
    leap: length(parameters.leap),
    searchRadiusMin: length(parameters.searchRadiusMin),
    searchRadiusMax: length(parameters.searchRadiusMax),
    floor: Math.fround(units.floor),
    sigma: parameters.stretchLimit,
    gamma: Math.fround(parameters.damping),
    epsilon: parameters.residualTolerance,
    stepLimit: parameters.stepLimit,
    sweeps: parameters.sweepsPerStep,
    forward: parameters.forward,
    contact: parameters.contact,
    guard: parameters.preset === 'PAPER' ? 'RADIUS' : 'BOXES',
    skipKinematicPairs: parameters.kinematicPairs === 'SKIP',
    pullBack: pullBackOf(parameters),
    scale: units.scale,
  };
}

const FIRST_STAGE: PullStage = { sweeps: 32, tau: 0.5, minGain: 0.014 };
const FINER_STAGE: PullStage = { sweeps: 64, tau: 0.3, minGain: 0.001 };

/**
 * FAST is Algorithm 1 alone. More sweeps and a later end come nearer to the constrained optimum and cost time in
 * proportion. τ only damps vertices that contacts push: with a smaller τ a net that hangs on few contacts oscillates
 * less about its place, but takes more steps to reach it, so it is worthwhile only if the phase ends late. FINE begins
 * with the steps of BALANCED, so that it ends at least as near: from far away, shorter steps lead to other places, which
 * are often worse. Measured with npm run bench -- --suite fidelity; docs/measurements.md states what each quality
 * reaches.
 */
const QUALITIES: Readonly<Record<Quality, (PullStage & Pick<PullBackSettings, 'finer'>) | undefined>> = {
  FAST: undefined,
  BALANCED: { ...FIRST_STAGE, finer: undefined },
  FINE: { ...FIRST_STAGE, finer: FINER_STAGE },
};

function pullBackOf(parameters: Parameters): PullBackSettings | undefined {
  const { quality, contactOffset, activationDistance, stepLimit } = parameters;
  const plan = QUALITIES[quality];
  if (!plan) return undefined;
  const offset = contactOffset / activationDistance;
  return { ...plan, offset, reservedSteps: reservedStepsOf(stepLimit), shorteningSteps: shorteningStepsOf(stepLimit) };
}

/**
 * Whether a proximity set that was searched under `a` is valid under `b`: all settings that boxes and search read
 * agree.
 */
export function servesBoth(a: Settings, b: Settings): boolean {
  return (
    a.delta === b.delta &&
    a.reach === b.reach &&
    a.leap === b.leap &&
    a.searchRadiusMin === b.searchRadiusMin &&
    a.searchRadiusMax === b.searchRadiusMax &&
    a.guard === b.guard &&
    a.skipKinematicPairs === b.skipKinematicPairs
  );
}
