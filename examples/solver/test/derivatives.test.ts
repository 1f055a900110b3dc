import t from 'tap';
import { findHinges, QuadraticBending } from '../src/bending.js';
import { BlockMatrix } from '../src/block-matrix.js';
import type { ContactTerm } from '../src/contact-term.js';
import type { Contacts } from '../src/contacts.js';
import { ElasticElements } from '../src/elements.js';
import type { Force } from '../src/force.js';
import { Friction } from '../src/friction.js';
import { CoRotational, lameOfMembrane, lameOfSolid, StVenantKirchhoff } from '../src/materials.js';
import { Repulsion } from '../src/repulsion.js';
import { Springs } from '../src/springs.js';
import { difference, dot, makeRandom, perturb, randomVector, seedOfTest, turn } from './support.js';

const seed = seedOfTest();
const random = makeRandom(seed);

/** Two triangles with a common edge, and a tetrahedron: vertices 0 to 3. */
const rest = Float64Array.of(0, 0, 0, 0.1, 0.01, 0, 0.03, 0.09, 0.01, 0.02, 0.03, 0.08);
const triangles = Uint32Array.of(0, 1, 2, 1, 0, 3);
const tetrahedron = Uint32Array.of(0, 1, 2, 3);
const membrane = lameOfMembrane(400, 0.3);
const solid = lameOfSolid(1e5, 0.4);

const FORCES: readonly (readonly [string, Force])[] = [
  ['co-rotational triangles', new ElasticElements(2, triangles, rest, new CoRotational(membrane))],
  ['StVK triangles', new ElasticElements(2, triangles, rest, new StVenantKirchhoff(membrane))],
  ['StVK tetrahedra', new ElasticElements(3, tetrahedron, rest, new StVenantKirchhoff(solid))],
  ['co-rotational tetrahedra', new ElasticElements(3, tetrahedron, rest, new CoRotational(solid))],
  ['quadratic bending', new QuadraticBending(findHinges(triangles), rest, 1e-4)],
  ['springs', new Springs(Uint32Array.of(0, 1, 1, 2, 2, 3), rest, 50)],
];

const gradientOf = (force: Force, x: Float64Array): Float64Array => {
  const gradient = new Float64Array(x.length);
  new BlockMatrix(x.length / 3, [force]).fill([force], x, gradient);
  return gradient;
};

const productOf = (force: Force, x: Float64Array, v: Float64Array): Float64Array => {
  const matrix = new BlockMatrix(x.length / 3, [force]);
  matrix.fill([force], x, new Float64Array(x.length));
  const out = new Float64Array(x.length);
  matrix.multiply(v, out);
  return out;
};

/** m: of central differences, whose error is the square of its ratio to an edge of 0.1, 1e-10 */
const STEP = 1e-6;
/**
 * For a difference: its error of 1e-10, and rounding, 1e-16 of a value over STEP; both weigh more if terms of a slope
 * cancel.
 */
const TOLERANCE = 1e-5;
/** Unit roundoff of a double. */
const ROUNDOFF = 2 ** -53;
/** For vᵀHv: 144 products, each of entries that are sums of as many, which cancel to a tenth at worst if it is zero. */
const PRODUCT = 1e4 * ROUNDOFF;
/**
 * For two such sums compared with each other, which pass through different entries; energies of many terms are no
 * worse.
 */
const AGREEMENT = 1e6 * ROUNDOFF;
/**
 * J relative to J: an energy that a rigid motion by some metres has not changed, with coordinates thirty times the size
 * of the elements.
 */
const UNCHANGED = 10 * AGREEMENT;
/** Newtons: for an exact force of zero, with which nothing can be compared. */
const NO_FORCE = 1e-12;
/** m: edges of a tenth of a metre are bent, stretched and compressed by up to a half, and even turned inside out. */
const DEFORMED = { slightly: 0.01, much: 0.02, wildly: 0.03 };
/** Edges this many times as long as at rest stay under tension when vertices move by a fiftieth of an edge, m. */
const STRETCHED = { by: 1.4, moved: 0.002 };
/** Edges a tenth longer, whose energy is the scale for that of a rigid motion. */
const A_TENTH_LONGER = 1.1;

for (const [name, force] of FORCES) {
  t.test(`${name}: the gradient is the derivative of the energy (TEST_SEED=${seed})`, async (t) => {
    for (let trial = 0; trial < 20; trial++) {
      const x = perturb(turn(rest, random), DEFORMED.much, random);
      const v = randomVector(x.length, random);
      const expected = difference((y) => [force.energy(y)], x, v, STEP)[0]!;
      const found = dot(gradientOf(force, x), v);
      const scale = Math.hypot(...gradientOf(force, x)) * Math.hypot(...v);
      t.ok(Math.abs(found - expected) <= TOLERANCE * scale, `${found} against ${expected}`);
    }
  });

  t.test(`${name}: where stretched, the second derivative is exact (TEST_SEED=${seed})`, async (t) => {
    for (let trial = 0; trial < 20; trial++) {
      // Under tension no eigenvalue is negative, so projection changes nothing.
      const x = perturb(
        turn(rest, random).map((value) => STRETCHED.by * value),
        STRETCHED.moved,
        random,
      );
      const v = randomVector(x.length, random);
      const expected = difference((y) => gradientOf(force, y), x, v, STEP);
      const found = productOf(force, x, v);
      t.ok(Math.hypot(...found.map((value, i) => value - expected[i]!)) <= TOLERANCE * Math.hypot(...expected));
    }
  });

  t.test(`${name}: the second derivative is never negative, and symmetric (TEST_SEED=${seed})`, async (t) => {
    for (let trial = 0; trial < 50; trial++) {
      const x = perturb(
        rest.map((value) => (0.2 + random()) * value),
        DEFORMED.wildly,
        random,
      );
      const [v, w] = [randomVector(x.length, random), randomVector(x.length, random)];
      const [hv, hw] = [productOf(force, x, v), productOf(force, x, w)];
      const scale = Math.hypot(...hv) * Math.hypot(...w);
      t.ok(dot(hv, v) >= -PRODUCT * Math.hypot(...hv) * Math.hypot(...v));
      t.ok(Math.abs(dot(hv, w) - dot(hw, v)) <= AGREEMENT * (scale + NO_FORCE), 'symmetric');
    }
  });

  t.test(`${name}: rigid motions cost nothing (TEST_SEED=${seed})`, async (t) => {
    const moved = turn(rest, random).map((value, i) => value + [0.3, -2, 5][i % 3]!);
    const stretched = rest.map((value) => A_TENTH_LONGER * value);
    // Bending of the flat shape is zero, but this rest shape is bent: it has the same energy at every position.
    const own = name === 'quadratic bending' ? force.energy(rest) : 0;
    t.ok(Math.abs(force.energy(moved) - own) < UNCHANGED * Math.max(force.energy(stretched), own));
  });
}

/** Vertex 0 against triangle 1 2 3, then edge 0 1 against edge 2 3. */
const contacts: Contacts = {
  count: 2,
  vertices: Uint32Array.of(0, 1, 2, 3, 0, 1, 2, 3),
  weights: Float64Array.of(1, -0.2, -0.3, -0.5, 0.4, 0.6, -0.1, -0.9),
  normals: Float64Array.of(0.6, 0, 0.8, 0, -1, 0),
};
const inverseMasses = Float64Array.of(10, 20, 0, 30);
const previous = rest.map((value) => value + 0.001);
const repulsion = new Repulsion(contacts, rest, inverseMasses, { distance: 0.3, stiffness: 2e4 });
const friction = new Friction(
  { contacts, previous, y: rest, inverseMasses, offset: 0.2, repulsion, timeStep: 0.01 },
  { static: 0.5, kinetic: 0.3 },
);

for (const [name, term] of [
  ['repulsion', repulsion],
  ['friction', friction],
] as const satisfies readonly (readonly [string, ContactTerm])[]) {
  t.test(`${name}: gradient, product and diagonal agree with the energy (TEST_SEED=${seed})`, async (t) => {
    const gradient = (x: Float64Array): Float64Array => {
      const out = new Float64Array(x.length);
      term.addGradient(x, out);
      return out;
    };
    const product = (v: Float64Array): Float64Array => {
      const out = new Float64Array(v.length);
      term.addProduct(v, out);
      return out;
    };
    const x = perturb(rest, DEFORMED.slightly, random);
    const v = randomVector(x.length, random);
    t.ok(term.energy(x) > 0);
    const slope = difference((y) => [term.energy(y)], x, v, STEP)[0]!;
    t.ok(Math.abs(dot(gradient(x), v) - slope) <= TOLERANCE * Math.hypot(...gradient(x)) * Math.hypot(...v));
    const expected = difference(gradient, x, v, STEP);
    t.ok(Math.hypot(...product(v).map((value, i) => value - expected[i]!)) <= TOLERANCE * Math.hypot(...expected));
    t.ok(dot(product(v), v) >= 0);
    const blocks = new Float64Array(9 * 4);
    term.addDiagonal(blocks);
    for (let i = 0; i < 12; i++) {
      const unit = new Float64Array(12);
      unit[i] = 1;
      const own = product(unit)[i]!;
      t.ok(Math.abs(blocks[9 * Math.floor(i / 3) + 4 * (i % 3)]! - own) <= AGREEMENT * Math.abs(own) + NO_FORCE);
    }
    // Equal and opposite: nothing is added to the momentum of all vertices.
    for (let c = 0; c < 3; c++) {
      const sum = gradient(x).reduce((total, value, i) => total + (i % 3 === c ? value : 0), 0);
      t.ok(Math.abs(sum) <= AGREEMENT * Math.hypot(...gradient(x)));
    }
  });
}
