import type { Scene } from '../scenes/types.js';
import type { StepRecord } from './records.js';

/** s: time steps of a warm-up are about this long, and not shorter than those of the scene */
const WARM_UP_STEP = 1 / 25;

/** Time steps of a scene that one of its warm-up covers. */
export const strideOf = ({ timeStep }: Scene): number => Math.max(1, Math.round(WARM_UP_STEP / timeStep));

/**
 * The frame before the `count` consecutive ones that needed most steps, together.
 * @param records of frames 1, 2, …
 * @param stride the result is a multiple of it
 */
export function mostContested(records: readonly StepRecord[], count: number, stride: number): number {
  let [first, most] = [0, -1];
  for (let from = 0; from === 0 || from + count <= records.length; from += stride) {
    const steps = records.slice(from, from + count).reduce((sum, record) => sum + record.steps, 0);
    if (steps > most) [first, most] = [from, steps];
  }
  return first;
}

/**
 * The way to a frame of a scene in longer time steps, as a place to begin at: what is moved is where it is at that time, and what is
 * simulated is damped more.
 *
 * @param first frame of the scene, a multiple of the stride
 */
export const warmUpOf = (scene: Scene, first: number): Scene => ({
  ...scene,
  timeStep: strideOf(scene) * scene.timeStep,
  frames: first / strideOf(scene),
});
