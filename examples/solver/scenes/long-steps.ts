import type { Cloth } from '../src/bodies.js';
import type { Scene } from './types.js';

/**
 * Of scenes with time steps of a twentieth of a second and longer, in which cloth falls onto a sharp edge or tip: a target lies centimetres inside of the
 * obstacle. With one Newton iteration what that stretches stays elastic energy, many times as much as the fall has set free.
 *
 * The repulsion of a pair of vertices is as stiff as the cloth between neighbours, stretching / spacing² per mass: a softer one gives way in place of the cloth, and
 * targets sink in until edges are at their limit.
 *
 * @param spacing m, of the vertices
 */
export const longSteps = (
  { stretching, density }: Cloth,
  spacing: number,
): Pick<Scene, 'iterations' | 'repulsionStiffness'> => ({
  iterations: 2,
  repulsionStiffness: stretching / (density * spacing ** 2),
});
