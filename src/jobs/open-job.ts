import type { MeshSummary } from '../contract/sessions.js';
import { buildMesh } from '../mesh/build.js';
import { findBounds, measureMesh } from '../mesh/measure.js';
import { checkPositions, checkRange } from '../mesh/positions.js';
import type { CollisionMesh, MeshMeasures } from '../mesh/types.js';
import { resolveParameters } from '../solver/parameters.js';
import { checkPartDistances, rangeOfDistances } from '../solver/part-distances.js';
import type { PairRules } from '../verify/types.js';
import { hashContent } from './content-hash.js';
import { describeExcluded, settleRules } from './excluded.js';
import { scalarOf } from './include.js';
import { type JobContext, JobRun } from './job-run.js';
import { warningsOf } from './report.js';
import { ResidentScene } from './resident-scene.js';
import type { ResidentScenes } from './resident-scenes.js';
import { frameFor } from './scene-frame.js';
import type { OpenAnswer, OpenMessage } from './scene-tasks.js';
import { checkRounding, checkStart } from './start-check.js';
import { NAMED_PAIRS } from './verifier.js';

/**
 * Builds the scene of a session and says what there is to say about it. Mesh, start and parameters are checked as for a
 * resolve whose target is its start. The scene takes the place of an older one of the same key only when all is well.
 *
 * @throws the mesh's, the parameters' and the start's refusals; CANCELLED; what the engine refuses to open
 */
export async function openJob(
  { state, parameters: requested, measures: opening, ...times }: OpenMessage,
  scenes: ResidentScenes,
  context: JobContext,
): Promise<OpenAnswer> {
  const { engine, limits, verifier } = context;
  const { key, start, mesh: input } = state;
  const job = new JobRun(times, context);
  const mesh = buildMesh(input, limits);
  checkPositions(start, mesh.vertexCount, 'start');
  checkRange(start, start, 'start');
  const measures = opening ?? measureMesh(mesh, start);
  const { parameters, warnings } = resolveParameters(requested, measures, context);
  const partWarnings = checkPartDistances(mesh, parameters, measures);
  const checkpoint = job.during('while the start was checked');
  const pairRules: PairRules = { kinematicPairs: parameters.kinematicPairs, maxPairs: NAMED_PAIRS, checkpoint };
  const bounds = opening ? findBounds(mesh, start) : measures.bounds;
  const { smallest: delta } = rangeOfDistances(mesh, parameters.activationDistance);
  const chosen = frameFor(undefined, start, measures.medianEdge, bounds, undefined, delta, scalarOf(start));
  const startEngine = chosen.frame.toEngine(start, 'start');
  job.checkpoint('before the start was checked');

  job.stopwatch.lap();
  const findings = await checkStart(mesh, start, pairRules, verifier, parameters.onIntersectingStart);
  const checkMs = job.stopwatch.lap() / 1000;
  const floor = chosen.range.floor / chosen.frame.scale;
  const rules = settleRules({ mesh, start, parameters, rules: pairRules, verifier, findings, floor });
  const images = { start, startEngine, target: start, targetEngine: startEngine };
  checkRounding(mesh, chosen.frame, images, rules, verifier);
  job.checkpoint('while the start was checked');

  const scene = new ResidentScene(
    measures,
    { version: state.meshVersion, input, mesh },
    { version: state.stateVersion, positions: start, engine: undefined, verified: undefined },
  );
  const { verify, kinematicPairs } = parameters;
  // At NONE the start is tested all the same, and that is what `level` says.
  const verified = { level: verify === 'PATH' ? verify : 'STATE', kinematicPairs, findings } as const;
  scene.commit({ ...scene.state, engine: startEngine, verified, excluded: rules.excluded }, chosen);
  scene.checkMs = checkMs;
  await scene.prepare(engine, { mesh, parameters, chosen });
  scenes.put(key, scene);
  return {
    summary: summarise(mesh, measures, bounds, hashContent(input, start)),
    resolved: parameters,
    warnings: [
      ...warningsOf(mesh, measures, [...warnings, ...partWarnings]),
      ...describeExcluded(mesh, rules.excluded).warnings,
    ],
    residentBytes: scene.bytes,
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
    minHeight,
    bounds,
    contentHash,
  };
}
