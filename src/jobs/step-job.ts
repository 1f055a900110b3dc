import type { MeshInput, Positions } from '../contract/mesh.js';
import type { ResolveAnswer, ResolveRequest } from '../contract/requests.js';
import { computeAnswer } from './compute-answer.js';
import { type JobContext, JobRun } from './job-run.js';
import { prepareStep } from './prepare-step.js';
import { buildScene, type ResidentScenes } from './resident-scenes.js';
import type { ResolveTask, SceneDelta, StepOutcome, StepTask } from './tasks.js';

/**
 * One resolve: a step of a transient scene, which no lane keeps.
 *
 * @throws IntersticeError: the refusals of mesh, parameters and start; DEADLINE_EXCEEDED, CANCELLED
 */
export async function resolveJob({ request, ...arrival }: ResolveTask, context: JobContext): Promise<ResolveAnswer> {
  const { mesh, start, timeBudgetSeconds, onBudget } = request;
  const job = new JobRun({ ...arrival, timeBudgetSeconds, onBudget }, context);
  const scene = buildScene({ meshVersion: 0, mesh, stateVersion: 0, start }, context.limits);
  try {
    const step = await prepareStep(request, scene, job);
    const { answer } = await computeAnswer(step, job, {
      run: (input, beginAnew) => scene.resolve(context.engine, step, input, beginAnew).finally(() => scene.discard()),
      toRequest: () => request,
    });
    return answer;
  } finally {
    context.verifier.forget?.(scene.held.mesh);
  }
}

/**
 * One step of a session on its resident scene. The scene takes the answer over only when it is complete; a step that fails
 * after the engine has run is undone (ResidentScene.undo).
 *
 * @throws like {@link resolveJob}; a scene that was lost is rebuilt, and its mesh and state are checked again
 */
export async function stepJob(
  task: StepTask<SceneDelta>,
  scenes: ResidentScenes,
  context: JobContext,
): Promise<StepOutcome> {
  const job = new JobRun(task, context);
  try {
    return await runStep(task, scenes, job);
  } finally {
    scenes.releaseImage(job);
  }
}

async function runStep(task: StepTask<SceneDelta>, scenes: ResidentScenes, job: JobRun): Promise<StepOutcome> {
  const { context } = job;
  const scene = scenes.bring(task.state, context.limits);
  const step = await prepareStep(task, scene, job, scenes);
  const { parameters, chosen, rules, images } = step;
  let hasRun = false;
  scene.remember();
  try {
    const { answer, engine, findings } = await computeAnswer(step, job, {
      run: (input, beginAnew) => {
        hasRun = true;
        return scene.resolve(context.engine, step, input, beginAnew);
      },
      keepsSearch: true,
      toRequest: () => requestOf(task, scene.held.input, images.start),
      isRebuilt: () => scene.hasLostPairs,
    });
    const { verify: level, kinematicPairs } = parameters;
    const verified = findings && { level, kinematicPairs, findings };
    const { excluded } = rules;
    const { positions } = answer;
    scene.commit({ version: task.nextVersion, positions, engine, kinematicPairs, verified, excluded }, chosen);
    return { ...answer, residentBytes: scene.bytes };
  } catch (thrown) {
    if (hasRun) scene.undo();
    throw thrown;
  }
}

/**
 * The step as a resolve that reproduces it. Start and target are copied: both lie in memory that later steps of the lane
 * overwrite, and a finding is read after them.
 */
function requestOf(task: StepTask<SceneDelta>, mesh: MeshInput, start: Positions): ResolveRequest {
  const { target, parameters, include, timeBudgetSeconds, onBudget } = task;
  return {
    mesh,
    start: start.slice(),
    target: target.slice(),
    parameters,
    ...(include ? { include } : {}),
    ...(timeBudgetSeconds === undefined ? {} : { timeBudgetSeconds }),
    ...(onBudget ? { onBudget } : {}),
  };
}
