import type { Parameters } from '../contract/parameters.js';
import { ExcludedPairs } from '../mesh/excluded-pairs.js';
import type { CollisionMesh } from '../mesh/types.js';
import type { Engine, EnginePositions, EngineUnits, StepInput } from '../solver/engine.js';
import { type Budget, type Ended, whyGivenUp } from './budget.js';
import type { RegionsLeftOut } from './left-out.js';

/**
 * In the pull-back, what was not pushed is so many times as heavy. A limit of an edge between two vertices moves the heavy one by a
 * thousandth of what it moves the other: a push of some edges, 10 δ each, leaves it within a share of δ.
 */
const HEAVIER = 1000;

export interface PullBack {
  readonly engine: Engine;
  readonly mesh: CollisionMesh;
  readonly parameters: Parameters;
  readonly units: EngineUnits;
  readonly budget: Budget;
  readonly isPushed: (v: number) => boolean;
}

export interface Pulled {
  /** undefined = it was given up before a state was found */
  readonly x: EnginePositions | undefined;
  readonly ended: Ended | undefined;
}

/**
 * Draws a state towards the start by an ordinary resolve, whose limits are the lengths of edges at rest.
 *
 * Safety. Of a state that is free nothing is left out. Of another one the five proximity pairs of every pair that intersects in
 * it are left out, and nothing else, and the vertices of these pairs are fixed (CollisionMesh.inverseMasses) with their places as targets.
 * They keep their bits in every state of the resolve: no row of a step moves a vertex without inverse mass; of the pieces before
 * the first step, flights take vertices with far targets only, and groups have no component with a fixed vertex (solver/rigid/groups.ts).
 *
 * An edge and a triangle that are free can begin to intersect only when one of their five proximity pairs is at distance 0. One that
 * is not left out never is, since the engine bounds it. One that is left out has none but fixed vertices, so its distance does not
 * change, and it was above 0, or the two would not have been free. A pair that intersected has none but fixed vertices either. So what
 * intersects after it is what intersected before, but for the rounding to the numbers that are sent, in which pierces are counted.
 *
 * @param leftOut of a state with intersections: the pairs that intersect, and no regions
 */
export async function pullBack(
  { engine, mesh, parameters, units, budget, isPushed }: PullBack,
  x: EnginePositions,
  start: EnginePositions,
  leftOut: RegionsLeftOut | undefined,
  recorder: Pick<StepInput, 'onState'>,
): Promise<Pulled> {
  // What was not pushed is heavy, so that what was pushed keeps the limits of the edges between the two.
  const inverseMasses = mesh.inverseMasses.map((w, v) => (isPushed(v) ? w : w / HEAVIER));
  const y = start.slice();
  for (const { a, b } of leftOut?.items ?? []) {
    for (const v of [...a, ...b]) {
      inverseMasses[v] = 0;
      y.set(x.subarray(3 * v, 3 * v + 3), 3 * v);
    }
  }
  try {
    const scene = await engine.open({ ...mesh, inverseMasses }, { ...parameters, method: 'TWO_WAY' }, units);
    try {
      const { positions, status } = await scene.resolve({
        x,
        y,
        // Listed, since an engine may take lists only.
        ...(leftOut ? { excluded: new ExcludedPairs(leftOut.items) } : {}),
        ...budget.interrupts(),
        ...recorder,
      });
      const ended = status === 'DEADLINE' ? (budget.whyOver() ?? 'TIME_BUDGET') : undefined;
      return { x: positions.slice(), ended };
    } finally {
      scene.close();
    }
  } catch (thrown) {
    return { x: undefined, ended: whyGivenUp(thrown) };
  }
}
