import t from 'tap';
import { type Colouring, colourContacts, colourEdges, Permutation } from '../../../src/solver/colouring.js';
import { orderByColour } from '../../support/order-by-colour.js';
import { type Random, seeded } from '../../support/random.js';

const random = seeded();
t.comment(`seed ${random.seed}`);

interface Constraints {
  readonly count: number;
  readonly corner: Int32Array;
  readonly inverseMass: Float32Array;
}

function makeConstraints(random: Random, slots: number): Constraints {
  const vertices = 2 + random.int(60);
  const count = random.int(150);
  const corner = new Int32Array(slots * count).fill(-1);
  for (let n = 0; n < count; n++) {
    const used = slots === 2 ? 2 : Math.min(vertices, 2 + random.int(3));
    const ids = new Set<number>();
    while (ids.size < used) ids.add(random.int(vertices));
    let s = 0;
    for (const v of ids) corner[slots * n + s++] = v;
  }
  return {
    count,
    corner,
    inverseMass: Float32Array.from({ length: vertices }, () => (random() < 0.25 ? 0 : 0.5 + random())),
  };
}

function check(
  t: { fail(message: string): unknown },
  { count, corner, inverseMass }: Constraints,
  colouring: Colouring,
): boolean {
  const { order, offsets, colours } = colouring;
  const slots = count > 0 ? corner.length / count : 1;
  let isRight = order.length === count && new Set(order).size === count && offsets[0] === 0;
  isRight &&= offsets[colours] === count && order.every((c) => c < count);
  for (let colour = 0; colour < colours; colour++) {
    if (offsets[colour + 1] <= offsets[colour]) isRight = false;
    const taken = new Set<number>();
    for (let n = offsets[colour]; n < offsets[colour + 1]; n++) {
      for (const v of corner.subarray(slots * order[n], slots * order[n] + slots)) {
        if (v < 0 || inverseMass[v] === 0) continue;
        if (taken.has(v)) isRight = false;
        taken.add(v);
      }
    }
  }
  if (!isRight) t.fail('not a colouring');
  return isRight;
}

t.test('edges: every one has a colour, and no two of a colour share a movable vertex', async (t) => {
  for (let round = 0; round < 300; round++) {
    const constraints = makeConstraints(random, 2);
    const colouring = colourEdges(Uint32Array.from(constraints.corner), constraints.inverseMass);
    check(t, constraints, { ...colouring, order: orderByColour(colouring.colour) });
    // A greedy colouring needs no more colours than the largest number of conflicts, plus one.
    const degree = new Int32Array(constraints.inverseMass.length);
    for (const v of constraints.corner) if (constraints.inverseMass[v] > 0) degree[v]++;
    const most = Math.max(0, ...degree);
    if (colouring.colours > Math.max(1, 2 * most - 1) && constraints.count > 0)
      t.fail(`${colouring.colours} colours for degree ${most}`);
    if (colouring.colours < most) t.fail('fewer colours than constraints at one vertex');
  }
  t.pass('300 graphs');
});

t.test('edges: a hub with hundreds of edges, and one that cannot move', async (t) => {
  const spokes = 300;
  const corner = Uint32Array.from({ length: 2 * spokes }, (_, k) => (k % 2 === 0 ? 0 : 1 + (k >> 1)));
  const masses = new Float32Array(spokes + 1).fill(1);
  t.equal(colourEdges(corner, masses).colours, spokes);
  masses[0] = 0;
  t.equal(colourEdges(corner, masses).colours, 1, 'a fixed hub is no conflict');
});

t.test('contacts: every one has a colour, and no two of a colour share a movable vertex', async (t) => {
  for (let round = 0; round < 300; round++) {
    const constraints = makeConstraints(random, 4);
    check(
      t,
      constraints,
      colourContacts(constraints.count, constraints.corner, constraints.inverseMass, random.int(2 ** 31)),
    );
  }
  t.pass('300 sets');
});

t.test('contacts: colour by colour gives the same bits as the order of the permutation', async (t) => {
  for (let round = 0; round < 200; round++) {
    const { count, corner, inverseMass } = makeConstraints(random, 4);
    const seed = random.int(2 ** 31);
    // An update that reads and writes all movable vertices of a constraint and does not commute.
    const apply = (y: Float32Array, c: number): void => {
      const ids = [...corner.subarray(4 * c, 4 * c + 4)].filter((v) => v >= 0 && inverseMass[v] !== 0);
      const sum = ids.reduce((total, v) => total + y[v], 0);
      for (const v of ids) y[v] = 0.7 * y[v] + 0.1 * sum + c;
    };
    const first = Float32Array.from(inverseMass, () => random());
    const second = first.slice();
    const permutation = new Permutation(count, seed);
    for (let n = 0; n < count; n++) apply(first, permutation.at(n));
    for (const c of colourContacts(count, corner, inverseMass, seed).order) apply(second, c);
    if (!first.every((value, v) => value === second[v])) t.fail(`round ${round}: another result`);
  }
  t.pass('200 sets');
});

t.test('contacts: within a colour every order gives the same result', async (t) => {
  const constraints = makeConstraints(random, 4);
  const { order, offsets, colours } = colourContacts(constraints.count, constraints.corner, constraints.inverseMass, 5);
  const again = colourContacts(constraints.count, constraints.corner, constraints.inverseMass, 5);
  t.strictSame([...order], [...again.order], 'nothing is left over from the call before');
  t.equal(colours, again.colours);
  t.strictSame([...offsets], [...again.offsets]);
});

t.test('a permutation takes every value once, for every count up to 600', async (t) => {
  for (let count = 1; count <= 600; count++) {
    const permutation = new Permutation(count, random.int(2 ** 32));
    const seen = new Uint8Array(count);
    for (let n = 0; n < count; n++) {
      const value = permutation.at(n);
      if (!(value >= 0 && value < count) || seen[value] === 1) {
        t.fail(`count ${count}: ${n} goes to ${value}`);
        break;
      }
      seen[value] = 1;
    }
  }
  t.pass('all bijections');
});

t.test('a permutation takes every value once, for large counts around powers of two', async (t) => {
  for (const count of [65_535, 65_536, 65_537, 300_007]) {
    const permutation = new Permutation(count, random.int(2 ** 32));
    const seen = new Uint8Array(count);
    let distinct = 0;
    for (let n = 0; n < count; n++) {
      const value = permutation.at(n);
      if (value < count && seen[value]++ === 0) distinct++;
    }
    t.equal(distinct, count);
  }
});

t.test('another seed gives another order', async (t) => {
  const count = 1000;
  const image = (seed: number): number[] => Array.from({ length: count }, (_, n) => new Permutation(count, seed).at(n));
  const [first, second] = [image(1), image(2)];
  t.strictSame(first, image(1));
  const common = first.filter((value, n) => value === second[n]).length;
  t.ok(common < count / 10, `${common} of ${count} in the same place`);
  const low = first.slice(0, count / 2).filter((value) => value < count / 2).length;
  t.ok(low > 0.35 * (count / 2) && low < 0.65 * (count / 2), `${low} of the lower half stay in it: well mixed`);
});

t.test('edges take the smallest free colour, even beyond 32 colours', async (t) => {
  for (let n = 0; n < 40; n++) {
    const { count, corner, inverseMass } = makeConstraints(random, 2);
    const used = Array.from(inverseMass, () => new Set<number>());
    const expected = Array.from({ length: count }, (_, e) => {
      const ends = [corner[2 * e], corner[2 * e + 1]].filter((v) => inverseMass[v] !== 0);
      let free = 0;
      while (ends.some((v) => used[v].has(free))) free++;
      for (const v of ends) used[v].add(free);
      return free;
    });
    const { colour } = colourEdges(Uint32Array.from(corner), inverseMass);
    if (!t.same([...colour], expected)) return;
  }
  const star = Uint32Array.from({ length: 200 }, (_, k) => (k % 2 === 0 ? 0 : 1 + (k - 1) / 2));
  t.equal(colourEdges(star, new Float32Array(101).fill(1)).colours, 100);
});
