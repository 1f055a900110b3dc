import fc from 'fast-check';
import t from 'tap';
import { findMeeting } from '../../bench/prove/judge/moving-pair.js';
import type { Vector } from '../../bench/prove/judge/nearest.js';
import { colourContacts, colourEdges } from '../../src/solver/colouring.js';
import { measurePair } from '../../src/solver/cpu/certificate.js';
import { Contacts } from '../../src/solver/cpu/contacts.js';
import { Forward } from '../../src/solver/cpu/forward.js';
import { CORNERS, SIDE_A } from '../../src/solver/pair-kinds.js';
import { inputOf } from '../support/forward-input.js';
import { orderByColour } from '../support/order-by-colour.js';
import { lonePair, sidesOf } from '../support/pair-shapes.js';
import { slowDistance } from '../support/slow-distance.js';
import { kind, points, settingsOf } from './arbitraries.js';

const f = Math.fround;

t.test('a closest distance is the least there is, and no certified gap is longer', async (t) => {
  const settings = settingsOf(t, 300);
  fc.assert(
    fc.property(kind, points(4), (kind, x) => {
      const pairs = lonePair(kind);
      measurePair(pairs, 0, x, 0);
      const { a, b } = sidesOf(kind);
      const truth = slowDistance(x, a, b);
      const isClose = Math.abs(pairs.distance[0] - truth) <= 1e-5 * (1 + truth);
      // g is measured along a vector that is a unit to 1e-3.
      return isClose && pairs.gap[0] <= truth * 1.002 + pairs.error[0] + 1e-6;
    }),
    settings,
  );
  t.pass('held');
});

t.test('a contact row resists no translation, and is the slope of the distance', async (t) => {
  const settings = settingsOf(t, 300);
  let compared = 0;
  fc.assert(
    fc.property(kind, points(4), points(4), (kind, x, way) => {
      const pairs = lonePair(kind);
      measurePair(pairs, 0, x, 0);
      if (!(pairs.gap[0] > 0.02)) return true;
      pairs.delta[0] = 10;
      const contacts = new Contacts(new Float32Array(4).fill(1), 'GAP');
      contacts.assemble(pairs, Uint32Array.of(0), 1, x, 1);
      if (contacts.count === 0) return true;
      for (let c = 0; c < 3; c++) {
        const sum = [0, 1, 2, 3].reduce((total, s) => total + contacts.jacobian[3 * s + c], 0);
        if (Math.abs(sum) > 1e-5) return false;
      }
      const { a, b } = sidesOf(kind);
      const h = 1e-4;
      const at = (step: number) =>
        slowDistance(
          Float64Array.from(x, (p, k) => p + step * way[k]),
          a,
          b,
        );
      const [before, here, after] = [at(-h), at(0), at(h)];
      // Where the closest features change the distance has a kink and no slope.
      if (Math.abs(after + before - 2 * here) > 1e-2 * h) return true;
      compared++;
      let slope = 0;
      for (let s = 0; s < 4; s++) {
        const v = contacts.corner[s];
        if (v >= 0) for (let c = 0; c < 3; c++) slope += contacts.jacobian[3 * s + c] * way[3 * v + c];
      }
      return Math.abs((after - before) / (2 * h) - slope) < 0.05;
    }),
    settings,
  );
  t.ok(compared > 30, `${compared} slopes compared`);
});

const constraints = (slots: number) =>
  fc.integer({ min: slots, max: 40 }).chain((vertices) =>
    fc.record({
      rows: fc.array(fc.uniqueArray(fc.integer({ min: 0, max: vertices - 1 }), { minLength: 2, maxLength: slots }), {
        maxLength: 80,
      }),
      masses: fc.array(fc.constantFrom(0, 1), { minLength: vertices, maxLength: vertices }),
      seed: fc.nat(),
    }),
  );

/** No two constraints of one colour share a vertex that can move, and each is there once. */
function isColouring(
  { order, offsets, colours }: { order: Uint32Array; offsets: Uint32Array; colours: number },
  rows: readonly (readonly number[])[],
  masses: readonly number[],
): boolean {
  if (new Set(order).size !== rows.length || order.length !== rows.length) return false;
  for (let colour = 0; colour < colours; colour++) {
    const members = Array.from(order.subarray(offsets[colour], offsets[colour + 1]));
    const movable = members.flatMap((r) => rows[r].filter((v) => masses[v] > 0));
    if (new Set(movable).size !== movable.length) return false;
  }
  return true;
}

t.test('no two constraints of a colour share a dynamic vertex', async (t) => {
  const settings = settingsOf(t, 200);
  fc.assert(
    fc.property(constraints(4), ({ rows, masses, seed }) => {
      const corner = new Int32Array(4 * rows.length).fill(-1);
      rows.forEach((row, r) => {
        corner.set(row, 4 * r);
      });
      return isColouring(colourContacts(rows.length, corner, Float32Array.from(masses), seed), rows, masses);
    }),
    settings,
  );
  fc.assert(
    fc.property(constraints(2), ({ rows, masses }) => {
      const colouring = colourEdges(Uint32Array.from(rows.flat()), Float32Array.from(masses));
      return isColouring({ ...colouring, order: orderByColour(colouring.colour) }, rows, masses);
    }),
    settings,
  );
  t.pass('held');
});

/*
 * The judge calls a way a meeting where doubles cannot tell: the direction of a gap g in a pair of extent S is off by
 * 2⁻⁵³ S/g, which tilts a plane by 2⁻⁵³ S²/g at its ends, and that is less than g only where g > 2⁻²⁶·⁵ S. Pairs that
 * begin nearer than eight times that are left out. (The engine's floor for gaps is far larger.)
 */
const JUDGED_GAP = 2 ** -23.5;

t.test('any share of the returned α is safe, for every vertex by itself', async (t) => {
  const settings = settingsOf(t, 500);
  let judged = 0;
  const shares = fc.array(fc.oneof(fc.constantFrom(0, 1), fc.double({ min: 0, max: 1, noNaN: true })), {
    minLength: 4,
    maxLength: 4,
  });
  fc.assert(
    fc.property(
      kind,
      points(4),
      points(4),
      shares,
      fc.constantFrom('PLANAR' as const, 'ISOTROPIC' as const),
      fc.constantFrom(0.01, 1, 100),
      (kind, start, way, shares, rule, size) => {
        // The engine writes to its x; what fails must be shown as it was given.
        const x = start.slice();
        const pairs = lonePair(kind);
        measurePair(pairs, 0, x, 0);
        const corners = CORNERS[kind];
        const place = (p: ArrayLike<number>): Vector[] =>
          Array.from({ length: corners }, (_, v): Vector => [p[3 * v], p[3 * v + 1], p[3 * v + 2]]);
        const before = x.slice();
        const { a, b } = sidesOf(kind);
        const extent = Math.max(...before.map((p, k) => Math.abs(p - before[k % 3])));
        if (slowDistance(before, a, b) <= JUDGED_GAP * extent) return true;
        const y = x.map((p, k) => f(p + size * way[k]));
        const forward = new Forward(4);
        forward.advance(inputOf(pairs, x, y, { rule, radius: 10 }));
        const part = before.map((p, k) => {
          const share = shares[Math.floor(k / 3)];
          return share === 1 ? x[k] : f(p + share * (x[k] - p));
        });
        judged++;
        return (
          findMeeting(place(before), place(x), SIDE_A[kind]) === undefined &&
          findMeeting(place(before), place(part), SIDE_A[kind]) === undefined
        );
      },
    ),
    settings,
  );
  t.ok(judged > 100, `${judged} pieces`);
});
