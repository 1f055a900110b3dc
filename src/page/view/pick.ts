import { PickTree } from './pick-tree.js';

/** Finds the elements under a point of the picture. */

export interface Ray {
  readonly origin: readonly [number, number, number];
  /** unit vector */
  readonly direction: readonly [number, number, number];
}

export interface Hit {
  /** the vertex nearest to the hit point among those of the element */
  readonly vertex: number;
  /** along the ray */
  readonly distance: number;
}

export interface Elements {
  readonly triangles: Uint32Array;
  readonly segments: Uint32Array;
  readonly particles: Uint32Array;
}

/**
 * Finds elements by rays. It prepares for a pick, not when the mesh moves: the tree over the triangles once, its boxes
 * once for each state that is picked from.
 */
export class Picker {
  #elements: Elements = { triangles: NONE, segments: NONE, particles: NONE };
  #tree: PickTree | undefined;
  #isMoved = false;

  /** @param elements the drawn elements */
  setElements(elements: Elements): void {
    if (elements.triangles !== this.#elements.triangles) this.#tree = undefined;
    this.#elements = elements;
  }

  /** Notes that the positions have changed. */
  move(): void {
    this.#isMoved = true;
  }

  /** The tree for these positions. Making it takes some ten milliseconds for 100,000 triangles, so do it when idle. */
  prepare(positions: ArrayLike<number>): PickTree {
    const tree = this.#tree ?? new PickTree(this.#elements.triangles, positions);
    if (this.#tree && this.#isMoved) tree.fit(positions);
    this.#tree = tree;
    this.#isMoved = false;
    return tree;
  }

  /**
   * The first element that a ray meets.
   *
   * @param positions [3·V]
   * @param reach how far from the ray, per unit of depth, a rod or a grain still counts as hit
   */
  pick(positions: ArrayLike<number>, ray: Ray, reach: number): Hit | undefined {
    const surface = this.prepare(positions).hit(positions, ray);
    const thin = pickThin(this.#elements, positions, ray, reach);
    if (!surface || !thin) return surface ?? thin;
    // A thin element counts as in front of the surface on which it lies.
    return thin.distance < surface.distance * (1 + reach) ? thin : surface;
  }
}

const NONE = new Uint32Array(0);

/** The grain or rod end that is nearest to the ray, within reach; the front one among equally near ones. */
function pickThin({ segments, particles }: Elements, p: ArrayLike<number>, ray: Ray, reach: number): Hit | undefined {
  const [ox, oy, oz] = ray.origin;
  const [dx, dy, dz] = ray.direction;
  let vertex = -1;
  let distance = 0;
  let nearest = reach;
  for (const ids of [particles, segments]) {
    for (let i = 0; i < ids.length; i++) {
      const v = 3 * ids[i]!;
      const [x, y, z] = [p[v]! - ox, p[v + 1]! - oy, p[v + 2]! - oz];
      const along = x * dx + y * dy + z * dz;
      if (!(along > 0)) continue;
      const across = Math.sqrt(Math.max(0, x * x + y * y + z * z - along * along)) / along;
      if (!(across < nearest)) continue;
      nearest = across;
      vertex = ids[i]!;
      distance = along;
    }
  }
  return vertex < 0 ? undefined : { vertex, distance };
}
