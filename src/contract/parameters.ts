export type Preset = 'TUNED' | 'PAPER';

export type ForwardRule = 'PLANAR' | 'ISOTROPIC';

export type ContactForm = 'GAP' | 'VOLUME';

export type KinematicPairs = 'SKIP' | 'PROTECT';

export type VerifyLevel = 'NONE' | 'STATE' | 'PATH';

/** UNTANGLE: only for the creation of a session. */
export type IntersectingStart = 'REJECT' | 'IGNORE_PAIRS' | 'UNTANGLE';

/** FAST: Algorithm 1 alone. BALANCED and FINE add a pull-back, and FINE goes on with finer steps. */
export type Quality = 'FAST' | 'BALANCED' | 'FINE';

/** TWO_WAY: two-way collision handling. VOLUME_IMPULSES: volume-preserving impulses, which conserve momentum. */
export type MethodName = 'TWO_WAY' | 'VOLUME_IMPULSES';

/** Parameters of the solver, every field set. Names as in the contract's Parameters; lengths in the caller's unit. */
export interface Parameters {
  readonly preset: Preset;
  /** δ > 0: distance at which a proximity pair becomes a constraint. */
  readonly activationDistance: number;
  /** ρ > 0: how far a trust box is grown. */
  readonly reach: number;
  /** ≥ 0: longest free motion that one search covers. */
  readonly leap: number;
  /** Dmin ≥ δ; preset PAPER only. */
  readonly searchRadiusMin: number;
  /** Dmax ≥ Dmin; preset PAPER only. */
  readonly searchRadiusMax: number;
  /** σ > 1, relative to the length of the edge in the target (Eq. 13); 0 = off. */
  readonly stretchLimit: number;
  /** 0 < γ < 1. */
  readonly damping: number;
  /** 0 < ε < 1: termination threshold of the residual. */
  readonly residualTolerance: number;
  /** L ≥ 1. */
  readonly stepLimit: number;
  readonly sweepsPerStep: number;
  /** > 0; scales the metric defaults of preset PAPER and nothing else. */
  readonly metresPerUnit: number;
  readonly forward: ForwardRule;
  readonly contact: ContactForm;
  readonly verify: VerifyLevel;
  readonly onIntersectingStart: IntersectingStart;
  readonly kinematicPairs: KinematicPairs;
  readonly quality: Quality;
  /**
   * 0 ≤ o ≤ δ: the gap that contacts of BALANCED and FINE aim for. A pair that is nearer in the start aims for δ/8 more
   * than it has, up to o. It is not reached if edge limits or other contacts leave no room, and up to δ/50 less counts
   * as reached.
   */
  readonly contactOffset: number;
  readonly method: MethodName;
}

/** Parameters that a caller sets; absent = default of the preset. */
export type ParametersInput = { readonly [K in keyof Parameters]?: Parameters[K] | undefined };
