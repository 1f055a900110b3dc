import type { Settings } from '../../src/solver/settings.js';

/** Settings for a mesh with edges of length 1, lengths as float32 like the real ones; anything can be overridden. */
export function makeSettings(overrides: Partial<Settings> = {}): Settings {
  const delta = overrides.delta ?? 0.1;
  const settings: Settings = {
    delta,
    reach: 1.8 * delta,
    leap: 2,
    searchRadiusMin: 2 * delta,
    searchRadiusMax: 4 * delta,
    floor: delta / 100,
    sigma: 1.1,
    gamma: 0.9,
    epsilon: 1e-4,
    stepLimit: 512,
    sweeps: 2,
    forward: 'PLANAR',
    contact: 'GAP',
    guard: 'BOXES',
    skipKinematicPairs: true,
    pullBack: undefined,
    scale: 1,
    ...overrides,
  };
  const { reach, leap, searchRadiusMin, searchRadiusMax, floor, gamma } = settings;
  const rounded = { delta, reach, leap, searchRadiusMin, searchRadiusMax, floor, gamma };
  for (const name of Object.keys(rounded) as (keyof typeof rounded)[]) rounded[name] = Math.fround(rounded[name]);
  return {
    ...settings,
    ...rounded,
  };
}
