import { ActivePairs } from './active-pairs.js';
import { PairGeometry } from './pair-set.js';
import { Scratch } from './scratch.js';
import { SearchTrees } from './search.js';

/**
 * Beyond this a request's memory is not kept for the next one: an idle lane should not hold several times what its scenes
 * hold. At 144 bytes a pair (`layers`, 70,000 vertices, 2.6 million pairs) it is enough for 7 million pairs, a scene of
 * 200,000 vertices in dense contact. Its step takes seconds, against which new memory weighs little.
 */
export const KEPT_BYTES = 2 ** 30;

/**
 * What a request needs while it is at work, for all scenes of one engine together: an engine computes one request at a
 * time, start to end. Nothing in it means anything to the next request, except that `geometry` and `active` know by the
 * revision of P whether their stamps and incidence list are of that.
 */
export class Workspace {
  readonly scratch = new Scratch();
  readonly geometry = new PairGeometry();
  readonly active = new ActivePairs();
  readonly trees = new SearchTrees();

  #isLent = false;

  /**
   * Lends it for the time of one call.
   *
   * @throws Error when it is lent already: a request that begins another one in its callbacks would find its memory changed
   */
  lend<T>(work: () => T): T {
    if (this.#isLent) throw new Error('a resolve began while another one of the same engine was at work');
    this.#isLent = true;
    try {
      const result = work();
      if (this.bytes > KEPT_BYTES) this.release();
      return result;
    } catch (thrown) {
      // Halfway through a stage the memory may hold anything.
      this.release();
      throw thrown;
    } finally {
      this.#isLent = false;
    }
  }

  get bytes(): number {
    return this.scratch.bytes + this.geometry.bytes + this.active.bytes + this.trees.bytes;
  }

  /** The memory goes back; the next request begins with none. */
  release(): void {
    this.scratch.release();
    this.geometry.allocate(0);
    this.active.release();
    this.trees.release();
  }
}
