import t from 'tap';
import { assemble } from '../src/bodies.js';
import type { Contacts } from '../src/contacts.js';
import { type CollisionHandler, Integrator, startOf } from '../src/integrator.js';

/** m: of a contact that the service keeps apart */
const OFFSET = 1e-4;
/** s, and how many of them */
const TIME_STEP = 0.01;
const STEPS = 60;
/** Of the speed of a free slide: a pair that sticks keeps a hundredth of what one step adds to it (CREEP); twice that. */
const STUCK = (2 * 0.01) / STEPS;
/**
 * Of an acceleration. The drag that makes μ N of the slip without friction makes less of what is left of it: in the n-th step by the share that
 * friction takes off in one step of what n steps have brought, 0.23 g to n · 0.39 g: 2 to 1 percent from the middle on, of a force
 * that is 0.6 of the acceleration.
 */
const SLID = 0.015;

/** A grain, vertex 0, over a fixed triangle in the plane z = 0; gravity is tilted instead of the plane. */
function slide(angle: number, friction: { static: number; kinetic: number }, repulsionStiffness: number) {
  const gravity = [9.81 * Math.sin(angle), 0, -9.81 * Math.cos(angle)] as const;
  const model = assemble(
    [
      {
        name: 'grain',
        geometry: { positions: Float64Array.of(0, 0, 2 * OFFSET), particles: Uint32Array.of(0) },
        material: { kind: 'grains', mass: 0.01 },
      },
      {
        name: 'plane',
        geometry: { positions: Float64Array.of(-9, -9, 0, 9, -9, 0, 0, 9, 0), triangles: Uint32Array.of(0, 1, 2) },
        material: { kind: 'obstacle' },
      },
    ],
    gravity,
  );
  const contacts: Contacts = {
    count: 1,
    vertices: Uint32Array.of(0, 1, 2, 3),
    weights: Float64Array.of(1, -1 / 3, -1 / 3, -1 / 3),
    normals: Float64Array.of(0, 0, 1),
  };
  /** Stands for the service: the plane is not crossed, the pair is always near enough to be listed. */
  const plane: CollisionHandler = {
    step: async (y) => {
      const positions = y.slice();
      positions[2] = Math.max(positions[2]!, OFFSET);
      return { positions, contacts, report: {} as never };
    },
  };
  const integrator = new Integrator(model, plane, {
    timeStep: TIME_STEP,
    iterations: 1,
    tolerance: 1e-12,
    maxSolverIterations: 50,
    repulsionDistance: 1e-3,
    repulsionStiffness,
    friction,
    contactOffset: OFFSET,
  });
  const run = async (steps: number): Promise<number[]> => {
    let state = startOf(model);
    const speeds: number[] = [];
    for (let i = 0; i < steps; i++) {
      ({ state } = await integrator.step(state));
      speeds.push(state.velocity[0]!);
    }
    return speeds;
  };
  return run(STEPS);
}

const COEFFICIENTS = { static: 0.5, kinetic: 0.3 };

for (const [name, stiffness] of [
  ['that the service holds', 0],
  ['that the repulsion holds', 2e4],
] as const) {
  t.test(`a grain ${name} comes to rest on a gentle slope`, async (t) => {
    const speeds = await slide(Math.atan(0.2), COEFFICIENTS, stiffness);
    const free = 9.81 * Math.sin(Math.atan(0.2)) * STEPS * TIME_STEP;
    t.ok(Math.abs(speeds.at(-1)!) < STUCK * free, `${speeds.at(-1)} against ${free}`);
  });

  t.test(`a grain ${name} slides down a steep slope as Coulomb says`, async (t) => {
    const angle = Math.atan(0.8);
    const speeds = await slide(angle, COEFFICIENTS, stiffness);
    const acceleration = (speeds[STEPS - 1]! - speeds[STEPS / 2 - 1]!) / ((STEPS / 2) * TIME_STEP);
    const expected = 9.81 * (Math.sin(angle) - COEFFICIENTS.kinetic * Math.cos(angle));
    t.ok(Math.abs(acceleration / expected - 1) < SLID, `${acceleration} against ${expected}`);
  });
}
