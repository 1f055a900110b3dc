import t from 'tap';
import { CONTACTS_PER_VERTEX } from '../../../src/solver/constants.js';
import { pairDelta } from '../../../src/solver/cpu/candidates.js';
import { measurePair } from '../../../src/solver/cpu/certificate.js';
import { Contacts } from '../../../src/solver/cpu/contacts.js';
import { PairSet } from '../../../src/solver/cpu/pair-set.js';
import { selectContacts } from '../../../src/solver/cpu/select-contacts.js';
import { Scratch } from '../../../src/solver/cpu/workspace.js';
import { CORNERS, EE, SIDE_A, VE, VT, VV } from '../../../src/solver/pair-kinds.js';
import { KIND_NAMES, KINDS, lonePair, pairsOf, placePair } from '../../support/pair-shapes.js';
import { type Random, seeded } from '../../support/random.js';

const random = seeded();
t.comment(`seed ${random.seed}`);

const DELTA = 0.1;

/** A pair closer than δ, with current geometry; side b is moved until it is. */
function makeContact(random: Random, kind: number): { pairs: PairSet; x: Float32Array } {
  const x = placePair(random, kind, 'general');
  const pairs = lonePair(kind);
  measurePair(pairs, 0, x, 0);
  const move = pairs.distance[0] - DELTA * random.between(0.3, 0.9);
  for (let v = SIDE_A[kind]; v < CORNERS[kind]; v++) for (let c = 0; c < 3; c++) x[3 * v + c] += move * pairs.normal[c];
  measurePair(pairs, 0, x, 1);
  pairs.delta[0] = DELTA;
  return { pairs, x };
}

const ONE = Uint32Array.of(0);

/** c + J·(y − x), in metres. */
function valueAt(contacts: Contacts, row: number, x: Float32Array, y: Float32Array): number {
  let sum = contacts.value[row];
  for (let s = 0; s < 4; s++) {
    const v = contacts.corner[4 * row + s];
    if (v < 0) continue;
    for (let c = 0; c < 3; c++) sum += contacts.jacobian[12 * row + 3 * s + c] * (y[3 * v + c] - x[3 * v + c]);
  }
  return sum;
}

for (const form of ['GAP', 'VOLUME'] as const) {
  for (const kind of KINDS) {
    t.test(
      `${KIND_NAMES[kind]}, ${form}: rows sum to zero, and one projection satisfies a lone contact and preserves momentum`,
      async (t) => {
        let rows = 0;
        let projected = 0;
        for (let n = 0; n < 150; n++) {
          const { pairs, x } = makeContact(random, kind);
          const inverseMass = Float32Array.from({ length: 4 }, () => (random() < 0.2 ? 0 : random.between(0.3, 3)));
          const contacts = new Contacts(inverseMass, form);
          contacts.assemble(pairs, ONE, 1, x, n);
          if (contacts.count === 0) continue;
          rows++;
          if (contacts.value[0] !== Math.fround(pairs.distance[0] - pairs.delta[0])) t.fail('c is not d − δ');
          let largest = 0;
          for (let c = 0; c < 3; c++) {
            let sum = 0;
            for (let s = 0; s < 4; s++) {
              sum += contacts.jacobian[12 * 0 + 3 * s + c];
              largest = Math.max(largest, Math.abs(contacts.jacobian[3 * s + c]));
            }
            if (Math.abs(sum) > 1e-6 * Math.max(1, largest)) t.fail(`a translation would do work: ${sum}`);
          }
          const y = x.map((value) => value + random.between(-0.3, 0.3));
          const before = y.slice();
          const violation = valueAt(contacts, 0, x, y);
          contacts.sweep(x, y);
          if (violation >= 0) {
            if (!y.every((value, k) => value === before[k])) t.fail('what is satisfied was changed');
            continue;
          }
          projected++;
          const scale = 1 + largest * 10;
          if (Math.abs(valueAt(contacts, 0, x, y)) > 1e-5 * scale)
            t.fail(`still violated by ${valueAt(contacts, 0, x, y)}`);
          for (let c = 0; c < 3; c++) {
            let momentum = 0;
            for (let v = 0; v < 4; v++) {
              const moved = y[3 * v + c] - before[3 * v + c];
              if (inverseMass[v] === 0 && moved !== 0) t.fail('a kinematic vertex was moved');
              if (inverseMass[v] > 0) momentum += moved / inverseMass[v];
            }
            // A kinematic vertex takes up momentum like a wall.
            if (inverseMass.every((w) => w > 0) && Math.abs(momentum) > 1e-4) t.fail(`momentum ${momentum}`);
          }
        }
        t.ok(rows > 80 && projected > 20, `${rows} rows, ${projected} projected`);
      },
    );
  }
}

t.test('gap form: the weights times the normal, with a minus sign on side b', async (t) => {
  const { pairs, x } = makeContact(random, EE);
  const contacts = new Contacts(new Float32Array(4).fill(1), 'GAP');
  contacts.assemble(pairs, ONE, 1, x, 0);
  for (let s = 0; s < 4; s++) {
    const w = pairs.weight[s];
    t.equal(contacts.corner[s], w > 0 ? s : -1);
    for (let c = 0; c < 3; c++)
      t.equal(contacts.jacobian[3 * s + c] + 0, Math.fround((s < 2 ? w : -w) * pairs.normal[c]) + 0);
  }
});

t.test('a later sweep reverses a push that was too far, but λ is never negative', async (t) => {
  const pairs = pairsOf([[VV, 0, 1]]);
  const x = Float32Array.of(0, 0, 0.05, 0, 0, 0);
  measurePair(pairs, 0, x, 0);
  pairs.delta[0] = DELTA;
  const contacts = new Contacts(Float32Array.of(1, 0), 'GAP');
  contacts.assemble(pairs, ONE, 1, x, 0);
  const y = Float32Array.of(0, 0, -0.2, 0, 0, 0);
  contacts.sweep(x, y);
  t.ok(Math.abs(y[2] - DELTA) < 1e-6, 'lifted to δ');
  // Another constraint lifts the vertex by half as much: that half of the push was not needed.
  y[2] += 0.15;
  contacts.sweep(x, y);
  t.ok(Math.abs(y[2] - DELTA) < 1e-6, 'taken back');
  y[2] += 5;
  contacts.sweep(x, y);
  t.ok(Math.abs(y[2] - (DELTA + 5 - 0.15)) < 1e-5, 'not more than was given: a contact never pulls');
  contacts.sweep(x, y);
  t.ok(Math.abs(y[2] - (DELTA + 5 - 0.15)) < 1e-5);
  y[2] = 0.9;
  contacts.assemble(pairs, ONE, 1, x, 1);
  contacts.sweep(x, y);
  t.equal(y[2], Math.fround(0.9), 'forgotten with the next step');
});

t.test(
  'a pair of kinematic vertices, or one whose movable vertices have hardly any weight, gives no contact',
  async (t) => {
    const { pairs, x } = makeContact(random, VV);
    const fixed = new Contacts(new Float32Array(4), 'GAP');
    fixed.assemble(pairs, ONE, 1, x, 0);
    t.equal(fixed.count, 0);
    const onEdge = (along: number, movable: number): number => {
      const set = pairsOf([[VE, 0, 1, 2]]);
      const at = Float32Array.of(along, 0.05, 0, 0, 0, 0, 1, 0, 0);
      measurePair(set, 0, at, 0);
      set.delta[0] = DELTA;
      const inverseMass = new Float32Array(3);
      inverseMass[movable] = 1;
      const contacts = new Contacts(inverseMass, 'GAP');
      contacts.assemble(set, ONE, 1, at, 0);
      return contacts.count;
    };
    t.equal(onEdge(0.5, 2), 1);
    t.equal(onEdge(0.01, 2), 0, 'a weight of 0.01 would be thrown a hundred times too far');
    t.equal(onEdge(0.01, 0), 1);
  },
);

t.test('the same features found through several elements are one contact, the closest', async (t) => {
  // Vertex 0 over vertex 1, an apex that three edges and two triangles share.
  const x = Float32Array.of(0, 0, 0.05, 0, 0, 0, 1, 0, -1, -1, 1, -1, -1, -1, -1, 0, 0, 3);
  const pairs = pairsOf([
    [VT, 0, 1, 2, 3],
    [VT, 0, 1, 3, 4],
    [VE, 0, 1, 2],
    [VE, 0, 4, 1],
    [VV, 0, 1],
    [EE, 0, 5, 1, 2],
    [EE, 3, 1, 5, 0],
  ]);
  for (let p = 0; p < pairs.count; p++) measurePair(pairs, p, x, 0);
  pairs.delta.fill(DELTA);
  const inverseMass = new Float32Array(6).fill(1);
  const all = Uint32Array.from(pairs.kind.subarray(0, pairs.count), (_, p) => p);
  t.strictSame([...selectContacts(pairs, all, all.length, inverseMass)], [0], 'equally close: the first in P');
  pairs.distance[3] = 0.04;
  t.strictSame([...selectContacts(pairs, all, all.length, inverseMass)], [3], 'the closest');
});

t.test('contacts of different features of the same vertices are kept apart', async (t) => {
  const x = Float32Array.of(0.3, 0.3, 0.05, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0.9, -0.02, 0.05);
  const pairs = pairsOf([
    [VT, 0, 1, 2, 3],
    [VT, 4, 1, 2, 3],
    [EE, 0, 4, 1, 2],
    [VE, 4, 1, 2],
  ]);
  for (let p = 0; p < pairs.count; p++) measurePair(pairs, p, x, 0);
  const kept = selectContacts(pairs, Uint32Array.of(0, 1, 2, 3), 4, new Float32Array(5).fill(1));
  // 1 and 3 are both vertex 4 over edge 1 2, and so is what the two edges' closest points say.
  t.equal(kept.length, new Set([...kept].map((p) => featuresOf(pairs, p))).size);
  t.ok(kept.includes(0));
  t.equal([...kept].filter((p) => featuresOf(pairs, p) === '1 2 4').length, 1);
});

function featuresOf(pairs: PairSet, p: number): string {
  return [0, 1, 2, 3]
    .filter((s) => pairs.weight[4 * p + s] > 0 && pairs.vertex[4 * p + s] >= 0)
    .map((s) => pairs.vertex[4 * p + s])
    .sort((a, b) => a - b)
    .join(' ');
}

/** Points that all touch a few hubs, at distances that differ. */
function makeCrowd(random: Random): { pairs: PairSet; inverseMass: Float32Array; count: number } {
  const hubs = 3;
  const spokes = 150;
  const pairs = new PairSet();
  const used = new Set<string>();
  for (let n = 0; n < 180; n++) {
    const hub = random.int(hubs);
    const spoke = hubs + random.int(spokes);
    if (used.has(`${hub} ${spoke}`)) continue;
    used.add(`${hub} ${spoke}`);
    const p = pairs.count;
    pairs.push(VV, hub, spoke, -1, -1, 0, 0, 1);
    pairs.weight.set([1, 1, 0, 0], 4 * p);
    // Few distinct distances, so that ranks fall back on the index.
    pairs.distance[p] = DELTA * (0.1 + 0.01 * random.int(8));
    pairs.delta[p] = DELTA;
  }
  const inverseMass = Float32Array.from({ length: hubs + spokes }, (_, v) => (v < hubs && random() < 0.3 ? 0 : 1));
  return { pairs, inverseMass, count: pairs.count };
}

t.test('at most 24 contacts per movable vertex, the closest first, whatever the order of the list', async (t) => {
  let crowded = 0;
  for (let round = 0; round < 60; round++) {
    const { pairs, inverseMass, count } = makeCrowd(random);
    const list = Uint32Array.from({ length: count }, (_, p) => p);
    const kept = [...selectContacts(pairs, list, count, inverseMass)];
    const rank = (p: number, q: number): number => pairs.distance[p] - pairs.distance[q] || p - q;
    const closest = (v: number): Set<number> =>
      new Set(
        [...list]
          .filter((p) => pairs.vertex[4 * p] === v || pairs.vertex[4 * p + 1] === v)
          .sort(rank)
          .slice(0, CONTACTS_PER_VERTEX),
      );
    const among = Array.from(inverseMass, (_, v) => closest(v));
    const expected = [...list].filter((p) =>
      [0, 1].every((s) => inverseMass[pairs.vertex[4 * p + s]] === 0 || among[pairs.vertex[4 * p + s]].has(p)),
    );
    if (expected.length < count) crowded++;
    t.strictSame(kept, expected);
    for (let n = count - 1; n > 0; n--) {
      const m = random.int(n + 1);
      [list[n], list[m]] = [list[m], list[n]];
    }
    t.strictSame([...selectContacts(pairs, list, count, inverseMass)], expected, 'shuffled');
  }
  t.ok(crowded > 20, `${crowded} crowds were thinned`);
});

t.test(
  'a crowd takes memory by its pairs and crowded vertices, rows by the kept pairs, and both can be freed',
  async (t) => {
    const points = 400;
    const pairs = new PairSet();
    for (let a = 0; a < points; a++) {
      for (let b = a + 1; b < points; b++) {
        const p = pairs.count;
        pairs.push(VV, a, b, -1, -1, 0, 0, 1);
        pairs.weight.set([1, 1, 0, 0], 4 * p);
        pairs.distance[p] = DELTA * random();
        pairs.delta[p] = DELTA;
      }
    }
    const { count } = pairs;
    const list = Uint32Array.from({ length: count }, (_, p) => p);
    const inverseMass = new Float32Array(points).fill(1);
    const x = new Float32Array(3 * points);
    const scratch = new Scratch();
    const contacts = new Contacts(inverseMass, 'GAP', scratch);
    let calls = 0;
    contacts.assemble(pairs, list, count, x, 1, () => calls++);
    t.ok(contacts.count <= (CONTACTS_PER_VERTEX * points) / 2 && contacts.count > points, `${contacts.count} rows`);
    t.ok(
      scratch.bytes <= 36 * count + (108 + 100 * CONTACTS_PER_VERTEX) * points,
      `${scratch.bytes} bytes, ${count} pairs`,
    );
    t.ok(calls >= count / 4096, `${calls} calls of the pulse`);
    const given = new Error('no time left');
    for (const last of [1, calls]) {
      let left = last;
      const pulse = () => {
        if (--left === 0) throw given;
      };
      t.throws(() => contacts.assemble(pairs, list, count, x, 1, pulse), given, `given up the ${last}th time`);
    }
  },
);

t.test('a sweep runs colour by colour, with the same bits for the same seed', async (t) => {
  const { pairs, inverseMass, count } = makeCrowd(random);
  inverseMass.fill(1);
  const list = Uint32Array.from({ length: count }, (_, p) => p);
  const x = Float32Array.from({ length: 3 * inverseMass.length }, () => random());
  const swept = (seed: number): { y: Float32Array; colours: number } => {
    const contacts = new Contacts(inverseMass, 'GAP');
    contacts.assemble(pairs, list, count, x, seed);
    const y = x.map((value, k) => value + 0.3 * Math.sin(k));
    contacts.sweep(x, y);
    contacts.sweep(x, y);
    return { y, colours: contacts.colouring.colours };
  };
  const first = swept(1);
  t.ok(first.colours >= 2 && first.colours <= 2 * CONTACTS_PER_VERTEX, `${first.colours} colours`);
  t.strictSame([...swept(1).y], [...first.y]);
  t.notSame([...swept(2).y], [...first.y], 'another seed, another order');
});

t.test('δ_p lies between δ/4 and δ, at 1.1 times the distance in the start, and is remembered', async (t) => {
  const start = (height: number): Float32Array => Float32Array.of(0, 0, height, 0, 0, 0);
  const at = (height: number): number => pairDelta(pairsOf([[VV, 0, 1]]), 0, start(height), DELTA);
  t.equal(at(2e-5), Math.fround(DELTA / 4), 'a start that is nearly touching is not blown apart');
  t.equal(at(0), Math.fround(DELTA / 4));
  t.ok(Math.abs(at(0.05) - 0.055) < 1e-7, 'and may recover by a tenth');
  t.equal(at(0.095), Math.fround(DELTA));
  t.equal(at(3), Math.fround(DELTA));
  const pairs = pairsOf([[VV, 0, 1]]);
  pairDelta(pairs, 0, start(0.05), DELTA);
  t.ok(Math.abs(pairDelta(pairs, 0, start(3), DELTA) - 0.055) < 1e-7, 'until the next search or request');
  pairs.delta[0] = 0;
  t.equal(pairDelta(pairs, 0, start(3), DELTA), Math.fround(DELTA));
});
