import { Surfaces } from '../../bench/untangle/surfaces.js';
import type { Random } from '../support/random.js';

export const RULES = { kinematicPairs: 'SKIP', maxPairs: 1000 } as const;
export const SIZE = 9;

/** A layer above another, pushed through it by some edges around a random place. */
export function dent(random: Random, depth: number) {
  const scene = new Surfaces();
  const [cx, cy, shift] = [random.between(4, 5), random.between(4, 5), random.between(0.1, 0.4)];
  const jitter = () => random.between(-0.05, 0.05);
  scene.grid('lower', SIZE, SIZE, (u, v) => ({ at: [SIZE * u + jitter(), SIZE * v + jitter(), 0] }));
  scene.grid('upper', SIZE, SIZE, (u, v) => {
    const [x, y] = [SIZE * u + shift + jitter(), SIZE * v + shift + jitter()];
    const near = Math.max(0, 1 - ((x - cx) ** 2 + (y - cy) ** 2) / 9) ** 2;
    return { at: [x, y, 0.3 - (0.3 + depth) * near] };
  });
  return scene.build();
}

/** The engine's numbers are float32; the answer has those of the start where they are equal. */
export const isNear = (one: ArrayLike<number>, other: ArrayLike<number>): boolean =>
  Array.from(one).every((p, k) => Math.abs(p - other[k]!) < 1e-5);
