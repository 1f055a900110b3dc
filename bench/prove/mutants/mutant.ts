import type { Mode } from '../cases/cases.js';
import { KEPT_FLOOR } from '../judge/answer-judge.js';
import type { Random } from '../scenes/random.js';
import type { Variation } from '../scenes/variation.js';
import type { Fault } from './fault.js';
import type { Plant } from './planting.js';

/**
 * Faults that are planted to see whether the campaign detects them. They are patches of a copy of the build, never
 * switches in the product, which knows nothing of them.
 */
export interface Mutant extends Plant {
  readonly description: string;
  /** default cpu */
  readonly engine?: 'webgpu';
  /** scenes that reveal it, smallest first; each is tried with several seeds until one is caught */
  readonly scenes: readonly string[];
  /** promises, one of which must be reported broken; for a failure, words of its message */
  readonly caughtBy: readonly string[];
  /** reveals it instead of scenes: a failure that the build must survive. @throws Broken if it does not */
  readonly failure?: (engine: 'cpu' | 'webgpu', random: Random, build: string) => Promise<string>;
  /** whether the service verifies, as for callers; without it the judge is alone with the engine */
  readonly isVerified?: boolean;
  readonly mode?: Mode;
  /** how the scenes are sent: the differences from unchanged float64 numbers under quality FAST */
  readonly sent?: Partial<Variation>;
}

export const BOUND = 'src/solver/cpu/bound.js';
export const CHECK = 'src/solver/cpu/check.js';
export const MEETING = 'no intersections in the answer';
export const TUNNEL = 'nothing tunnels';
export const FLOOR = KEPT_FLOOR;
export const PATH = 'no collisions on the path';

/** Steps so small that each is rounded, with the lowest possible floor. */
export const CRAWLING = { scalar: 'FLOAT32', corner: 'CRAWL' } as const;
/** The whole motion in one step, and no vertex pushed aside. */
export const STRIDING = { scalar: 'FLOAT32', corner: 'STRIDE' } as const;

export const noBound: Fault = { file: BOUND, function: 'stepBound', instead: () => 1 };

export const noCheck: readonly Fault[] = [
  { file: CHECK, function: 'isAbove', instead: () => true },
  { file: CHECK, function: 'isBelow', instead: () => true },
];

/** Pairs that were excluded once stay excluded, however far apart they are. */
export const notGuardedAgain: Fault = {
  file: 'src/verify/excluded.js',
  function: 'findNear',
  instead: (_: unknown, _mesh: unknown, _positions: unknown, pairs: unknown) => pairs,
};

/** The service tests its engine before it reports readiness, and would refuse to start with most of these faults. */
export const MUTED_PROBE: Fault = { file: 'src/session/resolve.js', function: 'checkProbe', instead: () => undefined };
