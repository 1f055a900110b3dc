import type { Mode } from './cases.js';
import type { Edit, Plant } from './planting.js';
import type { Variation } from './scenes/variation.js';

/**
 * A fault that is planted to see whether the campaign notices. Patches of a copy of the build, never switches in the
 * product: what is shipped knows nothing of them.
 */
export interface Mutant extends Plant {
  readonly fault: string;
  /** default cpu */
  readonly engine?: 'webgpu';
  /** scenes that show it, smallest first; each is tried with several seeds until one is caught */
  readonly scenes: readonly string[];
  /** promises, one of which must be reported broken */
  readonly caughtBy: readonly string[];
  /** as callers have it: the service verifies; without it the judge is alone with the engine */
  readonly isVerified?: boolean;
  readonly mode?: Mode;
  /** how the scenes are sent: what differs from float64 numbers as the scene has them */
  readonly sent?: Partial<Variation>;
}

export const FORWARD = 'src/solver/cpu/forward.js';
export const MEETING = 'no intersections in the answer';
export const TUNNEL = 'nothing tunnels';
export const FLOOR = 'half of the floor is kept';
export const PATH = 'no collisions on the path';

/** Steps so small that each is rounded, with a floor as low as it may be. */
export const CRAWLING = { scalar: 'FLOAT32', corner: 'CRAWL' } as const;
/** All the way at once, and nobody pushed aside. */
export const STRIDING = { scalar: 'FLOAT32', corner: 'STRIDE' } as const;

export const noCheck: Edit = { file: FORWARD, search: 'if (!holds) {', replacement: 'if (false) {' };

/** The service tries its engine before it says that it is ready, and would refuse to start with most of these faults. */
export const MUTED_PROBE: Edit = {
  file: 'src/session/probe.js',
  search: 'if (!report.verification.fellBack && isAbove)',
  replacement: 'if (true)',
};
