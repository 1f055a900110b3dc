import t from 'tap';
import { STATE } from '../../../gpu/kernels/constants.js';
import { VERTEX_PROGRESS, VERTEX_STEP } from '../../../gpu/kernels/structs.js';
import { isSame } from '../../../gpu/step/request.js';
import { aimAtPrescribed, allOrNothing, settleArrived } from '../../../src/solver/cpu/arrive.js';
import { Forward } from '../../../src/solver/cpu/forward.js';
import { markMoving } from '../../../src/solver/cpu/motion.js';
import { Proximity } from '../../../src/solver/cpu/proximity.js';
import { openTestDevice } from '../../support/gpu.js';
import { StageBench } from '../../support/gpu-step.js';
import { looseScene } from '../../support/loose-scene.js';
import { seeded } from '../../support/random.js';
import { makeSettings } from '../../support/settings.js';

// A software driver compiles every kernel on first use, which takes up to half a minute on a busy machine.
t.setTimeout(600_000);

const { gpu, options } = await openTestDevice();
t.teardown(() => gpu?.close());

const CLOCK = 7;

if (!gpu) t.test('the last step of kinematic vertices', options, async () => undefined);
else {
  t.test('The last step moves the kinematic vertices of the reference, all the way or not at all.', async (t) => {
    const random = seeded();
    t.comment(`seed ${random.seed}`);
    const settings = makeSettings({ delta: 0.2 });
    const { epsilon, gamma, delta, floor } = settings;
    const {
      mesh,
      x,
      y: target,
    } = looseScene(random, {
      ...{ elements: 320, side: 6.8, travel: 0.4, kinematic: 0.6, still: 0.2 },
    });
    const { vertexCount } = mesh;
    const proximity = new Proximity(mesh, settings);
    proximity.renew(x, target);
    const { pairs, boxes } = proximity;
    // Before the last step: some residuals are used up, and every vertex has a limiter that is to be told afterwards.
    const r = Float32Array.from({ length: vertexCount }, () => [0, 0.5 * epsilon, 0.75][random.int(3)]);
    const limiter = Uint32Array.from({ length: vertexCount }, () => random.int(pairs.count));
    const progress = new Float32Array(VERTEX_PROGRESS.words * vertexCount);
    const steps = new Uint32Array(VERTEX_STEP.words * vertexCount);
    for (let v = 0; v < vertexCount; v++) {
      progress[VERTEX_PROGRESS.words * v + VERTEX_PROGRESS.word('residual')] = r[v];
      steps[VERTEX_STEP.words * v + VERTEX_STEP.word('limiter')] = limiter[v];
    }

    const bench = new StageBench(gpu.memory, gpu.kernels, {
      mesh,
      settings,
      pairs,
      box: boxes.box,
      x,
      y: target,
      clock: CLOCK,
    });
    bench.write('progress', progress);
    bench.writeWords('vertexStep', steps);
    await bench.writeControl({ state: STATE.STALLED, steps: 3, short: 1 });
    bench.run((pass) => bench.recorder.arrive(pass));
    const found = await bench.floats('x');
    const aims = await bench.floats('y');
    const after = await bench.floats('progress');
    const told = await bench.words('vertexStep');
    const control = await bench.control();
    bench.close();

    const y = x.slice();
    const aimed = aimAtPrescribed(x, y, target, mesh.kinematic, r, epsilon);
    t.ok(aimed > 50, `${aimed} are aimed at their targets`);
    t.ok(isSame(aims.subarray(0, y.length), y), 'y has the bits of the reference');
    const moving = new Uint8Array(vertexCount);
    markMoving(x, y, moving);
    const forward = new Forward(vertexCount);
    const active = Uint32Array.from({ length: pairs.count }, (_, p) => p);
    const common = {
      pairs,
      active,
      activeCount: active.length,
      moving,
      step: 1,
      rule: settings.forward,
      gamma,
      delta,
      floor,
    };
    const moved = x.slice();
    forward.advance({ ...common, x: moved, y, box: boxes.box, radius: 0, limitFurther: allOrNothing });
    const residuals = { r: r.slice(), largest: 0 };
    settleArrived(residuals, moving, forward.alpha);

    let there = 0;
    let held = 0;
    let differing = 0;
    for (let v = 0; v < vertexCount; v++) {
      const isAt = (place: Float32Array) => [0, 1, 2].every((c) => Object.is(found[3 * v + c], place[3 * v + c]));
      if (!isAt(x) && !isAt(y)) t.fail(`vertex ${v} is neither where it was nor on its target`);
      const residual = after[VERTEX_PROGRESS.words * v + VERTEX_PROGRESS.word('residual')];
      const isThere = moving[v] === 1 && isAt(y);
      if (residual !== (isThere ? 0 : r[v])) t.fail(`vertex ${v}: r ${residual}, before ${r[v]}`);
      if (told[VERTEX_STEP.words * v + VERTEX_STEP.word('limiter')] !== limiter[v]) t.fail(`vertex ${v}: its limiter`);
      if (isThere) there++;
      else if (moving[v] === 1) held++;
      if (isThere !== (moving[v] === 1 && forward.alpha[v] === 1) || residual !== residuals.r[v]) differing++;
    }
    t.ok(there > 10 && held > 10, `${there} are on their targets, ${held} stay`);
    // Other closest points of parallel elements give other normals.
    t.ok(differing <= 0.05 * aimed, `${differing} of ${aimed} differ from the reference`);
    t.equal(control.state, STATE.STALLED, 'the state of the run is unchanged');
    t.equal(control.steps, 4);
    t.equal(control.clock, CLOCK + 1);
    t.equal(control.short, 0);
    t.equal(control.residual, 0.75);
    t.equal(control.unfinished, r.filter((value) => value >= epsilon).length);
  });

  t.test('A last step that moves no vertex is not counted.', async (t) => {
    const random = seeded();
    t.comment(`seed ${random.seed}`);
    const settings = makeSettings({ delta: 0.2 });
    const { mesh, x, y } = looseScene(random, { elements: 40, side: 6, travel: 0.4, kinematic: 0.6, still: 0.2 });
    const { pairs } = new Proximity(mesh, settings);
    // Boxes that are points hold every vertex.
    const box = Float32Array.from({ length: 2 * x.length }, (_, n) => x[3 * Math.floor(n / 6) + (n % 3)]);
    const bench = new StageBench(gpu.memory, gpu.kernels, { mesh, settings, pairs, box, x, y, clock: CLOCK });
    await bench.writeControl({ state: STATE.CONVERGED, steps: 3, short: 1 });
    bench.run((pass) => bench.recorder.arrive(pass));
    t.ok(isSame((await bench.floats('x')).subarray(0, x.length), x), 'x keeps its bits');
    const { steps, state, short } = await bench.control();
    t.same({ steps, state, short }, { steps: 3, state: STATE.CONVERGED, short: 0 });
    bench.close();
  });
}
