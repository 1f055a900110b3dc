import t, { type Test } from 'tap';
import { SubmissionPlan } from '../../../gpu/step/submission-plan.js';
import type { MeshInput } from '../../../src/contract/mesh.js';
import type { ParametersInput } from '../../../src/contract/parameters.js';
import { PULL_BACK_PIECES } from '../../../src/solver/constants.js';
import type { Engine, Resolution } from '../../../src/solver/engine.js';
import { stackSwap } from '../../solver/cases.js';
import { openTestEngine } from '../../support/gpu.js';
import { resolveJudged } from '../../support/judged-resolve.js';
import { expectTruthAtLimits, expectTruthAtTarget, expectUnservedUnfinished } from '../../support/limited-runs.js';
import { examplePair, randomPullBack } from '../../support/nearness.js';
import { openCase } from '../../support/open-case.js';
import {
  expectEveryLimitEnds,
  expectFineNoFarther,
  expectMoversUnfinished,
  expectNearerWithMoreSteps,
  expectPulledBackAtLimit,
  expectRandomRunsSafe,
  expectStalledInLastStep,
} from '../../support/random-runs.js';
import { roundsOf, shareOf } from '../../support/share.js';

// A software driver compiles every kernel on first use, which takes up to half a minute on a busy machine.
t.setTimeout(600_000);

const { engine, options } = await openTestEngine();
t.teardown(() => engine?.close());

const isSame = (a: Float32Array, b: Float32Array): boolean =>
  Buffer.from(a.buffer, a.byteOffset, a.byteLength).equals(Buffer.from(b.buffer, b.byteOffset, b.byteLength));

/** An engine that waits for each step before it submits the next one. */
async function openStepwise(t: Test): Promise<Engine> {
  const { engine } = await openTestEngine(undefined, { runsAhead: false });
  t.teardown(() => engine?.close());
  return engine as Engine;
}

/** The figures of two requests in a row, the second of which searches between its sweeps and its forward step. */
async function answersOf(engine: Engine, mesh: MeshInput, start: Float64Array, target: Float64Array) {
  const { scene, x, y } = await openCase(engine, mesh, start, target, { quality: 'BALANCED' });
  const first = await scene.resolve({ x, y });
  const second = await scene.resolve({ x: first.positions, y });
  scene.close();
  return [first, second].map(({ steps, searches, pairs, positions }) => ({ steps, searches, pairs, positions }));
}

if (!engine) t.test('the pull-back of the GPU engine: its runs', options, async () => undefined);
else {
  t.test('random scenes with wild targets stay free of intersections at every step', (t) =>
    expectRandomRunsSafe(t, engine, roundsOf(12, 6), (random) => ({ ...randomPullBack(random), stepLimit: 20 })),
  );

  t.test('what moved in the step that its limit ends counts as unfinished', (t) => expectMoversUnfinished(t, engine));

  t.test('stopping after any state leaves a safe one and status DEADLINE', async (t) => {
    const { mesh, start, target } = stackSwap(8).build();
    const whole = await openCase(engine, mesh, start, target, { quality: 'BALANCED' });
    const { steps } = await whole.resolve();
    whole.scene.close();
    let stopped = 0;
    for (const stop of [0, 1, 2, 3]) {
      const judged = await resolveJudged(engine, mesh, start, target, { quality: 'BALANCED' }, stop);
      t.equal(judged.intersections + judged.collisions, 0);
      // States are told once one of them is the best: the last ones may be told with the end of the run.
      if (judged.resolution.steps === steps) continue;
      stopped++;
      t.equal(judged.resolution.status, 'DEADLINE');
      t.ok(judged.resolution.unfinishedVertices > 0, 'what was not settled is told');
    }
    t.ok(stopped >= 2, `${stopped} runs were stopped`);
  });

  t.test('the step limit ends it with the best state so far', (t) => expectNearerWithMoreSteps(t, engine));

  t.test('runs of tiny scenes with any limit end, and tell the truth', (t) =>
    expectTruthAtLimits(t, engine, roundsOf(12, 3)),
  );

  t.test('a run at its target whose time is over has converged, or says what it was still to move', (t) =>
    expectTruthAtTarget(t, engine),
  );

  t.test('what the last steps were still to move counts as unfinished', (t) => expectUnservedUnfinished(t, engine));

  t.test('every step limit ends a run', (t) => expectEveryLimitEnds(t, engine));

  t.test('a run that stalls in the last step that its limit allows has stalled', (t) =>
    expectStalledInLastStep(t, engine),
  );

  t.test('FINE ends no farther than BALANCED', (t) => expectFineNoFarther(t, engine));

  t.test('Algorithm 1 and the steps towards y* leave steps to what follows them', (t) =>
    expectPulledBackAtLimit(t, engine),
  );

  t.test('a request without motion returns its start without a step', async (t) => {
    const { mesh, start } = stackSwap(4).build();
    const { resolution } = await resolveJudged(engine, mesh, start, start, { quality: 'BALANCED' });
    t.match(resolution, { status: 'CONVERGED', steps: 0, searches: 0, unfinishedVertices: 0 });
  });

  t.test('the reported path ends with the answer, and reporting it changes nothing', async (t) => {
    const { mesh, start, target } = examplePair('spike');
    const scene = await openCase(engine, mesh, start, target, { quality: 'BALANCED' });
    const states: Float32Array[] = [];
    const told = await scene.resolve({ onState: (x) => states.push(Float32Array.from(x)) });
    scene.scene.close();
    const most = PULL_BACK_PIECES * told.steps;
    t.ok(states.length > told.steps && states.length <= most, `${states.length} states, ${told.steps} steps`);
    t.ok(isSame(states[states.length - 1], told.positions), 'the last state is the answer, bit for bit');
    const other = await openCase(engine, mesh, start, target, { quality: 'BALANCED' });
    const untold = await other.resolve();
    other.scene.close();
    t.ok(isSame(told.positions, untold.positions));
    t.strictSame([told.steps, told.searches, told.status], [untold.steps, untold.searches, untold.status]);
  });

  t.test('the bytes are the same however steps are submitted, and wherever room is short', async (t) => {
    const { mesh, start, target } = examplePair('solid');
    const asked: ParametersInput = { quality: 'BALANCED' };
    const answers: Resolution[] = [];
    const special = [{ runsAhead: false }, { firstPairs: 64 }, { firstCandidates: 8 }, { storageBuffers: 8 }];
    for (const each of [{}, ...shareOf(special, 2)]) {
      const opened = await openTestEngine(undefined, each);
      const scene = await openCase(opened.engine as Engine, mesh, start, target, asked);
      answers.push(await scene.resolve());
      await opened.engine?.close();
    }
    for (const { positions, steps, status, pairs } of answers.slice(1)) {
      t.ok(isSame(positions, answers[0].positions));
      t.strictSame([steps, status, pairs], [answers[0].steps, answers[0].status, answers[0].pairs]);
    }
  });

  t.test(
    'a pause for a search loses no contacts that were counted, even if another submission follows it',
    async (t) => {
      const { mesh, start, target } = stackSwap(10).build();
      const expected = await answersOf(await openStepwise(t), mesh, start, target);
      const { next } = SubmissionPlan.prototype;
      let followers = 0;
      t.intercept(SubmissionPlan.prototype, 'next', {
        // As if nothing was known of searches: each submission has another one behind it, which pauses if one is due.
        value: function (this: SubmissionPlan, inFlight: number, most: number, left: number, isStepwise: boolean) {
          const submission = next.call(this, inFlight, most, left, isStepwise);
          if (inFlight === 0 || left <= 0) return submission;
          followers++;
          return { steps: 1, precedes: 'WATCH', between: 'WATCH' };
        },
      });
      const answers = await answersOf(engine, mesh, start, target);
      t.ok(followers > 0, 'submissions follow others');
      t.strictSame(answers, expected);
    },
  );

  t.test('a scene handles one quality after the other, and reuses P', async (t) => {
    const { mesh, start, target } = stackSwap(10).build();
    const { scene, x, y } = await openCase(engine, mesh, start, target, { quality: 'FAST' });
    const fast = await scene.resolve({ x, y });
    const settings = await openCase(engine, mesh, start, target, { quality: 'BALANCED' });
    scene.configure(settings.parameters, settings.units);
    const balanced = await scene.resolve({ x, y });
    const alone = await settings.resolve();
    settings.scene.close();
    t.equal(balanced.status, alone.status);
    const next = await scene.resolve({ x: balanced.positions, y });
    t.ok(next.proximitySetReused, 'the boxes of the pull-back hold its answer');
    t.equal(next.status, 'CONVERGED');
    const again = await openCase(engine, mesh, start, target, { quality: 'FAST' });
    scene.configure(again.parameters, again.units);
    const fastAgain = await scene.resolve({ x, y });
    again.scene.close();
    scene.close();
    t.equal(fastAgain.status, fast.status);
  });
}
