import type { Positions } from '../../../src/contract/mesh.js';

/** The name of the promise. */
export const FREE = 'what nothing holds reaches its target';

/** The largest distance that counts as reached, in δ. What nothing pushes ends at its target but for the rounding of both. */
const REACHED = 0.05;

/**
 * Whether vertices that nothing holds have reached their targets in a converged answer of the pull-back, whatever keeps
 * other bodies from theirs.
 *
 * @param vertices those that nothing holds
 * @param delta δ, the caller's unit
 */
export function judgeFree(
  vertices: readonly number[],
  positions: Positions,
  target: Positions,
  delta: number,
  find: (promise: string, details: string) => void,
): void {
  const leftOf = (v: number): number =>
    Math.hypot(...[0, 1, 2].map((c) => positions[3 * v + c] - target[3 * v + c])) / delta;
  const farthest = Math.max(...vertices.map(leftOf));
  // Not a number is no distance that was reached.
  if (!(farthest <= REACHED)) find(FREE, `a vertex of ${vertices.length} ends ${farthest} δ from its target`);
}
