import type { Parameters } from '../../src/contract/parameters.js';

/** Resolved parameters, for answers that nobody computed. */
export const sampleParameters: Parameters = {
  preset: 'TUNED',
  activationDistance: 0.001,
  reach: 0.0018,
  leap: 0.02,
  searchRadiusMin: 0.002,
  searchRadiusMax: 0.004,
  stretchLimit: 1.1,
  damping: 0.9,
  residualTolerance: 0.0001,
  stepLimit: 512,
  sweepsPerStep: 2,
  metresPerUnit: 1,
  forward: 'PLANAR',
  contact: 'GAP',
  verify: 'STATE',
  onIntersectingStart: 'REJECT',
  kinematicPairs: 'SKIP',
  quality: 'FAST',
  method: 'TWO_WAY',
  contactOffset: 0.00025,
};
