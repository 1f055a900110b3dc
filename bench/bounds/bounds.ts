import type { Bound } from './climb.js';
import { DISTANCE_BOUNDS } from './distances.js';
import { HEIGHT_BOUNDS } from './heights.js';
import { PATH_BOUNDS } from './paths.js';
import { RIGID_BOUNDS } from './rigid.js';
import { STEP_BOUNDS } from './steps.js';
import { STRAIN_BOUNDS } from './strains.js';

/** All bounds that are measured; src/solver first, then the verifier and the report. */
export const BOUNDS: readonly Bound[] = [
  ...HEIGHT_BOUNDS,
  ...STEP_BOUNDS,
  ...RIGID_BOUNDS,
  ...DISTANCE_BOUNDS,
  ...PATH_BOUNDS,
  ...STRAIN_BOUNDS,
];
