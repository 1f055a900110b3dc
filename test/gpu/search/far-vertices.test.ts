import t from 'tap';
import { DeviceMemory, MemoryBudget } from '../../../gpu/device/memory.js';
import { SEARCH_MODE } from '../../../gpu/kernels/constants.js';
import { buildMesh } from '../../../src/mesh/build.js';
import { EE, VT } from '../../../src/solver/pair-kinds.js';
import { seeded } from '../../support/random.js';
import { makeSettings } from '../../support/settings.js';
import { openSharedDevice } from '../../support/shared-device.js';
import { DeviceScene, type Found } from './device-scene.js';

const { device } = await openSharedDevice(t);

const random = seeded();
t.comment(`seed ${random.seed}`);

const DELTA = 0.1;
const ROOM = 50_000;
const f = Math.fround;

type Point = readonly [number, number, number];

if (device) {
  const memory = new DeviceMemory(device, new MemoryBudget());

  /** Searches around a small dynamic triangle, and kinematic ones at rest. */
  const searchOver = async (resting: readonly Point[], small: readonly Point[]): Promise<Found> => {
    const x = Float32Array.from([...small, ...resting].flat());
    const vertexCount = x.length / 3;
    const mesh = buildMesh({
      vertexCount,
      triangles: Uint32Array.from({ length: vertexCount }, (_, v) => v),
      kinematic: Uint8Array.from({ length: vertexCount }, (_, v) => (v < 3 ? 0 : 1)),
    });
    const scene = await DeviceScene.open(memory, mesh, makeSettings({ delta: DELTA }), x, ROOM);
    const y = x.map((c, k) => (k < 9 && k % 3 === 2 ? c - 1 : c));
    scene.place(x, y);
    scene.search.request(SEARCH_MODE.ALL);
    const found = await scene.run();
    scene.close();
    return found;
  };

  /** Where a search that was dropped would let the triangle through. */
  const small: readonly Point[] = [
    [0, 0, f(0.05)],
    [1, 0, f(0.06)],
    [0, 1, f(0.055)],
  ];

  for (const exponent of [20, 40, 62, 63, 64, 65, 66, 80, 100, 120, 126, 127]) {
    t.test(`Level triangles of 2^${exponent} below a small one: none of its vertices misses one`, async (t) => {
      const triangles = 200;
      const resting: Point[] = [];
      const size = exponent === 127 ? 1.9 * 2 ** 127 : 2 ** exponent;
      for (let n = 0; n < triangles; n++) {
        const turn = random.between(0, 6.3);
        // The origin is inside: each angle between two corners is less than half a turn.
        for (const angle of [0, random.between(1.2, 2.9), random.between(3.4, 4.1)]) {
          const length = size * random.between(0.3, 1);
          resting.push([f(length * Math.cos(turn + angle)), f(length * Math.sin(turn + angle)), 0]);
        }
      }
      const found = await searchOver(resting, small);
      t.equal(found.control.overflow, 0);
      const keys = vertexTriangles(found);
      const missing: string[] = [];
      for (let n = 0; n < triangles; n++) {
        for (let v = 0; v < 3; v++) if (!keys.has(`${v} ${3 + 3 * n}`)) missing.push(`${v} and triangle ${n}`);
      }
      t.equal(missing.length, 0, `${missing.length} of ${3 * triangles} are missing, the first is ${missing[0]}`);
      t.ok(found.normal.every(Number.isFinite), 'every normal is one');
    });
  }

  t.test('Two edges, one of them with a box and a length beyond float32', async (t) => {
    // From one corner of the range to the other, over the small triangle or under it: its direction says nothing in x.
    const resting: readonly Point[] = [
      [-3e38, f(0.25), 0],
      [3e38, f(0.25), 0],
      [3e38, -3e38, 0],
    ];
    const found = await searchOver(resting, small);
    const pairs = pairsWith(found, EE, [3, 4]);
    t.ok(pairs >= 2, `${pairs} edges of the small triangle`);
    t.ok(found.normal.every(Number.isFinite));
  });
}

/** The vertex of each pair with a triangle, and the first vertex of that. */
function vertexTriangles({ count, info, vertex }: Found): ReadonlySet<string> {
  const keys = new Set<string>();
  for (let p = 0; p < count; p++) {
    if (info[p] === VT) keys.add(`${vertex[4 * p]} ${Math.min(...vertex.subarray(4 * p + 1, 4 * p + 4))}`);
  }
  return keys;
}

/** How many pairs of a kind have both of these vertices on a side. */
function pairsWith(found: Found, kind: number, edge: readonly [number, number]): number {
  let count = 0;
  for (let p = 0; p < found.count; p++) {
    if (found.info[p] !== kind) continue;
    const ids = [...found.vertex.subarray(4 * p, 4 * p + 4)];
    const sides = [ids.slice(0, 2), ids.slice(2)];
    if (sides.some((side) => edge.every((v) => side.includes(v)))) count++;
  }
  return count;
}
