import type { Cloth, Solid } from '../src/bodies.js';
import type { Scene } from './types.js';

/**
 * Settings of scenes whose time steps are long for the speed at which bodies meet, such as cloth that falls onto a tip
 * in time steps of a twentieth of a second, or mats that fall a metre in steps of a hundredth: a target lies
 * centimetres inside an obstacle. With one Newton iteration, the resulting stretch remains elastic energy, many times
 * as much as the fall has released.
 *
 * They take two iterations, and a repulsion as stiff as the material.
 *
 * @param spacing m, of the vertices
 */
export const longSteps = (
  material: Cloth | Solid,
  spacing: number,
): Pick<Scene, 'iterations' | 'repulsionStiffness'> => ({
  iterations: 2,
  repulsionStiffness: asStiffAs(material, spacing),
});

/**
 * The stiffness, 1/s², of a repulsion of pairs of vertices that is as stiff as the material between neighbours,
 * stiffness / spacing² per mass: a softer one yields instead of the material where bodies are pressed together, and
 * targets sink in until edges reach their limit.
 *
 * @param spacing m, of the vertices
 */
export const asStiffAs = (material: Cloth | Solid, spacing: number): number =>
  (material.kind === 'cloth' ? material.stretching : material.young) / (material.density * spacing ** 2);
