import type { CollisionMesh } from '../mesh/types.js';
import {
  LEAST_PROGRESS,
  ON_ITS_WAY,
  SCATTERED_LEAPS,
  SCATTERED_MIN_GAIN,
  SCATTERED_MOTION,
  SCATTERED_SHARE,
  SCATTERED_VERTICES,
} from './constants.js';
import { cheapPairsOf } from './pair-budget.js';
import type { PullBackSettings, Settings } from './settings.js';

/** The pull-back of one request: the settings, adapted to its targets. */
export interface PullBackPlan extends PullBackSettings {
  /**
   * whether it begins once the kinematic vertices have arrived, and continues while a vertex travels to a distant
   * target; otherwise it begins when Algorithm 1 ends, and only its merit decides
   */
  readonly isEarly: boolean;
  /** longest motion of a step, engine units */
  readonly longest: number;
  /**
   * pairs of P up to which a step is as cheap as most: with k times as many pairs it must gain k times as much
   * (pair-budget.ts)
   */
  readonly cheapPairs: number;
  /**
   * the mesh is on its way (ON_ITS_WAY) while the root of Σ m |x − y*|² is more, engine units; infinite where targets are
   * scattered
   */
  readonly far: number;
  /** 2 s √Σm, engine units, with s the least progress of a step on the way (LEAST_PROGRESS) */
  readonly progress: number;
}

/**
 * If targets are scattered (areTargetsScattered), the pull-back follows Algorithm 1 instead of replacing it.
 *
 * A step of the pull-back rebuilds y from y*, so vertices that obstruct each other push each other back in every step,
 * and because their motions have nothing in common, none of them advances. In Algorithm 1 y keeps the pushes, so one of
 * them yields. A mesh whose parts travel far as a whole gains nothing by that: the pull-back brings it as near in fewer
 * steps.
 *
 * The pull-back then begins with a tangle in which no vertex has room for a leap, so steps are short: their boxes
 * contain few pairs, and σ is met sooner, because ends that are torn apart stretch their edge less before the sweeps
 * pull them together. It also ends early: the vertices would creep past each other for as long as permitted, while the
 * gain of a step falls and it costs more and more pairs. The steps of a small mesh are cheap, so it ends later.
 *
 * @param x float32[3·V] engine units, the state before the first step
 * @param target float32[3·V] y*
 * @returns undefined = Algorithm 1 alone
 */
export function planPullBack(
  mesh: Pick<CollisionMesh, 'edges' | 'innerEdges' | 'inverseMasses' | 'contactVertices'>,
  { pullBack, leap, reach, delta }: Pick<Settings, 'pullBack' | 'leap' | 'reach' | 'delta'>,
  x: Float32Array,
  target: Float32Array,
): PullBackPlan | undefined {
  if (!pullBack) return undefined;
  const longest = leap > 0 ? leap : reach;
  const vertices = mesh.contactVertices.length;
  const cheapPairs = cheapPairsOf(vertices);
  const mass = Math.sqrt(massOf(mesh.inverseMasses));
  const way = { far: ON_ITS_WAY * longest * mass, progress: 2 * LEAST_PROGRESS * delta * mass };
  if (!areTargetsScattered(mesh, x, target, longest))
    return { ...pullBack, isEarly: true, longest, cheapPairs, ...way };
  const factor = Math.max(1, SCATTERED_MIN_GAIN * Math.min(1, vertices / SCATTERED_VERTICES));
  const { finer } = pullBack;
  return {
    ...pullBack,
    minGain: factor * pullBack.minGain,
    finer: finer && { ...finer, minGain: factor * finer.minGain },
    isEarly: false,
    longest: Math.min(longest, SCATTERED_MOTION * delta),
    cheapPairs,
    ...way,
    far: Number.POSITIVE_INFINITY,
  };
}

/** Σ m over dynamic vertices. */
function massOf(inverseMasses: Float32Array): number {
  let sum = 0;
  for (const w of inverseMasses) if (w > 0) sum += 1 / w;
  return sum;
}

/**
 * Whether targets tear neighbours apart or bring them together at random: for most edges the motions d = y* − x of the
 * two ends differ by more than SCATTERED_LEAPS leaps. Edges that cannot move do not count.
 *
 * @param leap the longest motion of a step, engine units
 */
function areTargetsScattered(
  { edges, innerEdges, inverseMasses }: Pick<CollisionMesh, 'edges' | 'innerEdges' | 'inverseMasses'>,
  x: Float32Array,
  target: Float32Array,
  leap: number,
): boolean {
  const least = SCATTERED_LEAPS * leap;
  let count = 0;
  let scattered = 0;
  for (const ends of [edges, innerEdges]) {
    for (let e = 0; e < ends.length; e += 2) {
      const i = ends[e];
      const j = ends[e + 1];
      if (inverseMasses[i] === 0 && inverseMasses[j] === 0) continue;
      let squared = 0;
      for (let c = 0; c < 3; c++) {
        squared += (target[3 * i + c] - x[3 * i + c] - (target[3 * j + c] - x[3 * j + c])) ** 2;
      }
      count++;
      if (Math.sqrt(squared) > least) scattered++;
    }
  }
  return scattered > SCATTERED_SHARE * count;
}
