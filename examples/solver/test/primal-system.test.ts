import t from 'tap';
import { makeGrid } from '../scenes/shapes.js';
import { BlockRows } from '../src/isometric/block-rows.js';
import { border, conforming, Inextensibility } from '../src/isometric/constraints.js';
import { PrimalSystem } from '../src/isometric/primal-system.js';
import { subdivide } from '../src/isometric/subdivision.js';
import { makeRandom, perturb, randomVector, seedOfTest } from './support.js';

/**
 * Of Δλ = D⁻¹ (b + B Δx), put into the system for Δλ: D⁻¹ multiplies the roundoff of B Δx, 1e-16, by 1e5, and the sums
 * of some hundred products may add a thousandfold.
 */
const DUAL = 1e-8;
/** D relative to the diagonal of B M⁻¹ Bᵀ. */
const SOFTNESS = 1e-5;

t.test(
  'the multipliers of the primal system fulfil the dual one, whichever nodes are held or in contact',
  async (t) => {
    const seed = seedOfTest();
    t.comment(`seed ${seed}`);
    const random = makeRandom(seed);
    const mesh = subdivide(makeGrid(5, 4, 1, 1));
    const rest = mesh.geometry.positions;
    const count = rest.length / 3;
    const x = perturb(rest, 0.02, random);
    const inextensibility = new Inextensibility(mesh, rest);
    inextensibility.evaluate(x, new Float64Array(3 * inextensibility.rows.count), 0);
    const always = [conforming(mesh).rows, border(mesh).rows, inextensibility.rows];
    const inverseMasses = Float64Array.from({ length: count }, () => (random() < 0.1 ? 0 : 1 + random()));
    const system = new PrimalSystem(always, inverseMasses, rest);
    for (let trial = 0; trial < 4; trial++) {
      // Nodes that the surface does not couple, one of them twice in a row.
      const pick = (): number => Math.floor(count * random());
      const repeated = pick();
      const contacts = new BlockRows([
        [pick(), pick()].sort((a, b) => a - b),
        [repeated, repeated, (repeated + 1) % count],
      ]);
      contacts.values.set(randomVector(contacts.values.length, random));
      const all = trial % 2 === 0 ? always : [...always, contacts];
      const firsts = all.map((_, i) => all.slice(0, i).reduce((sum, rows) => sum + 3 * rows.count, 0));
      const size = all.reduce((sum, rows) => sum + 3 * rows.count, 0);
      const times = (v: Float64Array): Float64Array => {
        const out = new Float64Array(size);
        all.forEach((rows, i) => {
          rows.multiply(v, out, firsts[i]!);
        });
        return out;
      };
      const transposed = (u: Float64Array): Float64Array => {
        const out = new Float64Array(3 * count);
        all.forEach((rows, i) => {
          rows.addTransposed(u, out, firsts[i]!);
        });
        return out;
      };
      const stiffness = Float64Array.from({ length: size }, () => (1 + random()) / SOFTNESS);
      const b = randomVector(size, random);
      const moved = new Float64Array(3 * count);
      system.factor(all, stiffness);
      system.solve(transposed(b.map((value, i) => -stiffness[i]! * value)), moved);
      t.ok(
        moved.every((value, i) => value === 0 || inverseMasses[Math.floor(i / 3)]! > 0),
        'held nodes do not move',
      );
      const products = times(moved);
      const change = b.map((value, i) => stiffness[i]! * (value + products[i]!));
      const pushed = transposed(change).map((value, i) => value * inverseMasses[Math.floor(i / 3)]!);
      const left = times(pushed).map((value, i) => value + change[i]! / stiffness[i]!);
      const error = left.reduce((most, value, i) => Math.max(most, Math.abs(value - b[i]!)), 0);
      const scale = Math.max(1, ...change.map(Math.abs));
      t.ok(error < DUAL * scale, `trial ${trial}: ${error} of ${scale}`);
    }
  },
);
