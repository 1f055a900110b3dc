// Large answers are compared by isDeepStrictEqual: where they differ, tap would print all of their numbers.
import { isDeepStrictEqual } from 'node:util';
import t from 'tap';
import type { CollisionMesh } from '../../src/mesh/types.js';
import { findDistances } from '../../src/verify/distance.js';
import { VerifierMemory } from '../../src/verify/memory.js';
import { findMinDistance } from '../../src/verify/nearest.js';
import { testPath } from '../../src/verify/path.js';
import { findIntersections } from '../../src/verify/state.js';
import type { PairRules } from '../../src/verify/types.js';
import { untilHelped, withCores } from '../support/helpers.js';
import { seeded } from '../support/random.js';
import { makeMesh } from './make-mesh.js';

const random = seeded();
t.comment(`seed ${random.seed}`);

const SIDE = 56;

/** Two wavy sheets, the lower one kinematic, with rods and free points above them: crossing in `x`, apart in `apart`. */
function waves(): { readonly mesh: CollisionMesh; readonly x: Float64Array; readonly apart: Float64Array } {
  const triangles: number[] = [];
  const points: number[] = [];
  const sheet = (SIDE + 1) ** 2;
  for (const layer of [0, 1]) {
    for (let k = 0; k < sheet; k++) {
      const [u, v] = [k % (SIDE + 1), Math.floor(k / (SIDE + 1))];
      points.push(u, v, layer + 0.6 * Math.sin(0.3 * u + 2 * layer) * Math.cos(0.2 * v) + random.between(0, 0.01));
      if (u === SIDE || v === SIDE) continue;
      const a = layer * sheet + k;
      triangles.push(a, a + 1, a + SIDE + 2, a, a + SIDE + 2, a + SIDE + 1);
    }
  }
  const segments: number[] = [];
  const particles: number[] = [];
  for (let n = 0; n < 200; n++) {
    const first = points.length / 3;
    for (let k = 0; k < 3; k++)
      points.push(random.between(0, SIDE), random.between(0, SIDE), 1.5 + random.between(0, 0.3));
    segments.push(first, first + 1);
    particles.push(first + 2);
  }
  const vertexCount = points.length / 3;
  const kinematic = Array.from({ length: sheet - SIDE }, (_, i) => i);
  const x = Float64Array.from(points);
  const apart = x.map((value, k) => (k % 3 === 2 && k >= 3 * sheet ? value + 4 : value));
  return { mesh: makeMesh({ vertexCount, triangles, segments, particles, kinematic }), x, apart };
}

const { mesh, x, apart } = waves();

/** Everything that the verifier says, in every variant that threads share. */
function verdicts(): readonly unknown[] {
  const all: unknown[] = [];
  for (const kinematicPairs of ['SKIP', 'PROTECT'] as const) {
    for (const state of [x, apart]) {
      all.push(findIntersections(mesh, state, { kinematicPairs, maxPairs: 20 }));
      for (const closerThan of [0.05, 1, Number.POSITIVE_INFINITY]) {
        all.push(findDistances(mesh, state, { kinematicPairs, maxPairs: 0 }, closerThan));
      }
    }
    const rules: PairRules = { kinematicPairs, maxPairs: 20 };
    all.push(testPath(mesh, apart, x, rules), testPath(mesh, apart, apart, rules));
    all.push(testPath(mesh, apart, x, rules, 'codimensional'));
  }
  return all;
}

t.test('verdicts are the same for any number of cores', async (t) => {
  const alone = verdicts();
  t.match(alone[0], { intersectionCount: /[1-9]/ });
  for (const cores of [2, 3, 8]) {
    await withCores(cores, async () => {
      const compare = () => void t.ok(isDeepStrictEqual(verdicts(), alone), `${cores} cores`);
      t.ok(await untilHelped(compare), 'helpers took part');
    });
  }
});

/** Smallest distances of a walk of states, of which a memory keeps the nearest pairs, and what it keeps of the first. */
function distancesOfWalk(): readonly unknown[] {
  const all: unknown[] = [];
  for (const kinematicPairs of ['SKIP', 'PROTECT'] as const) {
    for (const closerThan of [1e-6, 0.05, 1]) {
      const memory = new VerifierMemory(mesh);
      for (const lift of [0, 1e-3, 1e-3, 2]) {
        const state = apart.map((value, k) => (k % 3 === 2 ? value * (1 + lift) : value));
        all.push(findMinDistance(mesh, state, { kinematicPairs, maxPairs: 0 }, closerThan, memory));
        if (lift === 0) all.push(memory.distances?.beyond, memory.distances?.nearest);
      }
    }
  }
  return all;
}

t.test('the remembered nearest pairs are the same for any number of cores', async (t) => {
  const alone = distancesOfWalk();
  t.ok(alone.some((found) => typeof found === 'number'));
  for (const cores of [2, 3, 5]) {
    await withCores(cores, async () => {
      const compare = () => void t.ok(isDeepStrictEqual(distancesOfWalk(), alone), `${cores} cores`);
      t.ok(await untilHelped(compare), 'helpers took part');
    });
  }
});

t.test('a checkpoint that throws ends the search, and the next search is correct', async (t) => {
  const rules: PairRules = { kinematicPairs: 'SKIP', maxPairs: 5 };
  const expected = findIntersections(mesh, x, rules);
  await withCores(3, async () => {
    for (let most = 1; most < 200; most += 23) {
      let calls = 0;
      const checkpoint = () => {
        if (++calls > most) throw new Error('enough');
      };
      try {
        findIntersections(mesh, x, { ...rules, checkpoint });
      } catch (thrown) {
        t.match(thrown, { message: 'enough' });
      }
      t.same(findIntersections(mesh, x, rules), expected);
    }
  });
});

t.test('a state in which too many pairs intersect is searched by one thread', async (t) => {
  // Triangles that nearly coincide, far from the sheets: more pairs than threads may leave to the requesting one.
  const pile = 400;
  const { vertexCount } = mesh;
  const corners = Array.from({ length: 3 * pile }, (_, k) => vertexCount + k);
  const points = corners.flatMap((_, k) =>
    [[0, 1, 0][k % 3]!, [0, 0, 1][k % 3]!, 100].map((c) => c + random.between(-0.1, 0.1)),
  );
  const crowded = makeMesh({ vertexCount: vertexCount + 3 * pile, triangles: [...mesh.triangles, ...corners] });
  const state = Float64Array.of(...x, ...points);
  const rules: PairRules = { kinematicPairs: 'PROTECT', maxPairs: 20 };
  const alone = findIntersections(crowded, state, rules);
  t.ok(alone.intersectionCount > 2 ** 16, `${alone.intersectionCount} pairs`);
  await withCores(3, async () => {
    const compare = () => void t.same(findIntersections(crowded, state, rules), alone);
    t.ok(await untilHelped(compare), 'helpers took part');
  });
});
