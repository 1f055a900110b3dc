import { hasOnlyFinite } from '../../mesh/positions.js';
import { closest, closestEdgeEdge, closestVertexTriangle } from '../cpu/closest.js';
import { VT } from '../pair-kinds.js';
import { ALWAYS_ALLOWED_PAIRS, MOST_PAIRS_PER_VERTEX, MOST_RAISE, REACHED_SHARE } from './constants.js';
import type { MovingPairs } from './moving-pairs.js';
import { PairPath } from './pair-path.js';
import type { Volumes } from './volumes.js';

/** Ends a search with more colliding pairs than are reasonable for a solve. */
class TooManyPairs extends Error {}

/** Compute_Collision_Pairs() of Table 1: the pairs that collide in a piece, and their target volumes. */
export class CollidingPairs {
  readonly #moving: MovingPairs;
  readonly #path = new PairPath();
  readonly #floor: number;
  readonly #most: number;
  /** number of floors by which the goal of a pair was raised in this piece, by its vertices */
  readonly #raises = new Map<string, number>();

  /** @param floor engine units */
  constructor(moving: MovingPairs, contactVertexCount: number, floor: number) {
    this.#moving = moving;
    this.#floor = floor;
    this.#most = Math.max(ALWAYS_ALLOWED_PAIRS, MOST_PAIRS_PER_VERTEX * contactVertexCount);
  }

  beginPiece(): void {
    this.#raises.clear();
  }

  /**
   * Replaces the tetrahedra by those of the pairs that collide while all vertices move straight from x to z.
   *
   * @returns whether all of them were found; false if there are too many, or if z is not finite, and then the
   *   tetrahedra are still those of the last search
   */
  find(x: Float32Array, z: Float32Array, volumes: Volumes, pulse: () => void): boolean {
    // A box with a coordinate that is not a number overlaps nothing.
    if (!hasOnlyFinite(z)) return false;
    volumes.clear();
    const floor = this.#floor;
    try {
      this.#moving.find(x, z, floor / 2, pulse, (kind, v0, v1, v2, v3) => {
        if (!this.#path.meets(kind, x, z, v0, v1, v2, v3, floor)) return;
        volumes.add(kind, x, v0, v1, v2, v3);
        if (volumes.count > this.#most) throw new TooManyPairs();
      });
    } catch (thrown) {
      if (!(thrown instanceof TooManyPairs)) throw thrown;
      return false;
    }
    return true;
  }

  /**
   * Raises the goals of pairs that have reached their volume and collide nevertheless: the way of a vertex may lead
   * through a corner of the triangle and back, and a pair whose vertices are in one plane at x^n has the volume 0
   * wherever it moves in that plane. In either case a gap of the size of the floor is missing. A raise of k floors
   * moves one side by k floors along its gradient; k is 1 at first, then doubles each time. V_goal = V(x^n) holds for
   * all other pairs.
   *
   * @param candidate float64[3·V] x_*^{n+1}
   */
  raiseGoals(volumes: Volumes, candidate: Float64Array): void {
    volumes.evaluate(candidate);
    for (let n = 0; n < volumes.count; n++) {
      const perFloor = this.#floor * volumes.sideGradient(n);
      const own = volumes.goal[n];
      const key = volumes.keyOf(n);
      let raise = this.#raises.get(key) ?? 0;
      if (volumes.volume[n] >= own + raise * perFloor - REACHED_SHARE * Math.max(own, perFloor)) {
        raise = Math.min(MOST_RAISE, Math.max(1, 2 * raise));
        this.#raises.set(key, raise);
      }
      volumes.goal[n] = own + raise * perFloor;
    }
  }

  /** Distance and direction of a pair in a state, engine units. @param slots its vertices */
  measure(kind: number, x: Float32Array, slots: ArrayLike<number>): { distance: number; normal: number[] } {
    if (kind === VT) closestVertexTriangle(x, slots[0], slots[1], slots[2], slots[3]);
    else closestEdgeEdge(x, slots[0], slots[1], slots[2], slots[3]);
    const distance = Math.sqrt(closest.squared);
    const normal = [closest.x, closest.y, closest.z].map((value) => (distance > 0 ? value / distance : 0));
    return { distance, normal };
  }
}
