import type { Test } from 'tap';
import type { ParametersInput } from '../../src/contract/parameters.js';
import type { Engine } from '../../src/solver/engine.js';
import { reservedStepsOf } from '../../src/solver/step-shares.js';
import { pinch, randomScene, stackSwap } from '../solver/cases.js';
import { CaseIntersects, resolveJudged } from './judged-resolve.js';
import { examplePair, resolveExample, rmsOf, STRETCH_ROUNDING, stretchOf } from './nearness.js';
import { openCase } from './open-case.js';
import { type Random, seeded } from './random.js';
import { shareOf } from './share.js';

/** Random scenes, each resolved once: no state intersects, no piece of the path collides, and every number is finite. */
export async function expectRandomRunsSafe(
  t: Test,
  engine: Engine,
  rounds: number,
  parametersOf: (random: Random) => ParametersInput,
): Promise<void> {
  const random = seeded();
  t.comment(`seed ${random.seed}`);
  for (let round = 0; round < rounds; round++) {
    const { mesh, start, target } = randomScene(random).build();
    const judged = await resolveJudged(engine, mesh, start, target, parametersOf(random)).catch((error) => {
      // Scattered by chance, some starts do touch: those are no cases.
      if (error instanceof CaseIntersects) return undefined;
      throw error;
    });
    if (!judged) continue;
    t.equal(judged.intersections, 0, `round ${round}: no state intersects`);
    t.equal(judged.collisions, 0, `round ${round}: no piece collides`);
    t.ok(judged.positions.every(Number.isFinite), `round ${round}: finite`);
  }
}

/** Parameters of Algorithm 1 at random. */
export function randomAlgorithm1(random: Random, stepLimit: number): ParametersInput {
  return {
    preset: random() < 0.25 ? 'PAPER' : 'TUNED',
    forward: random() < 0.25 ? 'ISOTROPIC' : 'PLANAR',
    contact: random() < 0.5 ? 'VOLUME' : 'GAP',
    stepLimit,
    activationDistance: [1e-3, 1e-2, 0.1][random.int(3)],
    damping: [0.5, 0.9, 0.999][random.int(3)],
  };
}

/** How much farther an answer of more steps may lie, as a share: positions are float32, and the merit that is compared is a sum of them. */
const MERIT_ROUNDING = 1e-6;

/**
 * A pull-back that the step limit ends answers the best state so far: more steps never take it farther away. Without a
 * contact offset and edge limits the merit of a state is its distance to the target.
 */
export async function expectNearerWithMoreSteps(t: Test, engine: Engine): Promise<void> {
  const { mesh, start, target } = stackSwap(10).build();
  let last = Number.POSITIVE_INFINITY;
  for (const stepLimit of [1, 2, 4, 8]) {
    const parameters = { quality: 'BALANCED', stretchLimit: 0, contactOffset: 0, stepLimit } as const;
    const judged = await resolveJudged(engine, mesh, start, target, parameters);
    t.ok(judged.resolution.steps <= stepLimit, `${judged.resolution.steps} steps of ${stepLimit}`);
    const rms = rmsOf(judged, target);
    t.ok(rms <= last * (1 + MERIT_ROUNDING), `${stepLimit} steps: rms ${rms}, with fewer ${last}`);
    last = rms;
  }
}

/** Where two plates would end, a hundredth of an edge apart. */
const LAST_GAP = 1e-4;

/** Algorithm 1 would use up the limit where two plates cannot close; steps towards y* would where strands slide past each other. */
export async function expectPulledBackAtLimit(t: Test, engine: Engine): Promise<void> {
  const pressed = pinch(LAST_GAP).build();
  const resolve = (quality: 'FAST' | 'BALANCED') =>
    resolveJudged(engine, pressed.mesh, pressed.start, pressed.target, { quality, stepLimit: 64 });
  const [fast, balanced] = [await resolve('FAST'), await resolve('BALANCED')];
  t.match(
    [fast, balanced].map(({ resolution }) => resolution.status),
    ['STEP_LIMIT', 'STEP_LIMIT'],
  );
  t.ok(balanced.resolution.steps <= 64);
  t.ok((balanced.resolution.pullBack?.steps ?? 0) > 1, 'steps are left to the pull-back');
  t.ok(balanced.resolution.unfinishedVertices > 0, 'the plates have not arrived');
  t.ok(rmsOf(balanced, pressed.target) < rmsOf(fast, pressed.target) / 2, 'it brings the sheet nearer');

  // Without a limit the strands take half as many steps again, or more.
  const { mesh, start, target } = examplePair('hair');
  for (const stepLimit of [16, 24]) {
    const judged = await resolveJudged(engine, mesh, start, target, { quality: 'FINE', stepLimit });
    t.match(judged.resolution, { status: 'STEP_LIMIT' });
    t.ok(judged.resolution.unfinishedVertices > 0, 'strands wanted to move on');
    const stretch = stretchOf(judged, target);
    t.ok(stretch <= 1.1 * (1 + STRETCH_ROUNDING), `${stepLimit} steps: an edge is ${stretch} times as long`);
  }
}

/**
 * A run that its step limit ends counts as unfinished what moved in its last step, also what reached the y of that step
 * in a piece before the last one.
 */
export async function expectMoversUnfinished(t: Test, engine: Engine): Promise<void> {
  const { mesh, start, target } = examplePair('spike');
  for (const stepLimit of [1, 2]) {
    const { scene, x, resolve } = await openCase(engine, mesh, start, target, { quality: 'BALANCED', stepLimit });
    let before = x;
    let last = x;
    let told = 0;
    const { status, residuals, unfinishedVertices } = await resolve({
      onState: (state, origin) => {
        if (origin!.step < stepLimit) before = state.slice();
        last = state.slice();
      },
      onProgress: (progress) => {
        told = progress.unfinishedVertices;
      },
    });
    scene.close();
    t.equal(status, 'STEP_LIMIT');
    const movers = [...residuals.keys()].filter((v) => [0, 1, 2].some((c) => last[3 * v + c] !== before[3 * v + c]));
    t.ok(movers.length > 100, `${movers.length} vertices moved in step ${stepLimit}`);
    t.ok(
      movers.every((v) => residuals[v] === 1),
      `${unfinishedVertices} are unfinished`,
    );
    t.equal(told, unfinishedVertices, 'as progress told');
  }
}

/** Two plates would end beyond each other. */
const CROSSING = -4e-3;

/** Algorithm 1 stalls in the last step of its share: it has not been cut off, and the run ends as with more steps. */
export async function expectStalledInLastStep(t: Test, engine: Engine): Promise<void> {
  const { mesh, start, target } = pinch(CROSSING).build();
  const resolve = async (stepLimit: number) => {
    const { scene, resolve } = await openCase(engine, mesh, start, target, { quality: 'BALANCED', stepLimit });
    const answer = await resolve();
    scene.close();
    return answer;
  };
  const whole = await resolve(512);
  t.equal(whole.status, 'STALLED');
  const advanced = whole.steps - whole.pullBack!.steps;
  let stepLimit = advanced;
  while (stepLimit - reservedStepsOf(stepLimit) < advanced) stepLimit++;
  t.equal(stepLimit - reservedStepsOf(stepLimit), advanced);
  const { status, steps, positions } = await resolve(stepLimit);
  t.strictSame({ status, steps, positions }, { status: whole.status, steps: whole.steps, positions: whole.positions });
}

/** A run asks a few times a step whether it should stop; one that has asked this often is endless. */
const ENDLESS = 1000;

/** Every limit ends a run, also one that is reached in the very step with which a phase ends; FINE has most phases. */
export async function expectEveryLimitEnds(t: Test, engine: Engine): Promise<void> {
  const { mesh, start, target } = stackSwap(16).build();
  const { scene, resolve } = await openCase(engine, mesh, start, target, { quality: 'FINE' });
  const { steps } = await resolve();
  scene.close();
  t.ok(steps > 16, `${steps} steps without a limit`);
  const limits = Array.from({ length: steps + 2 }, (_, k) => k + 1);
  for (const stepLimit of shareOf(limits, 6)) {
    const limited = await openCase(engine, mesh, start, target, { quality: 'FINE', stepLimit });
    let questions = 0;
    const answer = await limited.resolve({ shouldStop: () => ++questions > ENDLESS });
    limited.scene.close();
    t.ok(answer.steps <= stepLimit, `${answer.steps} steps of ${stepLimit}`);
    t.not(answer.status, 'DEADLINE', `${stepLimit} steps: it ends`);
  }
}

/**
 * What FINE may lie farther than BALANCED, as a share: it ends with a smaller merit, of which the distance is most, and
 * the rest are contacts nearer than their offset.
 */
const OF_OFFSETS = 1e-3;

/** FINE makes the steps of BALANCED first, so it ends no farther, and somewhere nearer. */
export async function expectFineNoFarther(t: Test, engine: Engine): Promise<void> {
  const all = ['layers', 'hair', 'solid'];
  const tried = shareOf(all, 3);
  let nearer = 0;
  for (const name of tried) {
    const { target } = examplePair(name);
    const balanced = await resolveExample(engine, name, 'BALANCED');
    const fine = await resolveExample(engine, name, 'FINE');
    t.equal(fine.intersections + fine.collisions, 0, `${name}: safe`);
    t.equal(fine.resolution.status, 'CONVERGED', name);
    t.ok(fine.resolution.steps > balanced.resolution.steps, `${name}: it makes more steps`);
    const [near, far] = [rmsOf(fine, target), rmsOf(balanced, target)];
    t.ok(near <= far * (1 + OF_OFFSETS), `${name}: rms ${near}, BALANCED ${far}`);
    if (near < 0.99 * far) nearer++;
    const stretch = stretchOf(fine, target);
    t.ok(stretch <= 1.1 * (1 + STRETCH_ROUNDING), `${name}: stretch ${stretch}`);
  }
  if (tried.length === all.length) t.ok(nearer > 0, 'at least one is nearer by a hundredth');
}
