import type { Scene } from '../scenes/types.js';
import type { StepRecord } from './records.js';

/** s: time steps of a warm-up are about this long, and not shorter than those of the scene */
const WARM_UP_STEP = 1 / 25;

/** Frames before a window that are few enough to be played as they are: the window is then that of the whole run. */
const SHORT_WAY = 40;

/** Whether the way to a frame is played like the rest of the scene. */
export const isShortWay = (first: number): boolean => first <= SHORT_WAY;

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
 * The way to a frame of a scene, as a place to begin at: as it is where it is short, else in longer time steps. In these, what is moved is where it
 * is at that time, and what is simulated is damped more.
 *
 * @param first frame of the scene, a multiple of the stride
 */
export function warmUpOf(scene: Scene, first: number): Scene {
  const stride = isShortWay(first) ? 1 : strideOf(scene);
  return { ...scene, timeStep: stride * scene.timeStep, frames: first / stride };
}
