import type { StateListener } from '../contract/call-context.js';
import { cancelled } from '../contract/errors.js';
import type { Positions } from '../contract/mesh.js';
import type { UntangleRequest } from '../contract/untangle.js';
import type { UntangledState } from '../contract/untangle-answer.js';
import { buildMesh } from '../mesh/build.js';
import { measureMesh } from '../mesh/measure.js';
import { checkPositions, isEqual } from '../mesh/positions.js';
import type { CollisionMesh } from '../mesh/types.js';
import { algorithmVersion } from '../paths.js';
import { type UntanglePiece, untangle } from '../untangle/index.js';
import { type JobContext, JobRun } from './job-run.js';
import { settleParameters } from './prepare-step.js';
import { warningsOf } from './report.js';
import type { UntangleTask } from './tasks.js';
import { testState } from './verifier.js';

/**
 * Brings a state to one without intersections. Whatever ends it (the time budget, a shutdown, memory), the answer is the best
 * state that was found.
 *
 * @throws IntersticeError: the refusals of mesh, positions, parameters and hints; DEADLINE_EXCEEDED (in the queue), CANCELLED
 */
export async function untangleJob({ request, ...arrival }: UntangleTask, context: JobContext): Promise<UntangledState> {
  const { timeBudgetSeconds, positions, mesh: input, parameters: asked } = request;
  const job = new JobRun({ ...arrival, timeBudgetSeconds }, context);
  const begin = context.now();
  const { engine, verifier, isCancelled, isEnding = () => false, onUntangleProgress, onPhase } = context;
  const mesh = buildMesh(input, context.limits);
  checkPositions(positions, mesh.vertexCount, 'positions');
  const measures = measureMesh(mesh, positions);
  const { parameters, warnings } = settleParameters(asked, mesh, measures, job);
  job.checkpoint('before the untangling');
  const onPiece = context.onState && pathTo(context.onState, positions, mesh);
  onPhase?.('SOLVING');
  const answer = await untangle(
    { mesh, positions, measures, parameters, options: optionsOf(request) },
    {
      engine,
      testState: (...state) => testState(verifier, ...state),
      timeLeft: () => job.deadline.timeLeft(),
      isCancelled: () => isCancelled() || isEnding(),
      checkpoints: {
        start: job.during('in the test of the start'),
        answer: () => job.checkpoint('in the test of the answer'),
      },
      onProgress: (progress) => {
        if (progress.phase === 'CHECKING_ANSWER') onPhase?.('ANSWER_CHECK');
        onUntangleProgress?.(progress);
      },
      onPiece,
    },
  );
  if (isCancelled()) throw cancelled();
  const { regions } = answer;
  return {
    positions: answer.positions,
    regions: new Uint32Array(regions.buffer, regions.byteOffset, regions.length),
    report: {
      ...answer.report,
      warnings: warningsOf(mesh, measures, warnings),
      engine: engine.description.name,
      version: algorithmVersion,
      seconds: (context.now() - begin) / 1000,
    },
  };
}

/** The options of the untangling in the request. */
function optionsOf({ layers, turned, maxIterations, maxDisplacement }: UntangleRequest) {
  return {
    ...(layers ? { layers } : {}),
    ...(turned ? { turned } : {}),
    ...(maxIterations === undefined ? {} : { maxIterations }),
    ...(maxDisplacement === undefined ? {} : { maxDisplacement }),
  };
}

/**
 * Reports the states of the path to a listener: the start, its image in the engine's numbers if that differs, and the
 * end of every piece with what was left out on it.
 */
function pathTo(onState: StateListener, start: Positions, { triangles }: CollisionMesh) {
  onState(start, 0, { phase: 'START', step: 0 });
  let at = 0;
  return ({ from, to, leftOut, iteration }: UntanglePiece): void => {
    if (at === 0 && !isEqual(from, start)) onState(from, ++at, { phase: 'ROUNDED', step: 0 });
    const regions = leftOut?.regions.map(({ vertices, partner }) => ({
      vertices,
      patch: [...new Set(partner.flatMap((t) => [...triangles.subarray(3 * t, 3 * t + 3)]))],
    }));
    onState(
      to,
      ++at,
      regions ? { phase: 'FORWARD', step: iteration, leftOut: regions } : { phase: 'PULL_BACK', step: 0 },
    );
  };
}
