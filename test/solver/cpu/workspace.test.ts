import t from 'tap';
import { SCENES } from '../../../examples/scenes/index.js';
import { buildMesh } from '../../../src/mesh/build.js';
import { measureMesh } from '../../../src/mesh/measure.js';
import { createCpuEngine } from '../../../src/solver/cpu/engine.js';
import { KEPT_BYTES, Scratch, Workspace } from '../../../src/solver/cpu/workspace.js';
import type { Engine, Resolution, Scene, StepInput } from '../../../src/solver/engine.js';
import { CoordinateFrame, floorOf } from '../../../src/solver/frame.js';
import { resolveParameters } from '../../../src/solver/parameters.js';
import { seeded } from '../../support/random.js';

const random = seeded();
t.comment(`seed ${random.seed}`);

interface Opened {
  readonly scene: Scene;
  readonly vertices: number;
  readonly x: Float32Array;
  readonly y: Float32Array;
}

async function open(engine: Engine, name: string, vertices: number, share = 1): Promise<Opened> {
  const { vertexCount, triangles, start, target } = SCENES[name]!(vertices);
  const mesh = buildMesh({ vertexCount, triangles });
  const from = Float64Array.from(start);
  const to = from.map((value, k) => value + share * (target[k]! - value));
  const measures = measureMesh(mesh, from);
  const { parameters } = resolveParameters({ stepLimit: 40, quality: 'FAST' }, measures);
  const frame = CoordinateFrame.fit(from, measures.medianEdge, measures.bounds);
  const units = { scale: frame.scale, floor: floorOf(parameters.activationDistance, frame, 'FLOAT64') };
  const scene = await engine.open(mesh, parameters, units);
  return { scene, vertices: vertexCount, x: frame.toEngine(from), y: frame.toEngine(to) };
}

const outcomeOf = ({ timings, ...rest }: Resolution) => ({ ...rest, timings: typeof timings });

t.test('scenes of one engine that alternate answer with the same bits as each with an engine of its own', async (t) => {
  const engine = createCpuEngine();
  const wanted = [
    ['layers', 200],
    ['layers', 450],
    ['sleeve', 600],
    ['layers', 200],
  ] as const;
  const together: Opened[] = [];
  const alone: Opened[] = [];
  for (const [name, vertices] of wanted) {
    together.push(await open(engine, name, vertices));
    alone.push(await open(createCpuEngine(), name, vertices));
  }
  const states = wanted.map((_, k) => together[k]!.x);
  for (let round = 0; round < 5; round++) {
    for (const [k, { scene, x, y }] of together.entries()) {
      // On towards the target; then only a few vertices, so that the pairs are gathered; then back.
      const few = states[k]!.map((value, at) => (at < 9 ? y[at]! : value));
      const target = round < 2 ? y : round < 4 ? few : x;
      const one = await scene.resolve({ x: states[k]!, y: target });
      const other = await alone[k]!.scene.resolve({ x: states[k]!, y: target });
      t.same(outcomeOf(one), outcomeOf(other), `round ${round}, scene ${k}`);
      states[k] = one.positions;
    }
  }
});

t.test('scenes that alternate at random answer as with an engine of their own, even after failures', async (t) => {
  const engine = createCpuEngine();
  const wanted = ['layers', 'layers', 'sleeve'].map((name) => [name, 60 + random.int(400)] as const);
  const together: Opened[] = [];
  const alone: Opened[] = [];
  for (const [name, vertices] of wanted) {
    together.push(await open(engine, name, vertices));
    alone.push(await open(createCpuEngine(), name, vertices));
  }
  const states = together.map(({ x }) => x);
  const outcomes = { reused: 0, cut: 0, failed: 0 };
  for (let round = 0; round < 60; round++) {
    const k = random.int(together.length);
    const { x, y } = together[k]!;
    const share = random();
    const movesAll = random() < 0.7;
    const target = states[k]!.map((at, n) => (movesAll || n < 9 ? at + share * ((round % 2 ? x : y)[n]! - at) : at));
    // Given up at the same look in both: one of a search, of a step, or of a listener that throws.
    const looks = random() < 0.3 ? random.int(40) : Number.POSITIVE_INFINITY;
    const failsAt = random() < 0.15 ? random.int(4) : Number.POSITIVE_INFINITY;
    const stepOf = (): StepInput => {
      let [left, told] = [looks, 0];
      return {
        x: states[k]!,
        y: target,
        timeLeft: () => (left-- > 0 ? Number.POSITIVE_INFINITY : 0),
        onState: () => {
          if (told++ === failsAt) throw new Error('planted');
        },
      };
    };
    const resolve = async ({ scene }: Opened) => {
      const resolution = await scene.resolve(stepOf()).catch((thrown: Error) => thrown);
      return resolution instanceof Error ? resolution.message : resolution;
    };
    const one = await resolve(together[k]!);
    const other = await resolve(alone[k]!);
    if (typeof one === 'string' || typeof other === 'string') {
      t.equal(one, other, `round ${round}, scene ${k}`);
      outcomes.failed++;
      continue;
    }
    t.same(outcomeOf(one), outcomeOf(other), `round ${round}, scene ${k}`);
    if (one.proximitySetReused) outcomes.reused++;
    if (one.status === 'DEADLINE') outcomes.cut++;
    states[k] = one.positions;
  }
  t.comment(JSON.stringify(outcomes));
});

t.test(
  'a resting scene holds 29 bytes per pair, at most a quarter of them spare, and 64 per vertex, besides its mesh',
  async (t) => {
    // Two layers that meet: what a session of the load test holds, at an eighth of its size, and the densest there is.
    const { scene, vertices, x, y } = await open(createCpuEngine(), 'layers', 1250, 0.5);
    t.ok(scene.bytes <= 64 * vertices, `${scene.bytes / vertices} bytes a vertex before the first step`);
    const { pairs, positions } = await scene.resolve({ x, y });
    const count = pairs.vertexTriangle + pairs.edgeEdge;
    t.ok(count > 10 * vertices, `${count} pairs`);
    const most = (pairs: number): number => 64 * vertices + 29 * (1.25 * pairs + 1);
    t.ok(scene.bytes <= most(count), `${scene.bytes} bytes of ${vertices} vertices and ${count} pairs`);
    await scene.resolve({ x: positions, y: x });
    const { pairs: last } = await scene.resolve({ x, y: x });
    const rest = last.vertexTriangle + last.edgeEdge;
    t.ok(scene.bytes <= most(rest), `${scene.bytes} bytes with ${rest} pairs`);
  },
);

t.test('shared memory of resolves is freed with the last scene, and with the one that needed it', async (t) => {
  const engine = createCpuEngine();
  t.equal(engine.sharedBytes, 0);
  const small = await open(engine, 'layers', 200);
  const large = await open(engine, 'layers', 1000);
  await small.scene.resolve(small);
  const ofSmall = engine.sharedBytes!;
  await large.scene.resolve(large);
  t.ok(engine.sharedBytes! > ofSmall);
  large.scene.close();
  t.equal(engine.sharedBytes, 0);
  const before = await small.scene.resolve(small);
  t.ok(before.proximitySetReused === false || before.steps > 0);
  t.ok(engine.sharedBytes! > 0 && engine.sharedBytes! <= ofSmall * 1.5);
  const passing = await open(engine, 'layers', 50);
  await passing.scene.resolve(passing);
  passing.scene.close();
  t.ok(engine.sharedBytes! > 0, 'a smaller one that leaves takes nothing away');
  small.scene.close();
  t.equal(engine.sharedBytes, 0);
  small.scene.close();
});

t.test('a proximity set survives when its scene releases shared memory', async (t) => {
  const engine = createCpuEngine();
  const one = await open(engine, 'layers', 200, 0.3);
  const other = await open(engine, 'layers', 300);
  const { positions } = await one.scene.resolve(one);
  await other.scene.resolve(other);
  other.scene.close();
  t.equal(engine.sharedBytes, 0, 'the memory it was found in is gone');
  t.equal((await one.scene.resolve({ x: positions, y: one.x })).proximitySetReused, true);
});

t.test('a step that fails leaves the shared memory clean, and its own set invalid', async (t) => {
  const engine = createCpuEngine();
  const [one, other] = [await open(engine, 'layers', 200), await open(engine, 'layers', 200)];
  const expected = outcomeOf(await (await open(createCpuEngine(), 'layers', 200)).scene.resolve(one));
  await other.scene.resolve(other);
  const failing = {
    ...one,
    onState: () => {
      throw new Error('planted');
    },
  };
  await t.rejects(one.scene.resolve(failing), { message: 'planted' });
  t.equal(engine.sharedBytes, 0);
  const again = await one.scene.resolve(one);
  t.equal(again.proximitySetReused, false);
  const fresh = await (await open(engine, 'layers', 200)).scene.resolve(one);
  t.same(outcomeOf(fresh), expected);
});

t.test('two requests cannot run in one engine at the same time', async (t) => {
  const engine = createCpuEngine();
  const [one, other] = [await open(engine, 'layers', 50), await open(engine, 'layers', 50)];
  let inner: Promise<unknown> | undefined;
  const outer = one.scene.resolve({
    ...one,
    onProgress: () => {
      inner ??= other.scene.resolve(other);
    },
  });
  await outer;
  await t.rejects(inner!, { message: /while another resolve of the same engine was running/ });
});

t.test('memory beyond the kept amount is freed after the request, even after a failed one', async (t) => {
  const workspace = new Workspace();
  const much = () => workspace.scratch.uint8('much', KEPT_BYTES + 1);
  t.equal(workspace.run(much).length, KEPT_BYTES + 1);
  t.equal(workspace.bytes, 0);
  t.ok(workspace.run(() => workspace.scratch.uint8('little', 100)));
  t.equal(workspace.bytes, 100);
  t.throws(
    () =>
      workspace.run(() => {
        throw new Error('planted');
      }),
    { message: 'planted' },
  );
  t.equal(workspace.bytes, 0);
  t.ok(
    workspace.run(() => true),
    'and it may be used again',
  );
});

t.test('the memory of a buffer is reused, in the requested length', async (t) => {
  const scratch = new Scratch();
  const first = scratch.float32('a', 100).fill(7);
  t.equal(scratch.bytes, 400);
  const again = scratch.float32('a', 60);
  t.equal(again.length, 60);
  t.equal(again.buffer, first.buffer, 'the same memory');
  t.equal(scratch.int32('b', 3).buffer === first.buffer, false, 'another name is another buffer');
  t.equal(scratch.uint8('c', 5).length, 5);
  t.equal(scratch.uint32('d', 2).byteLength, 8);
});

t.test('a slowly growing demand allocates rarely', async (t) => {
  const scratch = new Scratch();
  const buffers = new Set<ArrayBufferLike>();
  for (let length = 1000; length < 2000; length++) buffers.add(scratch.float32('a', length).buffer);
  t.ok(buffers.size < 6, `${buffers.size} times`);
  t.ok(scratch.bytes < 1.25 * 4 * 2000);
});

t.test('free releases all memory', async (t) => {
  const scratch = new Scratch();
  scratch.float32('a', 100);
  scratch.free();
  t.equal(scratch.bytes, 0);
  t.equal(scratch.float32('a', 10).length, 10);
});
