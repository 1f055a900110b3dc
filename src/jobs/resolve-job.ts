import type { ResolveAnswer, ResolveRequest } from '../contract/requests.js';
import { buildMesh } from '../mesh/build.js';
import { findBounds, measureMesh } from '../mesh/measure.js';
import { checkPositions, checkRange } from '../mesh/positions.js';
import { CoordinateFrame } from '../solver/frame.js';
import { resolveParameters } from '../solver/parameters.js';
import { checkPartDistances, rangeOfDistances } from '../solver/part-distances.js';
import { rangeOf } from '../solver/range.js';
import type { PairRules } from '../verify/types.js';
import { computeAnswer } from './compute-answer.js';
import { settleRules } from './excluded.js';
import { contactDistanceOf, scalarOf } from './include.js';
import { type JobContext, JobRun } from './job-run.js';
import { checkRounding, checkStart } from './start-check.js';
import { NAMED_PAIRS } from './verifier.js';

export type { JobContext } from './job-run.js';

/** One request with the moments that its time budget and its timings count from, ms of the shared clock. */
export interface ResolveTask {
  readonly request: ResolveRequest;
  /** the first byte of the request */
  readonly receivedAt: number;
  /** the request was decoded and stood in the queue */
  readonly queuedAt: number;
}

/**
 * One resolve from the caller's numbers to the caller's numbers, no state kept.
 *
 * @throws IntersticeError: the mesh's, the parameters' and the start's refusals, DEADLINE_EXCEEDED, CANCELLED
 */
export async function resolveJob({ request, ...moments }: ResolveTask, context: JobContext): Promise<ResolveAnswer> {
  const { engine, verifier } = context;
  const { start, target, include } = request;
  const { timeBudgetSeconds, onBudget } = request;
  const job = new JobRun({ ...moments, timeBudgetSeconds, onBudget }, context);

  const mesh = buildMesh(request.mesh, context.limits);
  checkPositions(start, mesh.vertexCount, 'start');
  const box = checkPositions(target, mesh.vertexCount, 'target');
  checkRange(start, target, 'target');
  const measures = measureMesh(mesh, start);
  const { parameters, warnings } = resolveParameters(request.parameters, measures, context);
  const partWarnings = checkPartDistances(mesh, parameters, measures);
  const contactDistance = contactDistanceOf(include, parameters.activationDistance);
  // Nothing is known to be safe before these checks end: where the budget ends first, there is nothing to return.
  const checkpoint = job.during('while the start was checked');
  const pairRules: PairRules = { kinematicPairs: parameters.kinematicPairs, maxPairs: NAMED_PAIRS, checkpoint };
  const frame = CoordinateFrame.fit(start, measures.medianEdge, measures.bounds);
  const { smallest } = rangeOfDistances(mesh, parameters.activationDistance);
  const range = rangeOf(smallest, frame, measures.bounds, findBounds(mesh, target, box), scalarOf(target));
  const { floor } = range;
  const startEngine = frame.toEngine(start, 'start');
  const targetEngine = frame.toEngine(target, 'target');
  job.uploadMicroseconds = job.stopwatch.lap();
  job.checkpoint('before the start was checked');
  // Nothing is known to be safe yet, so there is nothing to return: what is over now is over before the long check.
  job.deadline.refuseIfOver('before the start was checked');

  const images = { startEngine, targetEngine, start, target };
  const startFindings = await checkStart(mesh, start, pairRules, verifier, parameters.onIntersectingStart);
  job.deadline.reserveAfter(job.lapChecks() / 1000);
  const rules = settleRules({
    mesh,
    start,
    parameters,
    rules: pairRules,
    verifier,
    findings: startFindings,
    floor: floor / frame.scale,
  });
  checkRounding(mesh, frame, images, rules, verifier);
  job.lapChecks();
  job.checkpoint('while the start was checked');

  const { answer } = await computeAnswer(
    {
      reproduce: () => request,
      include,
      mesh,
      measures,
      parameters,
      parameterWarnings: [...warnings, ...partWarnings],
      contactDistance,
      rules,
      frame,
      range,
      images,
      startFindings,
    },
    job,
    async (step) => {
      const scene = await engine.open(mesh, parameters, { scale: frame.scale, floor });
      try {
        return await scene.resolve(step);
      } finally {
        scene.close();
      }
    },
  );
  return answer;
}
