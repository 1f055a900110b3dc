import type { Seen } from './surface.js';
import { add, at, cross, dot, normalise, scale, sub, type Vec } from './vector.js';

export interface Camera {
  /** samples per unit of the positions at depth 1 */
  readonly focal: number;
  see(point: Vec): Seen;
  turn(direction: Vec): Vec;
}

/** A narrow field of view: little distortion, but some depth. */
const HALF_VIEW = Math.tan((11 * Math.PI) / 180);
const UP: Vec = [0, 0, 1];

/**
 * A camera that looks along `direction` and shows all the states completely.
 * @param margin fraction of the picture that stays empty around them
 */
export function frame(
  states: readonly ArrayLike<number>[],
  direction: Vec,
  width: number,
  height: number,
  margin: number,
): Camera {
  const forward = normalise(direction);
  const right = normalise(cross(forward, UP));
  const down = cross(forward, right);
  const turn = (v: Vec): Vec => [dot(v, right), dot(v, down), dot(v, forward)];
  const bounds = { low: [Infinity, Infinity, Infinity], high: [-Infinity, -Infinity, -Infinity] };
  for (const state of states) {
    for (let i = 0; i < state.length / 3; i++) {
      turn(at(state, i)).forEach((value, c) => {
        bounds.low[c] = Math.min(bounds.low[c], value);
        bounds.high[c] = Math.max(bounds.high[c], value);
      });
    }
  }
  const middle = [0, 1, 2].map((c) => (bounds.low[c] + bounds.high[c]) / 2);
  const size = [0, 1, 2].map((c) => bounds.high[c] - bounds.low[c]);
  const half = Math.max(size[0] / 2, ((size[1] / 2) * width) / height) / (1 - margin);
  const distance = half / HALF_VIEW + size[2] / 2;
  const centre = add(add(scale(right, middle[0]), scale(down, middle[1])), scale(forward, middle[2]));
  const eye = sub(centre, scale(forward, distance));
  const focal = width / 2 / HALF_VIEW;
  return {
    focal,
    turn,
    see: (point) => {
      const [x, y, z] = turn(sub(point, eye));
      return [width / 2 + (focal * x) / z, height / 2 + (focal * y) / z, z];
    },
  };
}
