import type { Parameters } from '../contract/parameters.js';
import { ExcludedPairs } from '../mesh/excluded-pairs.js';
import type { CollisionMesh } from '../mesh/types.js';
import type { Engine, EnginePositions, EngineUnits, StepInput } from '../solver/engine.js';
import { type Budget, type Ended, whyGivenUp } from './budget.js';
import type { RegionsLeftOut } from './left-out.js';

/**
 * In the pull-back, vertices that were not pushed have this many times their mass. The limit of an edge then moves the
 * heavy end by a thousandth of the motion of the other end: after a push by some edges, of 10 δ each, it remains within
 * a fraction of δ.
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
  /** undefined if the pull-back ended before it had a state */
  readonly x: EnginePositions | undefined;
  readonly ended: Ended | undefined;
}

/**
 * Pulls a state towards the start by an ordinary resolve, whose edge limits refer to the lengths at rest.
 *
 * Safety. For a free state no pair is left out. For another state the five proximity pairs of every intersecting pair
 * are left out, and no others, and the vertices of these pairs are fixed (CollisionMesh.inverseMasses), with their
 * positions as targets. They keep their bits in every state of the resolve: no row of a step moves a vertex without
 * inverse mass; of the pieces before the first step, flights move only vertices with distant targets, and groups
 * contain no component with a fixed vertex (solver/rigid/groups.ts).
 *
 * An edge and a triangle that do not intersect can begin to do so only when one of their five proximity pairs is at
 * distance 0. A proximity pair that is not left out never is, because the engine bounds it. A proximity pair that is
 * left out has only fixed vertices, so its distance does not change, and it was above 0, because otherwise the edge and
 * the triangle would have intersected. A pair that intersects at the beginning has only fixed vertices, too. So exactly
 * the same pairs intersect afterwards, except for the rounding to the numbers that are sent, in which pierces are
 * counted.
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
  // Vertices that were not pushed are heavy, so that the pushed ones give way to the limits of the edges between them.
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
        // As a list, because some engines accept only lists.
        ...(leftOut ? { excluded: new ExcludedPairs(leftOut.items, budget.pulse) } : {}),
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
