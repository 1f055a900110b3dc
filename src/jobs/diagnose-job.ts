import type { DiagnoseRequest, Diagnosis, DiagnosisFinding } from '../contract/diagnosis.js';
import { cancelled, IntersticeError } from '../contract/errors.js';
import type { Positions } from '../contract/mesh.js';
import type { Parameters } from '../contract/parameters.js';
import { findEverything } from '../diagnose/diagnose.js';
import type { Opening } from '../diagnose/gaps.js';
import { finding, show } from '../diagnose/subject.js';
import { buildMesh } from '../mesh/build.js';
import { measureMesh } from '../mesh/measure.js';
import { scalarOf } from '../mesh/positions.js';
import type { CollisionMesh, MeshMeasures } from '../mesh/types.js';
import { MIN_DELTA_SHARE } from '../solver/constants.js';
import { CoordinateFrame, roundingOf } from '../solver/frame.js';
import { resolveParameters } from '../solver/parameters.js';
import { rangeOfDistances } from '../solver/part-distances.js';
import { findResting } from '../solver/resting.js';
import type { JobContext } from './job-run.js';
import { MAX_EXCLUDED } from './start-check.js';
import { resolveJob } from './step-job.js';

/** Elements that a finding names if the request does not say. */
const NAMED_ELEMENTS = 16;
const MAX_NAMED_ELEMENTS = 65_536;

/** The certified floor is at least δ over this (solver/frame.ts). */
const FLOOR_SHARE = 100;

/**
 * Finds what is wrong with a mesh, and with a target if there is one. If there is no problem, the job makes one step of
 * a resolve: a refusal of it is a finding too, and with a budget of its time a resolve makes progress. Less may do: a
 * process that has just started, or whose cores are busy, takes longer.
 *
 * @throws IntersticeError: TOO_LARGE, SIZE_MISMATCH, INVALID_MESH (parts), INVALID_PARAMETER (maxElements), CANCELLED
 */
export async function diagnoseJob(request: DiagnoseRequest, context: JobContext): Promise<Diagnosis> {
  const { mesh, positions, target, parameters = {}, maxElements = NAMED_ELEMENTS } = request;
  if (!Number.isInteger(maxElements) || maxElements < 0 || maxElements > MAX_NAMED_ELEMENTS) {
    throw new IntersticeError(
      'INVALID_PARAMETER',
      `The value of maxElements is ${maxElements}; it must be a whole number from 0 to ${MAX_NAMED_ELEMENTS}.`,
    );
  }
  const checkpoint = (): void => {
    if (context.isCancelled()) throw cancelled();
  };
  checkpoint();
  let leap: number | undefined;
  const lengthsOf = (built: CollisionMesh, x: Positions) => {
    try {
      const measures = measureMesh(built, x);
      const { parameters: all } = resolveParameters(parameters, measures, { ...context, engine: context.engine });
      leap = all.leap;
      const least = rangeOfDistances(built, all.activationDistance).smallest / FLOOR_SHARE;
      const rounding = roundingOver(built, x, target ?? positions, measures, least);
      const floor = Math.max(least, rounding);
      return { ...all, opening: openingOf(all), floor, isFloorRounding: rounding > least };
    } catch (thrown) {
      return refusal(thrown);
    }
  };
  const { searchMs, ...found } = findEverything(
    {
      ...{ mesh, positions, target, maxElements, kinematicPairs: parameters.kinematicPairs ?? 'SKIP' },
      mostExcluded: parameters.onIntersectingStart === 'IGNORE_PAIRS' ? MAX_EXCLUDED : 0,
    },
    { build: (input) => buildMesh(input, context.limits), lengthsOf, checkpoint, now: context.now },
  );
  // A target in other units or axes is accepted, although its answer is not what the caller meant.
  const isReadable = !found.findings.some(
    ({ severity, code }) => severity === 'PROBLEM' && !code.startsWith('TARGET_'),
  );
  const trial = isReadable ? await tryOneStep(request, context) : undefined;
  const refused = trial && 'code' in trial ? [trial] : [];
  const smallest = trial && 'seconds' in trial ? trial.seconds : undefined;
  const findings = [
    ...refused,
    ...found.findings,
    ...(smallest === undefined ? [] : [describeBudget(smallest, searchMs, target)]),
  ];
  return {
    ...found,
    accepted: isReadable && refused.length === 0,
    findings: findings.map((one) => ({ ...one, elements: one.elements.slice(0, maxElements) })),
    ...(leap === undefined ? {} : { leap }),
    ...(smallest === undefined ? {} : { smallestTimeBudgetSeconds: smallest }),
  };
}

/** The gap to which contacts of these parameters open nearer pairs (solver/cpu/contact-aims.ts, solver/cpu/candidates.ts). */
function openingOf({ method, quality, contactOffset, activationDistance }: Parameters): Opening | undefined {
  if (method === 'VOLUME_IMPULSES') return undefined;
  return quality === 'FAST'
    ? { gap: MIN_DELTA_SHARE * activationDistance, by: 'activationDistance' }
    : { gap: contactOffset, by: 'contactOffset' };
}

/**
 * The part of the floor that follows from rounding, as a resolve determines it (scene-frame.ts): vertices at rest do not count
 * where they alone would raise the floor.
 *
 * @param least the part that follows from δ
 */
function roundingOver(
  mesh: CollisionMesh,
  x: Positions,
  target: Positions,
  { medianEdge, bounds }: MeshMeasures,
  least: number,
): number {
  const scalar = scalarOf(x);
  const rounding = roundingOf(CoordinateFrame.fit(x, medianEdge, bounds), scalar);
  const resting = rounding <= least ? undefined : findResting(mesh, x, target);
  if (!resting) return rounding;
  const frame = CoordinateFrame.fit(x, medianEdge, resting.start);
  return roundingOf(frame, scalar, resting.roundingUnder(frame));
}

/** The seconds that one step of a resolve takes, checks included; a finding = the step is refused. */
async function tryOneStep(
  { mesh, positions, target, parameters = {} }: DiagnoseRequest,
  context: JobContext,
): Promise<{ readonly seconds: number } | DiagnosisFinding> {
  const begin = context.now();
  try {
    await resolveJob(
      {
        request: { mesh, start: positions, target: target ?? positions, parameters: { ...parameters, stepLimit: 1 } },
        receivedAt: begin,
        queuedAt: begin,
      },
      { ...context, onProgress: undefined, onState: undefined },
    );
    return { seconds: (context.now() - begin) / 1000 };
  } catch (thrown) {
    return refusal(thrown);
  }
}

/** A refusal of the input as a finding. @throws anything else */
function refusal(thrown: unknown): DiagnosisFinding {
  if (!(thrown instanceof IntersticeError) || thrown.code === 'CANCELLED' || thrown.retryable) throw thrown;
  const { code, message, details } = thrown.toPlain();
  return finding({
    code,
    severity: 'PROBLEM',
    count: 1,
    elements: details?.element ? [details.element] : [],
    message,
    advice: details?.hint ?? '',
  });
}

/** @param searchMs of a search for all intersections, as a check makes it; undefined = it ended early */
function describeBudget(
  seconds: number,
  searchMs: number | undefined,
  target: Positions | undefined,
): DiagnosisFinding {
  const resolve = target ? 'resolve of a single step' : 'resolve that moves nothing';
  const told = show(1000 * seconds);
  return finding({
    code: 'SMALLEST_TIME_BUDGET',
    severity: 'NOTE',
    count: 1,
    measure: seconds,
    unit: 'seconds',
    message:
      searchMs === undefined
        ? `A ${resolve} takes ${told} ms here.`
        : `One check takes ${show(searchMs)} ms here, a ${resolve} ${told} ms.`,
    advice: target
      ? 'A smaller time budget may end before the first step. The first request of a process takes longer than later ones, and in a session later steps cost less.'
      : 'A time budget must be longer than this; with a target the doctor measures a step as well.',
  });
}
