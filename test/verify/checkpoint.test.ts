import t from 'tap';
import type { CollisionMesh } from '../../src/mesh/types.js';
import { findContacts, findDistances } from '../../src/verify/distance.js';
import { testPath } from '../../src/verify/path.js';
import { decideDoubtful, findIntersections } from '../../src/verify/state.js';
import type { PairRules } from '../../src/verify/types.js';
import { makeMesh, PROTECT } from './make-mesh.js';

/** So many quads along a side that a tree over them has nodes worth a checkpoint. */
const SIDE = 36;

/** Two wavy sheets that cross each other. */
function waves(): { readonly mesh: CollisionMesh; readonly x: Float64Array; readonly later: Float64Array } {
  const triangles: number[] = [];
  const points: number[] = [];
  for (const layer of [0, 1]) {
    const first = layer * (SIDE + 1) ** 2;
    for (let k = 0; k < (SIDE + 1) ** 2; k++) {
      const [u, v] = [k % (SIDE + 1), Math.floor(k / (SIDE + 1))];
      points.push(u, v, layer + 0.6 * Math.sin(0.3 * u + layer) * Math.cos(0.2 * v));
      if (u === SIDE || v === SIDE) continue;
      const a = first + k;
      triangles.push(a, a + 1, a + SIDE + 2, a, a + SIDE + 2, a + SIDE + 1);
    }
  }
  const x = Float64Array.from(points);
  const mesh = makeMesh({ vertexCount: points.length / 3, triangles });
  return { mesh, x, later: x.map((value, k) => (k % 3 === 2 && k > x.length / 2 ? value - 0.5 : value)) };
}

const { x, later } = waves();

const TESTS: Readonly<Record<string, (mesh: CollisionMesh, rules: PairRules) => unknown>> = {
  findIntersections: (mesh, rules) => findIntersections(mesh, later, rules),
  findDistances: (mesh, rules) => findDistances(mesh, x, rules, 0.2),
  findContacts: (mesh, rules) => findContacts(mesh, x, rules, 0.2),
  testPath: (mesh, rules) => testPath(mesh, x, later, rules),
  decideDoubtful: (mesh, rules) => {
    const pairs = Uint32Array.from({ length: 2000 }, (_, k) => (k % 2 === 0 ? k : 3000 + k));
    return decideDoubtful(mesh, later, rules, { pairsTested: 1000, pairs });
  },
};

for (const [name, test] of Object.entries(TESTS)) {
  t.test(`${name} can be stopped at every checkpoint, without a trace`, async (t) => {
    const expected = test(waves().mesh, PROTECT);
    let calls = 0;
    t.same(
      test(waves().mesh, {
        ...PROTECT,
        checkpoint: () => {
          calls++;
        },
      }),
      expected,
      'a checkpoint that does not throw changes nothing',
    );
    t.ok(calls >= 3, `${calls} calls`);
    const { mesh } = waves();
    const reason = new Error('enough');
    for (let last = 1; last <= calls; last++) {
      let left = last;
      const checkpoint = (): void => {
        if (--left === 0) throw reason;
      };
      // A tree that was kept by an earlier round may save calls: then the test ends before its last one.
      try {
        t.same(test(mesh, { ...PROTECT, checkpoint }), expected);
      } catch (thrown) {
        if (thrown !== reason) throw thrown;
        t.equal(left, 0);
      }
    }
    t.same(test(mesh, PROTECT), expected);
  });
}

t.test('the number of calls grows with the work, so that intervals stay short', async (t) => {
  const { mesh } = waves();
  let calls = 0;
  const countCalls = (gap: number): number => {
    calls = 0;
    const checkpoint = (): void => {
      calls++;
    };
    findDistances(mesh, x, { ...PROTECT, maxPairs: 1e9, checkpoint }, gap);
    return calls;
  };
  countCalls(0); // builds the tree
  const [near, far] = [countCalls(0), countCalls(2)];
  t.ok(near > 8 && far > 4 * near, `${near} calls, ${far} calls`);
});
