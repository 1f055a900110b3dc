import { isDeepStrictEqual } from 'node:util';
import t from 'tap';
import { SCENES } from '../../../examples/scenes/index.js';
import type { ParametersInput } from '../../../src/contract/parameters.js';
import { buildMesh } from '../../../src/mesh/build.js';
import { measureMesh } from '../../../src/mesh/measure.js';
import { createCpuEngine } from '../../../src/solver/cpu/engine.js';
import { PairSet } from '../../../src/solver/cpu/pair-set.js';
import { ProximitySearch } from '../../../src/solver/cpu/search.js';
import { selectContacts } from '../../../src/solver/cpu/select-contacts.js';
import { dropApart } from '../../../src/solver/cpu/tighten.js';
import type { Resolution } from '../../../src/solver/engine.js';
import { CoordinateFrame, floorOf } from '../../../src/solver/frame.js';
import { VV } from '../../../src/solver/pair-kinds.js';
import { resolveParameters } from '../../../src/solver/parameters.js';
import { allocate } from '../../../src/threads/arrays.js';
import { untilHelped, withCores } from '../../support/helpers.js';
import { seeded } from '../../support/random.js';
import { shareOf } from '../../support/share.js';
import { flatSheet, scaled } from '../../support/sheet.js';

// Whichever thread is free takes the next chunk, so all numbers above one try the same code.
const SOME = [3];
const SOME_AND_MANY = [...SOME, 8];

// Large answers are compared by isDeepStrictEqual: where they differ, tap would print all of their numbers.

/** A sheet that is stretched to twice its length, with strain limits: many elements in every colour. */
async function resolveStrained(): Promise<Resolution['positions']> {
  const { vertexCount, triangles, rest } = flatSheet(60, 60);
  const mesh = buildMesh({ vertexCount, triangles, strainLimits: { rest, min: 0.95, max: 1.05 } });
  const start = Float64Array.from(rest);
  const measures = measureMesh(mesh, start);
  const { parameters } = resolveParameters({ stepLimit: 12, quality: 'BALANCED' }, measures);
  const frame = CoordinateFrame.fit(start, measures.medianEdge, measures.bounds);
  const units = { scale: frame.scale, floor: floorOf(parameters.activationDistance, frame, 'FLOAT64') };
  const engine = createCpuEngine();
  const scene = await engine.open(mesh, parameters, units);
  const target = scaled(rest, [2, 0.5, 1]);
  const { positions } = await scene.resolve({ x: frame.toEngine(start), y: frame.toEngine(Float64Array.from(target)) });
  scene.close();
  await engine.close();
  return positions;
}

t.test('answers with strain limits have the same bytes for any number of cores', async (t) => {
  const alone = await resolveStrained();
  for (const cores of SOME) {
    await withCores(cores, async () => {
      const compare = async () => {
        t.ok(isDeepStrictEqual(await resolveStrained(), alone), `${cores} cores`);
      };
      t.ok(await untilHelped(compare), 'helpers took part');
    });
  }
});

/** A session of two requests, the second of which goes half of the way back, so that it may use the proximity set again. */
async function resolveTwice(name: string, vertices: number, input: ParametersInput): Promise<object[]> {
  const { vertexCount, triangles, segments, particles, start, target, kinematicFrom } = SCENES[name]!(vertices);
  const kinematic = Uint8Array.from({ length: vertexCount }, (_, i) => (i < kinematicFrom ? 0 : 1));
  const mesh = buildMesh({ vertexCount, triangles, segments, particles, kinematic });
  const from = Float64Array.from(start);
  const measures = measureMesh(mesh, from);
  const { parameters } = resolveParameters({ stepLimit: 5, quality: 'FAST', ...input }, measures);
  const frame = CoordinateFrame.fit(from, measures.medianEdge, measures.bounds);
  const units = { scale: frame.scale, floor: floorOf(parameters.activationDistance, frame, 'FLOAT64') };
  const engine = createCpuEngine();
  const scene = await engine.open(mesh, parameters, units);
  const outcomeOf = ({ timings, ...rest }: Resolution) => ({ ...rest, timings: typeof timings });
  const one = await scene.resolve({ x: frame.toEngine(from), y: frame.toEngine(Float64Array.from(target)) });
  const back = one.positions.map((value, k) => value + 0.5 * (frame.toEngine(from)[k]! - value));
  const two = await scene.resolve({ x: one.positions, y: back });
  scene.close();
  await engine.close();
  return [outcomeOf(one), outcomeOf(two)];
}

const CASES: readonly (readonly [string, number, ParametersInput])[] = [
  ['layers', 1800, { quality: 'FAST' }],
  ['layers', 4000, { quality: 'BALANCED', stepLimit: 8 }],
  ['layers', 800, { preset: 'PAPER', quality: 'FAST', stepLimit: 3 }],
  // Lists so long that they are bounded in two passes.
  ['layers', 800, { quality: 'FAST', activationDistance: 0.003, stepLimit: 3 }],
  ['sleeve', 2000, { quality: 'FAST' }],
  ['sand', 2200, { quality: 'FAST' }],
];

t.test('answers have the same bytes for any number of cores', async (t) => {
  const cases = shareOf(CASES, 4);
  const alone: object[][] = [];
  for (const of of cases) alone.push(await resolveTwice(...of));
  for (const cores of SOME_AND_MANY) {
    await withCores(cores, async () => {
      const compare = async () => {
        for (const [n, of] of cases.entries()) {
          const isSame = isDeepStrictEqual(await resolveTwice(...of), alone[n]);
          t.ok(isSame, `${of[0]}, ${JSON.stringify(of[2])}, ${cores} cores`);
        }
      };
      t.ok(await untilHelped(compare), 'helpers took part');
    });
  }
});

/** A search of a mesh whose trees are worth sharing, one after some boxes have moved, and what is left in smaller boxes. */
function searchLarge(): number[][] {
  const { vertexCount, triangles, segments, particles, start } = SCENES.layers!(12_000);
  const mesh = buildMesh({ vertexCount, triangles, segments, particles, kinematic: new Uint8Array(vertexCount) });
  const x = allocate(Float32Array, start.length);
  x.set(start);
  const { medianEdge } = measureMesh(mesh, Float64Array.from(start));
  const box = allocate(Float32Array, 2 * x.length);
  const grow = (v: number, by: number): void => {
    for (let c = 0; c < 3; c++) {
      box[6 * v + c] = x[3 * v + c]! - by;
      box[6 * v + 3 + c] = x[3 * v + c]! + by;
    }
  };
  const delta = medianEdge / 10;
  const rules = { mask: allocate(Uint8Array, vertexCount).fill(0), isIgnored: undefined };
  const boxes = { box, growth: delta / 2 };
  const search = new ProximitySearch(mesh);
  const pairs = new PairSet();
  pairs.acquire();
  const found: number[][] = [];
  const note = (): void => void found.push([...pairs.vertex.subarray(0, 4 * pairs.count)]);
  for (const every of [1, 7]) {
    for (let v = 0; v < vertexCount; v += every) grow(v, every === 1 ? medianEdge / 4 : medianEdge / 3);
    pairs.clear();
    search.search(boxes, x, delta, rules, 1e7, pairs);
    note();
  }
  for (let v = 0; v < vertexCount; v++) grow(v, medianEdge / 5);
  dropApart(pairs, box, x, delta);
  note();
  return found;
}

t.test('trees of many elements are built and renewed, and pairs dropped, alike on any number of cores', async (t) => {
  const alone = searchLarge();
  t.comment(alone.map(({ length }) => length / 4).join());
  t.ok(alone.every(({ length }) => length > 0) && alone[2]!.length < alone[1]!.length, 'pairs are found, and dropped');
  for (const cores of SOME) {
    await withCores(cores, async () => {
      const compare = () => void t.ok(isDeepStrictEqual(searchLarge(), alone), `${cores} cores`);
      t.ok(await untilHelped(compare), 'helpers took part');
    });
  }
});

/** Contacts chosen among pairs of points that are listed many times, at few distinct distances, and crowd around some of them. */
function selectAmongMany(seed: number): number[] {
  const random = seeded(seed);
  const points = 4000;
  const pairs = new PairSet();
  for (let p = 0; p < 120_000; p++) {
    const a = random.int(points);
    const b = random() < 0.3 ? random.int(20) : random.int(points);
    if (a === b) continue;
    pairs.push(VV, Math.min(a, b), Math.max(a, b), -1, -1, 0, 0, 1);
    pairs.weight.set([1, 1, 0, 0], 4 * (pairs.count - 1));
    pairs.distance[pairs.count - 1] = 0.01 * random.int(50);
  }
  const list = allocate(Uint32Array, pairs.count);
  for (let p = 0; p < list.length; p++) list[p] = p;
  const inverseMass = allocate(Float32Array, points).fill(1);
  return [...selectContacts(pairs, list, list.length, inverseMass)];
}

t.test('the same contacts are chosen on any number of cores', async (t) => {
  const { seed } = seeded();
  t.comment(`seed ${seed}`);
  const alone = selectAmongMany(seed);
  t.ok(alone.length > 20_000 && alone.length < 60_000, `${alone.length} contacts`);
  for (const cores of SOME_AND_MANY) {
    await withCores(cores, async () => {
      const compare = () => void t.ok(isDeepStrictEqual(selectAmongMany(seed), alone), `${cores} cores`);
      t.ok(await untilHelped(compare, 3), 'helpers took part');
    });
  }
});
