import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { FrameCache } from '../runner/cache.js';
import { describeKnot, fingerprintOf, isSame, judgeKnot } from '../runner/knots.js';
import { describePile, judgePile } from '../runner/layers.js';
import { drawDiagram, invariantsOf, type Link } from '../runner/link.js';
import { modelOf } from '../runner/play.js';
import { signatureOfMatrix } from '../runner/signature.js';
import { SCENES } from '../scenes/index.js';
import type { Scene } from '../scenes/types.js';
import type { Vec } from '../src/bodies.js';
import { startOf } from '../src/integrator.js';
import { makeRandom, perturb, turn } from './support.js';

const SEED = 16;

/** A closed line of n points. @param at its position at an angle */
const closed = (n: number, at: (angle: number) => Vec): Vec[] =>
  Array.from({ length: n }, (_, i) => at((2 * Math.PI * i) / n));

const { sin, cos } = Math;
const ellipse = (at: (c: number, s: number) => Vec): Vec[] => closed(60, (a) => at(cos(a), sin(a)));
/** On a torus, three times around its tube as a right-handed screw, while twice along it. */
const rightTrefoil = closed(80, (a) => [(2 + cos(3 * a)) * cos(2 * a), (2 + cos(3 * a)) * sin(2 * a), -sin(3 * a)]);
const mirrored = (line: readonly Vec[]): Vec[] => line.map(([x, y, z]) => [x, y, -z]);

/**
 * The connected sum of two knots, the second of which is moved far aside: each is opened where it is nearest to the
 * other.
 */
function sum(first: readonly Vec[], second: readonly Vec[]): Vec[] {
  const openedAt = (line: readonly Vec[], side: 1 | -1): Vec[] => {
    const at = line.reduce((best, [x], i) => (side * x > side * line[best]![0] ? i : best), 0);
    return [...line.slice(at), ...line.slice(0, at)];
  };
  return [...openedAt(first, 1), ...openedAt(second, -1).map(([x, y, z]): Vec => [x + 20, y, z])];
}

/** Link, its linking numbers without sign, its determinant, its signature. */
const KNOWN: readonly (readonly [string, Link, readonly number[], number, number])[] = [
  ['unknot', [ellipse((c, s) => [c, s, 0.1 * c])], [], 1, 0],
  ['right-handed trefoil', [rightTrefoil], [], 3, -2],
  ['left-handed trefoil', [mirrored(rightTrefoil)], [], 3, 2],
  ['square knot', [sum(rightTrefoil, mirrored(rightTrefoil))], [], 9, 0],
  ['granny knot', [sum(rightTrefoil, rightTrefoil)], [], 9, -4],
  [
    'cinquefoil',
    [closed(160, (a) => [(2 + cos(5 * a)) * cos(2 * a), (2 + cos(5 * a)) * sin(2 * a), -sin(5 * a)])],
    [],
    5,
    -4,
  ],
  [
    'figure-eight knot',
    [closed(120, (a) => [(2 + cos(2 * a)) * cos(3 * a), (2 + cos(2 * a)) * sin(3 * a), sin(4 * a)])],
    [],
    5,
    0,
  ],
  ['Hopf link', [ellipse((c, s) => [c, s, 0]), ellipse((c, s) => [1 + c, 0, -s])], [1], 2, -1],
  ['two rings apart', [ellipse((c, s) => [c, s, 0]), ellipse((c, s) => [3 + c, 0, s])], [0], 0, 0],
  [
    'Borromean rings',
    [ellipse((c, s) => [2 * c, s, 0]), ellipse((c, s) => [0, 2 * c, s]), ellipse((c, s) => [s, 0, 2 * c])],
    [0, 0, 0],
    16,
    0,
  ],
];

const turned = (link: Link, random: () => number): Link => {
  const x = turn(Float64Array.from(link.flat().flat()), random);
  let at = 0;
  return link.map((line) => line.map((): Vec => [x[at++]!, x[at++]!, x[at++]!]));
};

for (const [name, link, linking, determinant, signature] of KNOWN) {
  t.test(`${name}: its invariants are those of the tables, from every side (seed ${SEED})`, async (t) => {
    const random = makeRandom(SEED);
    const { alexander } = invariantsOf(drawDiagram(link));
    for (let trial = 0; trial < 10; trial++) {
      const found = invariantsOf(drawDiagram(turned(link, random)));
      t.same(found.linking.map(Math.abs), linking);
      t.equal(found.determinant, determinant);
      t.equal(found.signature, signature);
      t.same(found.alexander, alexander);
    }
  });
}

t.test('what the Alexander polynomial cannot tell apart, the signature does', async (t) => {
  const [square, granny] = ['square knot', 'granny knot'].map((wanted) =>
    invariantsOf(drawDiagram(KNOWN.find(([name]) => name === wanted)![1])),
  );
  t.same(square!.alexander, granny!.alexander);
  t.not(square!.signature, granny!.signature);
});

t.test(`the signature of a matrix is that of its congruent ones (seed ${SEED})`, async (t) => {
  const random = makeRandom(SEED);
  for (let trial = 0; trial < 50; trial++) {
    const n = 1 + Math.floor(6 * random());
    const diagonal = Array.from({ length: n }, () => BigInt(Math.floor(5 * random()) - 2));
    // A diagonal with zeros beside it, and unit lower triangular matrices on both sides of it.
    const m = diagonal.map((value, i) => diagonal.map((_, j) => (i === j ? value : 0n)));
    for (let k = 0; k < 2 * n; k++) {
      const [to, from] = [Math.floor(n * random()), Math.floor(n * random())];
      if (to === from) continue;
      for (let j = 0; j < n; j++) m[to]![j]! += m[from]![j]!;
      for (let i = 0; i < n; i++) m[i]![to]! += m[i]![from]!;
    }
    const expected = diagonal.reduce((total, value) => total + (value > 0n ? 1 : value < 0n ? -1 : 0), 0);
    t.equal(signatureOfMatrix(m), expected, `${diagonal}`);
  }
  t.equal(
    signatureOfMatrix([
      [0n, 3n],
      [3n, 0n],
    ]),
    0,
    'nothing on the diagonal',
  );
});

for (const name of ['reef-knot', 'bow-knot']) {
  t.test(
    `${name}: the same knot at every size and after a jolt, another one when a strand has passed another`,
    async (t) => {
      const scene = SCENES.get(name)!('small');
      const start = modelOf(scene).start;
      const knot = fingerprintOf(scene.loops!, scene.linked, start);
      const quarter = SCENES.get(name)!('quarter');
      t.ok(isSame(knot, fingerprintOf(quarter.loops!, quarter.linked, modelOf(quarter).start)), 'quarter');
      // Less than half the distance between two lines on the ropes.
      t.ok(isSame(knot, fingerprintOf(scene.loops!, scene.linked, perturb(start, 5e-4, makeRandom(SEED)))), 'jolt');
      // The first rope is lifted where it lies below the second one, on one side of the knot: two strands pass.
      const count = scene.bodies[0]!.geometry.positions.length;
      const passed = start.map((value, i) => {
        const [x, y] = [start[i - (i % 3)]!, start[i - (i % 3) + 1]!];
        return i < count && i % 3 === 2 && Math.abs(x) < 0.02 && y > 0 ? value + 0.06 : value;
      });
      t.notOk(isSame(knot, fingerprintOf(scene.loops!, scene.linked, passed)), 'passed');
    },
  );
}

t.test('a garment that slips through the body is noticed', async (t) => {
  const scene = SCENES.get('dress')!('small');
  const start = modelOf(scene).start;
  const worn = fingerprintOf(scene.loops!, scene.linked, start);
  t.same(
    worn.map(({ linking }) => Math.abs(linking[0]!)),
    [1, 1, 1, 1, 1],
  );
  const count = scene.bodies[0]!.geometry.positions.length;
  const aside = start.map((value, i) => (i < count && i % 3 === 0 ? value + 2 : value));
  t.notOk(isSame(worn, fingerprintOf(scene.loops!, scene.linked, aside)));
});

/** Exchanges the positions of two bodies with the same mesh. */
function exchange(scene: Scene, x: Float64Array, first: number, second: number): Float64Array {
  const { parts } = modelOf(scene);
  const [a, b] = [parts[first]!, parts[second]!];
  const [length, out] = [3 * a.vertexCount, x.slice()];
  out.set(x.subarray(3 * b.firstVertex, 3 * b.firstVertex + length), 3 * a.firstVertex);
  out.set(x.subarray(3 * a.firstVertex, 3 * a.firstVertex + length), 3 * b.firstVertex);
  return out;
}

t.test('layers of a dress that have changed places are noticed', async (t) => {
  const scene = SCENES.get('dress')!('small');
  const { start } = modelOf(scene);
  const worn = fingerprintOf(scene.loops!, scene.linked, start);
  for (const [a, b] of [
    [0, 1],
    [1, 2],
    [0, 2],
  ] as const) {
    t.notOk(isSame(worn, fingerprintOf(scene.loops!, scene.linked, exchange(scene, start, a, b))), `${a} and ${b}`);
  }
});

t.test('layers of a gown that have changed places are noticed', async (t) => {
  const scene = SCENES.get('gown')!('small');
  const { start, parts } = modelOf(scene);
  const worn = fingerprintOf(scene.loops!, scene.linked, start);
  for (const outer of [1, 2]) {
    // Contracted to two thirds, through the layer below but not through the body's axis.
    const { firstVertex, vertexCount } = parts[outer]!;
    const passed = start.map((value, i) => {
      const v = Math.floor(i / 3);
      return v >= firstVertex && v < firstVertex + vertexCount && i % 3 < 2 ? value * 0.67 : value;
    });
    t.notOk(isSame(worn, fingerprintOf(scene.loops!, scene.linked, passed)), parts[outer]!.name);
  }
});

t.test('mats of a pile that have changed places are noticed, with their names', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'piles-'));
  t.teardown(() => rmSync(folder, { recursive: true }));
  const scene = SCENES.get('mats')!('small');
  const model = modelOf(scene);
  const cache = new FrameCache(folder, model);
  cache.open();
  t.equal(judgePile(scene, model, cache), undefined, 'nothing was played');
  const first = startOf(model);
  // A mat that has slid aside lies above nothing.
  const slid = first.x.map((value, i) => (i < 3 * model.parts[0]!.vertexCount && i % 3 === 0 ? value + 2 : value));
  for (let frame = 1; frame <= 10; frame++)
    cache.append({} as never, { ...first, frame, x: frame < 5 ? first.x : slid });
  t.match(describePile(judgePile(scene, model, cache)!), /^in order \(4 layers\)$/);
  for (let frame = 11; frame <= 13; frame++)
    cache.append({} as never, { ...first, frame, x: exchange(scene, first.x, 1, 2) });
  const verdict = judgePile(scene, model, cache)!;
  t.equal(verdict.changedAt, 13);
  t.same(verdict.exchanged, [{ lower: 'mat 2', upper: 'mat 3' }]);
  t.match(describePile(verdict), /NOT IN ORDER from frame 13 on \(mat 2 above mat 3\)/);
  t.equal(judgePile(SCENES.get('cone')!('small'), model, cache), undefined);
});

t.test('a wrong knot among the frames of a scene is noticed, with its frame', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'knots-'));
  t.teardown(() => rmSync(folder, { recursive: true }));
  const scene = SCENES.get('reef-knot')!('small');
  const model = modelOf(scene);
  const cache = new FrameCache(folder, model);
  cache.open();
  const first = startOf(model);
  const apart = first.x.map((value, i) =>
    i < scene.bodies[0]!.geometry.positions.length && i % 3 === 2 ? value + 0.2 : value,
  );
  t.equal(judgeKnot(scene, model, cache), undefined, 'nothing was played');
  const play = (from: number, to: number, x: Float64Array): void => {
    for (let frame = from; frame <= to; frame++) cache.append({} as never, { ...first, frame, x });
  };
  play(1, 14, first.x);
  const good = judgeKnot(scene, model, cache)!;
  t.equal(good.changedAt, undefined);
  t.equal(good.determinant, 9);
  t.equal(good.signature, 0, 'the square knot, not the granny');
  t.equal(describeKnot(good), 'the same (determinant 9; signature 0)');
  play(15, 23, apart);
  const bad = judgeKnot(scene, model, cache)!;
  t.equal(bad.changedAt, 20);
  t.match(describeKnot(bad), /ANOTHER ONE from frame 20/);
  t.equal(judgeKnot(SCENES.get('cone')!('small'), model, cache), undefined);
});
