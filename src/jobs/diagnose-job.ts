import type { DiagnoseRequest, Diagnosis, DiagnosisFinding } from '../contract/diagnosis.js';
import { cancelled, IntersticeError } from '../contract/errors.js';
import type { Positions } from '../contract/mesh.js';
import { findEverything } from '../diagnose/diagnose.js';
import { finding, show } from '../diagnose/subject.js';
import { buildMesh } from '../mesh/build.js';
import { measureMesh } from '../mesh/measure.js';
import { scalarOf } from '../mesh/positions.js';
import type { CollisionMesh } from '../mesh/types.js';
import { CoordinateFrame, roundingOf } from '../solver/frame.js';
import { resolveParameters } from '../solver/parameters.js';
import { rangeOfDistances } from '../solver/part-distances.js';
import type { JobContext } from './job-run.js';
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
      const frame = CoordinateFrame.fit(x, measures.medianEdge, measures.bounds);
      const { smallest } = rangeOfDistances(built, all.activationDistance);
      const floor = Math.max(smallest / FLOOR_SHARE, roundingOf(frame, scalarOf(x)));
      return { ...all, floor };
    } catch (thrown) {
      return refusal(thrown);
    }
  };
  const { searchMs, ...found } = findEverything(
    {
      ...{ mesh, positions, target, maxElements, kinematicPairs: parameters.kinematicPairs ?? 'SKIP' },
      ignoresIntersections: parameters.onIntersectingStart === 'IGNORE_PAIRS',
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

function describeBudget(seconds: number, searchMs: number, target: Positions | undefined): DiagnosisFinding {
  return finding({
    code: 'SMALLEST_TIME_BUDGET',
    severity: 'NOTE',
    count: 1,
    measure: seconds,
    unit: 'seconds',
    message: `One check takes ${show(searchMs)} ms here, ${target ? 'a resolve of a single step' : 'a resolve that moves nothing'} ${show(1000 * seconds)} ms.`,
    advice: target
      ? 'A smaller time budget may end before the first step. The first request of a process takes longer than later ones, and in a session later steps cost less.'
      : 'A time budget must be longer than this; with a target the doctor measures a step as well.',
  });
}
