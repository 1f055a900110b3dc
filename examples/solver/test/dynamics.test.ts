import t from 'tap';
import { makeGrid, movedBy } from '../scenes/shapes.js';
import { assemble, type Body } from '../src/bodies.js';
import { NO_CONTACTS } from '../src/contacts.js';
import {
  type CollisionHandler,
  type Coupling,
  Integrator,
  type IntegratorSettings,
  startOf,
} from '../src/integrator.js';
import { contactImpulses, energiesOf } from '../src/momentum.js';

/** Replaces the service if nothing can touch: the answer is the target. */
const nothingTouches: CollisionHandler = {
  step: async (y) => ({ positions: y.slice(), contacts: NO_CONTACTS, report: {} as never }),
};

/**
 * m, and m/s: for a fall of 0.2 m at up to 2 m/s with linear systems that are solved to SETTINGS.tolerance, 1e-9 of
 * their right-hand sides
 */
const FALLEN = 1e-8;
/**
 * m/s of the centre of mass: elastic forces of a vibration are hundreds of times the weight, and so are the residuals
 * of the solves
 */
const DRIFTED = 1e-6;
/** Share of the energy released by a hanging cloth that the error of three Newton iterations per time step may add */
const GAINED = 1e-4;
/** For a ratio of two errors of h g t / 2, some centimetres, in falls that are computed to FALLEN */
const HALVED = 1e-6;
/** m: for a position of 1 m that is only copied */
const COPIED = 1e-12;
/** kg: for 0.032 kg, the sum over 32 triangles */
const NO_MASS = 1e-12;
/** N·s: a mass of 1e-3 kg times a shift of a hundredth of 1 m, whose rounding is 1e-16 m, over the time step */
const NO_IMPULSE = 1e-12;
/** For two opposite impulses: shifts are rounded to 1e-16 m of a length of 1 m, and are 1e-2 m / mass long */
const BALANCED = 1e-9;

const SETTINGS: IntegratorSettings = {
  timeStep: 0.01,
  iterations: 1,
  tolerance: 1e-9,
  maxSolverIterations: 500,
  repulsionDistance: 0.001,
  repulsionStiffness: 2e4,
  contactOffset: 1e-4,
};

const cloth: Body = {
  name: 'cloth',
  geometry: movedBy(makeGrid(5, 5, 0.4, 0.4), [0, 0, 1]),
  material: { kind: 'cloth', density: 0.2, stretching: 400, poisson: 0.3, bending: 2e-5 },
};

async function simulate(bodies: readonly Body[], steps: number, settings: Partial<IntegratorSettings> = {}) {
  const model = assemble(bodies);
  const integrator = new Integrator(model, nothingTouches, { ...SETTINGS, ...settings });
  let state = startOf(model);
  const energies = [];
  for (let i = 0; i < steps; i++) {
    ({ state } = await integrator.step(state));
    energies.push(energiesOf(model, state.x, state.velocity));
  }
  return { model, state, energies };
}

t.test('masses add up to density times area', async (t) => {
  const { masses } = assemble([cloth]);
  const total = masses.reduce((sum, mass) => sum + mass, 0);
  t.ok(Math.abs(total - 0.2 * 0.16) < NO_MASS);
});

t.test('without contact a cloth falls as a point mass does under implicit Euler', async (t) => {
  const { state } = await simulate([cloth], 20);
  // v_n = −n h g, z_n = 1 − h² g n (n + 1) / 2
  for (let i = 2; i < state.x.length; i += 3) {
    t.ok(Math.abs(state.x[i]! - (1 - 1e-4 * 9.81 * 210)) < FALLEN);
    t.ok(Math.abs(state.velocity[i]! + 20 * 0.01 * 9.81) < FALLEN);
  }
});

t.test('the momentum of a free body that vibrates changes by gravity alone', async (t) => {
  const velocity = ([x, y]: readonly number[]) => [0.3 * y!, 2 * x!, Math.sin(20 * x!)] as const;
  const { model, state } = await simulate([{ ...cloth, velocity }], 30);
  const momentum = (v: Float64Array, c: number) => model.masses.reduce((sum, mass, i) => sum + mass * v[3 * i + c]!, 0);
  const mass = model.masses.reduce((sum, each) => sum + each, 0);
  for (let c = 0; c < 3; c++) {
    const expected = momentum(model.startVelocity, c) - (c === 2 ? mass * 9.81 * 0.3 : 0);
    t.ok(Math.abs(momentum(state.velocity, c) - expected) < DRIFTED * mass, `${c}`);
  }
});

t.test('a hanging cloth loses energy and never gains it', async (t) => {
  const { energies, model, state } = await simulate([{ ...cloth, pins: [20, 24] }], 300, { iterations: 3 });
  const total = energies.map(({ kinetic, elastic, potential }) => kinetic + elastic + potential);
  const [highest, lowest] = [Math.max(...total), Math.min(...total)];
  for (let i = 1; i < total.length; i++) t.ok(total[i]! <= total[i - 1]! + GAINED * (highest - lowest), `step ${i}`);
  t.ok(total.at(-1)! < (highest + lowest) / 2, 'implicit Euler damps');
  t.same([...state.x.slice(60, 63)], [...model.start.slice(60, 63)], 'pins do not move');
});

t.test('in staggered mode the service is called only for the last target', async (t) => {
  const model = assemble([{ ...cloth, pins: [20, 24] }]);
  const play = async (coupling: Coupling) => {
    let calls = 0;
    const counting: CollisionHandler = {
      step: (y, distance) => {
        calls++;
        return nothingTouches.step(y, distance);
      },
    };
    const integrator = new Integrator(model, counting, { ...SETTINGS, iterations: 3, coupling });
    let state = startOf(model);
    let solverIterations = 0;
    for (let i = 0; i < 5; i++) {
      const result = await integrator.step(state);
      state = result.state;
      for (const iteration of result.iterations) solverIterations += iteration.solverIterations;
    }
    return { x: [...state.x], calls, solverIterations };
  };
  const [inside, staggered] = [await play('INSIDE'), await play('STAGGERED')];
  t.same([inside.calls, staggered.calls], [15, 5]);
  t.same(staggered.x, inside.x);
  t.equal(staggered.solverIterations, inside.solverIterations, 'of all iterations');
});

t.test('smaller time steps come nearer to a point mass that falls exactly', async (t) => {
  const errors: number[] = [];
  for (const timeStep of [0.02, 0.01, 0.005]) {
    const { state } = await simulate([cloth], 0.2 / timeStep, { timeStep });
    errors.push(Math.abs(state.x[2]! - (1 - (9.81 * 0.04) / 2)));
  }
  for (let i = 1; i < errors.length; i++) t.ok(Math.abs(errors[i]! / errors[i - 1]! - 0.5) < HALVED, `${errors}`);
});

t.test('kinematic vertices follow their motion', async (t) => {
  const pins = [0, 4];
  const { state, model } = await simulate([{ ...cloth, pins, motion: ([x, y, z], time) => [x, y, z + time] }], 10);
  for (const pin of pins) t.ok(Math.abs(state.x[3 * pin + 2]! - model.start[3 * pin + 2]! - 0.1) < COPIED);
});

t.test('contact impulses of a push and of a couple are found', async (t) => {
  const model = assemble([{ ...cloth, pins: [0] }]);
  const y = model.start;
  const pushed = y.map((value, i) => (i === 3 || i === 0 ? value + 0.01 : value));
  const one = contactImpulses(model, y, pushed, 0.01);
  t.ok(Math.abs(one.linear[0] - model.masses[1]!) < NO_IMPULSE, 'the pin is not counted');
  t.ok(Math.abs(one.total - Math.abs(one.linear[0])) < NO_IMPULSE);
  // Mass times shift is opposite on the two vertices.
  const pair = y.map(
    (value, i) => value + (i === 3 ? 0.01 / model.masses[1]! : i === 6 ? -0.01 / model.masses[2]! : 0),
  );
  const two = contactImpulses(model, y, pair, 0.01);
  t.ok(Math.abs(two.linear[0]) < BALANCED * two.total);
  t.ok(two.total > 1);
});
