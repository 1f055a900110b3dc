import { IntersticeError } from '../errors.js';
import { buildMesh } from '../mesh/build.js';
import { measureMesh } from '../mesh/measure.js';
import { checkPositions, checkRange } from '../mesh/positions.js';
import type { MeshLimits, Positions } from '../mesh/types.js';
import { algorithmVersion } from '../paths.js';
import type { ResolveAnswer, ResolveRequest, Timings } from '../session/types.js';
import { Frame, floorOf } from '../solver/frame.js';
import { resolveParameters } from '../solver/parameters.js';
import type { Engine, Progress, Resolution, StepInput } from '../solver/types.js';
import type { PairRules } from '../verify/types.js';
import { chooseAnswer } from './answer.js';
import { Deadline, deadlineExceeded } from './deadline.js';
import type { Finding } from './finding.js';
import { buildReport } from './report.js';
import { checkRounding, checkStart, checkTouching } from './start-check.js';
import { StateTrail } from './state-trail.js';
import { NAMED_PAIRS, type Verifier } from './verifier.js';

/** One request with the moments that its time budget and its timings count from, ms of the shared clock. */
export interface ResolveTask {
  readonly request: ResolveRequest;
  /** the first byte of the request */
  readonly receivedAt: number;
  /** the request was decoded and stood in the queue */
  readonly queuedAt: number;
}

/** What a job is given to work with. */
export interface JobContext {
  readonly engine: Engine;
  readonly limits: MeshLimits;
  readonly allowUnverified: boolean;
  readonly verifier: Verifier;
  /** ms of the shared clock (clock.ts) */
  readonly now: () => number;
  /** the caller has gone away */
  readonly isCancelled: () => boolean;
  readonly onProgress?: ((progress: Progress) => void) | undefined;
  /** every state in the answer's scalar, start first, answer last; may hold the job up until the reader is ready */
  readonly onState?: ((positions: Positions) => void) | undefined;
  /** the verifier caught the engine; called before the answer is returned */
  readonly onFinding: (finding: Finding) => void;
}

/**
 * One resolve from the caller's numbers to the caller's numbers. Safe whatever the engine does: nothing is returned that
 * the verifier, on the very numbers returned, has not passed (unless it was told not to look).
 *
 * @throws IntersticeError: the mesh's, the parameters' and the start's refusals, DEADLINE_EXCEEDED, CANCELLED
 */
export async function resolveJob(task: ResolveTask, context: JobContext): Promise<ResolveAnswer> {
  const { engine, verifier, now } = context;
  const { request } = task;
  const { start, target } = request;
  const stopwatch = new Stopwatch(now);
  const queue = (stopwatch.startedAt - task.queuedAt) * 1000;
  const deadline = new Deadline(request.timeBudgetSeconds, request.onBudget ?? 'RETURN_SAFE', task.receivedAt, now);
  const checkpoint = (where: string) => {
    if (context.isCancelled()) throw new IntersticeError('CANCELLED', 'the caller went away');
    deadline.refuseIfOverAndHard(where);
  };
  deadline.refuseIfOver('in the queue');
  checkpoint('in the queue');

  const mesh = buildMesh(request.mesh, context.limits);
  checkPositions(start, mesh.vertexCount, 'start');
  checkPositions(target, mesh.vertexCount, 'target');
  checkRange(start, target, 'target');
  const measures = measureMesh(mesh, start);
  const { parameters, warnings } = resolveParameters(request.parameters, measures, context);
  const contactDistance = contactDistanceOf(request, parameters.activationDistance);
  const rules: PairRules = { kinematicPairs: parameters.kinematicPairs, maxPairs: NAMED_PAIRS };
  const frame = Frame.fit(start, measures.medianEdge, measures.bounds);
  const floor = floorOf(parameters.activationDistance, frame, scalarOf(target));
  const startEngine = frame.toEngine(start, 'start');
  const targetEngine = frame.toEngine(target, 'target');
  const upload = stopwatch.lap();
  checkpoint('before the start was checked');

  const images = { startEngine, targetEngine, start, target };
  const startFindings = checkStart(mesh, start, rules, verifier);
  let verify = stopwatch.lap();
  deadline.reserveAfter(verify / 1000);
  if (parameters.verify === 'PATH') checkTouching(mesh, start, rules, verifier);
  checkRounding(mesh, frame, images, rules, verifier);
  verify += stopwatch.lap();
  checkpoint('while the start was checked');

  const isCodimensional = mesh.edges.length / 2 > mesh.rodStart || mesh.particles.length > 0;
  const trail = new StateTrail({
    mesh,
    frame,
    images,
    rules,
    verifier,
    // An edge-triangle test has nothing to pierce where only rods and particles meet, so a state of theirs says nothing
    // of how they came there: their pieces are tested at STATE already.
    scope:
      parameters.verify === 'PATH'
        ? 'all'
        : parameters.verify === 'STATE' && isCodimensional
          ? 'codimensional'
          : undefined,
    onState: context.onState,
  });
  let pieces = 0;
  const resolution = await runEngine(context, () => engine.open(mesh, parameters, { scale: frame.scale, floor }), {
    x: startEngine,
    y: targetEngine,
    shouldStop: () => context.isCancelled() || trail.problem !== undefined || deadline.isDue(),
    ...(context.onProgress ? { onProgress: context.onProgress } : {}),
    onState: (x) => {
      const before = now();
      trail.accept(x);
      pieces += (now() - before) * 1000;
    },
  });
  stopwatch.lap();
  checkpoint('in the engine');
  if (request.onBudget === 'FAIL' && resolution.status === 'DEADLINE' && trail.problem === undefined) {
    throw deadlineExceeded('in the engine');
  }

  trail.finish(resolution.positions);
  const chosen = chooseAnswer({ mesh, start, startFindings, trail, parameters, rules, verifier });
  if (chosen.problem) {
    context.onFinding({
      ...chosen.problem,
      request,
      resolved: parameters,
      engine: engine.description.name,
      version: algorithmVersion,
    });
  }
  trail.announce(chosen.positions);
  verify += pieces + stopwatch.lap();

  const timings: Timings = {
    queue,
    decode: (task.queuedAt - task.receivedAt) * 1000,
    upload,
    ...resolution.timings,
    verify,
    readback: 0,
    encode: 0,
    total: 0,
  };
  const { report, vertices } = buildReport({
    mesh,
    measures,
    parameters,
    parameterWarnings: warnings,
    rules,
    scale: frame.scale,
    target,
    answer: chosen.positions,
    resolution,
    verification: chosen.verification,
    timings,
    engine: engine.description.name,
    verifier,
    isPerVertex: request.include?.vertices ?? false,
  });
  const contacts =
    contactDistance === undefined ? undefined : verifier.findContacts(mesh, chosen.positions, rules, contactDistance);
  checkpoint('while the answer was verified');
  // Mapping back is within "verify", piece by piece; what remains is measuring the answer for the report.
  timings.readback = stopwatch.lap();
  timings.total = (now() - task.receivedAt) * 1000;
  return { positions: chosen.positions, report, ...(contacts ? { contacts } : {}), ...(vertices ? { vertices } : {}) };
}

async function runEngine(
  context: JobContext,
  open: () => ReturnType<Engine['open']>,
  step: StepInput,
): Promise<Resolution> {
  const scene = await open();
  try {
    return await scene.resolve(step);
  } catch (thrown) {
    // An engine that was told to stop may say so by throwing; the caller's going away is the reason then.
    if (context.isCancelled()) throw new IntersticeError('CANCELLED', 'the caller went away', { cause: thrown });
    throw thrown;
  } finally {
    scene.close();
  }
}

/** 2 δ: what touches, and what is about to */
const CONTACT_DISTANCE_PER_DELTA = 2;

function contactDistanceOf({ include }: ResolveRequest, delta: number): number | undefined {
  if (!include?.contacts) return undefined;
  const distance = include.contactDistance ?? CONTACT_DISTANCE_PER_DELTA * delta;
  if (distance > 0 && distance < Infinity) return distance;
  throw new IntersticeError(
    'INVALID_PARAMETER',
    `include.contactDistance is ${distance}; it must be greater than 0 and finite`,
  );
}

function scalarOf(positions: Positions): 'FLOAT32' | 'FLOAT64' {
  return positions instanceof Float32Array ? 'FLOAT32' : 'FLOAT64';
}

class Stopwatch {
  readonly startedAt: number;
  private last: number;

  constructor(private readonly now: () => number) {
    this.startedAt = this.last = now();
  }

  /** µs since the last lap */
  lap(): number {
    const now = this.now();
    const lap = (now - this.last) * 1000;
    this.last = now;
    return lap;
  }
}
