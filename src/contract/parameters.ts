export type Preset = 'TUNED' | 'PAPER';

export type ForwardRule = 'PLANAR' | 'ISOTROPIC';

export type ContactForm = 'GAP' | 'VOLUME';

export type KinematicPairs = 'SKIP' | 'PROTECT';

export type VerifyLevel = 'NONE' | 'STATE' | 'PATH';

export type IntersectingStart = 'REJECT' | 'IGNORE_PAIRS';

/** Every field set, lengths in the caller's unit. Names as in the contract's Parameters message (lowerCamelCase). */
export interface Parameters {
  readonly preset: Preset;
  /** δ */
  readonly activationDistance: number;
  /** ρ */
  readonly reach: number;
  readonly leap: number;
  /** Dmin, used by preset PAPER */
  readonly searchRadiusMin: number;
  /** Dmax, used by preset PAPER */
  readonly searchRadiusMax: number;
  /** σ; 0 = off */
  readonly stretchLimit: number;
  /** γ */
  readonly damping: number;
  /** ε */
  readonly residualTolerance: number;
  /** L */
  readonly stepLimit: number;
  readonly sweepsPerStep: number;
  readonly metresPerUnit: number;
  readonly forward: ForwardRule;
  readonly contact: ContactForm;
  readonly verify: VerifyLevel;
  readonly onIntersectingStart: IntersectingStart;
  readonly kinematicPairs: KinematicPairs;
}

/** What a caller may set; absent = the preset's default. */
export type ParametersInput = { readonly [K in keyof Parameters]?: Parameters[K] | undefined };
