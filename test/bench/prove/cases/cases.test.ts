import t from 'tap';
import { makeCases, type ProveCase } from '../../../../bench/prove/cases/cases.js';
import { findMeetings } from '../../../../bench/prove/judge/state-judge.js';
import { readSurface } from '../../../../bench/prove/judge/surface.js';
import { GENERATED, IN_SESSIONS, TANGLED } from '../../../../bench/prove/scenes/generated.js';
import { Random } from '../../../../bench/prove/scenes/random.js';
import { CORNERS, OFFSETS, SCALES, vary } from '../../../../bench/prove/scenes/variation.js';
import { TANGLED_STARTS } from '../../../../bench/prove/untangling/tangled-starts.js';

function take(seed: number, count: number, real: readonly string[] = []): ProveCase[] {
  const list: ProveCase[] = [];
  for (const prove of makeCases(seed, real, ['FAST', 'BALANCED', 'FINE'])) {
    if (list.push(prove) === count) break;
  }
  return list;
}

t.test('the same seed gives the same cases and numbers, and another seed gives others', async (t) => {
  t.same(take(5, 40), take(5, 40));
  t.notSame(take(5, 40), take(6, 40));
  const [one] = take(5, 1);
  const numbers = () => vary(GENERATED[one.scene](new Random(one.seed)), one.variation, new Random(one.seed));
  t.same(numbers(), numbers());
});

t.test('a few hundred cases cover every scene, mode, door and variation', async (t) => {
  const all = take(1, 720, ['dress', 'bunny']);
  const untangled = all.filter(({ mode }) => mode === 'UNTANGLE');
  t.equal(new Set(untangled.map(({ scene, door }) => `${scene} ${door}`)).size, 3 * Object.keys(TANGLED_STARTS).length);
  const cases = all.filter((prove) => !untangled.includes(prove));
  const has = (of: (prove: ProveCase) => unknown) => new Set(cases.map(of));
  t.equal(has(({ scene }) => scene).size, Object.keys(GENERATED).length + 2);
  t.equal(
    has(({ mode, door }) => `${door} ${mode}`).size,
    16,
    'four modes through three doors, and the whole sessions',
  );
  t.equal(has(({ variation }) => variation.corner).size, Object.keys(CORNERS).length);
  t.equal(has(({ variation }) => variation.scale).size, SCALES.length);
  t.equal(has(({ variation }) => variation.offset).size, OFFSETS.length);
  t.equal(has(({ variation }) => variation.scalar).size, 2);
  t.equal(has(({ variation }) => variation.preset).size, 2);
  for (const special of ['isNarrowed', 'hasPartDistances', 'isIgnoring'] as const) {
    const those = cases.filter(({ variation }) => variation[special]);
    t.ok(those.length > 20 && those.length < 300, `${special}: ${those.length}`);
  }
  t.same([...has(({ variation }) => variation.quality ?? '')].sort(), ['', 'BALANCED', 'FAST', 'FINE']);
  t.equal(has(({ variation }) => variation.offsetShare).size, 5, 'four contact offsets, and the default');
  t.notOk(
    cases.some(({ variation }) => variation.preset === 'PAPER' && variation.quality),
    'PAPER has one quality',
  );
  for (const name of IN_SESSIONS) {
    const those = cases.filter(({ scene }) => scene === name);
    t.ok(those.length > 1 && those.every(({ mode }) => mode.endsWith('SESSION') || mode === 'TURNS'), name);
  }
  t.notOk(cases.some(({ variation }) => variation.isNarrowed && variation.scalar === 'FLOAT32'));
  const ignored = cases.filter(({ scene, variation }) => TANGLED.includes(scene) && variation.isIgnoring);
  t.ok(ignored.length > 10 && ignored.some(({ mode }) => mode !== 'RESOLVE'), `${ignored.length} tangled starts taken`);
});

t.test('an engine with one quality is asked for none, and the cases are the same otherwise', async (t) => {
  const without = makeCases(1, [], ['FAST']);
  for (const { variation, ...prove } of take(1, 60)) {
    const { quality: _, offsetShare: __, ...rest } = variation;
    t.same(without.next().value, { ...prove, variation: rest });
  }
});

t.test('generated scenes start free of intersections, except the tangled ones', async (t) => {
  for (const [name, make] of Object.entries(GENERATED)) {
    for (const seed of [1, 2, 3]) {
      const scene = make(new Random(seed));
      const count = findMeetings(readSurface(scene.mesh), scene.start, { kinematicPairs: 'PROTECT' }).length;
      if (TANGLED.includes(name)) t.ok(count > 0, `${name}, seed ${seed}: ${count} pairs`);
      else t.equal(count, 0, `${name}, seed ${seed}`);
    }
  }
});

t.test('tangled starts intersect', async (t) => {
  for (const [name, make] of Object.entries(TANGLED_STARTS)) {
    for (const seed of [1, 2, 3]) {
      const { mesh, start } = make(new Random(seed));
      t.ok(findMeetings(readSurface(mesh), start, { kinematicPairs: 'SKIP' }).length > 0, `${name}, seed ${seed}`);
    }
  }
});

t.test('scenes whose last bits matter are sent unchanged', async (t) => {
  const variation = { ...take(1, 1)[0].variation, scale: 10, offset: 1, scalar: 'FLOAT64' } as const;
  for (const name of ['longRods', 'slidingGrains', 'grainsOverSails', 'farLandings']) {
    const scene = GENERATED[name](new Random(4));
    t.ok(scene.isExact, name);
    t.same(scene.start, Float64Array.from(Float32Array.from(scene.start)), `${name}: float32 numbers`);
    t.same(vary(scene, variation, new Random(5)).start, scene.start, name);
  }
});

t.test('a narrowed case has a target in float32', async (t) => {
  const variation = { ...take(1, 1)[0].variation, scalar: 'FLOAT64', isNarrowed: true } as const;
  const { start, target } = vary(GENERATED.soup(new Random(1)), variation, new Random(1));
  t.ok(start instanceof Float64Array && target instanceof Float32Array);
});

t.test('every campaign begins with sessions that are carried to their end', async (t) => {
  t.match(take(3, 4), [
    { mode: 'WHOLE_SESSION', scene: 'handkerchiefs' },
    { mode: 'ROUGH_SESSION', scene: 'tangle', variation: { isIgnoring: true } },
    { mode: 'ROUGH_SESSION', scene: 'neighbours', variation: { hasPartDistances: true } },
    { mode: 'ROUGH_SESSION', scene: 'changingPlaces' },
  ]);
});
