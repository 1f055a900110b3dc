import t from 'tap';
import { makeCases, type ProveCase } from '../../../bench/prove/cases.js';
import { findMeetings } from '../../../bench/prove/judge/state-judge.js';
import { readSurface } from '../../../bench/prove/judge/surface.js';
import { GENERATED } from '../../../bench/prove/scenes/generated.js';
import { Random } from '../../../bench/prove/scenes/random.js';
import { CORNERS, OFFSETS, SCALES, vary } from '../../../bench/prove/scenes/variation.js';

function take(seed: number, count: number, real: readonly string[] = []): ProveCase[] {
  const list: ProveCase[] = [];
  for (const prove of makeCases(seed, real, true)) {
    if (list.push(prove) === count) break;
  }
  return list;
}

t.test('the same seed gives the same cases and numbers, another one others', async (t) => {
  t.same(take(5, 40), take(5, 40));
  t.notSame(take(5, 40), take(6, 40));
  const [one] = take(5, 1);
  const numbers = () => vary(GENERATED[one.scene](new Random(one.seed)), one.variation, new Random(one.seed));
  t.same(numbers(), numbers());
});

t.test('a few hundred cases have a little of everything', async (t) => {
  const cases = take(1, 600, ['dress', 'bunny']);
  const has = (of: (prove: ProveCase) => unknown) => new Set(cases.map(of));
  t.equal(has(({ scene }) => scene).size, Object.keys(GENERATED).length + 2);
  t.equal(
    has(({ mode, door }) => `${door} ${mode}`).size,
    10,
    'three modes through three doors, and the whole session',
  );
  t.equal(has(({ variation }) => variation.corner).size, Object.keys(CORNERS).length);
  t.equal(has(({ variation }) => variation.scale).size, SCALES.length);
  t.equal(has(({ variation }) => variation.offset).size, OFFSETS.length);
  t.equal(has(({ variation }) => variation.scalar).size, 2);
  t.equal(has(({ variation }) => variation.preset).size, 2);
});

t.test('generated scenes start free of intersections, but for the one that is meant to be refused', async (t) => {
  for (const [name, make] of Object.entries(GENERATED)) {
    for (const seed of [1, 2, 3]) {
      const scene = make(new Random(seed));
      const count = findMeetings(readSurface(scene.mesh), scene.start, { kinematicPairs: 'PROTECT' }).length;
      if (name === 'crossed') t.ok(count > 0, `crossed, seed ${seed}: ${count} pairs`);
      else t.equal(count, 0, `${name}, seed ${seed}`);
    }
  }
});

t.test('every campaign begins with a session that is carried to its end', async (t) => {
  t.match(take(3, 1), [{ mode: 'WHOLE_SESSION', scene: 'handkerchiefs' }]);
  const [first] = makeCases(3, [], false);
  t.equal(first.mode, 'RESOLVE', 'none where there are no sessions');
});
