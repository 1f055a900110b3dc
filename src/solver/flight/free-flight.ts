import type { CollisionMesh } from '../../mesh/types.js';
import { KEPT, PASSIVE } from '../constants.js';
import { cutoffOver } from '../cpu/box-separation.js';
import { distanceAt, isSameAt } from '../cpu/motion.js';
import { PairSet } from '../cpu/pair-set.js';
import { type PairRules, ProximitySearch, SearchTrees } from '../cpu/search.js';
import { PairBudgetExceeded } from '../cpu/walk.js';
import { eitherOf, findKinematicBorder, ignoredParts } from '../exclusion-rules.js';
import { comfortablePairs, pairLimit } from '../pair-budget.js';
import { CORNERS } from '../pair-kinds.js';
import { distancesByVertex, smallestDistance } from '../part-distances.js';
import type { PiecewiseRun } from '../piecewise-run.js';
import type { Settings } from '../settings.js';
import { Flight, waysBetween } from './flight.js';
import { FlightEdges } from './flight-edges.js';
import { passableShare } from './flight-pair.js';

/**
 * A vertex whose target is farther away than this many leaps moves by a flight; ordinary steps move vertices to nearer
 * targets.
 */
export const FAR_LEAPS = 32;

/** Flights, one after the other: the way of a vertex that was stopped may be free once the others have left. */
const MAX_FLIGHTS = 4;

/** Share of the way that is tried next if a flight has too many pairs, or too many of them fail. */
const SHORTER = 1 / 16;

/** Rounds in which pairs shorten the flights of their vertices; in later rounds they keep the vertices at rest. */
const SHORTENING_ROUNDS = 8;
const MAX_ROUNDS = 24;

/** Failed tests after which a way no longer counts as free; they take about half a second. */
const MAX_FAILURES = 50_000;

/** Pairs between two pulses: they take about ten milliseconds. */
const PAIRS_PER_PULSE = 4096;

/**
 * Free flight moves vertices whose targets are very far away in one straight piece, as far as their way is free, before
 * Algorithm 1 begins, whose steps would move them leap by leap, with a search for each leap.
 *
 * A piece moves fliers from x_v to z_v = fl(x_v + t_v (y*_v − x_v)), t_v ≤ 1, all in the same time; all others rest. No
 * pair meets on it, because:
 *
 * 1. With boxes box(x_v, z_v at t_v = 1) every point of an element stays in the hull of the boxes of its vertices, and
 *   also for shorter t_v, because rounding is monotone. Elements whose hulls, grown by half of their δ, are disjoint stay
 *   δ_p apart, the δ of the pair. Minimum, maximum and comparison are exact (docs/method.md, S3). The search also drops
 *   pairs that a direction separates by more than δ_p at all corners of the boxes, up to rounding. That of such a
 *   separation is at most 35/128 of SEPARATION_ERROR · L (see its derivation; there is no height after a motion here),
 *   and a pair is dropped only where SEPARATION_ERROR · L is below the smallest δ: more than 0.72 δ_p remain. δ is at
 *   least 16 floors (range.ts), so pairs of either kind keep more than 11 floors.
 * 2. Elements without a flier rest.
 * 3. All other pairs are listed, and each of them passes the test of {@link passableShare} with the ends that are
 *   committed.
 *
 * A pair that fails shortens the flights of its vertices, and every pair with such a vertex is tested again, until all
 * pass. A vertex with t_v = 0 rests, so this ends at the latest when nothing moves.
 *
 * Edges keep their limits: an end of an edge with a limit flies no farther from the other one than that permits
 * (flight-edges.ts).
 */
export class FreeFlight {
  readonly #mesh: CollisionMesh;
  readonly #settings: Settings;
  readonly #pairLimit: number;

  /** @param limit pairs that a scene may hold (pair-budget.ts) */
  constructor(mesh: CollisionMesh, settings: Settings, limit = pairLimit(undefined)) {
    this.#mesh = mesh;
    this.#settings = settings;
    this.#pairLimit = limit;
  }

  /** @returns the number of pieces by which x has moved */
  fly(run: PiecewiseRun): number {
    const { x, target, mayContinue, onPiece } = run;
    const { guard, leap } = this.#settings;
    // PAPER is exactly Algorithm 1 of the paper; a caller who sets the leap to 0 wants short steps.
    if (guard !== 'BOXES' || leap === 0) return 0;
    for (let flown = 0; flown < MAX_FLIGHTS; flown++) {
      const fliers = this.#fliers(x, target);
      const z = fliers.length > 0 && mayContinue() ? this.#destination(run, fliers) : undefined;
      if (!z) return flown;
      x.set(z);
      onPiece(x);
    }
    return MAX_FLIGHTS;
  }

  /** Vertices, ascending, that are far from their targets. */
  #fliers(x: Float32Array, target: Float32Array): number[] {
    const far = FAR_LEAPS * this.#settings.leap;
    const fliers: number[] = [];
    for (let i = 0; i < this.#mesh.vertexCount; i++) if (distanceAt(x, target, 3 * i) > far) fliers.push(i);
    return fliers;
  }

  /** Returns the end of a free piece; undefined = there is none that is worthwhile. */
  #destination(run: PiecewiseRun, fliers: readonly number[]): Float32Array | undefined {
    const { x, target } = run;
    const { leap } = this.#settings;
    const longest = fliers.reduce((most, i) => Math.max(most, distanceAt(x, target, 3 * i)), 0);
    for (let share = 1; share * longest > leap; share *= SHORTER) {
      const flight = new Flight(x, target, fliers, share, leap);
      const pairs = this.#search(run, flight);
      if (!pairs) continue;
      try {
        if (this.#settle(run, flight, pairs)) return flight.isFlying ? flight.z : undefined;
      } finally {
        pairs.dispose();
      }
    }
    return undefined;
  }

  /** Returns the pairs with a flier that may meet; undefined = too many. */
  #search({ x, target, excluded, pulse }: PiecewiseRun, flight: Flight): PairSet | undefined {
    const mesh = this.#mesh;
    const { skipKinematicPairs, delta } = this.#settings;
    const distances = distancesByVertex(mesh, this.#settings);
    const mask = Uint8Array.from({ length: mesh.vertexCount }, (_, i) => {
      const isPassive = mesh.kinematic[i] !== 0 && (skipKinematicPairs || isSameAt(x, target, 3 * i));
      return (isPassive ? PASSIVE : 0) | (flight.share[i] > 0 ? 0 : KEPT);
    });
    const rules: PairRules = {
      mask,
      border: skipKinematicPairs ? findKinematicBorder(mesh) : undefined,
      isIgnored: eitherOf(ignoredParts(mesh), excluded),
      distances,
    };
    const pairs = new PairSet();
    pairs.acquire();
    const boxes = { box: waysBetween(x, flight.z), growth: delta / 2 };
    const cutoff = cutoffOver(boxes.box, delta, smallestDistance(distances, delta));
    const budget = comfortablePairs(mesh.contactVertices.length, this.#pairLimit);
    const trees = new SearchTrees();
    try {
      new ProximitySearch(mesh, trees).search(boxes, x, cutoff, rules, budget, pairs, pulse);
      return pairs;
    } catch (thrown) {
      pairs.dispose();
      if (thrown instanceof PairBudgetExceeded) return undefined;
      throw thrown;
    } finally {
      trees.free();
    }
  }

  /**
   * Shortens flights until every pair passes and every edge is within its limit.
   *
   * @returns false if that takes too long
   */
  #settle({ pulse, target }: PiecewiseRun, flight: Flight, { count, kind, vertex }: PairSet): boolean {
    const { floor } = this.#settings;
    const edges = new FlightEdges(this.#mesh, flight, target, this.#settings);
    let failures = 0;
    for (let round = 0; round < MAX_ROUNDS; round++) {
      for (let p = 0; p < count; p++) {
        if (p % PAIRS_PER_PULSE === 0) pulse();
        const vertices = vertex.subarray(4 * p, 4 * p + CORNERS[kind[p]]);
        if (!vertices.some((v) => flight.isNew(v))) continue;
        const share = passableShare({ x: flight.x, z: flight.z, kind: kind[p], vertices }, floor);
        if (share === 1) continue;
        if (++failures > MAX_FAILURES) return false;
        for (const v of vertices) flight.shorten(v, round < SHORTENING_ROUNDS ? share : 0);
      }
      edges.limit(flight);
      if (!flight.apply()) return true;
    }
    return false;
  }
}
