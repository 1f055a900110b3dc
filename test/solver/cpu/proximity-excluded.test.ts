import t from 'tap';
import { Proximity } from '../../../src/solver/cpu/proximity.js';
import { isOfIgnoredParts, mayBeIgnored, mayBeSkipped } from '../../support/guarding-oracle.js';
import { looseScene } from '../../support/loose-scene.js';
import { roundsUntil, seeded } from '../../support/random.js';
import { makeSettings } from '../../support/settings.js';
import { allPairs, keysOf, type MeshPair } from '../../support/trust-oracle.js';
import { aim, missing } from './proximity-truth.js';

const random = seeded();
t.comment(`seed ${random.seed}`);
const settings = makeSettings({ delta: 0.05, leap: 0.3 });

t.test('kinematic pairs: under SKIP those that guard a promised pair, under PROTECT all that move', async (t) => {
  let protectedPairs = 0;
  let guarding = 0;
  for (const _ of roundsUntil(6, () => protectedPairs > 20 && guarding > 20)) {
    const { mesh, x } = looseScene(random, { elements: 40, side: 3.5, travel: 0, kinematic: 0.6, border: 0.5 });
    const y = aim(random, x, mesh, 0.4);
    const isKinematic = ({ a, b }: MeshPair): boolean => [...a, ...b].every((v) => mesh.kinematic[v] !== 0);
    const isStill = ({ a, b }: MeshPair): boolean =>
      [...a, ...b].every((v) => mesh.kinematic[v] !== 0 && [0, 1, 2].every((c) => x[3 * v + c] === y[3 * v + c]));
    const kinematicKeys = new Set(
      allPairs(mesh)
        .filter(isKinematic)
        .map(({ key }) => key),
    );
    const stillKeys = new Set(
      allPairs(mesh)
        .filter(isStill)
        .map(({ key }) => key),
    );

    const skipping = new Proximity(mesh, settings);
    skipping.renew(x, y);
    const isExempt = (pair: MeshPair): boolean => mayBeSkipped(mesh, pair);
    const exempt = new Set(
      allPairs(mesh)
        .filter(isExempt)
        .map(({ key }) => key),
    );
    const found = keysOf(skipping.pairs);
    t.equal(found.filter((key) => exempt.has(key)).length, 0, 'SKIP');
    guarding += found.filter((key) => kinematicKeys.has(key)).length;
    t.strictSame(missing(mesh, skipping, settings.delta, isExempt), []);

    const protecting = new Proximity(mesh, { ...settings, skipKinematicPairs: false });
    protecting.renew(x, y);
    const keys = keysOf(protecting.pairs);
    protectedPairs += keys.filter((key) => kinematicKeys.has(key)).length;
    t.equal(keys.filter((key) => stillKeys.has(key)).length, 0, 'PROTECT excludes what cannot move');
    t.strictSame(missing(mesh, protecting, settings.delta, isStill), []);
  }
  t.ok(protectedPairs > 20, `${protectedPairs} kinematic pairs were protected`);
  t.ok(guarding > 20, `${guarding} kinematic pairs at borders were found under SKIP`);
});

t.test('pairs of ignored parts are excluded, and only they', async (t) => {
  // Parts 0 and 1 ignore each other, part 2 ignores itself.
  const { mesh, x, y } = looseScene(random, { elements: 60, side: 3, travel: 0.4, parts: 4 });
  const part = (side: readonly number[]): number => mesh.partOfVertex[side[0]];
  const isIgnored = ({ a, b }: MeshPair): boolean =>
    (part(a) === 0 && part(b) === 1) || (part(a) === 1 && part(b) === 0) || (part(a) === 2 && part(b) === 2);
  const ignoredKeys = new Set(
    allPairs(mesh)
      .filter(isIgnored)
      .map(({ key }) => key),
  );
  const proximity = new Proximity(mesh, settings);
  proximity.renew(x, y);
  const keys = keysOf(proximity.pairs);
  t.equal(keys.filter((key) => ignoredKeys.has(key)).length, 0);
  t.strictSame(missing(mesh, proximity, settings.delta, isIgnored), []);
  const without = new Proximity({ ...mesh, ignoredPartPairs: new Uint32Array(0) }, settings);
  without.renew(x, y);
  const all = keysOf(without.pairs);
  t.ok(all.length > keys.length);
  t.strictSame(
    all.filter((key) => !ignoredKeys.has(key)),
    keys,
    'the others are there in the same order',
  );
});

t.test('ignored parts that share elements: the pairs that guard such an element are kept', async (t) => {
  let [kept, excluded] = [0, 0];
  for (const _ of roundsUntil(6, () => kept > 10 && excluded > 100)) {
    const scene = looseScene(random, { elements: 60, side: 3, travel: 0.4, parts: 20, isSewn: true });
    const { x, y } = scene;
    const all = Array.from({ length: 20 }, (_, p) => [p, (p + 1 + random.int(3)) % 20, p, p]).flat();
    const mesh = { ...scene.mesh, ignoredPartPairs: Uint32Array.from(all) };
    const proximity = new Proximity(mesh, settings);
    proximity.renew(x, y);
    t.strictSame(
      missing(mesh, proximity, settings.delta, (pair) => mayBeIgnored(mesh, pair)),
      [],
    );
    const found = new Set(keysOf(proximity.pairs));
    const goesElsewhere = (v: number): boolean =>
      [...mesh.edges.keys()].some(
        (k) => mesh.edges[k] === v && mesh.partOfVertex[mesh.edges[k ^ 1]] !== mesh.partOfVertex[v],
      );
    for (const pair of allPairs(mesh).filter((other) => isOfIgnoredParts(mesh, other))) {
      if (found.has(pair.key)) {
        kept++;
        t.ok([...pair.a, ...pair.b].some(goesElsewhere), `${pair.key} lies next to a seam`);
      } else excluded++;
    }
  }
  t.ok(kept > 10 && excluded > 100, `${kept} pairs of ignored parts were kept, ${excluded} excluded`);
});
