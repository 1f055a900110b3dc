import type { CollisionMesh } from '../../mesh/types.js';
import { distanceAt, isSameAt } from '../cpu/motion.js';
import type { PiecewiseRun } from '../piecewise-run.js';
import type { Settings } from '../settings.js';
import { Components, type Group, type Grouping } from './groups.js';
import { MovingElements } from './moving-elements.js';
import { NearPairs } from './near-pairs.js';
import { Piece, type PlannedGroup, type Surroundings } from './piece.js';
import { compose, NO_ROTATION, type Rotation } from './rotation.js';
import { Inertia } from './slide.js';
import { fitTwist, MEASURED_ERROR, Placement, shorten, type Twist, takesTo } from './twist.js';

/** Pieces of one request. */
const MAX_PIECES = 12;

/**
 * Groups move only if that reduces their distance from their targets to this share at most, as root mean squares. If
 * something blocks the way for good, the gain is not worth it, because the steps would then begin close to the obstacle.
 */
const WORTHWHILE = 0.5;

/** Groups have arrived if this share of their distance is left, or less: another plan could save no more than that. */
const ARRIVED = 0.02;

/**
 * A motion of up to this many leaps, root mean square, counts as short: steps make it with about as many searches, and
 * every round of sliding past an obstacle (piece.ts) costs about as much as a search.
 */
const SHORT_LEAPS = 2;

/** What was moved. */
export interface RigidMotions {
  /** linear pieces of the path; the end of each was reported as a state */
  readonly pieces: number;
  /** uint8[V] 0 = stayed at rest; n = moved by rotations[n − 1] and a shift */
  readonly label: Uint8Array;
  /** by group, from the first state to the last */
  readonly rotations: readonly Rotation[];
}

/**
 * Makes rigid motions before everything else. The cost of a body that walks or turns with its garments then depends on
 * its motion relative to its surroundings, not on the motion of every vertex relative to its trust box.
 *
 * A group of connected components moves in linear pieces x → z = fl(R x + t), each of at most a right angle. Every
 * piece is tested as a whole: within a group by an inequality on rounding alone (near-pairs.ts), between groups and
 * against elements at rest by planes (plane-test.ts). If no plane separates a pair, the *motion* is shortened or turned
 * aside (slide.ts), never the piece itself: halfway along its straight lines a group is contracted by up to cos(θ/2).
 * Nothing moves that was not tested in the very numbers that are written, so a run can end after any piece.
 */
export class RigidMotion {
  readonly #mesh: CollisionMesh;
  #components: Components | undefined;
  #elements: MovingElements | undefined;
  /** of #elements: kinematicPairs SKIP */
  #areSkipped = false;

  constructor(mesh: CollisionMesh) {
    this.#mesh = mesh;
  }

  /** Bytes kept between requests. */
  get bytes(): number {
    return this.#components?.bytes ?? 0;
  }

  /**
   * @param settings lengths in engine units
   * @returns undefined when nothing has moved, as under preset PAPER and with a leap of 0, which asks for short steps
   * @throws what `pulse` throws; nothing has moved then
   */
  move(
    settings: Settings,
    { x, target, excluded, pulse, mayContinue, onPiece }: PiecewiseRun,
  ): RigidMotions | undefined {
    if (settings.guard !== 'BOXES' || settings.leap === 0) return undefined;
    this.#components ??= new Components(this.#mesh);
    const grouping = this.#components.group(this.#mesh, x, target, settings.leap, MEASURED_ERROR * settings.floor);
    if (grouping.groups.length === 0) return undefined;
    const elements = this.#elementsFor(settings);
    const rests = this.#mesh.kinematic.map((flag, v) => (flag !== 0 && isSameAt(x, target, 3 * v) ? 1 : 0));
    const around = { x, rests, target, excluded, pulse };
    let best: Plan;
    try {
      best = this.#try(settings, elements, grouping, around, false);
      if (best.isObstructed && best.left > ARRIVED) {
        const other = this.#try(settings, elements, grouping, around, true);
        if (other.left < best.left) best = other;
      }
    } finally {
      elements.free();
    }
    const { states, rotations, left } = best;
    if (left > WORTHWHILE) return undefined;
    let pieces = 0;
    for (const state of states) {
      if (!mayContinue()) break;
      x.set(state);
      pieces++;
      onPiece(x);
    }
    return pieces === states.length ? { pieces, label: grouping.label, rotations } : undefined;
  }

  /** Plans motions. @param triesPlanes see PlaneTest @returns a plan that must not be made has Infinity left */
  #try(
    settings: Settings,
    elements: MovingElements,
    grouping: Grouping,
    around: Surroundings,
    triesPlanes: boolean,
  ): Plan {
    const planned = plan(settings, elements, grouping, around, triesPlanes);
    const { x, rests, target } = around;
    const { states } = planned;
    const last = states[states.length - 1];
    const mayBeMade =
      last !== undefined &&
      !carriesOff(this.#mesh, grouping, x, last, target, settings.leap) &&
      // Only a near pair that was moved apart can have taken such a vertex from its place (piece.ts).
      !rests.some((flag, v) => flag === 1 && states.some((state) => !isSameAt(state, x, 3 * v)));
    return { ...planned, left: mayBeMade ? shareLeft(grouping, x, last, target) : Number.POSITIVE_INFINITY };
  }

  #elementsFor({ skipKinematicPairs }: Settings): MovingElements {
    if (!this.#elements || this.#areSkipped !== skipKinematicPairs) {
      this.#elements = new MovingElements(this.#mesh, skipKinematicPairs);
      this.#areSkipped = skipKinematicPairs;
    }
    return this.#elements;
  }
}

/** Rigid motions that may be made. */
interface Plan {
  /** the ends of the pieces, each from the last one */
  readonly states: readonly Float32Array[];
  /** by group, from x to the last end */
  readonly rotations: readonly Rotation[];
  /** whether a motion met something */
  readonly isObstructed: boolean;
  /** see {@link shareLeft} */
  readonly left: number;
}

function plan(
  settings: Settings,
  elements: MovingElements,
  grouping: Grouping,
  around: Surroundings,
  triesPlanes: boolean,
): Omit<Plan, 'left'> {
  const { x, target, excluded, pulse } = around;
  const rotations: Rotation[] = grouping.groups.map(() => NO_ROTATION);
  let isObstructed = false;
  const { label } = grouping;
  // A piece brings a pair that is a floor apart nearer by at most a quarter of it, so an unlisted pair stays apart in
  // later pieces, too.
  const radius = (1 + MAX_PIECES / 4) * settings.floor;
  const near = new NearPairs(elements, x, label, radius, excluded, pulse);
  const states: Float32Array[] = [];
  for (let from = x; states.length < MAX_PIECES; from = states[states.length - 1]) {
    const piece = new Piece(settings, elements, near, label, { ...around, x: from }, triesPlanes);
    const isMade = piece.run(planPiece(grouping, from, target, settings)) !== undefined;
    isObstructed ||= piece.isObstructed;
    if (!isMade) break;
    states.push(piece.z);
    for (const [g, placement] of piece.placements.entries()) {
      if (placement) rotations[g] = compose(placement.rotation, rotations[g]);
    }
  }
  return { states, rotations, isObstructed };
}

/**
 * Returns the wanted motion of every group: its best motion from here, unless that is shorter than δ, root mean square.
 */
function planPiece({ groups }: Grouping, x: Float32Array, target: Float32Array, settings: Settings): PlannedGroup[] {
  const { delta, leap } = settings;
  return groups.map((group) => {
    const { vertices } = group;
    const wish = shorten(motionOf(group, x, target, settings), 1);
    const inertia = new Inertia(vertices, x, wish.centre);
    const way = inertia.common(wish, wish);
    return { vertices, inertia, wish, rests: way < delta, isShort: way <= SHORT_LEAPS * leap };
  });
}

/**
 * Returns the best motion of a group: the one that brings its vertices nearest to their targets, by least squares. If a
 * pull-back follows and the kinematic components of the group move rigidly, up to the rounding that {@link place}
 * corrects, it is the motion of these components alone. Garments are never exactly at their targets, so a fit that
 * includes them would miss the targets of the body by a little. Steps of Algorithm 1 would then move the body there,
 * and their contact distance would push the garments away from where the last answer had brought them.
 */
function motionOf(
  { vertices, prescribed }: Group,
  x: Float32Array,
  target: Float32Array,
  { pullBack, floor }: Settings,
): Twist {
  if (pullBack && prescribed.length > 0) {
    const twist = fitTwist(prescribed, x, target);
    if (takesTo(prescribed, new Placement(twist), x, target, MEASURED_ERROR * floor)) return twist;
  }
  return fitTwist(vertices, x, target);
}

/** How far the groups are from their targets at the end, as a share of how far they were, root mean squares. */
function shareLeft({ groups }: Grouping, start: Float32Array, end: Float32Array, target: Float32Array): number {
  let before = 0;
  let after = 0;
  for (const { vertices } of groups) {
    for (const v of vertices) {
      before += distanceAt(start, target, 3 * v) ** 2;
      after += distanceAt(end, target, 3 * v) ** 2;
    }
  }
  return Math.sqrt(after / before);
}

/**
 * Whether a kinematic vertex ends more than a leap farther from its target than it was. Groups are chosen by their
 * complete motion (groups.ts); a group that stops or turns aside on the way may leave kinematic vertices far from their
 * targets.
 *
 * @param leap engine units
 */
function carriesOff(
  { kinematic }: CollisionMesh,
  { groups }: Grouping,
  start: Float32Array,
  end: Float32Array,
  target: Float32Array,
  leap: number,
): boolean {
  return groups.some(({ vertices }) =>
    vertices.some(
      (v) => kinematic[v] !== 0 && distanceAt(end, target, 3 * v) > distanceAt(start, target, 3 * v) + leap,
    ),
  );
}
