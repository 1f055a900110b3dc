import t from 'tap';
import { DeviceMemory, MemoryBudget } from '../../../gpu/device/memory.js';
import { SEARCH_MODE } from '../../../gpu/kernels/constants.js';
import { composeTail } from '../../../gpu/search/layout.js';
import type { ElementPair } from '../../../src/contract/elements.js';
import { ExcludedPairs } from '../../../src/mesh/excluded-pairs.js';
import type { CollisionMesh } from '../../../src/mesh/types.js';
import { PairSet } from '../../../src/solver/cpu/pair-set.js';
import { ProximitySearch } from '../../../src/solver/cpu/search.js';
import { CORNERS, SIDE_A } from '../../../src/solver/pair-kinds.js';
import { distancesByVertex } from '../../../src/solver/part-distances.js';
import { looseScene } from '../../support/loose-scene.js';
import { seeded } from '../../support/random.js';
import { makeSettings } from '../../support/settings.js';
import { openSharedDevice } from '../../support/shared-device.js';
import { keysOf } from '../../support/trust-oracle.js';
import { DeviceScene, type Found, keysFound } from './device-scene.js';

/** How far from the cut the engines may disagree (device-search.test.ts). */
const CUT_ROUNDING = 1e-5;
const ROOM = 200_000;
const KINDS = ['VERTEX_TRIANGLE', 'EDGE_EDGE', 'VERTEX_EDGE', 'VERTEX_VERTEX'] as const;

const { device } = await openSharedDevice(t);

const random = seeded();
t.comment(`seed ${random.seed}`);

t.test('The keys follow the mesh, by kind, in ascending order.', async (t) => {
  const excluded = new ExcludedPairs([
    { kind: 'VERTEX_TRIANGLE', a: [9], b: [3, 2, 1] },
    { kind: 'VERTEX_TRIANGLE', a: [8], b: [1, 2, 3] },
    { kind: 'VERTEX_EDGE', a: [35], b: [7, 6] },
  ]);
  const { words, marks, keys, distances } = composeTail(100, 40, undefined, excluded);
  t.equal(distances, 0);
  t.equal(marks, 100);
  t.same(keys, [
    { first: 102, count: 2 },
    { first: 110, count: 0 },
    { first: 110, count: 1 },
    { first: 114, count: 0 },
  ]);
  t.same([...words.subarray(2)], [8, 1, 2, 3, 9, 1, 2, 3, 6, 7, 35, 35]);
  t.same([...words.subarray(0, 2)], [0b11_1100_1110, 0b1000]);
  t.equal(composeTail(100, 40, undefined, undefined).words.length, 0);
  t.equal(composeTail(100, 3, Float32Array.of(1, 2, 3), undefined).distances, 100);
});

if (device) {
  const memory = new DeviceMemory(device, new MemoryBudget());

  t.test('P contains all pairs except the excluded ones, in the same order.', async (t) => {
    const settings = makeSettings({ delta: 0.05, leap: 0.3 });
    const { mesh, x, y } = looseScene(random, { elements: 250, side: 5, travel: 0.3 });
    const scene = await DeviceScene.open(memory, mesh, settings, x, ROOM);
    const find = async (excluded: ExcludedPairs | undefined): Promise<Found> => {
      scene.search.exclude(excluded);
      scene.place(x, y);
      scene.search.request(SEARCH_MODE.ALL);
      return scene.run();
    };
    const all = await find(undefined);
    const items: ElementPair[] = [];
    const gone = new Set<string>();
    const keys = keysFound(all);
    const kinds = new Set<number>();
    for (let p = 0; p < all.count; p++) {
      if (random() < 0.5) continue;
      const kind = all.info[p];
      const ids = [...all.vertex.subarray(4 * p, 4 * p + CORNERS[kind])];
      items.push({ kind: KINDS[kind]!, a: ids.slice(0, SIDE_A[kind]), b: ids.slice(SIDE_A[kind]).reverse() });
      gone.add(keys[p]!);
      kinds.add(kind);
    }
    t.equal(kinds.size, 4, `${items.length} of ${all.count} pairs, of every kind`);
    const excluded = new ExcludedPairs(items);
    t.same(
      keysFound(await find(excluded)),
      keys.filter((key) => !gone.has(key)),
    );
    t.ok(scene.search.excludes(excluded));
    t.notOk(scene.search.excludes(undefined));
    t.same(keysFound(await find(undefined)), keys, 'and back');
    scene.close();
  });

  t.test('With distances per part, P is that of the CPU engine in the same boxes.', async (t) => {
    for (const guard of ['BOXES', 'RADIUS'] as const) {
      const settings = makeSettings({ delta: 0.05, leap: 0.3, searchRadiusMax: 0.5, guard });
      const { mesh: loose, x, y } = looseScene(random, { elements: 150, side: 5, travel: 0.3, parts: 4 });
      const mesh = withDistances(loose, [undefined, 0.4, 0.01, 0.1]);
      const scene = await DeviceScene.open(memory, mesh, settings, x, ROOM);
      scene.place(x, y);
      scene.search.request(SEARCH_MODE.ALL);
      const found = await scene.run();
      const searchOnCpu = (factor: number, more: number): Set<string> => {
        const pairs = new PairSet();
        const growth = Math.fround((guard === 'RADIUS' ? settings.searchRadiusMax : settings.delta) / 2);
        const own = guard === 'RADIUS' ? undefined : distancesByVertex(mesh, settings);
        const distances = own?.map((distance) => distance * factor + more);
        const rules = { mask: found.mask, isIgnored: undefined, distances };
        const cut = settings.searchRadiusMax * factor + more;
        new ProximitySearch(mesh).search({ box: found.box, growth }, x, cut, rules, 1e9, pairs);
        return new Set(keysOf(pairs));
      };
      const keys = new Set(keysFound(found));
      const least = searchOnCpu(1 - 1e-5, -CUT_ROUNDING);
      const most = searchOnCpu(1 + 1e-5, CUT_ROUNDING);
      t.ok(found.count > 100, `${guard}: ${found.count} pairs`);
      t.same(
        [...least].filter((key) => !keys.has(key)),
        [],
        'none is missing',
      );
      t.same(
        [...keys].filter((key) => !most.has(key)),
        [],
        'none is too many',
      );
      scene.close();
    }
    t.equal(memory.bytes, 0, 'and nothing is left on the device');
  });
}

function withDistances(mesh: CollisionMesh, distances: readonly (number | undefined)[]): CollisionMesh {
  const parts = mesh.parts.map((part, k) =>
    distances[k] === undefined ? part : { ...part, activationDistance: distances[k] },
  );
  return { ...mesh, parts, ignoredPartPairs: new Uint32Array(0) };
}
