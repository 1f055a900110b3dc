import type { Geometry } from '../src/bodies.js';
import type { Loop, Scene } from './types.js';

/**
 * The condition that layers of a garment are worn, one over the other: a ring of each, halfway down, encloses the body
 * and the layer below it. All are surfaces of revolution with the same number of vertices around, in the order of the
 * layers, the body last.
 */
export function wornOver(layers: readonly Geometry[], body: Geometry, around: number): Pick<Scene, 'loops' | 'linked'> {
  const ringsOf = ({ positions }: Geometry): number => positions.length / (3 * around);
  let first = 0;
  const firsts = layers.map((layer) => {
    first += ringsOf(layer) * around;
    return first - ringsOf(layer) * around;
  });
  const ring = (layer: Geometry, i: number): Loop => {
    const middle = firsts[i]! + Math.floor(ringsOf(layer) / 2) * around;
    return [{ line: Array.from({ length: around }, (_, k) => middle + k) }];
  };
  const down = (geometry: Geometry, from: number, isUpward: boolean): Loop => {
    const ends = [
      [0.05, 0.02, 1],
      [0.03, 0.04, -1],
    ] as const;
    const [start, end] = isUpward ? [ends[1], ends[0]] : ends;
    return [{ line: Array.from({ length: ringsOf(geometry) }, (_, i) => from + i * around), from: start, to: end }];
  };
  const n = layers.length;
  return {
    loops: [...layers.map(ring), ...layers.map((layer, i) => down(layer, firsts[i]!, false)), down(body, first, true)],
    linked: [...layers.map((_, i) => [i, 2 * n] as const), ...layers.slice(1).map((_, i) => [i + 1, n + i] as const)],
  };
}
