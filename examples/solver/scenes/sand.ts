import { OBSTACLE } from './materials.js';
import { bySize, makeGrid, makeRevolution, movedBy } from './shapes.js';
import type { MakeScene } from './types.js';

/** m: distance of grains before they fall, and the distance that the service keeps between them */
const SPACING = 0.006;
const DISTANCE = 0.004;

/** A pseudo-random number in [−½, ½) that depends on an integer. */
const scatter = (i: number): number => {
  const h = Math.imul(i ^ 0x5bd1e995, 0x27d4eb2d);
  return ((h ^ (h >>> 15)) >>> 0) / 2 ** 32 - 0.5;
};

/** Grains fall through a hopper and pile up on the ground (Fig. 3e, 3f). */
export const sand: MakeScene = (size) => {
  const across = bySize(size, { small: 8, quarter: 20, full: 30 });
  const layers = bySize(size, { small: 6, quarter: 19, full: 34 });
  const half = (across * SPACING) / 2;
  const positions = new Float64Array(3 * across * across * layers);
  for (let i = 0; i < positions.length / 3; i++) {
    const [column, row, layer] = [i % across, Math.floor(i / across) % across, Math.floor(i / across ** 2)];
    const place = [column - (across - 1) / 2, row - (across - 1) / 2, layer].map(
      (at, c) => SPACING * (at + 0.3 * scatter(3 * i + c)),
    );
    positions.set(place, 3 * i);
  }
  const [mouth, throat] = [1.6 * half, 0.55 * half];
  const wall = Array.from(
    { length: 13 },
    (_, i) => [mouth + ((throat - mouth) * i) / 12, -0.9 * half * (i / 12)] as const,
  );
  return {
    name: 'sand',
    sentence: 'Grains fall through a hopper and pile up on the ground.',
    paper: {
      name: 'Sand (Fig. 3e)',
      size: '30K particles',
      averageSteps: 51,
      maximumSteps: 160,
      averageCost: 0.223,
      maximumCost: 1.55,
    },
    timeStep: 1 / 100,
    frames: 250,
    friction: { static: 0.5, kinetic: 0.4 },
    parameters: { activationDistance: DISTANCE },
    bodies: [
      {
        name: 'sand',
        geometry: {
          positions: movedBy({ positions }, [0, 0, 0.03 + half]).positions,
          particles: Uint32Array.from({ length: positions.length / 3 }, (_, i) => i),
        },
        material: { kind: 'grains', mass: 1e-4 },
      },
      { name: 'hopper', geometry: movedBy(makeRevolution(wall, 40), [0, 0, half]), material: OBSTACLE },
      { name: 'ground', geometry: movedBy(makeGrid(25, 25, 10 * half, 10 * half), [0, 0, -half]), material: OBSTACLE },
    ],
    view: [-0.4, 1, -0.5],
  };
};
