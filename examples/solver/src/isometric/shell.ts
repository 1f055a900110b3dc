import { assemble, type Body, type Geometry, type Vec } from '../bodies.js';
import type { FrictionSettings } from '../friction.js';
import type { Model } from '../model.js';
import { type Subdivision, subdivide } from './subdivision.js';

/** An isometric surface among obstacles. Metres, kilograms, seconds; z points up. */
export interface ShellScene {
  readonly name: string;
  readonly sentence: string;
  /** s */
  readonly timeStep: number;
  /** time steps */
  readonly frames: number;
  /** base mesh, at rest */
  readonly surface: Geometry;
  /** kg/m² */
  readonly density: number;
  /** N·m */
  readonly bending: number;
  /** nodes of the base mesh that are held */
  readonly pins?: readonly number[];
  readonly obstacles: readonly Body[];
  /** default: none */
  readonly friction?: FrictionSettings;
  /** of distances within the surface, | length / rest − 1 | */
  readonly strainTolerance: number;
  /** direction of view in pictures */
  readonly view: Vec;
}

export interface Shell {
  readonly mesh: Subdivision;
  /** the subdivided surface first, then the obstacles */
  readonly model: Model;
  /** N·m */
  readonly bending: number;
  readonly bodies: readonly Body[];
}

/** Makes a shell in which every node carries a third of the mass of its small triangles. */
export function makeShell({ name, surface, density, bending, pins, obstacles }: ShellScene): Shell {
  const mesh = subdivide(surface);
  // The surface's own forces are the constraints; the integrator does not use those of the model.
  const material = { kind: 'cloth', density, stretching: 0, poisson: 0, bending: 0 } as const;
  const bodies: Body[] = [{ name, geometry: mesh.geometry, material, ...(pins ? { pins } : {}) }, ...obstacles];
  return { mesh, model: assemble(bodies), bending, bodies };
}
