import t from 'tap';
import { buildMesh } from '../../../src/mesh/build.js';
import type { CollisionMesh } from '../../../src/mesh/types.js';
import { markOutside } from '../../../src/solver/cpu/boxes.js';
import type { PairSet } from '../../../src/solver/cpu/pair-set.js';
import { Proximity } from '../../../src/solver/cpu/proximity.js';
import { PairBudgetExceeded } from '../../../src/solver/cpu/walk.js';
import type { Settings } from '../../../src/solver/settings.js';
import { keptRoom } from '../../support/kept-room.js';
import { type LooseScene, looseScene } from '../../support/loose-scene.js';
import { type Random, seeded } from '../../support/random.js';
import { SceneBuilder } from '../../support/scene-builder.js';
import { makeSettings } from '../../support/settings.js';
import { slowDistance } from '../../support/slow-distance.js';
import { allPairs, keysOf, type MeshPair } from '../../support/trust-oracle.js';
import { aim, missing } from './proximity-truth.js';

const random = seeded();
t.comment(`seed ${random.seed}`);

/** Float32 faces of boxes that are a few units from the origin are good to 1e-6. */
const ROUNDING = 2e-6;
const settings = makeSettings({ delta: 0.05, leap: 0.3 });

const nobody = (): boolean => false;

/** Moves every vertex anywhere in its box. */
function wander(random: Random, x: Float32Array, box: Float32Array): void {
  for (let k = 0; k < x.length; k++) {
    const q = 6 * Math.floor(k / 3) + (k % 3);
    const target = random.between(box[q], box[q + 3]);
    x[k] = Math.min(box[q + 3], Math.max(box[q], x[k] + random() * (target - x[k])));
  }
}

function marks(random: Random, x: Float32Array, y: Float32Array, share: number): Uint8Array {
  return Uint8Array.from({ length: x.length / 3 }, (_, v) =>
    random() < share && [0, 1, 2].some((c) => x[3 * v + c] !== y[3 * v + c]) ? 1 : 0,
  );
}

/** How many pairs of P have a marked vertex. */
function countPairsOf({ count, vertex }: PairSet, marked: Uint8Array): number {
  let found = 0;
  for (let p = 0; p < count; p++) if (vertex.subarray(4 * p, 4 * p + 4).some((v) => v >= 0 && marked[v] === 1)) found++;
  return found;
}

t.test('renewing some boxes repeatedly is as safe as renewing all', async (t) => {
  let partial = 0;
  for (let round = 0; round < 8; round++) {
    const { mesh, x } = looseScene(random, { elements: 45, side: 4, travel: 0 });
    const proximity = new Proximity(mesh, settings);
    let y = aim(random, x, mesh, 0.4);
    proximity.renew(x, y);
    for (let n = 0; n < 6; n++) {
      t.strictSame(missing(mesh, proximity, settings.delta, nobody), [], `round ${round}, after ${n} renewals`);
      t.ok(proximity.isValidFor(x, y));
      wander(random, x, proximity.boxes.box);
      t.ok(proximity.isValidFor(x, x), 'any state in the boxes will do');
      y = aim(random, x, mesh, 0.4);
      const wanted = marks(random, x, y, [0.05, 0.2][n % 2]);
      const before = proximity.boxes.box.slice();
      proximity.renew(x, y, wanted);
      const isRenewed = (v: number): boolean =>
        [0, 1, 2, 3, 4, 5].some((c) => before[6 * v + c] !== proximity.boxes.box[6 * v + c]);
      const touched = [...wanted.keys()].filter((v) => wanted[v] === 0 && isRenewed(v));
      if (touched.length === 0) partial++;
      for (let v = 0; v < wanted.length; v++)
        if (wanted[v] === 1 && !isRenewed(v)) t.fail(`vertex ${v} has its old box`);
      const keys = keysOf(proximity.pairs);
      if (new Set(keys).size !== keys.length) t.fail('a pair is in P twice');
    }
  }
  t.ok(partial > 30, `${partial} renewals left the other boxes as they were`);
});

t.test('many marks renew everything', async (t) => {
  const { mesh, x, y } = looseScene(random, { elements: 45, side: 4, travel: 0.4 });
  const proximity = new Proximity(mesh, settings);
  proximity.renew(x, y);
  wander(random, x, proximity.boxes.box);
  const fresh = new Proximity(mesh, settings);
  fresh.renew(x, y);
  proximity.renew(x, y, marks(random, x, y, 0.9));
  t.strictSame(keysOf(proximity.pairs), keysOf(fresh.pairs));
  t.strictSame([...proximity.boxes.box], [...fresh.boxes.box]);
});

t.test('a kept pair keeps its normal and its δ_p', async (t) => {
  const { mesh, x, y } = looseScene(random, { elements: 45, side: 3, travel: 0.4 });
  const proximity = new Proximity(mesh, settings);
  proximity.renew(x, y);
  const { pairs } = proximity;
  for (let p = 0; p < pairs.count; p++) pairs.delta[p] = p + 1;
  const normals = pairs.normal.slice();
  const keys = keysOf(pairs);
  const wanted = marks(random, x, y, 0.1);
  proximity.renew(x, y, wanted);
  let kept = 0;
  keysOf(pairs).forEach((key, p) => {
    if (pairs.delta[p] === 0) return;
    kept++;
    t.equal(keys[pairs.delta[p] - 1], key);
    const old = 3 * (pairs.delta[p] - 1);
    t.strictSame([...pairs.normal.subarray(3 * p, 3 * p + 3)], [...normals.subarray(old, old + 3)]);
  });
  t.ok(kept > 10 && kept < keys.length, `${kept} of ${keys.length} were kept`);
});

t.test('tightened boxes lie in the old ones, and P still has every pair that can get within δ in them', async (t) => {
  let dropped = 0;
  let close = 0;
  for (let round = 0; round < 12; round++) {
    const { mesh, x } = looseScene(random, { elements: 45, side: 4, travel: 0 });
    const proximity = new Proximity(mesh, settings);
    proximity.renew(x, aim(random, x, mesh, 0.4));
    wander(random, x, proximity.boxes.box);
    const before = proximity.boxes.box.slice();
    const keys = keysOf(proximity.pairs);
    const y = aim(random, x, mesh, 0.05);
    const reach = settings.delta * random.between(0.1, 1);
    proximity.shortenReach(reach);
    proximity.tighten(x, y);
    const { box } = proximity.boxes;
    for (let q = 0; q < box.length; q += 6) {
      for (let c = q; c < q + 3; c++) {
        const [from, to] = [x[q / 2 + c - q], y[q / 2 + c - q]];
        if (box[c] < before[c] || box[c + 3] > before[c + 3]) t.fail('a box has grown');
        const [lo, hi] = [Math.min(from, to) - reach, Math.max(from, to) + reach];
        if (box[c] < lo - ROUNDING || box[c + 3] > hi + ROUNDING) t.fail('a box is larger than the reach needs');
      }
    }
    t.ok(proximity.isValidFor(x, x), 'x is in its boxes');
    t.strictSame(missing(mesh, proximity, settings.delta, nobody), [], `round ${round}`);
    const left = keysOf(proximity.pairs);
    const known = new Set(keys);
    if (left.some((key) => !known.has(key))) t.fail('a pair came from nowhere');
    dropped += keys.length - left.length;
    close += left.length;
    // What follows searches with the shorter reach, and the next request with the full one again.
    proximity.renew(x, x);
    t.ok(Math.abs(box[3] - box[0] - 2 * reach) < ROUNDING || mesh.kinematic[0] !== 0, 'the reach stays short');
    proximity.beginRequest();
    proximity.renew(x, x);
    t.ok(Math.abs(box[3] - box[0] - 2 * settings.reach) < ROUNDING || mesh.kinematic[0] !== 0, 'and is restored');
  }
  t.ok(dropped > 100 && close > 100, `${dropped} pairs dropped, ${close} left`);
});

t.test('vertices outside their boxes are marked', async (t) => {
  const { mesh, x, y } = looseScene(random, { elements: 20, side: 3, travel: 0.2 });
  const proximity = new Proximity(mesh, settings);
  proximity.renew(x, y);
  const outside = new Uint8Array(mesh.vertexCount).fill(7);
  t.notOk(markOutside(proximity.boxes.box, x, outside));
  t.ok(outside.every((mark) => mark === 0));
  x[3 * 5 + 1] = proximity.boxes.box[6 * 5 + 4] + 1;
  t.ok(markOutside(proximity.boxes.box, x, outside));
  t.strictSame(
    [...outside.keys()].filter((v) => outside[v] === 1),
    [5],
  );
});

t.test('P can be used for a request while every vertex is in its box', async (t) => {
  const { mesh, x, y } = looseScene(random, { elements: 20, side: 4, travel: 0.4 });
  const proximity = new Proximity(mesh, settings);
  t.notOk(proximity.isValidFor(x, y), 'nothing was searched yet');
  proximity.renew(x, y);
  t.ok(proximity.isValidFor(x, y));
  const { box } = proximity.boxes;
  for (let n = 0; n < 100; n++) {
    const v = random.int(mesh.vertexCount);
    const c = random.int(3);
    const face = box[6 * v + c + 3 * random.int(2)];
    const state = x.slice();
    state[3 * v + c] = face;
    if (!proximity.isValidFor(state, y)) t.fail('on a face is inside');
    const isUpper = face === box[6 * v + 3 + c];
    state[3 * v + c] = face + (isUpper ? 1e-4 : -1e-4);
    if (proximity.isValidFor(state, y)) t.fail('outside a face is outside');
  }
});

t.test('a kinematic vertex that stood still has no room to begin to move', async (t) => {
  for (const skipKinematicPairs of [true, false]) {
    const { mesh, x } = looseScene(random, { elements: 40, side: 4, travel: 0, kinematic: 0.5 });
    const proximity = new Proximity(mesh, { ...settings, skipKinematicPairs });
    proximity.renew(x, x);
    t.ok(proximity.isValidFor(x, x), 'standing still');
    const kinematic = [...mesh.kinematic.keys()].filter((v) => mesh.kinematic[v] !== 0);
    const dynamic = [...mesh.kinematic.keys()].filter((v) => mesh.kinematic[v] === 0);
    const nudged = (v: number, c: number): Float32Array => {
      const y = x.slice();
      y[3 * v + c] += 1e-3;
      return y;
    };
    for (let n = 0; n < 30; n++) {
      t.ok(proximity.isValidFor(x, nudged(dynamic[random.int(dynamic.length)], n % 3)), 'a dynamic one may');
      t.notOk(
        proximity.isValidFor(x, nudged(kinematic[random.int(kinematic.length)], n % 3)),
        'a kinematic one may not',
      );
    }
  }
});

t.test('under PROTECT what keeps its room is searched against what gets a point as its box', async (t) => {
  const { mesh, x, y, moved, wanted, point } = keptRoom();
  const proximity = new Proximity(mesh, { ...settings, skipKinematicPairs: false });
  proximity.renew(x, y);
  t.equal(proximity.pairs.count, 1, 'both want to move');
  proximity.renew(moved, moved, wanted);
  t.strictSame(missing(mesh, proximity, settings.delta, nobody), [], 'neither is to move, and the pair is in P');
  const next = moved.slice();
  next[3 * point + 2] = 0.13;
  t.ok(proximity.isValidFor(moved, next), 'the point may move past the triangle without another search');
});

const crowd = (count: number): { mesh: CollisionMesh; x: Float32Array; y: Float32Array } => {
  const mesh = buildMesh({ vertexCount: count, particles: Uint32Array.from({ length: count }, (_, v) => v) });
  const x = Float32Array.from({ length: 3 * count }, () => 0.01 * random.between(-1, 1));
  return { mesh, x, y: x.map((value) => value + 5) };
};

t.test('too many pairs for long leaps lead to shorter boxes, and P still has every pair', async (t) => {
  // 80 000 pairs that are close whatever the boxes; small meshes are given 65 536 before leaps are cut.
  const { mesh, x, y } = crowd(400);
  const proximity = new Proximity(mesh, { ...settings, leap: 2 });
  proximity.beginRequest();
  proximity.renew(x, y);
  t.equal(proximity.pairs.count, (400 * 399) / 2, 'all of them');
  t.ok(proximity.isValid);
  const { box } = proximity.boxes;
  const span = (v: number): number => box[6 * v + 3] - box[6 * v];
  t.ok(span(0) < 2.5 * settings.reach, `no leap is left in a box ${span(0)} wide`);
  t.strictSame(missing(mesh, proximity, settings.delta, nobody), []);
  const apart = x.map((value, k) => value + 10 * Math.floor(k / 3));
  const onward = apart.map((value) => value + 5);
  proximity.renew(apart, onward);
  t.ok(span(0) < 2.5 * settings.reach, 'the cut lasts for the request');
  proximity.beginRequest();
  proximity.renew(apart, onward);
  t.ok(span(0) > 1, 'the next one tries long leaps again');
});

/** Small triangles of their own in a row, all of which want to go along it. */
const row = (count: number, apart: number): { mesh: CollisionMesh; x: Float32Array; y: Float32Array } => {
  const vertexCount = 3 * count;
  const mesh = buildMesh({ vertexCount, triangles: Uint32Array.from({ length: vertexCount }, (_, v) => v) });
  const x = Float32Array.from({ length: 3 * vertexCount }, (_, k) => {
    const along = k % 3 === 0 ? apart * Math.floor(k / 9) : 0;
    return along + 0.005 * random.between(-1, 1);
  });
  return { mesh, x, y: x.map((value, k) => (k % 3 === 0 ? value + 1000 : value)) };
};

const isSame = (a: Float32Array | Int32Array, b: Float32Array | Int32Array): boolean =>
  Buffer.from(a.buffer, a.byteOffset, a.byteLength).equals(Buffer.from(b.buffer, b.byteOffset, b.byteLength));

t.test('the remaining leap does not depend on which one is tried first', async (t) => {
  // Without a leap nothing meets in the first row, and in the second all 200 triangles do.
  for (const apart of [1, 0]) {
    const { mesh, x, y } = row(200, apart);
    const found = [0, 1, 2, 3].map((n) => {
      const proximity = new Proximity(mesh, { ...settings, leap: 256 / 2 ** n });
      proximity.renew(x, y);
      t.ok(proximity.isValid);
      return proximity;
    });
    const spans = found.map(({ boxes: { box } }) => box[3] - box[0] - 2 * settings.reach);
    const first = found[0];
    const least = found.findIndex((_, n) => 256 / 2 ** n <= spans[0] * (1 + ROUNDING));
    if (apart === 0) {
      t.ok(spans[0] < ROUNDING, 'no leap is left');
      t.ok(first.pairs.count > 160 * 600, `${first.pairs.count} pairs, which are many without it`);
    } else {
      t.ok(least > 0, `a leap of ${spans[0]} is left`);
      t.ok(first.pairs.count <= 160 * 600, `${first.pairs.count} pairs`);
    }
    for (const other of apart === 0 ? found : found.slice(0, least + 1)) {
      t.ok(isSame(other.boxes.box, first.boxes.box), 'the same boxes');
      t.equal(other.pairs.count, first.pairs.count);
      const [one, two] = [other, first].map(({ pairs: { vertex, count } }) => vertex.subarray(0, 4 * count));
      t.ok(isSame(one, two), 'the same pairs');
    }
  }
});

t.test('a partial renewal that exceeds the budget becomes a complete one', async (t) => {
  const count = 700;
  const scene = new SceneBuilder();
  for (let i = 0; i < count; i++) scene.particle(scene.vertex([i, 0, 0]));
  const x = Float32Array.from(scene.start);
  const mesh = buildMesh(scene.build().mesh);
  const proximity = new Proximity(mesh, makeSettings({ delta: 0.05, leap: 1e4 }));
  proximity.renew(x, x);
  t.equal(proximity.pairs.count, 0, 'a row of points, far apart');
  const before = proximity.boxes.box.slice();
  // 210 of them want to pass along the whole row: with all they could meet on one leap, more than 160 pairs a vertex.
  const y = x.map((value, k) => (k < 3 * 210 && k % 3 === 0 ? count : value));
  const near = x.map((value) => value + 0.001);
  proximity.renew(near, y, new Uint8Array(count).fill(1, 0, 210));
  t.ok(proximity.pairs.count <= 160 * count, 'shorter leaps, fewer pairs');
  t.notSame(
    [...proximity.boxes.box.subarray(6 * (count - 1))],
    [...before.subarray(6 * (count - 1))],
    'the others have new boxes, too',
  );
  t.ok(proximity.isValidFor(near, y));
});

t.test('if even the smallest boxes have many pairs, a partial renewal remains possible', async (t) => {
  const { mesh, x, y } = crowd(400);
  const proximity = new Proximity(mesh, settings);
  proximity.renew(x, x);
  t.equal(proximity.pairs.count, (400 * 399) / 2, 'more than the 65 536 that are comfortable');
  const before = proximity.boxes.box.slice();
  const near = x.map((value) => value + 0.001);
  proximity.renew(near, y, new Uint8Array(400).fill(1, 0, 110));
  t.equal(proximity.pairs.count, (400 * 399) / 2, 'every pair once');
  t.same([...proximity.boxes.box.subarray(6 * 110)], [...before.subarray(6 * 110)], 'the others keep their boxes');
  t.ok(proximity.isValidFor(near, y));
});

t.test('after a failed search nothing is valid, and the next one starts over', async (t) => {
  // So dense that even the smallest boxes, to which a full store makes the search shrink them, have pairs.
  const { mesh, x, y } = looseScene(random, { elements: 40, side: 2, travel: 0.4 });
  const reference = new Proximity(mesh, settings);
  reference.renew(x, y);
  for (const isPartial of [false, true]) {
    for (const isFull of [false, true]) {
      const proximity = new Proximity(mesh, settings);
      proximity.renew(x, y);
      // A store that breaks, or says that it is full, where pairs are added, now and at every later attempt.
      const { pairs } = proximity;
      const extend = pairs.extend.bind(pairs);
      pairs.extend = (kind, count) => {
        if (count > 0) throw isFull ? new PairBudgetExceeded() : new Error('out of memory');
        extend(kind, count);
      };
      const wanted = isPartial ? marks(random, x, y, 0.2) : undefined;
      // A renewal in part that finds no pairs adds none.
      if (wanted && countPairsOf(reference.pairs, wanted) === 0) continue;
      if (isFull) t.throws(() => proximity.renew(x, y, wanted), { code: 'TOO_LARGE' }, 'named as too large');
      else t.throws(() => proximity.renew(x, y, wanted), /out of memory/);
      t.notOk(proximity.isValid);
      t.notOk(proximity.isValidFor(x, y));
      pairs.extend = extend;
      proximity.beginRequest();
      // Marks that came with the failed search must not make the next one a partial one.
      proximity.renew(x, y, wanted);
      t.strictSame(keysOf(pairs), keysOf(reference.pairs));
      t.strictSame([...proximity.boxes.box], [...reference.boxes.box]);
      t.ok(proximity.isValidFor(x, y));
    }
  }
});

t.test('guard RADIUS: P is complete within D, and D shrinks with the motion', async (t) => {
  const paper: Settings = makeSettings({ delta: 0.05, guard: 'RADIUS' });
  const { searchRadiusMax: most, searchRadiusMin: least } = paper;
  for (let round = 0; round < 6; round++) {
    const scene: LooseScene = looseScene(random, { elements: 40, side: 4, travel: 0.4 });
    const { mesh, x, y } = scene;
    const proximity = new Proximity(mesh, paper);
    proximity.renew(x, y);
    t.equal(proximity.radius, most);
    const inP = new Set(keysOf(proximity.pairs));
    for (const pair of allPairs(mesh)) {
      const d = slowDistanceOf(x, pair);
      if (d < most - ROUNDING && !inP.has(pair.key)) t.fail(`${pair.key} is ${d} apart and not in P`);
    }
    // One vertex moves by m: a pair may have come 2m closer.
    const v = 3 * random.int(mesh.vertexCount);
    const moved = x.slice();
    const room = (most - least) / 2;
    moved[v] += 0.9 * room;
    t.ok(proximity.isValidFor(moved, y));
    t.ok(proximity.radius <= most - 2 * (moved[v] - x[v]), 'not more than what is left');
    t.ok(proximity.radius >= most - 1.9 * room, 'nor much less');
    t.ok(proximity.isValidFor(x, y));
    t.ok(proximity.radius < most - 1.5 * room, 'what was given up in between does not come back unsearched');
    moved[v + 1] += 0.9 * room;
    t.notOk(proximity.isValidFor(moved, y), 'under Dmin');
    proximity.renew(moved, y, new Uint8Array(mesh.vertexCount));
    t.equal(proximity.radius, most, 'searched as a whole, whatever is marked');
    t.ok(proximity.isValidFor(moved, y));
  }
});

t.test('guard RADIUS: a kinematic vertex that begins to move, under PROTECT', async (t) => {
  const paper = makeSettings({ delta: 0.05, guard: 'RADIUS', skipKinematicPairs: false });
  const { mesh, x } = looseScene(random, { elements: 40, side: 4, travel: 0, kinematic: 0.5 });
  const proximity = new Proximity(mesh, paper);
  proximity.renew(x, x);
  t.ok(proximity.isValidFor(x, x));
  const y = x.slice();
  y[3 * mesh.kinematic.indexOf(1)] += 1e-3;
  t.notOk(proximity.isValidFor(x, y));
});

function slowDistanceOf(x: Float32Array, { a, b }: MeshPair): number {
  return slowDistance(x, a, b);
}
