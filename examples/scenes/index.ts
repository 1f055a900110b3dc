import { makeHair } from './hair.js';
import { makeLayers } from './layers.js';
import { makeSand } from './sand.js';
import { makeSleeveScene } from './sleeve.js';
import { makeSolid, makeSolidSurface } from './solid.js';
import { makeSpikeScene } from './spike.js';
import type { MakeScene } from './types.js';

/** The committed examples, in the order of the list in README.md. */
export const EXAMPLES: Readonly<Record<string, MakeScene>> = {
  layers: makeLayers,
  spike: makeSpikeScene,
  sleeve: makeSleeveScene,
  hair: makeHair,
  sand: makeSand,
  solid: makeSolidSurface,
};

/** The scenes of the benchmark: the examples, and the solid with its tetrahedra. */
export const SCENES: Readonly<Record<string, MakeScene>> = { ...EXAMPLES, 'solid-tetrahedra': makeSolid };
