import t from 'tap';
import { ServerProcess } from '../../../bench/prove/server.js';
import { COUPLINGS, makeComparison, playCouplings, plotComparison } from '../runner/couplings.js';
import { makeJudge } from '../runner/judge.js';
import { BUMPY_SHELLS } from '../scenes/bumpy-shell.js';
import { OBSTACLE } from '../scenes/materials.js';
import { makeGrid, movedBy, placed } from '../scenes/shapes.js';
import { sphereDrape } from '../scenes/sphere-drape.js';
import { SIZES } from '../scenes/types.js';
import { type Contacts, NO_CONTACTS } from '../src/contacts.js';
import { startOf } from '../src/integrator.js';
import type { Constraint } from '../src/isometric/constraint.js';
import { border, conforming, Inextensibility } from '../src/isometric/constraints.js';
import { ContactConstraint } from '../src/isometric/contact-constraint.js';
import { IsometricIntegrator } from '../src/isometric/integrator.js';
import { makeShell } from '../src/isometric/shell.js';
import { ShellBending } from '../src/isometric/shell-bending.js';
import { subdivide } from '../src/isometric/subdivision.js';
import type { Answer } from '../src/service.js';
import { difference, makeRandom, perturb, randomVector, turn } from './support.js';

const SEED = 16;
/** m: of central differences; distances of 0.1 m are curved on their own scale, so the error is 1e-10. */
const STEP = 1e-6;
/** For a difference: 1e-16 m rounding of values of about 1 m, over STEP, and a thousandfold if slopes cancel. */
const DIFFERENCE = 1e-7;
/** For sums of some hundred products of doubles compared with each other. */
const SUM = 1e-10;
/** m: for a distance of about 1 m after a rotation, ten thousand roundoffs. */
const NO_LENGTH = 1e-12;
/** J: the square of such an error in curvatures, with a stiffness of 1. */
const NO_ENERGY = 1e-20;
/** m: float32 rounds positions of 0.3 m to 1.5e-8 m; a distance, or a step, contains some of them. */
const ROUNDED = 1e-7;
/** The time steps of a slide. */
const SLIDE = { timeStep: 0.01, steps: 12 };
/**
 * For the squares of curvatures: a grid of 40 edges has an error of the square of the angle of an edge, at most 0.05,
 * over 24.
 */
const CURVED = 2e-4;
const CONTACT = { gap: 1e-3, tangentialSoftness: 1e-2, friction: { static: 0.3, kinetic: 0.2 } };

t.test('the derivatives of all constraints agree with finite differences', async (t) => {
  t.comment(`seed ${SEED}`);
  const random = makeRandom(SEED);
  const mesh = subdivide(makeGrid(4, 5, 1, 1.2));
  const rest = mesh.geometry.positions;
  const x = perturb(turn(rest, random), 0.05, random);
  const contacts: Contacts = {
    count: 1,
    vertices: Uint32Array.of(0, 7, 9, 30),
    weights: Float64Array.of(1, -0.2, -0.3, -0.5),
    normals: Float64Array.of(0.6, 0, 0.8),
  };
  const bending = new ShellBending(mesh, rest, 0.3, 0.01);
  bending.turnTo(x);
  const all: [string, Constraint][] = [
    ['bending', bending],
    ['inextensibility', new Inextensibility(mesh, rest)],
    ['conforming', conforming(mesh)],
    ['border', border(mesh)],
    ['contact', new ContactConstraint(contacts, rest, CONTACT)],
  ];
  for (const [name, constraint] of all) {
    const size = 3 * constraint.rows.count;
    t.ok(size > 0, name);
    const values = (at: Float64Array): Float64Array => {
      const out = new Float64Array(size);
      constraint.evaluate(at, out, 0);
      return out;
    };
    const v = randomVector(x.length, random);
    const numeric = difference(values, x, v, STEP);
    values(x);
    const analytic = new Float64Array(size);
    constraint.rows.multiply(v, analytic);
    const scale = Math.hypot(...analytic);
    const error = Math.hypot(...analytic.map((value, i) => value - numeric[i]!));
    t.ok(error < DIFFERENCE * scale, `${name}: ${error / scale}`);
    const u = randomVector(size, random);
    const transposed = new Float64Array(x.length);
    constraint.rows.addTransposed(u, transposed);
    const left = u.reduce((sum, value, i) => sum + value * analytic[i]!, 0);
    const right = transposed.reduce((sum, value, i) => sum + value * v[i]!, 0);
    t.ok(Math.abs(left - right) < SUM * scale, `${name}: transposed`);
  }
});

t.test('the rest shape, moved rigidly, fulfils all constraints and has no bending energy', async (t) => {
  const random = makeRandom(SEED);
  for (const scene of [sphereDrape('small'), BUMPY_SHELLS[0]!('small')]) {
    const { mesh, model } = makeShell(scene);
    const x = turn(model.start, random).map((value, i) => value + [0.3, -0.2, 0.1][i % 3]!);
    const linear = [conforming(mesh), border(mesh)];
    for (const constraint of [...linear, new Inextensibility(mesh, model.start)]) {
      const out = new Float64Array(3 * constraint.rows.count);
      constraint.evaluate(x, out, 0);
      t.ok(Math.max(0, ...out.map(Math.abs)) < NO_LENGTH, scene.name);
    }
    t.ok(new ShellBending(mesh, model.start, 1, 0.01).energy(x) < NO_ENERGY, 'no energy');
  }
});

t.test('the bending energy of a sheet rolled to a cylinder is quadratic in its curvature', async (t) => {
  const mesh = subdivide(makeGrid(41, 41, 1, 1));
  const rest = mesh.geometry.positions;
  const bending = new ShellBending(mesh, rest, 2, 0.01);
  const ratioAt = (radius: number): number => {
    const x = rest.map((_, i) => {
      const angle = rest[i - (i % 3)]! / radius;
      return [radius * Math.sin(angle), rest[i - (i % 3) + 1]!, radius * Math.cos(angle)][i % 3]!;
    });
    return bending.energy(x) / radius ** -2; // ½ k ∫ H², k = 2, area 1
  };
  // This discretization overestimates if diagonals are across the curvature, as on this grid, by a factor below two.
  t.ok(ratioAt(0.5) > 1 && ratioAt(0.5) < 2, `${ratioAt(0.5)}`);
  t.ok(Math.abs(ratioAt(0.5) / ratioAt(2) - 1) < CURVED, 'it grows with the square of the curvature');
});

/**
 * Relative to the speed of a free slide: the share of the slip of one step that softness leaves to a node that sticks;
 * twice that.
 */
const STUCK = (2 * CONTACT.tangentialSoftness) / SLIDE.steps;
/** Relative to an acceleration: the share of a multiplier that an iteration leaves is the damping of contacts, 1e-4. */
const SLID = 1e-4;
/** Relative to a length: projections end here */
const STRAIN = 1e-4;
/** … and float32 adds a few 1e-8 m to distances of 0.05 m, some of them together. */
const STRAINED = 1.2 * STRAIN;
/** m: for a sheet of 1 m, the least distance by which its middle falls. */
const HANGS = 0.02;
const PROJECTION = { maxIterations: 20 };
const settingsOf = (timeStep: number) => ({
  ...({ coupling: 'simultaneous', timeStep, maxCalls: 4, strainTolerance: STRAIN } as const),
  ...{ projection: PROJECTION, contact: CONTACT, contactDistance: 2e-3 },
});

/** Grants every target, as float32. */
const free = {
  step: async (y: Float64Array): Promise<Answer> => ({
    positions: Float64Array.from(Float32Array.from(y)),
    contacts: NO_CONTACTS,
    report: {} as Answer['report'],
  }),
};

t.test('a sheet that hangs from two corners does not stretch, and falls freely without them', async (t) => {
  const scene = { ...sphereDrape('small'), obstacles: [], bending: 1e-4 };
  const hung = makeShell({ ...scene, pins: [0, 8] });
  const integrator = new IsometricIntegrator(hung, free, settingsOf(scene.timeStep));
  let state = startOf(hung.model);
  for (let frame = 0; frame < 16; frame++) {
    const { state: next, record } = await integrator.step(state);
    state = next;
    t.ok(record.strain < STRAINED, `frame ${frame}: ${record.strain} after ${record.iterations}`);
  }
  t.ok(Math.min(...state.x.filter((_, i) => i % 3 === 2)) < scene.surface.positions[2]! - HANGS, 'it hangs');
  t.same(state.x.slice(0, 3), startOf(hung.model).x.slice(0, 3), 'the pin is where it was');

  const loose = makeShell(scene);
  const falling = await new IsometricIntegrator(loose, free, settingsOf(0.01)).step(startOf(loose.model));
  for (let i = 0; i < 3 * (loose.mesh.blackCount + loose.mesh.redCount); i++) {
    const expected = i % 3 === 2 ? -9.81e-4 : 0;
    t.ok(Math.abs(falling.state.x[i]! - loose.model.start[i]! - expected) < ROUNDED);
  }
});

/**
 * Simulates a sheet on the plane z = 0, with gravity tilted instead of the plane.
 *
 * @returns its speed along x after every time step, m/s
 */
async function slide(angle: number): Promise<number[]> {
  const { friction: _, ...scene } = sphereDrape('small');
  const floor = Float64Array.of(-9, -9, 0, 9, -9, 0, 0, 9, 0);
  const shell = makeShell({
    ...scene,
    surface: movedBy(makeGrid(4, 4, 0.3, 0.3), [0, 0, CONTACT.gap]),
    obstacles: [
      { name: 'plane', geometry: { positions: floor, triangles: Uint32Array.of(0, 1, 2) }, material: OBSTACLE },
    ],
  });
  const gravity = [9.81 * Math.sin(angle), 0, -9.81 * Math.cos(angle)] as const;
  const tilted = { ...shell, model: { ...shell.model, gravity } };
  const count = shell.mesh.blackCount + shell.mesh.redCount;
  const every = <T>(of: (v: number) => readonly T[]): T[] => Array.from({ length: count }, (__, v) => of(v)).flat();
  const contacts: Contacts = {
    count,
    vertices: Uint32Array.from(every((v) => [v, count, count + 1, count + 2])),
    weights: Float64Array.from(every(() => [1, -1 / 3, -1 / 3, -1 / 3])),
    normals: Float64Array.from(every(() => [0, 0, 1])),
  };
  /** Replaces the service: the plane is not crossed, and every node is near it. */
  const plane = {
    step: async (y: Float64Array): Promise<Answer> => ({
      positions: y.map((value, i) => (i % 3 === 2 && i < 3 * count ? Math.max(value, CONTACT.gap) : value)),
      contacts,
      report: {} as Answer['report'],
    }),
  };
  const integrator = new IsometricIntegrator(tilted, plane, settingsOf(SLIDE.timeStep));
  let state = startOf(shell.model);
  const speeds: number[] = [];
  for (let frame = 0; frame < SLIDE.steps; frame++) {
    ({ state } = await integrator.step(state));
    speeds.push(state.velocity.filter((__, i) => i % 3 === 0 && i < 3 * count).reduce((a, b) => a + b, 0) / count);
  }
  return speeds;
}

t.test('a sheet sticks to a gentle slope, and slides down a steep one as Coulomb says', async (t) => {
  const gentle = await slide(Math.atan(0.15));
  const free = 9.81 * Math.sin(Math.atan(0.15)) * SLIDE.steps * SLIDE.timeStep;
  t.ok(Math.abs(gentle.at(-1)!) < STUCK * free, `${gentle.at(-1)} against ${free}`);
  const angle = Math.atan(0.8);
  const steep = await slide(angle);
  const acceleration = (steep[11]! - steep[3]!) / (8 * SLIDE.timeStep);
  const expected = 9.81 * (Math.sin(angle) - CONTACT.friction.kinetic * Math.cos(angle));
  t.ok(Math.abs(acceleration / expected - 1) < SLID, `${acceleration} against ${expected}`);
});

t.test('every shell begins without intersections, at every size', async (t) => {
  for (const make of [sphereDrape, ...BUMPY_SHELLS]) {
    for (const size of SIZES) {
      const { model } = makeShell(make(size));
      t.equal(makeJudge(model)(model.start), 0, `${make(size).name}, ${size}`);
    }
  }
});

t.test('a sheet falls onto a sphere without intersections, whichever way it is coupled', async (t) => {
  const server = await ServerProcess.start({ engine: 'cpu' });
  t.teardown(() => server.stop());
  const whole = sphereDrape('small');
  const surface = placed(makeGrid(7, 7, 1, 1), ([x, y]) => [x + 0.02, y + 0.01, whole.surface.positions[2]!]);
  const compared = await playCouplings({ ...whole, surface }, server.grpcAddress, 11, COUPLINGS, () => {});
  for (const { coupling, intersections, frames } of compared.rows) {
    t.equal(frames, 11);
    t.equal(intersections, 0, coupling);
  }
  t.ok(
    compared.records.simultaneous.some(({ contacts }) => contacts > 0),
    'contacts are constraints',
  );
  t.ok(compared.records.staggered.every(({ contacts, calls }) => contacts === 0 && calls === 1));
  t.ok(compared.rows[1]!.maxStrain < compared.rows[0]!.maxStrain, 'contacts that the projection knows strain less');
  t.equal(compared.rows[1]!.framesAbove, 0, `${compared.rows[1]!.maxStrain}`);
  t.ok(compared.rows[0]!.framesAbove > 0, 'after the projection, the service strains more than is tolerated');
  t.match(plotComparison(compared), /^<svg[\s\S]*<\/svg>\n$/);
  const alone = plotComparison({ ...compared, records: { ...compared.records, staggered: [] } });
  t.match(alone, /simultaneous/);
  t.notMatch(alone, /staggered|NaN/, 'a coupling that was not played has no line');
  t.match(makeComparison([compared]), /staggered[\s\S]*simultaneous/);
});

const makeContacts = (count: number): Contacts => ({
  count,
  vertices: Uint32Array.from({ length: 4 * count }, (_, i) => Math.floor(i / 4)),
  weights: Float64Array.from({ length: 4 * count }, (_, i) => (i % 4 === 0 ? 1 : 0)),
  normals: Float64Array.from({ length: 3 * count }, (_, i) => (i % 3 === 2 ? 1 : 0)),
});

t.test('contacts hold while they push, and slide as Coulomb says', async (t) => {
  const settings = { gap: 1, tangentialSoftness: 1e-2, friction: { static: 0.3, kinetic: 0.2 } };
  const contact = new ContactConstraint(makeContacts(2), new Float64Array(6), settings);
  const damping = new Float64Array(6).fill(0.1);
  const holds = (): boolean[] => [...contact.prescribed].map(Number.isNaN);
  const [none, all] = [
    [false, false, false],
    [true, true, true],
  ];
  // The gap of the first is too small, that of the second too large.
  const violations = Float64Array.of(-0.5, 0, 0, 0.5, 0, 0);
  t.ok(contact.decide(new Float64Array(6), violations, damping));
  t.same(holds(), [...all, ...none]);
  const even = new Float64Array(6);
  t.notOk(contact.decide(Float64Array.of(-1, 0.25, 0, 0, 0, 0), even, damping), 'it pushes, at the right gap');
  t.notOk(contact.settle(Float64Array.of(-1, 0.25, 0, 0, 0, 0)), 'and sticks');
  t.ok(contact.settle(Float64Array.of(-1, 0.3, 0.4, 0, 0, 0)), 'more than friction can hold');
  t.notOk(contact.decide(Float64Array.of(-2, 0.3, 0.4, 0, 0, 0), even, damping));
  t.same(holds(), [true, false, false, ...none]);
  t.equal(Math.hypot(...contact.prescribed.slice(1, 3)).toFixed(6), '0.400000', 'μ N of the present N');
  t.equal((contact.prescribed[2]! / contact.prescribed[1]!).toFixed(6), (4 / 3).toFixed(6), 'where it pulled before');
  t.ok(contact.decide(Float64Array.of(0.1, 0.3, 0.4, 0, 0, 0), even, damping), 'it pulls');
  t.same([...contact.prescribed], [0, 0, 0, 0, 0, 0], 'and is released');
});

t.test('a contact that is released again and again goes on without friction', async (t) => {
  const settings = { gap: 1, tangentialSoftness: 1e-2, friction: { static: 0.3, kinetic: 0.2 } };
  const contact = new ContactConstraint(makeContacts(1), new Float64Array(3), settings);
  const damping = new Float64Array(3).fill(0.1);
  const tight = Float64Array.of(-0.5, 0, 0);
  const pull = Float64Array.of(1, 0, 0);
  for (const isRough of [true, true, false, false]) {
    t.ok(contact.decide(new Float64Array(3), tight, damping), 'it is too near');
    t.same([...contact.prescribed].map(Number.isNaN), [true, isRough, isRough]);
    t.ok(contact.decide(pull, new Float64Array(3), damping), 'it pulls');
    t.same([...contact.prescribed], [0, 0, 0]);
  }
});
