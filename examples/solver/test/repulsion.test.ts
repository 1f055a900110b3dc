import t from 'tap';
import type { Contacts } from '../src/contacts.js';
import { Repulsion } from '../src/repulsion.js';

/** 1/s² */
const STIFFNESS = 1e5;
/** For a second derivative compared with its bound: fifty products of sums of some hundred terms. */
const ROUNDING = 1e-9;
const settings = { distance: 0.01, stiffness: STIFFNESS };

/** Many vertices above the triangle 0 1 2, each near it, with equal weights. */
function above(count: number): { contacts: Contacts; x: Float64Array } {
  const x = new Float64Array(3 * (3 + count));
  x.set([-1, -1, 0, 1, -1, 0, 0, 1, 0]);
  const third = 1 / 3;
  for (let i = 0; i < count; i++) x[3 * (3 + i) + 2] = settings.distance / 2;
  const ids = Array.from({ length: count }, (_, i) => 3 + i);
  const contacts = {
    count,
    vertices: Uint32Array.from(ids.flatMap((id) => [id, 0, 1, 2])),
    weights: Float64Array.from(ids.flatMap(() => [1, -third, -third, -third])),
    normals: Float64Array.from(ids.flatMap(() => [0, 0, 1])),
  };
  return { contacts, x };
}

t.test('every vertex near one obstacle triangle is pushed as if it were alone', async (t) => {
  const inverseMasses = (count: number): Float64Array =>
    Float64Array.from({ length: 3 + count }, (_, v) => (v < 3 ? 0 : 1000));
  const forces = [1, 40].map((count) => {
    const { contacts, x } = above(count);
    return new Repulsion(contacts, x, inverseMasses(count), settings).forceOf(0, x);
  });
  t.ok(forces[0]! > 0);
  t.equal(forces[1], forces[0]);
});

t.test('the pairs of a vertex together push as one: the second derivative is at most 2 s M', async (t) => {
  const count = 40;
  const { contacts, x } = above(count);
  for (const mass of [1e-5, 1e-3, 0.1]) {
    const masses = Float64Array.from({ length: 3 + count }, (_, v) => (v < 3 ? mass : 1e-3));
    const repulsion = new Repulsion(
      contacts,
      x,
      masses.map((m) => 1 / m),
      settings,
    );
    // Power iteration on M⁻¹ H, from a state in which all pairs approach each other.
    let v = x.map((_, i) => (i % 3 === 2 ? (i < 9 ? 1 : -1) : 0));
    let largest = 0;
    for (let k = 0; k < 50; k++) {
      const product = new Float64Array(v.length);
      repulsion.addProduct(v, product);
      const next = product.map((value, i) => value / masses[Math.floor(i / 3)]!);
      largest = Math.hypot(...next) / Math.hypot(...v);
      v = next.map((value) => value / Math.hypot(...next));
    }
    t.ok(largest > 0 && largest <= 2 * STIFFNESS * (1 + ROUNDING), `${mass} kg: ${largest}`);
  }
});
