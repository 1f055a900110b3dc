import t, { type Test } from 'tap';
import { DeviceMemory, MemoryBudget } from '../../../gpu/device/memory.js';
import { write } from '../../../gpu/device/place.js';
import { KIND_MASK, SEARCH_MODE } from '../../../gpu/kernels/constants.js';
import { KEPT, PASSIVE } from '../../../src/solver/constants.js';
import type { Settings } from '../../../src/solver/settings.js';
import { keptRoom } from '../../support/kept-room.js';
import { type LooseOptions, looseScene } from '../../support/loose-scene.js';
import { seeded } from '../../support/random.js';
import { makeSettings } from '../../support/settings.js';
import { openSharedAdapter } from '../../support/shared-device.js';
import { keysOf } from '../../support/trust-oracle.js';
import { DeviceScene, type Found, keysFound, readBuffer } from './device-scene.js';
import { forgetIgnored, ignoredCount, searchOnCpu } from './reference-search.js';

/**
 * How far from the cut the engines may disagree: the device's own margin is 16 u over boxes a few units across, and its
 * directions are good to a few u of the elements' size over their distance.
 */
const CUT_ROUNDING = 1e-5;
const ROOM = 200_000;

const { opened, reason } = await openSharedAdapter({ allowSoftware: true });
const needsAdapter = opened || process.env.INTERSTICE_REQUIRE_GPU === '1' ? {} : { skip: reason };
t.teardown(() => opened?.close());
const device = (await opened?.requestDevice())?.device;

const random = seeded();
t.comment(`seed ${random.seed}`);

t.test('An adapter is found if one is required.', needsAdapter, async (t) => {
  t.ok(opened, reason ?? 'opened');
});

/** Fails with the first key that is missing, or that the CPU engine does not find near the cut. */
function compare(t: Test, keys: readonly string[], least: readonly string[], most: readonly string[]): void {
  const found = new Set(keys);
  const allowed = new Set(most);
  t.equal(found.size, keys.length, 'each pair once');
  t.equal(
    least.find((key) => !found.has(key)),
    undefined,
    `none of ${least.length} pairs is missing`,
  );
  t.equal(
    keys.find((key) => !allowed.has(key)),
    undefined,
    `none of ${keys.length} pairs is too many (${most.length})`,
  );
}

if (device) {
  const ledger = new MemoryBudget();
  const memory = new DeviceMemory(device, ledger);

  /** Opens a scene, searches all of it, and compares with the CPU engine. */
  const check = async (
    t: Test,
    options: LooseOptions,
    overrides: Partial<Settings> = {},
    ignoredPartPairs?: Uint32Array,
  ): Promise<Found> => {
    const settings = makeSettings({ delta: 0.05, leap: 0.3, ...overrides });
    const { mesh: loose, x, y } = looseScene(random, options);
    const mesh = ignoredPartPairs ? { ...loose, ignoredPartPairs } : loose;
    const scene = await DeviceScene.open(memory, mesh, settings, x, ROOM);
    scene.place(x, y);
    scene.search.request(SEARCH_MODE.ALL);
    const found = await scene.run();
    scene.close();
    t.equal(found.control.overflow, 0);
    t.equal(found.control.isValid, 1);
    t.equal(found.control.demand, found.count);
    const cut = settings.guard === 'RADIUS' ? settings.searchRadiusMax : settings.delta;
    const least = keysOf(searchOnCpu(mesh, x, found, settings, cut * (1 - 1e-5) - CUT_ROUNDING));
    const most = keysOf(searchOnCpu(mesh, x, found, settings, cut * (1 + 1e-5) + CUT_ROUNDING));
    compare(t, keysFound(found), least, most);
    return found;
  };

  t.test('P is that of the CPU engine in the same boxes, for all codimensions.', async (t) => {
    const kinds = [0, 0, 0, 0];
    for (let round = 0; round < 3; round++) {
      const { info } = await check(t, { elements: 250, side: 6, travel: 0.4 });
      for (const kind of info) kinds[kind]++;
    }
    t.ok(
      kinds.every((count) => count > 20),
      `pairs by kind: ${kinds}`,
    );
  });

  t.test('Under guard RADIUS, P has every pair within D_max of the points.', async (t) => {
    const { mask, count } = await check(
      t,
      { elements: 300, side: 6, travel: 0.4, kinematic: 0.3, still: 0.3 },
      { guard: 'RADIUS' },
    );
    t.ok(mask.some((bits) => bits !== 0) && count > 100, `${count} pairs`);
  });

  t.test('Kinematic elements follow SKIP and PROTECT, with and without borders.', async (t) => {
    for (const skipKinematicPairs of [true, false]) {
      for (const border of [0, 0.6]) {
        const { mask, vertex } = await check(
          t,
          { elements: 250, side: 5, travel: 0.3, kinematic: 0.5, still: 0.5, border },
          { skipKinematicPairs },
        );
        t.ok(mask.includes(PASSIVE) && mask.includes(0), 'some may be excluded, others not');
        const hasFixed = Array.from({ length: vertex.length / 4 }, (_, p) => vertex.subarray(4 * p, 4 * p + 4)).some(
          (ids) => ids.every((v) => v < 0 || mask[v] === PASSIVE),
        );
        t.equal(hasFixed, skipKinematicPairs && border > 0, 'pairs of PASSIVE vertices only at borders, under SKIP');
      }
    }
  });

  t.test('The rule for kinematic pairs changes with the settings.', async (t) => {
    const settings = makeSettings({ delta: 0.05, leap: 0.3 });
    const options = { elements: 150, side: 5, travel: 0.3, kinematic: 0.5, still: 0.5, border: 0.6 };
    const { mesh, x, y } = looseScene(random, options);
    const scene = await DeviceScene.open(memory, mesh, settings, x, ROOM);
    scene.place(x, y);
    for (const skipKinematicPairs of [false, true]) {
      const changed = { ...settings, skipKinematicPairs };
      scene.search.configure(changed);
      scene.search.request(SEARCH_MODE.ALL);
      const found = await scene.run();
      const find = (cut: number): string[] => keysOf(searchOnCpu(mesh, x, found, changed, cut));
      compare(t, keysFound(found), find(0.05 - CUT_ROUNDING), find(0.05 + CUT_ROUNDING));
    }
    scene.close();
  });

  t.test('Pairs of ignored parts are excluded.', async (t) => {
    const options = { elements: 200, side: 4, travel: 0.3 };
    const many = Uint32Array.of(0, 1, 0, 2, 0, 5, 0, 7, 1, 1, 2, 7, 3, 4, 6, 7);
    const with8 = await check(t, { ...options, parts: 8 }, {}, many);
    t.ok(with8.count > 100 && ignoredCount() > 100, `${with8.count} pairs, ${ignoredCount()} looked at and ignored`);
    forgetIgnored();
    const with4 = await check(t, { ...options, parts: 4 });
    t.ok(with4.count > 100 && ignoredCount() > 100, `${with4.count} pairs, ${ignoredCount()} looked at and ignored`);
    forgetIgnored();
    const every = Array.from({ length: 16 }, (_, p) => [p, (p + 1) % 16, p, (p + 2) % 16, p, p]).flat();
    const sewn = await check(t, { ...options, parts: 16, isSewn: true }, {}, Uint32Array.from(every));
    t.ok(
      sewn.count > 100 && ignoredCount() > 100,
      `sewn together: ${sewn.count} pairs, ${ignoredCount()} looked at and ignored`,
    );
  });

  t.test('A partial search keeps the pairs with unchanged boxes, in order, and finds the others again.', async (t) => {
    const settings = makeSettings({ delta: 0.05, leap: 0.3 });
    const { mesh, x, y } = looseScene(random, { elements: 200, side: 5, travel: 0.3, kinematic: 0.2, still: 0.3 });
    const scene = await DeviceScene.open(memory, mesh, settings, x, ROOM);
    scene.place(x, y);
    scene.search.request(SEARCH_MODE.ALL);
    const before = await scene.run();
    // As geometry would have left them: δ_p and normals.
    const normal = Float32Array.from({ length: 4 * before.count }, () => random());
    write(device.queue, scene.pairNormal, 0, normal);
    const wanted = Uint8Array.from({ length: mesh.vertexCount }, () => (random() < 0.1 ? 1 : 0));
    const further = y.map((value, k) => value + (wanted[Math.floor(k / 3)] === 1 ? random.between(-0.4, 0.4) : 0));
    scene.place(x, further, wanted);
    scene.search.request(SEARCH_MODE.PART);
    const after = await scene.run();
    scene.close();

    const { mask } = after;
    t.ok(mask.every((bits, i) => (bits & KEPT) === (wanted[i] === 1 ? 0 : KEPT)));
    for (let i = 0; i < wanted.length; i++) {
      const stays =
        Buffer.compare(
          Buffer.from(before.box.slice(6 * i, 6 * i + 6).buffer),
          Buffer.from(after.box.slice(6 * i, 6 * i + 6).buffer),
        ) === 0;
      if (wanted[i] === 0 && !stays) t.fail(`vertex ${i} kept its place but not its box`);
    }
    const survivors = Array.from({ length: before.count }, (_, p) => p).filter((p) =>
      [...before.vertex.subarray(4 * p, 4 * p + 4)].every((v) => v < 0 || wanted[v] === 0),
    );
    const { kept } = after.control;
    t.equal(kept, survivors.length);
    t.ok(
      kept > 50 && kept < before.count && kept < after.count,
      `${kept} of ${before.count} kept, ${after.count} in all`,
    );
    const oldKeys = keysFound(before);
    const keys = keysFound(after);
    t.strictSame(
      keys.slice(0, kept),
      survivors.map((p) => oldKeys[p]),
      'kept pairs come first, in their order',
    );
    t.strictSame(
      [...after.normal.subarray(0, 4 * kept)],
      survivors.flatMap((p) => [...normal.subarray(4 * p, 4 * p + 4)]),
    );
    const fresh = keys.slice(kept);
    const find = (cut: number): string[] => keysOf(searchOnCpu(mesh, x, after, settings, cut));
    compare(t, fresh, find(0.05 - CUT_ROUNDING), find(0.05 + CUT_ROUNDING));
    t.equal(new Set(keys).size, keys.length, 'no pair is both kept and found');
    t.strictSame(
      [...after.distance],
      Array.from({ length: after.count }, (_, p) => (p < kept ? survivors[p] + 1 : 0)),
      'every pair says where it was',
    );
    t.ok(
      after.info.every((word) => word <= KIND_MASK),
      'no geometry is current',
    );
  });

  t.test('Under PROTECT what keeps its room is searched against what gets a point as its box.', async (t) => {
    const settings = makeSettings({ delta: 0.05, leap: 0.3, skipKinematicPairs: false });
    const { mesh, x, y, moved, wanted } = keptRoom();
    const scene = await DeviceScene.open(memory, mesh, settings, x, ROOM);
    scene.place(x, y);
    scene.search.request(SEARCH_MODE.ALL);
    t.equal((await scene.run()).count, 1, 'both want to move');
    scene.place(moved, moved, wanted);
    scene.search.request(SEARCH_MODE.PART);
    t.equal((await scene.run()).count, 1, 'neither is to move, and the pair is in P');
    scene.close();
  });

  t.test('A partial search without a valid P finds everything.', async (t) => {
    const { mesh, x, y } = looseScene(random, { elements: 60, side: 4, travel: 0.3 });
    const scene = await DeviceScene.open(memory, mesh, makeSettings({ delta: 0.05, leap: 0.3 }), x, ROOM);
    scene.place(x, y, new Uint8Array(mesh.vertexCount));
    scene.search.request(SEARCH_MODE.PART);
    const part = await scene.run();
    scene.search.request(SEARCH_MODE.ALL);
    const all = await scene.run();
    scene.close();
    t.ok(all.count > 20);
    t.strictSame(keysFound(part), keysFound(all));
  });

  t.test(
    'A search with too little room states the exact demand, writes nothing, and fits after the room has grown.',
    async (t) => {
      const { mesh, x, y } = looseScene(random, { elements: 100, side: 4, travel: 0.3 });
      const settings = makeSettings({ delta: 0.05, leap: 0.3 });
      const roomy = await DeviceScene.open(memory, mesh, settings, x, ROOM);
      roomy.place(x, y);
      roomy.search.request(SEARCH_MODE.ALL);
      const whole = await roomy.run();
      t.ok(whole.count > 100);
      const tight = await DeviceScene.open(memory, mesh, settings, x, 5);
      tight.place(x, y);
      for (const capacity of [5, whole.count - 1]) {
        tight.reserve(capacity);
        tight.search.request(SEARCH_MODE.ALL);
        const { control } = await tight.run();
        t.equal(control.demand, whole.count);
        t.equal(control.overflow, 1);
        t.equal(control.isValid, 0, 'the boxes are new, so the old P is void');
        for (const buffer of tight.pairBuffers) {
          t.ok(
            new Uint8Array(await readBuffer(device, buffer)).every((byte) => byte === 0xab),
            `${buffer.buffer.label} is untouched`,
          );
        }
      }
      tight.reserve(whole.count);
      tight.search.request(SEARCH_MODE.ALL);
      const fitting = await tight.run();
      t.equal(fitting.control.overflow, 0);
      t.strictSame(fitting.vertex, whole.vertex);
      tight.search.request(SEARCH_MODE.ALL, { budget: whole.count - 1 });
      t.equal((await tight.run()).control.overflow, 1, 'a budget is a limit too');
      tight.search.request(SEARCH_MODE.ALL, { budget: whole.count });
      t.equal((await tight.run()).control.overflow, 0);
      tight.close();
      roomy.close();
    },
  );

  t.test('A resumed search writes the same as a search with enough room.', async (t) => {
    const { mesh, x, y } = looseScene(random, { elements: 150, side: 3, travel: 0.3 });
    const settings = makeSettings({ delta: 0.2, leap: 0.3 });
    const roomy = await DeviceScene.open(memory, mesh, settings, x, 1 << 17);
    roomy.place(x, y);
    roomy.search.request(SEARCH_MODE.ALL);
    const whole = await roomy.run();
    // The search finds more than two chunks of seven per query hold: queries without a chunk have to walk again.
    t.ok(
      whole.count > 14 * roomy.search.layout.queries,
      `${whole.count} pairs of ${roomy.search.layout.queries} queries`,
    );
    const finds = new Map<number, number>();
    for (let p = 0; p < whole.count; p++) {
      const first = whole.vertex[4 * p];
      finds.set(first, (finds.get(first) ?? 0) + 1);
    }
    t.ok(Math.max(...finds.values()) > 40, `${whole.count} pairs`);
    const tight = await DeviceScene.open(memory, mesh, settings, x, 5);
    tight.place(x, y);
    tight.search.request(SEARCH_MODE.ALL);
    t.equal((await tight.run()).control.overflow, 1);
    tight.reserve(whole.count);
    tight.search.request(SEARCH_MODE.RESUME);
    const resumed = await tight.run();
    t.match(resumed.control, { overflow: 0, isValid: 1, pairCount: whole.count, kept: 0 });
    t.strictSame(resumed.vertex, whole.vertex);
    t.strictSame(resumed.info, whole.info);
    t.strictSame(resumed.normal, whole.normal);
    t.ok(resumed.distance.every((word) => word === 0));
    tight.close();
    roomy.close();
  });

  t.test('Without a request a search does nothing.', async (t) => {
    const { mesh, x, y } = looseScene(random, { elements: 60, side: 4, travel: 0.3 });
    const scene = await DeviceScene.open(memory, mesh, makeSettings({ delta: 0.05 }), x, ROOM);
    scene.place(x, y);
    scene.search.request(SEARCH_MODE.ALL);
    const before = await scene.run();
    scene.place(y, x);
    scene.search.request(SEARCH_MODE.NONE);
    const after = await scene.run();
    scene.close();
    t.strictSame({ ...after.control, mode: 0 }, { ...before.control, mode: 0 });
    t.strictSame(after.box, before.box);
    t.strictSame(after.vertex, before.vertex);
  });

  t.test('A status block of the steps requests a search and receives its demand.', async (t) => {
    const { mesh, x, y } = looseScene(random, { elements: 60, side: 4, travel: 0.3 });
    const place = memory.place('status', 16, 0x80 | 0x8 | 0x4);
    const status = { place, state: 1, wantsSearch: 2, pairDemand: 3 };
    const scene = await DeviceScene.open(memory, mesh, makeSettings({ delta: 0.05 }), x, 3, status);
    scene.place(x, y);
    const run = async (state: number, wantsSearch: number): Promise<{ found: Found; demand: number }> => {
      write(device.queue, place, 0, Uint32Array.of(9, state, wantsSearch, 0));
      const found = await scene.run();
      return { found, demand: new Uint32Array(await readBuffer(device, place))[3] };
    };
    t.equal((await run(1, SEARCH_MODE.ALL)).demand, 0, 'not running: no search');
    t.equal((await run(0, SEARCH_MODE.NONE)).demand, 0);
    const { demand } = await run(0, SEARCH_MODE.ALL);
    t.ok(demand > 3, `${demand} pairs do not fit`);
    scene.reserve(demand);
    const { found, demand: again } = await run(0, SEARCH_MODE.PART);
    t.equal(again, demand);
    t.equal(found.count, demand);
    t.equal(found.control.searches, 1, 'searches that failed do not count');
    scene.close();
    memory.release(place);
  });

  t.test('The same request gives the same bytes, even from a used search.', async (t) => {
    const { mesh, x, y } = looseScene(random, { elements: 150, side: 5, travel: 0.3 });
    const settings = makeSettings({ delta: 0.05, leap: 0.3 });
    const results: Found[] = [];
    for (const uses of [1, 3]) {
      const scene = await DeviceScene.open(memory, mesh, settings, x, ROOM);
      for (let n = uses; n > 0; n--) {
        scene.place(n === 1 ? x : y, y);
        scene.search.request(SEARCH_MODE.ALL);
        const found = await scene.run();
        if (n === 1) results.push(found);
      }
      scene.close();
    }
    const [first, second] = results;
    t.ok(first.count > 100);
    for (const name of ['box', 'mask', 'vertex', 'info', 'normal', 'distance'] as const) {
      t.equal(Buffer.compare(Buffer.from(first[name].buffer), Buffer.from(second[name].buffer)), 0, name);
    }
  });

  t.test('All memory is freed.', async (t) => {
    t.equal(ledger.total, 0, [...ledger.byLabel].join(' '));
  });
}
