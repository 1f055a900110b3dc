import t from 'tap';
import type { CollisionMesh } from '../../src/mesh/types.js';
import { team } from '../../src/threads/here.js';
import { findDistances } from '../../src/verify/distance.js';
import { openMeshTree } from '../../src/verify/mesh-tree.js';
import { testPath } from '../../src/verify/path.js';
import { SharedArrays } from '../../src/verify/shared-arrays.js';
import { findIntersections } from '../../src/verify/state.js';
import { seeded } from '../support/random.js';
import { makeMesh, PROTECT, SKIP } from './make-mesh.js';
import { listMeetings, nameOf } from './oracle.js';

/** Two sheets of 6 × 6 quads, the second of them kinematic, a chain of rods and some free points. */
function sheets(): CollisionMesh {
  const triangles: number[] = [];
  for (const first of [0, 49]) {
    for (let k = 0; k < 36; k++) {
      const a = first + 7 * Math.floor(k / 6) + (k % 6);
      triangles.push(a, a + 1, a + 8, a, a + 8, a + 7);
    }
  }
  return makeMesh({
    vertexCount: 112,
    triangles,
    segments: Array.from({ length: 14 }, (_, k) => 98 + Math.ceil(k / 2)),
    particles: [106, 107, 108, 109, 110, 111],
    kinematic: Array.from({ length: 49 }, (_, k) => 49 + k),
  });
}

/** Coordinates on a grid that the oracle can read. */
const rounded = (value: number): number => Math.round(value * 2 ** 30) / 2 ** 30;

/** The sheets one above the other, rods and points among them; `crumple` moves every vertex at random. */
function place(random: () => number, crumple: number, size: number): Float64Array {
  const x = new Float64Array(336);
  for (let v = 0; v < 112; v++) {
    const [u, w] = v < 98 ? [v % 7, Math.floor((v % 49) / 7)] : [random() * 6, random() * 6];
    const height = v < 49 ? 0 : v < 98 ? 0.5 : random();
    x.set(
      [u, w, height].map((value) => rounded(size * (value + crumple * (random() - 0.5)))),
      3 * v,
    );
  }
  return x;
}

t.test('data that a search shares is held once, and a tree that is too loose holds none', async (t) => {
  const random = seeded();
  t.comment(`TEST_SEED=${random.seed}`);
  const flat = place(() => random.int(2 ** 20) / 2 ** 20, 0, 1);
  const crumpled = place(() => random.int(2 ** 20) / 2 ** 20, 40, 1);
  const { account } = team.memory;
  const before = account.total;
  /** bytes that are held once a tree was opened for these states, one after the other */
  const heldAfter = (...states: Float64Array[]): number => {
    const mesh = sheets();
    const last = states.pop()!;
    for (const x of states) openMeshTree(mesh, x, x);
    const shared = new SharedArrays();
    const { tree } = openMeshTree(mesh, last, last, undefined, shared);
    const held = account.total - before;
    shared.share(tree.nodes.right);
    t.equal(account.total - before, held, 'it is already shared');
    shared.release();
    t.equal(account.total, before);
    return held;
  };
  const built = heldAfter(crumpled);
  t.ok(built > 0);
  t.equal(heldAfter(flat, crumpled), built, 'rebuilt');
  t.equal(heldAfter(crumpled, crumpled), built, 'kept');
});

t.test('a tree serves every state of its mesh', async (t) => {
  const random = seeded();
  t.comment(`TEST_SEED=${random.seed}`);
  const next = () => random.int(2 ** 20) / 2 ** 20;
  const mesh = sheets();
  let earlier = place(next, 0, 1);
  // Tight after loose and the other way round: some of these trees are kept, some are not.
  for (const [crumple, size] of [
    [0.1, 1],
    [0.3, 1],
    [2, 1],
    [0.2, 1],
    [0, 8],
    [3, 1],
    [0.5, 0.125],
  ] as const) {
    const x = place(next, crumple, size);
    for (const rules of [PROTECT, SKIP]) {
      // Nobody has looked at this mesh before.
      const fresh = sheets();
      const wide = { ...rules, maxPairs: 1e6 };
      t.same(findIntersections(mesh, x, wide), findIntersections(fresh, x, wide), `state, crumpled by ${crumple}`);
      t.same(findDistances(mesh, x, rules, 0.2), findDistances(fresh, x, rules, 0.2), `distances, ${crumple}`);
      t.same(testPath(mesh, earlier, x, rules), testPath(fresh, earlier, x, rules), `path, ${crumple}`);
    }
    if (crumple === 2) {
      const { intersections } = findIntersections(mesh, x, { ...PROTECT, maxPairs: 1e6 });
      t.same(intersections.map(({ kind, a, b }) => nameOf(kind, a, b)).sort(), listMeetings(mesh, x), 'as brute force');
    }
    earlier = x;
  }
});

t.test('a tree is kept while it is tight, and otherwise rebuilt', async (t) => {
  const random = seeded();
  t.comment(`TEST_SEED=${random.seed}`);
  const next = () => random.int(2 ** 20) / 2 ** 20;
  const mesh = sheets();
  const open = (x: Float64Array) => openMeshTree(mesh, x, x);
  const first = open(place(next, 0, 1));
  t.equal(open(place(next, 0.1, 1)).tree, first.tree, 'a state similar to the first');
  const scattered = open(place(next, 20, 1));
  t.not(scattered.tree, first.tree, 'a very different state');
  t.notOk(scattered.tree.isLooseIn(scattered.boxes));
});
