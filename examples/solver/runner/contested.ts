import type { Scene } from '../scenes/types.js';
import type { StepRecord } from './records.js';

/** s: time steps of a warm-up are about this long, but not shorter than those of the scene */
const WARM_UP_STEP = 1 / 25;

/** Up to this many frames before a window are played unchanged: the window is then that of the whole run. */
const SHORT_WAY = 40;

/** Whether the frames before this one are played like the rest of the scene. */
export const isShortWay = (first: number): boolean => first <= SHORT_WAY;

/** Time steps of a scene that one of its warm-up covers. */
export const strideOf = ({ timeStep }: Scene): number => Math.max(1, Math.round(WARM_UP_STEP / timeStep));

/**
 * Finds the frame before the `count` consecutive ones that together needed the most steps.
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

/** Whether a run is the beginning of another one, by the steps of its frames. */
export const isBeginningOf = (part: readonly StepRecord[], whole: readonly StepRecord[]): boolean =>
  part.every(({ steps }, frame) => steps === whole[frame]?.steps);

/**
 * Returns the frames before a frame of a scene, as a scene of their own.
 *
 * @param first frame of the scene, a multiple of the stride
 * @param isUnchanged false = in longer time steps. In these, prescribed motions are exact, but simulated motions are
 *   damped more
 */
export function warmUpOf(scene: Scene, first: number, isUnchanged: boolean): Scene {
  const stride = isUnchanged ? 1 : strideOf(scene);
  return { ...scene, timeStep: stride * scene.timeStep, frames: first / stride };
}
