import t from 'tap';
import { Bvh } from '../../../src/solver/bvh.js';
import { type Random, seeded } from '../../support/random.js';

const random = seeded();
t.comment(`seed ${random.seed}`);

interface Boxes {
  readonly count: number;
  /** float32[6·N] lo xyz, hi xyz */
  readonly box: Float32Array;
  /** uint8[N] */
  readonly mask: Uint8Array;
}

function scatter(random: Random, count: number, size: () => number, masks = 1): Boxes {
  const box = new Float32Array(6 * count);
  for (let i = 0; i < count; i++) {
    for (let c = 0; c < 3; c++) {
      const at = random.between(-1, 1);
      const half = size() / 2;
      box[6 * i + c] = at - half;
      box[6 * i + 3 + c] = at + half;
    }
  }
  return { count, box, mask: Uint8Array.from({ length: count }, () => random.int(masks)) };
}

/** Boxes on a coarse grid, so that many only just touch; some are points or flat. */
function scatterOnGrid(random: Random, count: number, masks: number): Boxes {
  const box = new Float32Array(6 * count);
  for (let i = 0; i < count; i++) {
    for (let c = 0; c < 3; c++) {
      box[6 * i + c] = random.int(5);
      box[6 * i + 3 + c] = box[6 * i + c] + random.int(3);
    }
  }
  return { count, box, mask: Uint8Array.from({ length: count }, () => random.int(masks)) };
}

function build({ count, box, mask }: Boxes, tree = new Bvh()): Bvh {
  tree.build(count, box, mask);
  return tree;
}

/** Keys i·N + j of the pairs found, in order of visit, in the caller's numbering; smaller one first within one set. */
function visited(a: Bvh, b: Bvh): number[] {
  const keys: number[] = [];
  a.forEachOverlap(b, (s, t) => {
    const i = a.order[s];
    const j = b.order[t];
    keys.push(a === b && j < i ? j * b.count + i : i * b.count + j);
  });
  return keys;
}

function bruteForce(a: Boxes, b: Boxes): number[] {
  const keys: number[] = [];
  const [p, q] = [a.box, b.box];
  for (let i = 0; i < a.count; i++) {
    const m = 6 * i;
    for (let j = a === b ? i + 1 : 0; j < b.count; j++) {
      const n = 6 * j;
      if (p[m] > q[n + 3] || q[n] > p[m + 3] || p[m + 1] > q[n + 4] || q[n + 1] > p[m + 4]) continue;
      if (p[m + 2] > q[n + 5] || q[n + 2] > p[m + 5] || (a.mask[i] & b.mask[j]) !== 0) continue;
      keys.push(i * b.count + j);
    }
  }
  return keys;
}

const sorted = (keys: readonly number[]): Float64Array => Float64Array.from(keys).sort();
const isSame = (a: Float64Array, b: Float64Array): boolean =>
  a.length === b.length && a.every((key, n) => key === b[n]);

t.test('10 000 boxes of sizes 1:1000 against 10 000, and against themselves', async (t) => {
  const size = (): number => 0.0005 * 10 ** (3 * random() ** 2);
  const a = scatter(random, 10_000, size);
  const b = scatter(random, 10_000, size);
  const cross = sorted(bruteForce(a, b));
  t.ok(cross.length > 2000, `${cross.length} overlaps`);
  const [left, right] = [build(a), build(b)];
  t.ok(isSame(sorted(visited(left, right)), cross), 'a against b');
  t.ok(isSame(sorted(visited(left, left)), sorted(bruteForce(a, a))), 'a against itself');
});

t.test('small sets of every size, self and cross, with masks, touching and flat boxes', async (t) => {
  let pairs = 0;
  for (let round = 0; round < 400; round++) {
    const count = random.int(round < 200 ? 20 : 150);
    const other = random.int(60);
    const masks = [1, 2, 4, 8][random.int(4)];
    const make = (n: number): Boxes =>
      random() < 0.5 ? scatterOnGrid(random, n, masks) : scatter(random, n, () => 10 ** random.between(-3, 0), masks);
    const [a, b] = [make(count), make(other)];
    const [left, right] = [build(a), build(b)];
    const cross = bruteForce(a, b);
    const self = bruteForce(a, a);
    pairs += cross.length + self.length;
    if (!isSame(sorted(visited(left, right)), sorted(cross))) t.fail(`round ${round}: ${count} against ${other}`);
    if (!isSame(sorted(visited(left, left)), sorted(self))) t.fail(`round ${round}: ${count} against themselves`);
  }
  t.ok(pairs > 10_000, `${pairs} pairs in all`);
});

t.test('any common bit excludes a pair, even for a whole subtree', async (t) => {
  const count = 500;
  const base = scatter(random, count, () => 0.5);
  const half = { ...base, mask: Uint8Array.from({ length: count }, (_, i) => (base.box[6 * i] < 0 ? 1 : 2)) };
  const found = visited(build(half), build(half));
  t.ok(isSame(sorted(found), sorted(bruteForce(half, { ...half }))), 'two halves with a bit each');
  t.ok(found.length > 0, 'pairs across the halves remain');
  const all = build({ ...base, mask: new Uint8Array(count).fill(4) });
  t.equal(visited(all, all).length, 0, 'all with one bit');
  const none = build({ ...base, mask: new Uint8Array(count).fill(3) });
  const apart = build({ ...base, mask: new Uint8Array(count).fill(4) });
  t.equal(
    visited(none, apart).length,
    bruteForce(base, { ...base }).length,
    'bits that are not in common exclude nothing',
  );
});

t.test('empty and single trees', async (t) => {
  const empty = build(scatter(random, 0, () => 1));
  const single = build(scatter(random, 1, () => 1));
  const many = build(scatter(random, 50, () => 4));
  t.equal(visited(empty, empty).length, 0);
  t.equal(visited(empty, many).length, 0);
  t.equal(visited(many, empty).length, 0);
  t.equal(visited(single, single).length, 0, 'nothing overlaps itself');
  t.equal(visited(single, many).length, 50);
  t.equal(visited(many, single).length, 50);
});

t.test('identical boxes, and boxes that are all one point', async (t) => {
  for (const [lo, hi] of [
    [-1, 2],
    [0.1, 0.1],
  ]) {
    const count = 77;
    const box = Float32Array.from({ length: 6 * count }, (_, k) => (k % 6 < 3 ? lo : hi));
    const tree = build({ count, box, mask: new Uint8Array(count) });
    const found = visited(tree, tree);
    t.equal(found.length, (count * (count - 1)) / 2);
    t.equal(new Set(found).size, found.length, 'each pair once');
    t.strictSame([...tree.order], [...tree.order.keys()], 'equal codes stay in the order of the ids');
  }
});

t.test('the boxes determine the order of visits, whatever the tree was used for before', async (t) => {
  const a = scatter(random, 700, () => 0.2);
  const b = scatter(random, 300, () => 0.2);
  const used = new Bvh();
  for (const count of [900, 0, 700])
    build(
      scatter(random, count, () => 1),
      used,
    );
  const [left, right] = [build(a), build(b)];
  const again = build(a, used);
  t.strictSame(visited(left, right), visited(again, build(b)));
  t.strictSame(visited(left, left), visited(again, again));
  let isAscending = true;
  left.forEachOverlap(left, (s, t) => {
    if (!(s < t)) isAscending = false;
  });
  t.ok(isAscending, 'in a tree against itself the first position comes first');
});

t.test('an update gives the same tree as a new build, bit for bit', async (t) => {
  const content = ({ order, box, mask, node, nodeMask, leaves, count }: Bvh): unknown[] => [
    [...order.subarray(0, count)],
    [...box.subarray(0, 6 * count)],
    [...mask.subarray(0, count)],
    [...node.subarray(6, 12 * leaves)],
    [...nodeMask.subarray(1, 2 * leaves)],
  ];
  for (let round = 0; round < 60; round++) {
    const onGrid = round % 2 === 0;
    const make = (count: number): Boxes =>
      onGrid ? scatterOnGrid(random, count, 4) : scatter(random, count, () => 0.2, 4);
    const boxes = make(1 + random.int(300));
    const tree = build(boxes);
    for (let n = 0; n < 6; n++) {
      // A share of 1 changes every box, and with them the grid of the codes; small ones change few or none.
      const share = [0, 0.01, 0.1, 0.2, 1][random.int(5)];
      const other = make(boxes.count);
      const changed = Uint32Array.from([...Array(boxes.count).keys()].filter(() => random() < share));
      for (const i of changed) boxes.box.set(other.box.subarray(6 * i, 6 * i + 6), 6 * i);
      boxes.mask.set(other.mask);
      tree.update(boxes.box, boxes.mask, changed, changed.length);
      t.strictSame(content(tree), content(build(boxes)), `round ${round}: ${changed.length} of ${boxes.count}`);
    }
  }
});
