import t from 'tap';
import { assemble } from '../src/bodies.js';
import type { Contacts } from '../src/contacts.js';
import { type CollisionHandler, Integrator, startOf } from '../src/integrator.js';

/** m: gap of a contact that the service maintains */
const OFFSET = 1e-4;
/** s, and the number of time steps */
const TIME_STEP = 0.01;
const STEPS = 60;
/**
 * Relative to the speed of a free slide: a pair that sticks keeps a hundredth of the speed that one step adds (CREEP);
 * twice that.
 */
const STUCK = (2 * 0.01) / STEPS;
/** Relative to an acceleration: the remainder of the bouncing of a grain that a spring holds. */
const SLID = 1e-6;
/** m/s: the error of linear systems that are solved to 1e-12, for speeds up to 5 m/s */
const SAME = 1e-9;

/**
 * Relative to a force: the drag on a sliding pair is μ N for the slip that it would have without friction, a little
 * more than its actual slip.
 */
const TIED = 0.1;

/**
 * A grain, vertex 0, over a fixed triangle in the plane z = 0; gravity is tilted instead of the plane.
 * @param speed initial speed of the grain, m/s
 * @param copies how often the answer lists the pair, as it does for a fine mesh
 */
function slide(
  angle: number,
  friction: { static: number; kinetic: number },
  repulsionStiffness: number,
  { speed = 0, copies = 1 }: { readonly speed?: number; readonly copies?: number } = {},
) {
  const gravity = [9.81 * Math.sin(angle), 0, -9.81 * Math.cos(angle)] as const;
  const model = assemble(
    [
      {
        name: 'grain',
        geometry: { positions: Float64Array.of(0, 0, 2 * OFFSET), particles: Uint32Array.of(0) },
        material: { kind: 'grains', mass: 0.01 },
        velocity: [speed, 0, 0],
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
    count: copies,
    vertices: Uint32Array.from({ length: 4 * copies }, (_, i) => i % 4),
    weights: Float64Array.from({ length: 4 * copies }, (_, i) => (i % 4 === 0 ? 1 : -1 / 3)),
    normals: Float64Array.from({ length: 3 * copies }, (_, i) => Number(i % 3 === 2)),
  };
  /** Replaces the service: the plane is not crossed, and the pair is always near enough to be listed. */
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

  t.test(`a grain ${name} that moves comes to rest on a slope below the angle of friction`, async (t) => {
    // tan θ = 0.25 < 0.3 = μ: it slows down by 0.05 g cos θ, from 0.1 m/s to rest in 0.21 s.
    const even = { static: 0.3, kinetic: 0.3 };
    const speeds = await slide(Math.atan(0.25), even, stiffness, { speed: 0.1 });
    const free = 9.81 * Math.sin(Math.atan(0.25)) * STEPS * TIME_STEP;
    t.ok(Math.abs(speeds.at(-1)!) < STUCK * free, `${speeds.at(-1)} against ${free}`);
  });

  t.test(`four pairs at the place of a grain ${name} do what one does`, async (t) => {
    for (const slope of [0.2, 0.8]) {
      const [one, four] = await Promise.all(
        [1, 4].map((copies) => slide(Math.atan(slope), COEFFICIENTS, stiffness, { copies })),
      );
      one!.forEach((speed, i) => {
        t.ok(Math.abs(speed - four![i]!) < SAME, `slope ${slope}, step ${i}: ${speed} and ${four![i]}`);
      });
    }
  });
}

t.test("a moving floor pulls on a tied body no harder than Coulomb's law allows", async (t) => {
  const [tension, speed] = [2, 0.2]; // N, for the whole rod if it were twice as long; m/s
  const model = assemble(
    [
      {
        name: 'rod',
        geometry: { positions: Float64Array.of(0, 0, 2 * OFFSET, 0.1, 0, 2 * OFFSET), segments: Uint32Array.of(0, 1) },
        material: { kind: 'strands', density: 0.2, stretching: tension, bending: 0 },
        pins: [0],
      },
      {
        name: 'floor',
        geometry: { positions: Float64Array.of(-9, -9, 0, 9, -9, 0, 0, 9, 0), triangles: Uint32Array.of(0, 1, 2) },
        material: { kind: 'obstacle' },
        motion: ([x, y, z], time) => [x + speed * time, y, z],
      },
    ],
    [0, 0, -9.81],
  );
  const contacts: Contacts = {
    count: 1,
    vertices: Uint32Array.of(1, 2, 3, 4),
    weights: Float64Array.of(1, -1 / 3, -1 / 3, -1 / 3),
    normals: Float64Array.of(0, 0, 1),
  };
  const floor: CollisionHandler = {
    step: async (y) => {
      const positions = y.slice();
      positions[5] = Math.max(positions[5]!, OFFSET);
      return { positions, contacts, report: {} as never };
    },
  };
  const friction = { static: 0.4, kinetic: 0.4 };
  const integrator = new Integrator(model, floor, {
    ...{ timeStep: TIME_STEP, iterations: 1, tolerance: 1e-12, maxSolverIterations: 50 },
    ...{ repulsionDistance: 1e-3, repulsionStiffness: 0, friction, contactOffset: OFFSET },
  });
  let state = startOf(model);
  const weight = model.masses[1]! * 9.81;
  const pulls: number[] = [];
  for (let i = 0; i < 400; i++) {
    ({ state } = await integrator.step(state));
    pulls.push((tension * (state.x[3]! - 0.1)) / 0.1);
  }
  const last = pulls.slice(-100).reduce((sum, pull) => sum + pull, 0) / 100;
  t.ok(Math.abs(last / (friction.kinetic * weight) - 1) < TIED, `${last} N against ${friction.kinetic * weight}`);
});
