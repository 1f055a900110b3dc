import { buildMesh } from '../../../src/mesh/build.js';
import { measureMesh } from '../../../src/mesh/measure.js';
import type { CollisionMesh } from '../../../src/mesh/types.js';
import { CoordinateFrame, floorOf } from '../../../src/solver/frame.js';
import { resolveParameters } from '../../../src/solver/parameters.js';
import { toSettings } from '../../../src/solver/settings.js';
import { testPath } from '../../../src/verify/path.js';
import { findIntersections } from '../../../src/verify/state.js';
import { type AnswerMeasures, measureAnswer } from '../measure-answer.js';
import type { Pair } from '../scenes.js';
import { Algorithm1, type Answer } from './algorithm-1.js';
import type { Variant } from './variants.js';

/** One step of a run. */
export interface StepRecord {
  /** ‖r‖∞ */
  readonly residual: number;
  /** vertices with r ≥ ε */
  readonly unfinished: number;
  /** processor time, ms */
  readonly cost: number;
}

/** A run of a variant, and the verifier's verdict. */
export interface Played extends AnswerMeasures, Pick<Answer, 'status' | 'steps' | 'searches'> {
  readonly variant: Variant;
  readonly records: readonly StepRecord[];
  /** processor time of the run, ms */
  readonly cost: number;
  /** pieces of the path with a collision */
  readonly collidingPieces: number;
  /** pairs of elements that intersect in the answer */
  readonly intersections: number;
}

const PAIRS = { kinematicPairs: 'SKIP', maxPairs: 1 } as const;

/**
 * The settings, start and target of a variant in a scene, in engine units. δ is a tenth of an edge, as in preset TUNED.
 */
export function prepare({ mesh: input, start, target }: Pair, variant: Variant) {
  const mesh: CollisionMesh = buildMesh(input);
  const measures = measureMesh(mesh, start);
  const frame = CoordinateFrame.fit(start, measures.medianEdge, measures.bounds);
  const { activationDistance } = resolveParameters({}, measures).parameters;
  const { parameters } = resolveParameters({ preset: 'PAPER', activationDistance, ...variant.parameters }, measures);
  const units = { scale: frame.scale, floor: floorOf(parameters.activationDistance, frame, 'FLOAT64') };
  const settings = toSettings(parameters, units);
  const edge = measures.medianEdge * frame.scale;
  return { mesh, parameters, units, settings, edge, x: frame.toEngine(start), y: frame.toEngine(target) };
}

/**
 * @param stepLimit L: runs end after a number of steps and not of seconds, so that everything except their cost is
 *   reproducible
 */
export function play(pair: Pair, variant: Variant, stepLimit: number): Played {
  const { mesh, settings, edge, x, y } = prepare(pair, variant);
  const states: Float32Array[] = [x];
  const records: StepRecord[] = [];
  const began = process.cpuUsage();
  let since = began;
  const run = new Algorithm1(
    mesh,
    { ...settings, stepLimit },
    {
      ...{ x, y },
      onState: (state) => void states.push(state.slice()),
      onProgress: ({ residual, unfinishedVertices: unfinished }) => {
        records.push({ residual, unfinished, cost: process.cpuUsage(since).user / 1000 });
        since = process.cpuUsage();
      },
    },
    variant.ablation ?? {},
  );
  const { status, positions, steps, searches } = run.run();
  const cost = process.cpuUsage(began).user / 1000;
  let collidingPieces = 0;
  for (let k = 1; k < states.length; k++) {
    if (!testPath(mesh, states[k - 1], states[k], PAIRS).pathFree) collidingPieces++;
  }
  const { intersectionCount: intersections } = findIntersections(mesh, positions, PAIRS);
  const measures = measureAnswer(mesh, positions, y, edge);
  return { variant, status, steps, searches, records, cost, collidingPieces, intersections, ...measures };
}
