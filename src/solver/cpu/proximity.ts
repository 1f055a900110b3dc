import { IntersticeError } from '../../errors.js';
import type { CollisionMesh } from '../../mesh/types.js';
import type { Settings } from '../settings.js';
import { fillTrustBoxes, isInBox, type TrustBoxes } from './boxes.js';
import { CORNERS, PairSet, SIDE_A } from './pairs.js';
import { PairBudgetExceeded, type PairRules, ProximitySearch } from './search.js';

/** Pairs per contact vertex up to which a long leap is worth its pairs; beyond it the leap is halved. */
const PAIRS_PER_VERTEX = 64;

/** Small meshes may have this many pairs whatever their vertex count. */
const PAIRS_AT_LEAST = 1 << 16;

/** What one scene may hold: about 90 bytes each, 2 GiB in all. */
export const PAIR_LIMIT = 24_000_000;

/**
 * The proximity set with what it is valid for: P and the trust boxes (guard BOXES) or P and the radius D in which it is
 * complete (guard RADIUS). Both are replaced together and only by a search that came to its end; in between and after a
 * failed search nothing is valid.
 */
export class Proximity {
  readonly pairs = new PairSet();
  readonly boxes: TrustBoxes;
  /** D(l): every pair outside P is at least this far apart (guard RADIUS) */
  radius = 0;
  isValid = false;

  readonly #mesh: CollisionMesh;
  readonly #settings: Settings;
  readonly #search: ProximitySearch;
  readonly #rules: PairRules;
  readonly #passive: Uint8Array;
  /** state of the last search (guard RADIUS) */
  readonly #searched: Float32Array;
  #leap: number;
  #reach: number;

  constructor(mesh: CollisionMesh, settings: Settings) {
    this.#mesh = mesh;
    this.#settings = settings;
    this.#search = new ProximitySearch(mesh);
    this.boxes = { box: new Float32Array(6 * mesh.vertexCount), growth: 0 };
    this.#passive = new Uint8Array(mesh.vertexCount);
    this.#searched = settings.guard === 'RADIUS' ? new Float32Array(3 * mesh.vertexCount) : new Float32Array(0);
    this.#rules = { passive: this.#passive, isIgnored: ignoredParts(mesh) };
    this.#leap = settings.leap;
    this.#reach = settings.reach;
  }

  /**
   * May P serve a request that starts at x and wants to go to y? Every vertex must lie in its box, and one that wants to
   * move must have a box that is more than a point (pairs of points that stood still were left out of P). Guard RADIUS:
   * D from the net displacement since the search, at least Dmin.
   */
  isValidFor(x: Float32Array, y: Float32Array): boolean {
    if (!this.isValid) return false;
    const { box } = this.boxes;
    if (this.#settings.guard === 'RADIUS') {
      let largest = 0;
      for (let k = 0; k < x.length; k += 3) {
        const dx = x[k] - this.#searched[k];
        const dy = x[k + 1] - this.#searched[k + 1];
        const dz = x[k + 2] - this.#searched[k + 2];
        largest = Math.max(largest, dx * dx + dy * dy + dz * dz);
      }
      this.radius = Math.min(this.radius, this.#settings.searchRadiusMax - 2 * Math.sqrt(largest) * (1 + 1e-6));
      if (this.radius < this.#settings.searchRadiusMin) return false;
    }
    for (let i = 0; i < this.#passive.length; i++) {
      const k = 3 * i;
      const wantsToMove = x[k] !== y[k] || x[k + 1] !== y[k + 1] || x[k + 2] !== y[k + 2];
      if (this.#settings.guard === 'RADIUS') {
        if (wantsToMove && this.#passive[i] === 1 && !this.#settings.skipKinematicPairs) return false;
        continue;
      }
      if (!isInBox(box, i, x)) return false;
      if (wantsToMove && box[6 * i] === box[6 * i + 3] && box[6 * i + 1] === box[6 * i + 4]) return false;
    }
    return true;
  }

  /** A new request: leaps that were cut for its predecessor are tried again at full length. */
  beginRequest(): void {
    this.#leap = this.#settings.leap;
    this.#reach = this.#settings.reach;
  }

  /**
   * Searches at x with boxes towards y; shrinks the leap, then the reach, until P fits its budget.
   * @throws TOO_LARGE when P does not fit even with the smallest boxes
   */
  renew(x: Float32Array, y: Float32Array): void {
    const { kinematic, contactVertices } = this.#mesh;
    const settings = this.#settings;
    this.isValid = false;
    this.#markPassive(x, y);
    const comfortable = Math.max(PAIRS_AT_LEAST, PAIRS_PER_VERTEX * contactVertices.length);
    const cut = settings.guard === 'RADIUS' ? settings.searchRadiusMax : settings.delta;
    for (;;) {
      const isSmallest = settings.guard === 'RADIUS' || this.#leap === 0;
      const budget = isSmallest ? PAIR_LIMIT : Math.min(PAIR_LIMIT, comfortable);
      fillTrustBoxes(this.boxes, x, y, kinematic, settings, this.#leap, this.#reach);
      try {
        this.#search.search(this.boxes, x, cut, this.#rules, budget, this.pairs);
        break;
      } catch (thrown) {
        if (!(thrown instanceof PairBudgetExceeded)) throw thrown;
        this.#shrink(thrown.demandAtLeast);
      }
    }
    if (settings.guard === 'RADIUS') {
      this.#searched.set(x);
      this.radius = settings.searchRadiusMax;
    }
    this.isValid = true;
  }

  #shrink(demandAtLeast: number): void {
    const { delta, guard } = this.#settings;
    if (guard === 'BOXES' && this.#leap > 0) {
      this.#leap = this.#leap > delta ? this.#leap / 2 : 0;
      return;
    }
    if (guard === 'BOXES' && this.#reach > delta / 8) {
      this.#reach /= 2;
      return;
    }
    throw new IntersticeError(
      'TOO_LARGE',
      `the proximity set needs more than ${demandAtLeast - 1} pairs; this engine holds ${PAIR_LIMIT}`,
      { hint: 'Use a smaller activation distance, or send fewer elements that lie on top of each other.' },
    );
  }

  /** SKIP: kinematic vertices; PROTECT: kinematic vertices that stay where they are. */
  #markPassive(x: Float32Array, y: Float32Array): void {
    const { kinematic } = this.#mesh;
    for (let i = 0; i < kinematic.length; i++) {
      const k = 3 * i;
      const isStill = x[k] === y[k] && x[k + 1] === y[k + 1] && x[k + 2] === y[k + 2];
      this.#passive[i] = kinematic[i] !== 0 && (this.#settings.skipKinematicPairs || isStill) ? 1 : 0;
    }
  }
}

/** A pair is ignored iff one side lies wholly in part p, the other wholly in part q, and (p, q) is listed. */
function ignoredParts(mesh: CollisionMesh): PairRules['isIgnored'] {
  if (mesh.ignoredPartPairs.length === 0) return undefined;
  const partCount = mesh.parts.length;
  const ignored = new Set<number>();
  for (let n = 0; n < mesh.ignoredPartPairs.length; n += 2) {
    const p = mesh.ignoredPartPairs[n];
    const q = mesh.ignoredPartPairs[n + 1];
    ignored.add(p * partCount + q);
    ignored.add(q * partCount + p);
  }
  const { partOfVertex } = mesh;
  return (kind, v0, v1, v2, v3) => {
    const corner = [v0, v1, v2, v3];
    const sideA = SIDE_A[kind];
    const a = partOfVertex[v0];
    const b = partOfVertex[corner[sideA]];
    for (let s = 1; s < CORNERS[kind]; s++) if (partOfVertex[corner[s]] !== (s < sideA ? a : b)) return false;
    return ignored.has(a * partCount + b);
  };
}
