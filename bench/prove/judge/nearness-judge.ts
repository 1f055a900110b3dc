import type { Positions } from '../../../src/contract/mesh.js';
import type { WireReport } from '../doors/door.js';
import type { Excused } from './promises.js';
import type { Find } from './question.js';
import type { Surface } from './surface.js';

/** The name of the promise. */
export const NEAR = 'the same target sent again brings a converged answer hardly nearer';

/**
 * The steps that end a run gained less than 1.4 % each, and what follows gains a small multiple of that. More
 * follows where a vertex creeps around an edge and then passes it, so that a smaller share would find what no rule excludes.
 */
const NEARER = 0.5;
/** A tenth of an edge by default, in δ: a vertex of a small mesh that passes an edge brings it nearer by less. */
const LEAST = 1;

/**
 * Warnings of answers that go on where their target is sent again: a target was moved, because it lies where numbers are
 * too coarse, or float32 certifies no gap, so that vertices wait for another state.
 */
const GOES_ON = ['TARGET_OUT_OF_RANGE', 'TOUCHING_PAIRS'];

/** The motions of two neighbours that differ by more leaps than this, on more than half of the edges, are scattered. */
const SCATTERED_LEAPS = 1.5;

/**
 * Whether an answer promises to be as near as the pull-back brings it (docs/guarantee.md, "What is promised"), so that
 * more steps towards the same target change little. Scattered targets end sooner, so they are left out (docs/method.md).
 *
 * @param start of the request
 */
export function isAsNearAsCanBe(surface: Surface, start: Positions, target: Positions, report: WireReport): boolean {
  const { status, resolved, warnings } = report;
  return (
    status === 'CONVERGED' &&
    resolved.quality !== 'FAST' &&
    resolved.preset === 'TUNED' &&
    resolved.method !== 'VOLUME_IMPULSES' &&
    !warnings?.some(({ code }) => GOES_ON.includes(code)) &&
    !areScattered(surface, start, target, resolved.leap)
  );
}

function areScattered({ lengths, kinematic }: Surface, start: Positions, target: Positions, leap: number): boolean {
  const free = lengths.filter(([a, b]) => !kinematic[a] || !kinematic[b]);
  const apart = ([a, b]: readonly number[]): number =>
    Math.hypot(...[0, 1, 2].map((c) => target[3 * a + c] - start[3 * a + c] - target[3 * b + c] + start[3 * b + c]));
  return free.filter((edge) => apart(edge) > SCATTERED_LEAPS * leap).length > free.length / 2;
}

/** An answer, for this judge. */
export interface NearAnswer {
  readonly report: WireReport;
  /** the pairs that its request may exclude; none unless it ignores pairs */
  readonly excused: Excused;
}

/**
 * An answer is not compared where the next request excludes pairs that the first one constrained: what has kept a vertex
 * from its target may intersect in the first answer, and then holds nothing.
 *
 * @param next the answer to the same target, sent again from the positions of `first`
 */
export function judgeNearness({ report: first, excused }: NearAnswer, again: NearAnswer, find: Find): void {
  if (!excused.includes(again.excused)) return;
  const { report: next } = again;
  const [before, after] = [first.distanceToTargetRms, next.distanceToTargetRms];
  const { activationDistance: delta } = first.resolved;
  if (after >= (1 - NEARER) * before || before - after <= LEAST * delta) return;
  const steps = `after ${first.steps} steps, and ${next.steps} more`;
  find(NEAR, `${before / delta} δ, then ${after / delta} δ ${steps}, ${first.status} then ${next.status}`);
}
