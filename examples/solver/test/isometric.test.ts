import t from 'tap';
import { ServerProcess } from '../../../bench/prove/server.js';
import { makeComparison, playBoth, plotComparison } from '../runner/couplings.js';
import { BUMPY_SHELLS } from '../scenes/bumpy-shell.js';
import { makeGrid } from '../scenes/shapes.js';
import { sphereDrape } from '../scenes/sphere-drape.js';
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
const CONTACT = { gap: 1e-3, softness: 1e-3, tangentialSoftness: 1e-2, friction: 0.3 };

t.test('derivatives of all constraints agree with differences', async (t) => {
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
    const numeric = difference(values, x, v, 1e-6);
    values(x);
    const analytic = new Float64Array(size);
    constraint.rows.multiply(v, analytic);
    const scale = Math.hypot(...analytic);
    const error = Math.hypot(...analytic.map((value, i) => value - numeric[i]!));
    t.ok(error < 1e-7 * scale, `${name}: ${error / scale}`);
    const u = randomVector(size, random);
    const transposed = new Float64Array(x.length);
    constraint.rows.addTransposed(u, transposed);
    const left = u.reduce((sum, value, i) => sum + value * analytic[i]!, 0);
    const right = transposed.reduce((sum, value, i) => sum + value * v[i]!, 0);
    t.ok(Math.abs(left - right) < 1e-10 * scale, `${name}: transposed`);
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
      t.ok(Math.max(0, ...out.map(Math.abs)) < 1e-12, scene.name);
    }
    t.ok(new ShellBending(mesh, model.start, 1, 0.01).energy(x) < 1e-20, 'no energy');
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
  // This discretization overestimates where diagonals are across the curvature, as on this grid, by a factor below two.
  t.ok(ratioAt(0.5) > 1 && ratioAt(0.5) < 2, `${ratioAt(0.5)}`);
  t.ok(Math.abs(ratioAt(0.5) / ratioAt(2) - 1) < 0.01, 'it grows with the square of the curvature');
});

const PROJECTION = { tolerance: 1e-3, maxIterations: 1000, maxNewtonIterations: 20 };
const settingsOf = (timeStep: number) => ({
  ...({ coupling: 'simultaneous', timeStep, maxCalls: 4, strainTolerance: 1e-4 } as const),
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
    // Rounding to float32 adds a few 1e-7 m to distances of 0.05 m.
    t.ok(record.strain < 1.2e-4, `frame ${frame}: ${record.strain} after ${record.iterations}`);
  }
  t.ok(Math.min(...state.x.filter((_, i) => i % 3 === 2)) < scene.surface.positions[2]! - 0.02, 'it hangs');
  t.same(state.x.slice(0, 3), startOf(hung.model).x.slice(0, 3), 'the pin is where it was');

  const loose = makeShell(scene);
  const falling = await new IsometricIntegrator(loose, free, settingsOf(0.01)).step(startOf(loose.model));
  for (let i = 0; i < 3 * (loose.mesh.blackCount + loose.mesh.redCount); i++) {
    const expected = i % 3 === 2 ? -9.81e-4 : 0;
    t.ok(Math.abs(falling.state.x[i]! - loose.model.start[i]! - expected) < 1e-7);
  }
});

t.test('a sheet falls onto a sphere without intersections, whichever way it is coupled', async (t) => {
  const server = await ServerProcess.start({ engine: 'cpu' });
  t.teardown(() => server.stop());
  const compared = await playBoth(sphereDrape('small'), server.grpcAddress, 11, () => {});
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
  t.match(plotComparison(compared), /^<svg[\s\S]*<\/svg>\n$/);
  t.match(makeComparison([compared]), /staggered[\s\S]*simultaneous/);
});
