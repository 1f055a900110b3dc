import type { LeftOutPairs } from '../../mesh/left-out-pairs.js';
import { isSameAt } from '../cpu/motion.js';
import { SIDE_A } from '../pair-kinds.js';
import type { Settings } from '../settings.js';
import type { MovingElements } from './moving-elements.js';
import type { NearPairs } from './near-pairs.js';
import { PlaneTest } from './plane-test.js';
import type { Vector } from './rotation.js';
import { type Inertia, type Obstacle, type Side, slidePast } from './slide.js';
import { Placement, place, reachOf, shorten, type Twist } from './twist.js';

/** Attempts to slide past obstacles; afterwards the groups that still meet something stay at rest. */
const ROUNDS = 8;

/** A motion for which more pairs than this fail leads too far through an obstacle and is halved. */
const MANY_OBSTACLES = 256;

/**
 * A group stays at rest if a piece would move it by less than this share of its way: it is blocked and cannot slide
 * past.
 */
const MIN_SHARE = 0.2;

/**
 * The factor by which the motion of a group is shortened if rounding brings a pair too near, and the number of times;
 * then the group stops.
 */
const NEAR_SHARE = 0.9;
const MAX_NEAR_FAILURES = 7;

/** A group of a piece: its vertices and its wanted motion. */
export interface PlannedGroup {
  readonly vertices: Uint32Array;
  readonly inertia: Inertia;
  readonly wish: Twist;
  /** whether the group does not move */
  readonly rests: boolean;
  /** whether a few steps would move it as far, so that a piece is worthwhile only if the way is free, or nearly free */
  readonly isShort: boolean;
}

/** The obstacles of a motion, found before the near pairs of its groups are tested. */
interface LookedAhead {
  /** groups, by index */
  readonly met: Set<number>;
  /** undoes what the test has recorded */
  readonly forget: () => void;
}

/** The state in which groups move, and the request. */
export interface Surroundings {
  /** float32[3·V] the state */
  readonly x: Float32Array;
  /** uint8[V] 1 = kinematic, with its place in the start as its target: the vertex must keep its bits */
  readonly rests: Uint8Array;
  readonly target: Float32Array;
  readonly excluded: LeftOutPairs | undefined;
  readonly pulse: () => void;
}

/** Decides how far every group moves in one linear piece from x, and the numbers at which it ends. */
export class Piece {
  /** float32[3·V] where the piece ends */
  readonly z: Float32Array;
  /** by group; undefined = the group keeps its bits */
  placements: readonly (Placement | undefined)[] = [];

  readonly #settings: Settings;
  readonly #elements: MovingElements;
  readonly #near: NearPairs;
  readonly #label: Uint8Array;
  readonly #around: Surroundings;
  /** by group: the share of its wanted motion that it may attempt */
  #shares: number[] = [];
  #nearFailures: number[] = [];
  readonly #obstacles: Obstacle[] = [];
  readonly #triesPlanes: boolean;
  /** whether a motion met something, and a better way past that would have been worthwhile */
  isObstructed = false;

  /** @param triesPlanes see PlaneTest */
  constructor(
    settings: Settings,
    elements: MovingElements,
    near: NearPairs,
    label: Uint8Array,
    around: Surroundings,
    triesPlanes: boolean,
  ) {
    this.#settings = settings;
    this.#triesPlanes = triesPlanes;
    this.#elements = elements;
    this.#near = near;
    this.#label = label;
    this.#around = around;
    this.z = new Float32Array(around.x.length);
  }

  /**
   * Tries motions until every test passes for z as it is written. Each failed attempt adds rows, shortens a motion or
   * stops a group for good, so the loop ends.
   *
   * @returns the twist of every group; undefined = nothing can move
   */
  run(plans: readonly PlannedGroup[]): readonly Twist[] | undefined {
    this.#shares = plans.map(({ rests }) => (rests ? 0 : 1));
    this.#nearFailures = plans.map(() => 0);
    for (let round = 0, isFirst = true; this.#shares.some((share) => share > 0); isFirst = false) {
      const wishes = plans.map(({ wish }, g) => shorten(wish, this.#shares[g]));
      const inertias = plans.map(({ inertia }, g) => (this.#shares[g] > 0 ? inertia : undefined));
      const slid = slidePast(wishes, inertias, this.#obstacles);
      if (this.#stopSlow(plans, slid)) continue;
      const twists = slid.map((twist, g) => shorten(twist, this.#shares[g] > 0 ? 1 : 0));
      if (!this.#placeAll(plans, twists)) continue;
      let ahead: LookedAhead | undefined;
      if (isFirst && !this.#near.areListed) {
        ahead = this.#lookAhead(plans, twists);
        if (!ahead) {
          // Steps take over, which a better way past the obstacle would not save.
          this.isObstructed = false;
          return undefined;
        }
      }
      const near = this.#settleNear(twists);
      const hasFailed = near.fails.includes(true);
      // Obstacles on the way to other numbers do not count.
      if (ahead && (hasFailed || near.hasMoved)) ahead.forget();
      if (hasFailed) {
        this.#shortenAll(near.fails);
        continue;
      }
      const met = ahead && !near.hasMoved ? ahead.met : this.#meet(twists);
      if (met.size === 0) return twists;
      round++;
      for (const g of met) {
        if (round > ROUNDS) this.#shares[g] = 0;
        else if (this.#tooMany && round > 2) this.#shares[g] /= 2;
      }
    }
    return undefined;
  }

  /** Stops the groups that would hardly advance. @returns whether there are any */
  #stopSlow(plans: readonly PlannedGroup[], twists: readonly Twist[]): boolean {
    let hasStopped = false;
    for (const [g, { inertia, wish }] of plans.entries()) {
      if (this.#shares[g] === 0 || inertia.common(twists[g], wish) ** 2 >= MIN_SHARE * inertia.common(wish, wish) ** 2)
        continue;
      this.#shares[g] = 0;
      hasStopped = true;
    }
    return hasStopped;
  }

  /**
   * Writes x to z, and the images under the twists for the groups.
   *
   * @returns false if one leads beyond the coordinates that the floor covers, or takes away a vertex that rests: such a
   *   group stays where it is
   */
  #placeAll(plans: readonly PlannedGroup[], twists: readonly Twist[]): boolean {
    const { x, target, rests } = this.#around;
    const { floor } = this.#settings;
    const reach = reachOf(floor);
    this.z.set(x);
    let isWithin = true;
    this.placements = plans.map(({ vertices }, g) => {
      if (this.#shares[g] === 0) return undefined;
      const placement = new Placement(twists[g]);
      place(vertices, placement, x, target, floor, this.z);
      let largest = 0;
      let takesAway = false;
      for (const v of vertices) {
        for (let k = 3 * v; k < 3 * v + 3; k++) largest = Math.max(largest, Math.abs(this.z[k]));
        takesAway ||= rests[v] === 1 && !isSameAt(this.z, target, 3 * v);
      }
      if (takesAway) {
        this.#shares[g] = 0;
        isWithin = false;
        return undefined;
      }
      if (!(largest <= reach)) {
        this.#shares[g] = shareWithin(this.#shares[g], largest, reach);
        isWithin = false;
      }
      return placement;
    });
    return isWithin;
  }

  /**
   * Tests the whole motion against other groups before the near pairs are searched for. If it leads too far through an
   * obstacle, and a few steps would move every group as far, nothing moves, because sliding past the obstacle would
   * take more rounds than steps.
   *
   * @returns the obstacles, and a function that forgets them; undefined = no group moves
   */
  #lookAhead(plans: readonly PlannedGroup[], twists: readonly Twist[]): LookedAhead | undefined {
    const shares = this.#shares.slice();
    const { length } = this.#obstacles;
    const met = this.#meet(twists);
    if (this.#tooMany && plans.every(({ isShort }) => isShort)) return undefined;
    const forget = (): void => {
      this.#shares = shares;
      this.#obstacles.length = length;
    };
    return { met, forget };
  }

  #settleNear(twists: readonly Twist[]): ReturnType<NearPairs['settle']> {
    const { x } = this.#around;
    const spins = twists.map(({ spin }) => spin);
    return this.#near.settle(x, this.z, this.#label, this.placements, spins, this.#settings.floor);
  }

  #shortenAll(fails: readonly boolean[]): void {
    for (const [g, isFailing] of fails.entries()) {
      if (!isFailing) continue;
      this.#nearFailures[g]++;
      this.#shares[g] = this.#nearFailures[g] > MAX_NEAR_FAILURES ? 0 : this.#shares[g] * NEAR_SHARE;
    }
  }

  #tooMany = false;

  /**
   * Tests every pair of different groups of which one moves; two that stay where they are end as near as they began. So
   * every pair that fails has a group that moves, and a walk that ends early has found one.
   *
   * @returns the groups, by index, of pairs that would meet; none = no pair does
   */
  #meet(twists: readonly Twist[]): Set<number> {
    const { x, excluded, pulse } = this.#around;
    const { floor, delta } = this.#settings;
    const planes = new PlaneTest(x, this.z, floor, this.#triesPlanes);
    // By label; 0 rests.
    const moves = [false, ...this.placements.map((placement) => placement !== undefined)];
    const met = new Set<number>();
    let count = 0;
    const test = (kind: number, v0: number, v1: number, v2: number, v3: number): boolean => {
      const a = this.#label[v0];
      const b = this.#label[SIDE_A[kind] === 1 ? v1 : v2];
      if ((!moves[a] && !moves[b]) || planes.passes(kind, v0, v1, v2, v3)) return true;
      const groups = [a - 1, b - 1];
      const moving = groups.filter((g) => moves[g + 1]);
      for (const g of moving) met.add(g);
      count++;
      // No direction separates the pair at x already, so no row can lead past it.
      if (!(planes.gap > 0)) for (const g of moving) this.#shares[g] = 0;
      else this.#obstacles.push(this.#obstacleOf(planes, groups, twists, delta));
      return count < MANY_OBSTACLES;
    };
    this.#elements.forEachMeeting(x, this.z, this.#label, floor, excluded, test, pulse);
    this.#tooMany = count >= MANY_OBSTACLES;
    this.isObstructed ||= count > 0;
    return met;
  }

  /** Returns the pair that failed last, as a row: it must stay δ apart, or as far apart as it is now. */
  #obstacleOf(planes: PlaneTest, [a, b]: readonly number[], twists: readonly Twist[], delta: number): Obstacle {
    const [nx, ny, nz] = planes.normal;
    const normal: Vector = [nx, ny, nz];
    return {
      normal,
      a: this.#sideOf(a, planes.cornerA, normal, twists),
      b: this.#sideOf(b, planes.cornerB, normal, twists),
      room: planes.room - Math.min(planes.gap, delta),
    };
  }

  #sideOf(group: number, vertex: number, [nx, ny, nz]: Vector, twists: readonly Twist[]): Side {
    const { x } = this.#around;
    const k = 3 * vertex;
    const at: Vector = [x[k], x[k + 1], x[k + 2]];
    if (group < 0 || this.#shares[group] === 0) return { group: -1, at, beyond: 0 };
    const { centre, shift, spin } = twists[group];
    const [a, b, c] = [at[0] - centre[0], at[1] - centre[1], at[2] - centre[2]];
    const first = [
      shift[0] + spin[1] * c - spin[2] * b,
      shift[1] + spin[2] * a - spin[0] * c,
      shift[2] + spin[0] * b - spin[1] * a,
    ];
    const moved = [this.z[k] - at[0] - first[0], this.z[k + 1] - at[1] - first[1], this.z[k + 2] - at[2] - first[2]];
    return { group, at, beyond: nx * moved[0] + ny * moved[1] + nz * moved[2] };
  }
}

/**
 * Returns a smaller share of a motion that would lead to a coordinate of size `largest`, such that it ends within
 * `reach`.
 */
function shareWithin(share: number, largest: number, reach: number): number {
  const next = Math.min(share / 2, (share * reach) / largest);
  return next > 2 ** -40 ? next : 0;
}
