import t from 'tap';
import { KernelSet } from '../../../gpu/device/kernel.js';
import { PHASE, STATE } from '../../../gpu/kernels/constants.js';
import { buildMesh } from '../../../src/mesh/build.js';
import type { CollisionMesh } from '../../../src/mesh/types.js';
import { SWEPT_STRAIN } from '../../../src/solver/constants.js';
import { AcceleratedSweeps } from '../../../src/solver/cpu/accelerated-sweeps.js';
import { PairSet } from '../../../src/solver/cpu/pair-set.js';
import { StrainLimits } from '../../../src/solver/cpu/strain-limits.js';
import { Scratch, Workspace } from '../../../src/solver/cpu/workspace.js';
import { planPullBack } from '../../../src/solver/scattered-targets.js';
import type { PullBackSettings, Settings } from '../../../src/solver/settings.js';
import { strainElementsOf } from '../../../src/solver/strain/elements.js';
import { openTestDevice } from '../../support/gpu.js';
import { NO_ROUNDS, StageBench, type StageInput } from '../../support/gpu-step.js';
import { type Random, seeded } from '../../support/random.js';
import { makeSettings } from '../../support/settings.js';
import { flatSheet, scaled, tetrahedralBlock } from '../../support/sheet.js';

// A software driver compiles every kernel on first use, which takes up to half a minute on a busy machine.
t.setTimeout(600_000);

/** Edges: what one sweep in float32 may differ from one in double, where coordinates are up to 60 edges. */
const ONE_SWEEP = 1e-3;

const { gpu, options } = await openTestDevice();
t.teardown(() => gpu?.close());

const CLOCK = 7;
const PLAN: PullBackSettings = {
  sweeps: 8,
  tau: 0.4,
  minGain: 0.03,
  offset: 0.25,
  reservedSteps: 0,
  shorteningSteps: 0,
  finer: undefined,
};
const SETTINGS = makeSettings({ sigma: 0, pullBack: PLAN });

/** Meshes with strain limits whose vertices have masses of their own, a tenth of them kinematic, and places that are far out of the limits. */
const MESHES: Readonly<
  Record<string, (random: Random) => { mesh: CollisionMesh; rest: Float32Array; y: Float32Array }>
> = {
  'a sheet, whose colours one workgroup sweeps': (random) => {
    const { vertexCount, triangles, rest } = flatSheet(16, 12);
    return limited(random, { vertexCount, triangles, strainLimits: { rest, min: 0.9, max: 1.1 } }, rest, 0.3);
  },
  'a sheet with wide colours': (random) => {
    const { vertexCount, triangles, rest } = flatSheet(110, 110);
    return limited(random, { vertexCount, triangles, strainLimits: { rest, min: 0.9, max: 1.1 } }, rest, 0.3);
  },
  'a solid with some inverted tetrahedra': (random) => {
    const { vertexCount, tetrahedra, rest } = tetrahedralBlock(6);
    return limited(random, { vertexCount, tetrahedra, strainLimits: { rest, min: 0.8, max: 1.2 } }, rest, 0.5);
  },
  'a sheet that may shrink without limit': (random) => {
    const { vertexCount, triangles, rest } = flatSheet(16, 12);
    return limited(random, { vertexCount, triangles, strainLimits: { rest, max: 1.05 } }, rest, 0.3);
  },
};

function limited(random: Random, input: Parameters<typeof buildMesh>[0], rest: Float32Array, noise: number) {
  const mesh = buildMesh(input);
  const inverseMasses = mesh.inverseMasses.map((w) => (random() < 0.1 ? 0 : w * random.between(0.5, 2)));
  const y = scaled(rest, [1.2, 0.8, 1]).map((value) => value + noise * random.between(-1, 1));
  return { mesh: { ...mesh, inverseMasses }, rest, y };
}

/** The largest difference of two arrays. */
function worstOf(a: Float32Array, b: Float32Array): number {
  return a.reduce((worst, value, k) => Math.max(worst, Math.abs(value - b[k]!)), 0);
}

/** What a bench needs of a scene without pairs. */
function lone(mesh: CollisionMesh, settings: Settings, x: Float32Array, y: Float32Array): StageInput {
  const box = new Float32Array(6 * mesh.vertexCount);
  for (let q = 0; q < box.length; q++) box[q] = q % 6 < 3 ? -1e6 : 1e6;
  return { mesh, settings, x, y, box, pairs: new PairSet(new Workspace().geometry), clock: CLOCK };
}

if (!gpu) t.test('kernels of strain limits', options, async () => undefined);
else {
  const kernels = gpu.kernels.with(await KernelSet.load(gpu.memory.device, 'strain'));
  const openBench = (mesh: CollisionMesh, x: Float32Array, y: Float32Array, target: Float32Array) => {
    const input = lone(mesh, SETTINGS, x, y);
    const bench = new StageBench(gpu.memory, kernels, input);
    bench.write('target', target);
    bench.beginPullBack(input, PHASE.PULL);
    return bench;
  };
  const longestOf = (mesh: CollisionMesh, y: Float32Array): number => planPullBack(mesh, SETTINGS, y, y)!.longest;

  for (const [name, make] of Object.entries(MESHES)) {
    t.test(`${name}: sweeps match the reference in the first steps, and after a poor one`, async (t) => {
      const random = seeded();
      t.comment(`seed ${random.seed}`);
      const { mesh, rest, y } = make(random);
      // On its target the pull-back would end before it begins.
      const x = rest.map((value) => value + 0.01);
      const bench = openBench(mesh, x, y, rest);
      const elements = strainElementsOf(mesh, SETTINGS.scale)!;
      const reference = new StrainLimits(elements, mesh.inverseMasses, longestOf(mesh, y), new Scratch());
      const sweeps = new AcceleratedSweeps(mesh.inverseMasses, new Scratch());
      // The second step begins with a share of what the first one has kept, from another y, and goes past the second
      // complete sweep. The third one follows a poor step: rotations are those of the best state.
      bench.write('best', rest);
      for (const [step, count] of [1, 10, 1].entries()) {
        const isThorough = step === 2;
        const from = step === 0 ? y : y.map((value, k) => rest[k]! + 0.7 * (value - rest[k]!));
        const expected = Float32Array.from(from);
        reference.begin(x, expected, isThorough ? rest : undefined);
        sweeps.run(x, expected, { strains: reference }, undefined, { sweeps: count, delta: SETTINGS.delta, slack: 0 });
        bench.writeY(from);
        await bench.writeControl({
          sweepsDone: 0,
          momentumSteps: 0,
          state: STATE.RUNNING,
          isThorough: Number(isThorough),
        });
        // The step before may want another round of sweeps.
        bench.run((pass) => bench.recorder.arm(pass));
        bench.run((pass) =>
          bench.pullBack.sweeps(pass, { sweeps: count, wide: NO_ROUNDS, hasDenseEdges: true, isSmall: false }),
        );
        const swept = await bench.floats('y');
        const wantsMore = reference.wantsMoreSweeps(x, expected, 1, SWEPT_STRAIN);
        t.equal((await bench.control()).state, wantsMore ? STATE.WANTS_SWEEPS : STATE.RUNNING, 'the same end state');
        const moved = expected.filter((value, k) => Math.abs(value - from[k]!) > 1e-2).length;
        t.ok(moved > 20, `step ${step}: ${moved} coordinates were moved`);
        const worst = worstOf(swept.subarray(0, y.length), expected);
        // Float32 against double: a dozen turns round coordinates of up to 60, and momentum amplifies that.
        t.ok(worst < (count === 1 ? ONE_SWEEP : 2e-2), `step ${step}: worst difference ${worst}`);
        const fresh = new StrainLimits(elements, mesh.inverseMasses, 1, new Scratch());
        t.ok(fresh.excess(swept) < 0.9 * fresh.excess(from), 'strains are nearer to their limits');
      }
      bench.close();
    });
  }

  t.test('where steps are resumed, an element that is flat keeps the rotation that it had', async (t) => {
    const random = seeded();
    t.comment(`seed ${random.seed}`);
    const { mesh, rest, y } = MESHES['a sheet, whose colours one workgroup sweeps'](random);
    const x = rest.map((value) => value + 0.01);
    const bench = openBench(mesh, x, y, rest);
    const elements = strainElementsOf(mesh, SETTINGS.scale)!;
    const reference = new StrainLimits(elements, mesh.inverseMasses, longestOf(mesh, y), new Scratch());
    const sweeps = new AcceleratedSweeps(mesh.inverseMasses, new Scratch());
    const shape = { sweeps: 1, wide: NO_ROUNDS, hasDenseEdges: true, isSmall: false };
    const begun = { sweepsDone: 0, momentumSteps: 0, state: STATE.RUNNING };
    // The best state, and the y with which the first step after it begins, lie on a line.
    const flat = x.map((value, k) => (k % 3 === 0 ? value : 0));
    for (const [at, from] of [
      [x, y],
      [flat, flat],
    ] as const) {
      const expected = Float32Array.from(from);
      reference.begin(at, expected);
      sweeps.run(at, expected, { strains: reference }, undefined, { sweeps: 1, delta: SETTINGS.delta, slack: 0 });
      bench.writeY(from);
      await bench.writeControl(begun);
      bench.run((pass) => bench.recorder.arm(pass));
      bench.run((pass) => bench.pullBack.sweeps(pass, shape));
      const swept = await bench.floats('y');
      const worst = worstOf(swept.subarray(0, y.length), expected);
      t.ok(worst < ONE_SWEEP, `worst difference ${worst}`);
      t.ok(worstOf(expected, from) > 0.1, 'the sweep moves vertices');
      reference.reset();
      bench.write('best', flat);
      await bench.writeControl({ phase: PHASE.RESUME, state: STATE.RUNNING });
      bench.run((pass) => bench.pullBack.open(pass, PHASE.RESUME, mesh.vertexCount));
    }
    bench.close();
  });

  t.test('the merit counts strains beyond their limits like the reference', async (t) => {
    const random = seeded();
    t.comment(`seed ${random.seed}`);
    const { mesh, rest, y } = MESHES['a solid with some inverted tetrahedra'](random);
    const bench = openBench(mesh, y, y, rest);
    const total = await bench.merit();
    bench.close();
    const elements = strainElementsOf(mesh, SETTINGS.scale)!;
    const expected = new StrainLimits(elements, mesh.inverseMasses, 1, new Scratch()).excess(y);
    // No vertex is 2 edges from its target, so that the unit is an edge.
    t.ok(Math.abs(total[1]! - expected) < 1e-4 * expected, `${total[1]}, the reference ${expected}`);
    t.equal(total[3], 0, 'the state is the best one');
  });

  t.test('hold-back gives the α of the reference, never above its bound', async (t) => {
    const random = seeded();
    t.comment(`seed ${random.seed}`);
    const { mesh, rest, y } = MESHES['a sheet, whose colours one workgroup sweeps'](random);
    const x = rest.map((value) => value + 0.01);
    const input = lone(mesh, SETTINGS, x, y);
    // A third of the boxes stop their vertices.
    for (let i = 0; i < mesh.vertexCount; i++) {
      if (random() > 1 / 3) continue;
      for (let c = 0; c < 3; c++) {
        input.box[6 * i + c] = x[3 * i + c]! - 0.05;
        input.box[6 * i + 3 + c] = x[3 * i + c]! + 0.05;
      }
    }
    const bench = new StageBench(gpu.memory, kernels, input);
    bench.write('target', rest);
    bench.beginPullBack(input, PHASE.PULL);
    const alphaOf = async (): Promise<Float32Array> =>
      (await bench.floats('vertexStep')).filter((_, word) => word % 4 === 0).slice(0, mesh.vertexCount);
    bench.run((pass) => bench.recorder.bound(pass));
    const bound = await alphaOf();
    bench.run((pass) => bench.pullBack.holdBack(pass));
    const alpha = await alphaOf();
    const held = await bench.words('heldStrains');
    bench.close();
    const elements = strainElementsOf(mesh, SETTINGS.scale)!;
    const colours = elements.offsets.length - 1;
    t.ok(
      held.subarray(0, colours).every((count) => count === 0),
      'the lists are empty for the next step',
    );
    const expected = Float32Array.from(bound);
    new StrainLimits(elements, mesh.inverseMasses, 1, new Scratch()).holdBack(x, y, expected);
    const lowered = expected.filter((a, i) => a < bound[i]!).length;
    t.ok(lowered > 30, `${lowered} steps were shortened`);
    t.ok(
      alpha.every((a, i) => a >= 0 && a <= bound[i]!),
      'α only falls',
    );
    // Both stop after the same passes in the same order.
    t.ok(worstOf(alpha, expected) < 1e-4, `worst difference ${worstOf(alpha, expected)}`);
  });
}
