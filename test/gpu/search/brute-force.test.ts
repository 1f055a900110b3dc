import t, { type Test } from 'tap';
import { DeviceMemory, MemoryBudget } from '../../../gpu/device/memory.js';
import { SEARCH_MODE } from '../../../gpu/kernels/constants.js';
import { buildMesh } from '../../../src/mesh/build.js';
import type { CollisionMesh } from '../../../src/mesh/types.js';
import { EE, VE, VT, VV } from '../../../src/solver/pair-kinds.js';
import { seeded } from '../../support/random.js';
import { makeSettings } from '../../support/settings.js';
import { openSharedDevice } from '../../support/shared-device.js';
import { DeviceScene, type Found } from './device-scene.js';

/** A cut that drops no pair: P is then exactly the overlaps of the grown hulls. */
const NO_CUT = 1e30;
/** Rounding of the growth of one face, coordinates up to about 2: overlaps by less are left to the device. */
const FACE_ROUNDING = 5e-7;

const { device } = await openSharedDevice(t);

const random = seeded();
t.comment(`seed ${random.seed}`);

/** Triangles and rods of sizes 1:1000 and free points in a cube of side 2. */
function mixedScene(elements: number): { mesh: CollisionMesh; x: Float32Array } {
  const x: number[] = [];
  const triangles: number[] = [];
  const segments: number[] = [];
  const particles: number[] = [];
  for (let e = 0; e < elements; e++) {
    const centre = [0, 1, 2].map(() => random.between(-1, 1));
    const size = 10 ** random.between(-3.6, -0.6);
    const vertex = (): number => x.push(...centre.map((c) => c + size * random.between(-0.5, 0.5))) / 3 - 1;
    const kind = e % 4;
    if (kind < 2) triangles.push(vertex(), vertex(), vertex());
    else if (kind === 2) segments.push(vertex(), vertex());
    else particles.push(vertex());
  }
  const mesh = buildMesh({
    vertexCount: x.length / 3,
    triangles: Uint32Array.from(triangles),
    segments: Uint32Array.from(segments),
    particles: Uint32Array.from(particles),
  });
  return { mesh, x: Float32Array.from(x) };
}

/** float64[6·N] hulls of the elements' vertex boxes, not grown. */
function hullsOf(vertices: Uint32Array, size: number, box: Float32Array): Float64Array {
  const hulls = new Float64Array((6 * vertices.length) / size);
  for (let e = 0; e < vertices.length / size; e++) {
    for (let c = 0; c < 6; c++) {
      const faces = [...vertices.subarray(size * e, size * e + size)].map((v) => box[6 * v + c]);
      hulls[6 * e + c] = c < 3 ? Math.min(...faces) : Math.max(...faces);
    }
  }
  return hulls;
}

/** How often a pair of two elements was written, by their numbers; −1 = the kind does not occur. */
type Counts = Map<number, number>;

/** Compares the pairs of one kind with every pair of elements that share no vertex; calls them by first·N + second. */
function compareAll(
  t: Test,
  label: string,
  found: Counts,
  [a, sizeA]: readonly [Uint32Array, number],
  [b, sizeB]: readonly [Uint32Array, number],
  { box }: Found,
  delta: number,
): void {
  const [hullA, hullB] = [hullsOf(a, sizeA, box), hullsOf(b, sizeB, box)];
  const isSelf = a === b;
  const countB = b.length / sizeB;
  let overlaps = 0;
  let missing = 0;
  let known = 0;
  for (let i = 0; i < a.length / sizeA; i++) {
    const p = 6 * i;
    for (let j = isSelf ? i + 1 : 0; j < countB; j++) {
      const q = 6 * j;
      // Largest distance of the hulls on one axis.
      let apart = Math.max(hullA[p] - hullB[q + 3], hullB[q] - hullA[p + 3]);
      if (apart > delta + FACE_ROUNDING) continue;
      apart = Math.max(apart, hullA[p + 1] - hullB[q + 4], hullB[q + 1] - hullA[p + 4]);
      apart = Math.max(apart, hullA[p + 2] - hullB[q + 5], hullB[q + 2] - hullA[p + 5]);
      if (apart > delta + FACE_ROUNDING) continue;
      const own = a.subarray(sizeA * i, sizeA * i + sizeA);
      if (b.subarray(sizeB * j, sizeB * j + sizeB).some((v) => own.includes(v))) continue;
      const times = found.get(i * countB + j) ?? 0;
      if (times > 1) t.fail(`${label} ${i} ${j} was written ${times} times`);
      known += times;
      if (apart > delta - FACE_ROUNDING) continue;
      overlaps++;
      if (times === 0) missing++;
    }
  }
  let written = 0;
  for (const times of found.values()) written += times;
  t.equal(missing, 0, `${label}: none of ${overlaps} overlaps is missing`);
  t.equal(known, written, `${label}: all of ${written} pairs overlap`);
  t.ok(overlaps > 20);
}

if (device) {
  const memory = new DeviceMemory(device, new MemoryBudget());

  /** Searches with boxes of the given reach around x and keeps every overlap. */
  const searchAll = async (mesh: CollisionMesh, x: Float32Array, delta: number, room: number): Promise<Found> => {
    const scene = await DeviceScene.open(memory, mesh, makeSettings({ delta }), x, room);
    scene.place(x, x);
    scene.set('cut', NO_CUT);
    scene.search.request(SEARCH_MODE.ALL);
    const found = await scene.run();
    scene.close();
    return found;
  };

  t.test('10 000 vertices, sizes 1:1000, all codimensions: the same overlaps as by brute force', async (t) => {
    const { mesh, x } = mixedScene(4450);
    t.ok(mesh.vertexCount > 9900, `${mesh.vertexCount} vertices`);
    const delta = Math.fround(0.02);
    const found = await searchAll(mesh, x, delta, 1_000_000);
    t.equal(found.control.overflow, 0, `${found.control.demand} pairs`);
    t.ok(found.count > 10_000 && found.count === found.control.demand);
    const { triangles, edges, rodStart, particles, contactVertices } = mesh;
    const rods = edges.subarray(2 * rodStart);
    const numberOf = (vertices: Uint32Array, size: number): Map<string, number> =>
      new Map(
        Array.from({ length: vertices.length / size }, (_, e) => [
          vertices.subarray(size * e, size * e + size).join(),
          e,
        ]),
      );
    const numbers = {
      vertex: numberOf(contactVertices, 1),
      triangle: numberOf(triangles, 3),
      edge: numberOf(edges, 2),
      rod: numberOf(rods, 2),
      particle: numberOf(particles, 1),
    };
    const counts: Counts[] = [new Map(), new Map(), new Map(), new Map()];
    let strays = 0;
    const count = (kind: number, i: number | undefined, j: number | undefined, other: number): void => {
      if (i === undefined || j === undefined) {
        strays++;
        return;
      }
      const isSelf = kind === EE || kind === VV;
      const key = isSelf ? Math.min(i, j) * other + Math.max(i, j) : i * other + j;
      counts[kind].set(key, (counts[kind].get(key) ?? 0) + 1);
    };
    for (let p = 0; p < found.count; p++) {
      const kind = found.info[p];
      const [v0, v1, v2, v3] = found.vertex.subarray(4 * p, 4 * p + 4);
      if (kind === VT)
        count(VT, numbers.vertex.get(`${v0}`), numbers.triangle.get(`${v1},${v2},${v3}`), triangles.length / 3);
      else if (kind === EE)
        count(EE, numbers.edge.get(`${v0},${v1}`), numbers.edge.get(`${v2},${v3}`), edges.length / 2);
      else if (kind === VE) count(VE, numbers.particle.get(`${v0}`), numbers.rod.get(`${v1},${v2}`), rods.length / 2);
      else count(VV, numbers.particle.get(`${v0}`), numbers.particle.get(`${v1}`), particles.length);
    }
    t.equal(strays, 0, 'every pair is one of elements of the mesh');
    const [points, bars, tips] = [[particles, 1] as const, [edges, 2] as const, [contactVertices, 1] as const];
    compareAll(t, 'VT', counts[VT], tips, [triangles, 3], found, delta);
    compareAll(t, 'EE', counts[EE], bars, bars, found, delta);
    compareAll(t, 'VE', counts[VE], points, [rods, 2], found, delta);
    compareAll(t, 'VV', counts[VV], points, points, found, delta);
  });

  t.test('a tree of many levels: 70 000 free points, those near each other on a line', async (t) => {
    const count = 70_000;
    const step = 0.001;
    // Shuffled, so that the ids of neighbours on the line are unrelated.
    const place = Uint32Array.from({ length: count }, (_, i) => i);
    for (let i = count - 1; i > 0; i--) {
      const j = random.int(i + 1);
      [place[i], place[j]] = [place[j], place[i]];
    }
    const mesh = buildMesh({ vertexCount: count, particles: Uint32Array.from({ length: count }, (_, i) => i) });
    const x = new Float32Array(3 * count);
    for (let i = 0; i < count; i++) x.fill((place[i] - count / 2) * step, 3 * i, 3 * i + 3);
    // Boxes of ±1.8 δ and growth δ/2 on each side: they overlap up to 4.6 δ, here between 2 and 3 steps.
    const found = await searchAll(mesh, x, 2.5 * (step / 4.6), 4 * count);
    t.equal(found.count, 2 * count - 3, 'next neighbours and those after them');
    let far = 0;
    for (let p = 0; p < found.count; p++) {
      const steps = Math.abs(place[found.vertex[4 * p]] - place[found.vertex[4 * p + 1]]);
      if (steps !== 1 && steps !== 2) far++;
    }
    t.equal(far, 0);
  });
}
