import t from 'tap';
import { makeGrid } from '../scenes/shapes.js';
import { BlockMatrix } from '../src/block-matrix.js';
import { assemble } from '../src/bodies.js';
import { conjugateGradients } from '../src/conjugate-gradients.js';
import type { Contacts } from '../src/contacts.js';
import { Repulsion } from '../src/repulsion.js';
import { SweptSystem } from '../src/sweep.js';
import { makeRandom, perturb, randomVector, seedOfTest } from './support.js';

/**
 * Relative to a right-hand side: the residual of a solve to 1e-10 in another norm, with a condition of some thousands.
 */
const LEFT = 1e-6;
/** For sums of some dozens of products of numbers near 1. */
const ROUNDING = 1e-9;
const seed = seedOfTest();

/** A deformed cloth with two corners held, random pairs of whose vertices repel each other. */
function system() {
  const random = makeRandom(seed);
  const model = assemble([
    {
      name: 'cloth',
      geometry: makeGrid(7, 6, 0.6, 0.5),
      material: { kind: 'cloth', density: 0.2, stretching: 400, poisson: 0.3, bending: 2e-5 },
      pins: [0, 6],
    },
  ]);
  const { vertexCount, forces, masses, inverseMasses, start } = model;
  const x = perturb(start, 0.01, random);
  const matrix = new BlockMatrix(vertexCount, forces);
  matrix.fill(forces, x, new Float64Array(x.length));
  const count = 30;
  const contacts: Contacts = {
    count,
    vertices: Uint32Array.from(
      Array.from({ length: count }, () => {
        const a = Math.floor(random() * vertexCount);
        const b = (a + 1 + Math.floor(random() * (vertexCount - 1))) % vertexCount;
        return [a, b, a, a];
      }).flat(),
    ),
    weights: Float64Array.from({ length: 4 * count }, (_, i) => [1, -1, 0, 0][i % 4]!),
    normals: Float64Array.from(
      Array.from({ length: count }, () => {
        const n = [...randomVector(3, random)];
        return n.map((value) => value / Math.hypot(...n));
      }).flat(),
    ),
  };
  // Larger than any distance of two vertices, so that all pairs push.
  const term = new Repulsion(contacts, x, inverseMasses, { distance: 10, stiffness: 1e5 });
  const weights = masses.map((mass) => mass / 1e-4);
  const isFree = model.isKinematic.map((flag) => 1 - flag);
  return {
    random,
    matrix,
    term,
    weights,
    isFree,
    swept: new SweptSystem(matrix, weights, [term], isFree),
    n: x.length,
  };
}

t.test(`the solution of the swept system is that of the plain one (TEST_SEED=${seed})`, async (t) => {
  const { random, matrix, term, weights, isFree, swept, n } = system();
  const isHeld = (i: number): boolean => isFree[Math.floor(i / 3)] === 0;
  const b = randomVector(n, random).map((value, i) => (isHeld(i) ? 0 : value));
  const right = b.slice();
  swept.forward(right);
  const p = new Float64Array(n);
  const { residual, iterations } = conjugateGradients(swept, right, isFree, p, { tolerance: 1e-10, maxIterations: n });
  t.ok(residual <= 1e-10 && iterations > 0);
  swept.backward(p);
  const product = new Float64Array(n);
  matrix.multiply(p, product);
  term.addProduct(p, product);
  for (let i = 0; i < n; i++) {
    if (isHeld(i)) t.equal(p[i], 0, 'held');
    else {
      const left = Math.abs(product[i]! + weights[Math.floor(i / 3)]! * p[i]! - b[i]!);
      t.ok(left < LEFT * Math.hypot(...b), `${i}: ${left}`);
    }
  }
});

t.test(`a vector that is transformed and swept back is what it was (TEST_SEED=${seed})`, async (t) => {
  const { random, isFree, swept, n } = system();
  const p = randomVector(n, random).map((value, i) => (isFree[Math.floor(i / 3)] === 1 ? value : 0));
  const back = swept.transform(p);
  swept.backward(back);
  for (let i = 0; i < n; i++) t.ok(Math.abs(back[i]! - p[i]!) < ROUNDING, `${i}`);
});
