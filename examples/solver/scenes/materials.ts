import type { Cloth, Obstacle, Solid } from '../src/bodies.js';

/** Cloth like a thin cotton: 200 g/m². */
export const COTTON: Cloth = { kind: 'cloth', density: 0.2, stretching: 400, poisson: 0.3, bending: 2e-5 };

/**
 * A soft rubber. St. Venant and Kirchhoff's material collapses below 0.58 of its length, and elements under a strong
 * impact would turn inside out.
 */
export const RUBBER: Solid = { kind: 'solid', density: 1000, young: 1e5, poisson: 0.4, model: 'co-rotational' };

export const OBSTACLE: Obstacle = { kind: 'obstacle' };
