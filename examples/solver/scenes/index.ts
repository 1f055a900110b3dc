import { FUNNELS } from './funnel.js';
import { rotatingSphere } from './rotating-sphere.js';
import type { MakeScene } from './types.js';

/** Every scene by its name, in the order in which they are played. */
export const SCENES: ReadonlyMap<string, MakeScene> = new Map(
  [rotatingSphere, ...FUNNELS].map((make) => [make('small').name, make]),
);
