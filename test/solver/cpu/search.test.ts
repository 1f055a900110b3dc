import t from 'tap';
import { KEPT, PASSIVE } from '../../../src/solver/constants.js';
import { fillTrustBoxes } from '../../../src/solver/cpu/boxes.js';
import { PairSet } from '../../../src/solver/cpu/pair-set.js';
import { type PairRules, ProximitySearch, SearchTrees } from '../../../src/solver/cpu/search.js';
import { PairBudgetExceeded } from '../../../src/solver/cpu/walk.js';
import { findKinematicBorder } from '../../../src/solver/exclusion-rules.js';
import { EE, SIDE_A, VE, VV } from '../../../src/solver/pair-kinds.js';
import { NO_VERTEX } from '../../../src/verify/contact-list.js';
import { findContacts } from '../../../src/verify/distance.js';
import { mayBeSkipped } from '../../support/guarding-oracle.js';
import { type LooseScene, looseScene } from '../../support/loose-scene.js';
import { type Random, seeded } from '../../support/random.js';
import { makeSettings } from '../../support/settings.js';
import { allPairs, boundsApart, keyOf, keysOf, leastDistance } from '../../support/trust-oracle.js';

const random = seeded();
t.comment(`seed ${random.seed}`);

const settings = makeSettings({ delta: 0.05 });
const { delta } = settings;
/** Float32 faces of boxes that are a few units from the origin are good to 1e-6. */
const ROUNDING = 2e-6;
const NO_LIMIT = 1e9;

interface Searched {
  readonly box: Float32Array<ArrayBuffer>;
  readonly pairs: PairSet;
}

function search({ mesh, x, y }: LooseScene, rules: Partial<PairRules> = {}, budget = NO_LIMIT): Searched {
  const boxes = { box: new Float32Array(6 * mesh.vertexCount), growth: 0 };
  const none = new Uint8Array(mesh.vertexCount);
  fillTrustBoxes(boxes, x, y, mesh.kinematic, settings, 0.3, settings.reach, none);
  const pairs = new PairSet();
  const all = { mask: rules.mask ?? none, border: rules.border, isIgnored: rules.isIgnored };
  new ProximitySearch(mesh).search(boxes, x, delta, all, budget, pairs);
  return { box: boxes.box, pairs };
}

/** A state in the boxes: every coordinate anywhere, or everything at corners. */
function stateInside(random: Random, box: Float32Array): Float32Array {
  const atCorners = random() < 0.5;
  const state = new Float32Array(box.length / 2);
  for (let k = 0; k < state.length; k++) {
    const q = 6 * Math.floor(k / 3) + (k % 3);
    const share = atCorners ? random.int(2) : random();
    state[k] = share === 1 ? box[q + 3] : Math.min(box[q + 3], box[q] + share * (box[q + 3] - box[q]));
  }
  return state;
}

t.test('P contains every pair that can get closer than δ while the vertices are in their boxes', async (t) => {
  let close = 0;
  let cut = 0;
  const kinds = [0, 0, 0, 0];
  for (let round = 0; round < 12; round++) {
    const scene = looseScene(random, { elements: 40, side: 4, travel: 0.4 });
    const { box, pairs } = search(scene);
    const keys = keysOf(pairs);
    const inP = new Set(keys);
    t.equal(inP.size, keys.length, 'each pair once');
    const known = new Set<string>();
    for (const pair of allPairs(scene.mesh)) {
      known.add(pair.key);
      const apart = boundsApart(box, pair);
      if (inP.has(pair.key)) {
        kinds[pair.kind]++;
        if (apart > delta + ROUNDING) t.fail(`${pair.key} cannot come closer than ${apart}, yet is in P`);
        continue;
      }
      if (apart >= delta) continue;
      cut++;
      const least = leastDistance(box, pair);
      if (least < 3 * delta) close++;
      if (least < delta - ROUNDING) t.fail(`round ${round}: ${pair.key} can come to ${least}, but is not in P`);
    }
    for (const key of keys) if (!known.has(key)) t.fail(`${key} is no pair of this mesh`);
  }
  t.ok(
    kinds.every((count) => count > 5),
    `pairs found by kind: ${kinds}`,
  );
  t.ok(cut > 100 && close > 0, `${cut} pairs with overlapping bounds were excluded, ${close} of them not by much`);
});

t.test('every pair within δ in some state inside the boxes is in P', async (t) => {
  let met = 0;
  for (let round = 0; round < 10; round++) {
    const scene = looseScene(random, { elements: 60, side: 4, travel: 0.5 });
    const { box, pairs } = search(scene);
    const inP = new Set(keysOf(pairs));
    for (let n = 0; n < 20; n++) {
      const state = stateInside(random, box);
      const { kinds, vertices } = findContacts(
        scene.mesh,
        state,
        { kinematicPairs: 'PROTECT', maxPairs: 0 },
        delta - ROUNDING,
      );
      kinds.forEach((code, p) => {
        const ids = [...vertices.subarray(4 * p, 4 * p + 4)].filter((v) => v !== NO_VERTEX);
        // The verifier's codes are those of P plus one.
        const side = SIDE_A[code - 1];
        met++;
        const key = keyOf(code - 1, ids.slice(0, side), ids.slice(side));
        if (!inP.has(key)) t.fail(`round ${round}: ${key} comes within δ but is not in P`);
      });
    }
  }
  t.ok(met > 1000, `${met} meetings`);
});

t.test('a mask of both elements excludes a pair, but a mask of one does not', async (t) => {
  for (const bit of [PASSIVE, KEPT, PASSIVE | KEPT]) {
    const scene = looseScene(random, { elements: 80, side: 4, travel: 0.2 });
    const mask = Uint8Array.from({ length: scene.mesh.vertexCount }, () => (random() < 0.7 ? bit : 0));
    const isBarred = (side: readonly number[], one: number): boolean => side.every((v) => (mask[v] & one) !== 0);
    const free = search(scene).pairs;
    const barred = new Set(
      allPairs(scene.mesh)
        .filter(({ a, b }) => [PASSIVE, KEPT].some((one) => isBarred(a, one) && isBarred(b, one)))
        .map(({ key }) => key),
    );
    const expected = keysOf(free).filter((key) => !barred.has(key));
    t.ok(expected.length < free.count && expected.length > 0, `${free.count} pairs, ${expected.length} not barred`);
    t.strictSame(keysOf(search(scene, { mask }).pairs).sort(), expected.sort());
  }
});

t.test('at the border of kinematic regions a pair is excluded iff it guards nothing that is promised', async (t) => {
  const sizes: Record<string, number> = { excluded: 0, kept: 0 };
  for (let round = 0; round < 4; round++) {
    const scene = looseScene(random, { elements: 80, side: 4, travel: 0.2, kinematic: 0.4, border: 0.6 });
    const { mesh } = scene;
    const mask = mesh.kinematic.map((flag) => (flag === 0 ? 0 : PASSIVE | KEPT));
    const skipped = new Set(
      allPairs(mesh)
        .filter((pair) => mayBeSkipped(mesh, pair))
        .map(({ key }) => key),
    );
    const free = keysOf(search(scene).pairs);
    const expected = free.filter((key) => !skipped.has(key));
    const border = findKinematicBorder(mesh);
    const passive = mask.map((bits) => bits & PASSIVE);
    t.strictSame(keysOf(search(scene, { mask: passive, border }).pairs).sort(), [...expected].sort());
    const isFixed = (side: readonly number[]): boolean => side.every((v) => mesh.kinematic[v] !== 0);
    const fixed = new Set(
      allPairs(mesh)
        .filter(({ a, b }) => isFixed(a) && isFixed(b))
        .map(({ key }) => key),
    );
    const notKept = keysOf(search(scene, { mask, border }).pairs).sort();
    t.strictSame(notKept, free.filter((key) => !fixed.has(key)).sort(), 'KEPT is as it was');
    sizes.excluded += free.length - expected.length;
    sizes.kept += expected.filter((key) => fixed.has(key)).length;
  }
  t.ok(
    Object.values(sizes).every((count) => count > 20),
    JSON.stringify(sizes),
  );
});

t.test('ignored pairs are excluded, and only they', async (t) => {
  const scene = looseScene(random, { elements: 80, side: 4, travel: 0.2 });
  const everything = keysOf(search(scene).pairs);
  const asked: string[] = [];
  const { pairs } = search(scene, {
    isIgnored: (kind, v0, v1, v2, v3) => {
      const ids = [v0, v1, v2, v3].filter((v) => v >= 0);
      asked.push(keyOf(kind, ids.slice(0, SIDE_A[kind]), ids.slice(SIDE_A[kind])));
      return v0 % 2 === 0;
    },
  });
  const kept = new Set(keysOf(pairs));
  t.ok(
    everything.every((key) => asked.includes(key)),
    'asked about every pair of P',
  );
  let ignored = 0;
  for (let p = 0; p < pairs.count; p++) if (pairs.vertex[4 * p] % 2 === 0) t.fail('an ignored pair is in P');
  for (const key of everything) if (!kept.has(key)) ignored++;
  t.equal(ignored + pairs.count, everything.length);
  t.ok(ignored > 0 && pairs.count > 0);
});

t.test('the normals of P point from b to a', async (t) => {
  const scene = looseScene(random, { elements: 120, side: 5, travel: 0.2 });
  const { pairs } = search(scene);
  for (let p = 0; p < pairs.count; p++) {
    const size = Math.hypot(...pairs.normal.subarray(3 * p, 3 * p + 3));
    if (Math.abs(size - 1) > 1e-6 && size !== 0) t.fail(`pair ${p}: a normal of length ${size}`);
    if (pairs.delta[p] !== 0 || pairs.stamp[p] !== -1) t.fail(`pair ${p} starts with stale geometry`);
    if (pairs.kind[p] !== VV) continue;
    const [a, b] = pairs.vertex.subarray(4 * p, 4 * p + 2);
    const along = [0, 1, 2].reduce(
      (sum, c) => sum + pairs.normal[3 * p + c] * (scene.x[3 * a + c] - scene.x[3 * b + c]),
      0,
    );
    if (!(along > 0)) t.fail('a normal of two points that does not lead from b to a');
  }
  t.ok(pairs.count > 100);
});

t.test('the same boxes give the same P in the same order, even from a used search', async (t) => {
  const scene = looseScene(random, { elements: 80, side: 4, travel: 0.2 });
  const first = search(scene).pairs;
  const boxes = { box: new Float32Array(6 * scene.mesh.vertexCount), growth: 0 };
  const none = new Uint8Array(scene.mesh.vertexCount);
  const used = new ProximitySearch(scene.mesh);
  const rules = { mask: none, isIgnored: undefined };
  const pairs = new PairSet();
  for (const leap of [3, 0.3]) {
    fillTrustBoxes(boxes, scene.x, scene.y, scene.mesh.kinematic, settings, leap, settings.reach, none);
    pairs.clear();
    used.search(boxes, scene.x, delta, rules, NO_LIMIT, pairs);
  }
  t.equal(pairs.count, first.count);
  t.strictSame([...pairs.vertex.subarray(0, 4 * pairs.count)], [...first.vertex.subarray(0, 4 * first.count)]);
  t.strictSame([...pairs.normal.subarray(0, 3 * pairs.count)], [...first.normal.subarray(0, 3 * first.count)]);
});

t.test('more pairs than the budget are refused, but exactly as many are not', async (t) => {
  const scene = looseScene(random, { elements: 60, side: 3, travel: 0.2 });
  const { count } = search(scene).pairs;
  t.equal(search(scene, {}, count).pairs.count, count);
  t.throws(() => search(scene, {}, count - 1), PairBudgetExceeded);
});

t.test('unused slots contain −1', async (t) => {
  const { pairs } = search(looseScene(random, { elements: 60, side: 3, travel: 0.2 }));
  for (let p = 0; p < pairs.count; p++) {
    const corners = pairs.kind[p] === VV ? 2 : pairs.kind[p] === VE ? 3 : 4;
    const slots = [...pairs.vertex.subarray(4 * p, 4 * p + 4)];
    if (!slots.every((v, s) => (s < corners ? v >= 0 : v === -1))) t.fail(`pair ${p}: ${slots}`);
  }
  t.ok(pairs.kind.includes(EE));
});

t.test('trees of an earlier search, of this mesh or another, change nothing', async (t) => {
  const trees = new SearchTrees();
  let renewed = 0;
  for (let round = 0; round < 12; round++) {
    const scene = looseScene(random, { elements: 40, side: 4, travel: 0.3 });
    const { mesh } = scene;
    const x = scene.x.slice();
    const y = scene.y.slice();
    const boxes = { box: new Float32Array(6 * mesh.vertexCount), growth: 0 };
    const mask = new Uint8Array(mesh.vertexCount);
    const kept = new ProximitySearch(mesh, trees);
    for (let n = 0; n < 6; n++) {
      fillTrustBoxes(boxes, x, y, mesh.kinematic, settings, 0.3, settings.reach, mask);
      const [found, expected] = [new PairSet(), new PairSet()];
      kept.search(boxes, x, delta, { mask, isIgnored: undefined }, NO_LIMIT, found);
      new ProximitySearch(mesh).search(boxes, x, delta, { mask, isIgnored: undefined }, NO_LIMIT, expected);
      t.strictSame(keysOf(found), keysOf(expected), `round ${round}, search ${n}`);
      // Some vertices move on and get new boxes, the others keep theirs.
      const share = [0.02, 0.3, 1][random.int(3)];
      for (let i = 0; i < mesh.vertexCount; i++) {
        mask[i] = random() < share ? 0 : KEPT;
        if (mask[i] !== 0) continue;
        renewed++;
        for (let c = 3 * i; c < 3 * i + 3; c++) {
          x[c] += random.between(-0.1, 0.1);
          y[c] = x[c] + random.between(-0.1, 0.1);
        }
      }
    }
  }
  t.ok(renewed > 100, `${renewed} boxes renewed`);
});

t.test('a search that was interrupted while it built its trees leaves none behind', async (t) => {
  const trees = new SearchTrees();
  const scene = looseScene(random, { elements: 40, side: 4, travel: 0.3 });
  const { mesh, x, y } = scene;
  const boxes = { box: new Float32Array(6 * mesh.vertexCount), growth: 0 };
  const mask = new Uint8Array(mesh.vertexCount);
  const find = (of: SearchTrees | undefined, pulse?: () => void): string[] => {
    const pairs = new PairSet();
    new ProximitySearch(mesh, of).search(boxes, x, delta, { mask, isIgnored: undefined }, NO_LIMIT, pairs, pulse);
    return keysOf(pairs);
  };
  fillTrustBoxes(boxes, x, y, mesh.kinematic, settings, 0, settings.reach, mask);
  find(trees);
  fillTrustBoxes(boxes, x, y, mesh.kinematic, settings, 0.3, settings.reach, mask);
  const stop = new Error('stop');
  t.throws(() =>
    find(trees, () => {
      throw stop;
    }),
  );
  fillTrustBoxes(boxes, x, y, mesh.kinematic, settings, 0.15, settings.reach, mask);
  t.strictSame(find(trees), find(undefined));
});
