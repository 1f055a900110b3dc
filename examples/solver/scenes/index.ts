import { betweenSpheres } from './between-spheres.js';
import { blade } from './blade.js';
import { bowKnot } from './bow-knot.js';
import { cone } from './cone.js';
import { drapes } from './drapes.js';
import { dress } from './dress.js';
import { FUNNELS } from './funnel.js';
import { gown } from './gown.js';
import { gripper } from './gripper.js';
import { hair } from './hair.js';
import { hammock } from './hammock.js';
import { mats } from './mats.js';
import { needle } from './needle.js';
import { reefKnot } from './reef-knot.js';
import { rotatingSphere } from './rotating-sphere.js';
import { sand } from './sand.js';
import { SPINS } from './spinning-patch.js';
import { STRAIN_LIMITED } from './strain-drape.js';
import { twistingTube } from './twisting-tube.js';
import { twoSpheres } from './two-spheres.js';
import type { MakeScene } from './types.js';

const ALL: readonly MakeScene[] = [
  rotatingSphere,
  ...FUNNELS,
  needle,
  twistingTube,
  bowKnot,
  reefKnot,
  mats,
  hair,
  sand,
  ...SPINS,
  cone,
  dress,
  gown,
  blade,
  twoSpheres,
  hammock,
  drapes,
  betweenSpheres,
  ...STRAIN_LIMITED,
  gripper,
];

/** Every scene by its name, in the order in which they are played. */
export const SCENES: ReadonlyMap<string, MakeScene> = new Map(ALL.map((make) => [make('small').name, make]));
