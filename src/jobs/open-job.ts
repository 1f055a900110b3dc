import type { MeshSummary } from '../contract/sessions.js';
import { buildMesh } from '../mesh/build.js';
import { findBounds, measureMesh } from '../mesh/measure.js';
import { checkPositions, checkRange, scalarOf } from '../mesh/positions.js';
import type { CollisionMesh, MeshMeasures } from '../mesh/types.js';
import { findResting } from '../solver/resting.js';
import { thinElementsOf } from '../solver/volume-impulses/check.js';
import { hashContent } from './content-hash.js';
import { describeExcluded } from './ignored-pairs.js';
import { type JobContext, JobRun } from './job-run.js';
import { checkSceneStart, settleParameters } from './prepare-step.js';
import { warningsOf } from './report.js';
import { ResidentScene } from './resident-scene.js';
import type { ResidentScenes } from './resident-scenes.js';
import { frameFor } from './scene-frame.js';
import type { OpenAnswer, OpenTask } from './tasks.js';

/**
 * Builds the scene of a session and describes it. Mesh, start and parameters are checked as for a resolve whose target is
 * its start. The scene replaces an older one of the same key only if every check passes.
 *
 * @throws the refusals of mesh, parameters and start; CANCELLED; what the engine refuses to open
 */
export async function openJob(task: OpenTask, scenes: ResidentScenes, context: JobContext): Promise<OpenAnswer> {
  const job = new JobRun(task, context);
  const mesh = buildMesh(task.state.mesh, context.limits);
  try {
    return await openScene(task, mesh, scenes, job);
  } catch (thrown) {
    context.verifier.forget?.(mesh);
    throw thrown;
  }
}

/** @param mesh as built from the task */
async function openScene(
  { state, parameters: requested }: OpenTask,
  mesh: CollisionMesh,
  scenes: ResidentScenes,
  job: JobRun,
): Promise<OpenAnswer> {
  const { key, start, mesh: input } = state;
  checkPositions(start, mesh.vertexCount, 'start');
  checkRange(start, start, 'start');
  const measures = state.measures ?? measureMesh(mesh, start);
  const { parameters, warnings, smallestDelta, rules: startRules } = settleParameters(requested, mesh, measures, job);
  const bounds = state.measures ? findBounds(mesh, start) : measures.bounds;
  const extent = { start: bounds, target: undefined, findResting: () => findResting(mesh, start, start) };
  const chosen = frameFor(undefined, start, measures.medianEdge, extent, smallestDelta, scalarOf(start));
  const startEngine = chosen.frame.toEngine(start, 'start');
  job.checkpoint('before the start was checked');

  const scene = new ResidentScene(
    { version: state.meshVersion, input, mesh },
    { version: state.stateVersion, positions: start },
    measures,
  );
  const images = { start, startEngine, target: start, targetEngine: startEngine };
  job.stopwatch.lap();
  const { rules, startFindings: findings } = await checkSceneStart({
    scene,
    isOwn: true,
    images,
    chosen,
    parameters,
    rules: startRules,
    job,
  });
  job.checkpoint('while the start was checked');

  const { verify, kinematicPairs } = parameters;
  // The start is tested even under NONE, so its level is at least STATE.
  const verified = { level: verify === 'PATH' ? verify : 'STATE', kinematicPairs, findings } as const;
  const known = { engine: startEngine, kinematicPairs, verified, excluded: rules.excluded };
  scene.commit({ ...scene.state, ...known }, chosen);
  await scene.prepare(job.context.engine, { mesh, parameters, chosen });
  scenes.put(key, scene);
  return {
    measures,
    summary: summarise(mesh, measures, bounds, hashContent(input, start)),
    resolved: parameters,
    warnings: [...warningsOf(mesh, measures, warnings), ...describeExcluded(mesh, rules.excluded).warnings],
    residentBytes: scene.bytes,
    thinElements: thinElementsOf(mesh),
  };
}

function summarise(
  mesh: CollisionMesh,
  { medianEdge, minHeight }: MeshMeasures,
  bounds: MeshMeasures['bounds'],
  contentHash: string,
): MeshSummary {
  const { sent } = mesh;
  return {
    vertices: mesh.vertexCount,
    edges: mesh.edges.length / 2,
    triangles: sent.triangles,
    segments: sent.segments,
    particles: sent.particles,
    tetrahedra: sent.tetrahedra,
    components: mesh.components,
    medianEdge,
    // JSON has no infinity: a mesh without such a height has 0, which no height is.
    minHeight: Number.isFinite(minHeight) ? minHeight : 0,
    bounds,
    contentHash,
  };
}
