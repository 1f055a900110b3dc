import t from 'tap';
import { findIntersections } from '../../src/verify/state.js';
import { seeded } from '../support/random.js';
import { makeMesh, SKIP } from '../verify/make-mesh.js';
import { diagnose, findingOf, requestOf, type Shape, sheet, together } from './shapes.js';

const random = seeded();
t.comment(`seed ${random.seed}`);

/** Nearly equal triangles in nearly the same place: about half of all edges pass through each of the others. */
const pile = (count: number): Shape =>
  together(
    ...Array.from({ length: count }, () => ({
      x: [0, 0, 0, 1, 0, 0, 0, 1, 0].map((value) => value + random.between(-0.1, 0.1)),
      triangles: [0, 1, 2],
    })),
  );

/** Pairs of which a search finds no more: 2¹⁸, and 16 for each of four elements of every triangle that stands alone. */
const mostOf = (triangles: number, elements = 4 * triangles): number => 2 ** 18 + 16 * elements;

const COUNT = 900;
const many = pile(COUNT);

t.test('intersections are counted completely unless nearly all elements intersect each other', async (t) => {
  const few = pile(100);
  const { mesh, positions } = requestOf(few);
  const { intersectionCount } = findIntersections(
    makeMesh({ vertexCount: mesh.vertexCount, triangles: few.triangles }),
    positions,
    SKIP,
  );
  t.ok(intersectionCount > 100);
  const whole = await diagnose(few);
  t.match(findingOf(whole, 'INTERSECTION'), { count: intersectionCount, message: /^[\d,]+ pairs of elements/ });
  t.equal(findingOf(whole, 'INTERSECTIONS_NOT_COUNTED'), undefined);

  const most = mostOf(COUNT);
  const cut = await diagnose(many);
  t.equal(cut.accepted, false);
  t.match(findingOf(cut, 'INTERSECTION'), {
    severity: 'PROBLEM',
    count: most,
    message: /^At least [\d,]+ pairs of elements intersect in/,
  });
  t.match(findingOf(cut, 'INTERSECTIONS_NOT_COUNTED'), {
    severity: 'NOTE',
    count: most,
    message: /further and larger/,
  });
  t.ok(cut.regionCount > 0);
});

t.test('more pairs than a resolve can exclude are a problem under IGNORE_PAIRS, too', async (t) => {
  const parameters = { onIntersectingStart: 'IGNORE_PAIRS' } as const;
  const diagnosis = await diagnose(many, { parameters });
  t.equal(diagnosis.accepted, false);
  const { severity, advice } = findingOf(diagnosis, 'INTERSECTION')!;
  t.equal(severity, 'PROBLEM');
  t.match(advice, /at most 100,000 pairs can be excluded/);
  const few = await diagnose(pile(20), { parameters });
  t.equal(few.accepted, true);
  t.match(findingOf(few, 'INTERSECTION'), { severity: 'WARNING' });
});

t.test('pairs of kinematic elements take no place of pairs that count', async (t) => {
  const spike: Shape = { x: [0.31, 0.31, -4, 0.33, 0.31, -4, 0.32, 0.32, 4], triangles: [0, 1, 2] };
  const plate = sheet(2, 0.5, 3);
  const shape = together(many, spike, plate);
  const { mesh } = requestOf(shape);
  const lone = findingOf(await diagnose(together(spike, plate)), 'INTERSECTION')!.count;
  // All but the plate.
  const kinematic = Uint8Array.from({ length: mesh.vertexCount }, (_, v) => (v < 3 * COUNT + 3 ? 1 : 0));
  const diagnosis = await diagnose(shape, { mesh: { ...mesh, kinematic } });
  t.match(findingOf(diagnosis, 'INTERSECTION'), { count: lone, message: /^\d/ });
  const most = mostOf(COUNT + 1, 4 * (COUNT + 1) + plate.triangles.length / 3 + 16);
  t.match(findingOf(diagnosis, 'INTERSECTIONS_NOT_COUNTED'), { count: most, message: /all of them of kinematic/ });
  const skipped = findingOf(diagnosis, 'KINEMATIC_INTERSECTION')!;
  t.match(skipped.message, /^At least/);
  t.ok(skipped.count <= most && skipped.count > most - 100);

  // Without the spike nothing that counts intersects. The search of the diagnosis was no check of all pairs.
  const apart = together(many, plate);
  const free = await diagnose(apart, { mesh: { ...requestOf(apart).mesh, kinematic: kinematic.slice(3) } });
  t.equal(free.accepted, true);
  t.equal(findingOf(free, 'INTERSECTION'), undefined);
  t.ok(findingOf(free, 'INTERSECTIONS_NOT_COUNTED'));
  t.match(findingOf(free, 'SMALLEST_TIME_BUDGET')!.message, /^A resolve that moves nothing takes [\d.]+ ms here\.$/);
});
