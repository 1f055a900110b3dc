import type { StateListener } from '../contract/call-context.js';
import { cancelled, type Warning } from '../contract/errors.js';
import type { Positions } from '../contract/mesh.js';
import type { ParametersInput } from '../contract/parameters.js';
import type { UntangleRequest } from '../contract/untangle.js';
import type { UntangledState } from '../contract/untangle-answer.js';
import { buildMesh } from '../mesh/build.js';
import { measureMesh } from '../mesh/measure.js';
import { checkPositions, checkRange, isEqual, scalarOf } from '../mesh/positions.js';
import type { CollisionMesh, MeshMeasures } from '../mesh/types.js';
import { algorithmVersion } from '../paths.js';
import { findResting } from '../solver/resting.js';
import { type UntanglePiece, type UntangleProblem, untangle } from '../untangle/index.js';
import { type JobContext, JobRun } from './job-run.js';
import { settleParameters } from './prepare-step.js';
import { warningsOf } from './report.js';
import { frameFor } from './scene-frame.js';
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
  checkRange(positions, positions, 'positions', { startName: 'positions' });
  const measures = measureMesh(mesh, positions);
  // Pulled back by TWO_WAY, so the other parameters have their meaning and their defaults under it.
  const { method: _, ...others } = asked;
  const { parameters, warnings, smallestDelta } = settleParameters(others, mesh, measures, job);
  const { frame, floor } = unitsOf(mesh, positions, measures, smallestDelta);
  job.checkpoint('before the untangling');
  const onPiece = context.onState && pathTo(context.onState, positions, mesh);
  onPhase?.('SOLVING');
  const untangling = untangle(
    { mesh, positions, measures, frame, floor, parameters, options: optionsOf(request) },
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
  const answer = await untangling.finally(() => verifier.forget?.(mesh));
  if (isCancelled()) throw cancelled();
  const { regions } = answer;
  return {
    positions: answer.positions,
    regions: new Uint32Array(regions.buffer, regions.byteOffset, regions.length),
    report: {
      ...answer.report,
      warnings: warningsOf(mesh, measures, [...warnOfUnread(asked), ...warnings]),
      engine: engine.description.name,
      version: algorithmVersion,
      seconds: (context.now() - begin) / 1000,
    },
  };
}

/**
 * The engine's coordinates and the floor of an untangling. Its kinematic vertices stay where they are, so they rest.
 *
 * @param delta the smallest δ of all parts, the caller's unit
 * @throws TOLERANCE_TOO_SMALL, COORDINATE_RANGE
 */
export function unitsOf(
  mesh: CollisionMesh,
  positions: Positions,
  { medianEdge, bounds }: MeshMeasures,
  delta: number,
): Pick<UntangleProblem, 'frame' | 'floor'> {
  const extent = { start: bounds, target: undefined, findResting: () => findResting(mesh, positions, positions) };
  const { frame, range } = frameFor(undefined, positions, medianEdge, extent, delta, scalarOf(positions));
  return { frame, floor: range.floor };
}

/** Names parameters of the request that an untangling does not read. */
function warnOfUnread({ method, verify, onIntersectingStart }: ParametersInput): Warning[] {
  const unread = [
    method === 'VOLUME_IMPULSES' && `method ${method} has no effect: an untangling pulls back by TWO_WAY.`,
    (verify === 'PATH' || verify === 'NONE') &&
      `verify ${verify} has no effect: the answer of an untangling gets the test of STATE.`,
    onIntersectingStart === 'IGNORE_PAIRS' &&
      `onIntersectingStart ${onIntersectingStart} has no effect: an untangling accepts every start.`,
  ];
  return unread
    .filter((message) => message !== false)
    .map((message) => ({ code: 'PARAMETER_WITHOUT_EFFECT', message, count: 1 }));
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
