import { IntersticeError } from '../../contract/errors.js';
import type { ExcludedPairs } from '../../mesh/excluded-pairs.js';
import type { CollisionMesh } from '../../mesh/types.js';
import { KEPT, PARTIAL_SHARE, PASSIVE } from '../constants.js';
import { findKinematicBorder } from '../kinematic-border.js';
import { comfortablePairs, MIN_REACH_SHARE, PAIR_LIMIT, shorterLeap } from '../pair-budget.js';
import { CORNERS, PAIR_KINDS, SIDE_A } from '../pair-kinds.js';
import { distancesByVertex } from '../part-distances.js';
import { findSeams } from '../part-seams.js';
import type { Settings } from '../settings.js';
import { fillTrustBoxes, isInBox, type TrustBoxes } from './boxes.js';
import { PairSet } from './pair-set.js';
import { PairBudgetExceeded, type PairRules, ProximitySearch } from './search.js';
import { distanceAt, ROUND_UP } from './vertices.js';
import { Workspace } from './workspace.js';

/**
 * The proximity set with what it is valid for: P and the trust boxes (guard BOXES) or P and the radius D in which it is
 * complete (guard RADIUS). Both are replaced together and only by a search that came to its end; in between and after a
 * failed search nothing is valid.
 */
export class Proximity {
  /** P; complete from {@link acquire} to {@link release} */
  readonly pairs: PairSet;
  readonly boxes: TrustBoxes;
  /** D(l): every pair outside P is at least this far apart (guard RADIUS) */
  radius = 0;
  isValid = false;

  readonly #mesh: CollisionMesh;
  readonly #settings: Settings;
  readonly #search: ProximitySearch;
  readonly #ofIgnoredParts: PairRules['isIgnored'];
  #rules: PairRules;
  /** what P was searched without, besides pairs of ignored parts */
  #excluded: ExcludedPairs | undefined;
  /** uint8[V] PASSIVE | KEPT */
  readonly #bar: Uint8Array;
  /** state of the last search (guard RADIUS) */
  readonly #searched: Float32Array;
  #partialBudget = 0;
  #leap: number;
  #reach: number;

  /** @param workspace shared with other scenes; one of its own never needs {@link acquire} and {@link release} */
  constructor(mesh: CollisionMesh, settings: Settings, workspace = new Workspace()) {
    this.#mesh = mesh;
    this.#settings = settings;
    this.pairs = new PairSet(workspace.geometry);
    this.#search = new ProximitySearch(mesh, workspace.trees);
    this.boxes = { box: new Float32Array(6 * mesh.vertexCount), growth: 0 };
    this.#bar = new Uint8Array(mesh.vertexCount);
    this.#searched = settings.guard === 'RADIUS' ? new Float32Array(3 * mesh.vertexCount) : new Float32Array(0);
    this.#ofIgnoredParts = ignoredParts(mesh);
    // Under the guard RADIUS Dmax decides, which is at least as far as any δ (checkPartDistances).
    const distances = settings.guard === 'RADIUS' ? undefined : distancesByVertex(mesh, settings);
    const border = settings.skipKinematicPairs ? findKinematicBorder(mesh) : undefined;
    this.#rules = { bar: this.#bar, border, isIgnored: this.#ofIgnoredParts, distances };
    this.#leap = settings.leap;
    this.#reach = settings.reach;
  }

  /** of what is kept between requests, from the lengths of the arrays */
  get bytes(): number {
    const { border, distances } = this.#rules;
    return (
      this.pairs.bytes +
      this.boxes.box.byteLength +
      this.#bar.byteLength +
      this.#searched.byteLength +
      (border ? border.contactVertices.byteLength + border.edges.byteLength : 0) +
      (distances?.byteLength ?? 0)
    );
  }

  /** Begins a request. */
  acquire(): void {
    this.pairs.acquire();
  }

  /** Ends a request: another scene may use the workspace. */
  release(): void {
    this.pairs.release();
  }

  /** Drops P after a request that failed. */
  invalidate(): void {
    this.isValid = false;
    this.pairs.discard();
  }

  /**
   * May P serve a request that starts at x and wants to go to y? Every vertex must lie in its box, and one that wants to
   * move must have a box that is more than a point (pairs of points that stood still were excluded of P). Guard RADIUS:
   * D from the net displacement since the search, at least Dmin.
   */
  isValidFor(x: Float32Array, y: Float32Array): boolean {
    if (!this.isValid) return false;
    const { box } = this.boxes;
    if (this.#settings.guard === 'RADIUS') {
      let largest = 0;
      for (let k = 0; k < x.length; k += 3) largest = Math.max(largest, distanceAt(this.#searched, x, k));
      this.radius = Math.min(this.radius, this.#settings.searchRadiusMax - 2 * largest * ROUND_UP);
      if (this.radius < this.#settings.searchRadiusMin) return false;
    }
    for (let i = 0; i < this.#bar.length; i++) {
      const k = 3 * i;
      const wantsToMove = x[k] !== y[k] || x[k + 1] !== y[k + 1] || x[k + 2] !== y[k + 2];
      if (this.#settings.guard === 'RADIUS') {
        if (wantsToMove && (this.#bar[i] & PASSIVE) !== 0 && !this.#settings.skipKinematicPairs) return false;
        continue;
      }
      if (!isInBox(box, i, x)) return false;
      if (wantsToMove && box[6 * i] === box[6 * i + 3] && box[6 * i + 1] === box[6 * i + 4]) return false;
    }
    return true;
  }

  /**
   * A new request: leaps that were cut for its predecessor are tried again at full length. Where other pairs are excluded
   * than P was searched without, P is void: it holds pairs that may not bound any more, or lacks some that must.
   */
  beginRequest(excluded?: ExcludedPairs): void {
    if (!isSameList(this.#excluded, excluded)) {
      this.isValid = false;
      this.#excluded = excluded;
      this.#rules = { ...this.#rules, isIgnored: eitherOf(this.#ofIgnoredParts, excluded) };
    }
    this.#leap = this.#settings.leap;
    this.#reach = this.#settings.reach;
  }

  /**
   * Searches at x with boxes towards y; shrinks the leap, then the reach, until P fits its budget. With `wanted` only the
   * vertices marked there get new boxes, and only pairs with such a vertex are looked for: all others are still in boxes
   * that were disjoint or in P.
   *
   * @param wanted uint8[V] 1 = needs a new box; undefined = everything anew
   * @param pulse called every so often
   * @throws TOO_LARGE when P does not fit even with the smallest boxes; what `pulse` throws: nothing is valid then
   */
  renew(x: Float32Array, y: Float32Array, wanted?: Uint8Array, pulse?: () => void): void {
    const settings = this.#settings;
    const isPartial =
      this.isValid && settings.guard === 'BOXES' && wanted !== undefined && isFew(wanted, PARTIAL_SHARE);
    this.isValid = false;
    if (!isPartial || !this.#searchPart(x, y, wanted, pulse)) this.#searchAll(x, y, pulse);
    if (settings.guard === 'RADIUS') {
      this.#searched.set(x);
      this.radius = settings.searchRadiusMax;
    }
    this.isValid = true;
  }

  /** Returns false if P passed its budget: it is then to be found anew. */
  #searchPart(x: Float32Array, y: Float32Array, wanted: Uint8Array, pulse?: () => void): boolean {
    this.#mark(x, y, wanted);
    this.pairs.keepOnly(this.#bar, KEPT);
    return this.#attempt(x, y, this.#partialBudget, pulse);
  }

  #searchAll(x: Float32Array, y: Float32Array, pulse?: () => void): void {
    this.#mark(x, y, undefined);
    for (;;) {
      this.pairs.clear();
      const isSmallest = this.#settings.guard === 'RADIUS' || this.#leap === 0;
      const budget = isSmallest ? PAIR_LIMIT : this.#comfortable;
      if (this.#attempt(x, y, budget, pulse)) break;
      this.#shrink();
    }
    // Where even the smallest boxes have more pairs than is comfortable, renewing a part must not fail for that reason.
    this.#partialBudget = Math.min(PAIR_LIMIT, Math.max(this.#comfortable, 2 * this.pairs.count));
  }

  #attempt(x: Float32Array, y: Float32Array, budget: number, pulse?: () => void): boolean {
    const settings = this.#settings;
    const cut = settings.guard === 'RADIUS' ? settings.searchRadiusMax : settings.delta;
    fillTrustBoxes(this.boxes, x, y, this.#mesh.kinematic, settings, this.#leap, this.#reach, this.#bar);
    try {
      this.#search.search(this.boxes, x, cut, this.#rules, budget, this.pairs, pulse);
      return true;
    } catch (thrown) {
      if (thrown instanceof PairBudgetExceeded) return false;
      throw thrown;
    }
  }

  get #comfortable(): number {
    return comfortablePairs(this.#mesh.contactVertices.length, PAIR_LIMIT);
  }

  #shrink(): void {
    const { delta, guard } = this.#settings;
    if (guard === 'BOXES' && this.#leap > 0) {
      this.#leap = shorterLeap(this.#leap, delta);
      return;
    }
    if (guard === 'BOXES' && this.#reach > MIN_REACH_SHARE * delta) {
      this.#reach /= 2;
      return;
    }
    throw new IntersticeError(
      'TOO_LARGE',
      `the proximity set needs more than ${PAIR_LIMIT} pairs, which is what this engine holds`,
      { hint: 'Use a smaller activation distance, or send fewer elements that lie on top of each other.' },
    );
  }

  /**
   * PASSIVE: kinematic vertices under SKIP, those that stay where they are under PROTECT. KEPT: not wanted. Under SKIP the
   * search takes PASSIVE back from the elements at a border (kinematic-border.ts): those are looked for moving or not.
   */
  #mark(x: Float32Array, y: Float32Array, wanted: Uint8Array | undefined): void {
    const { kinematic } = this.#mesh;
    for (let i = 0; i < kinematic.length; i++) {
      const k = 3 * i;
      const isStill = x[k] === y[k] && x[k + 1] === y[k + 1] && x[k + 2] === y[k + 2];
      const isPassive = kinematic[i] !== 0 && (this.#settings.skipKinematicPairs || isStill);
      this.#bar[i] = (isPassive ? PASSIVE : 0) | (wanted && wanted[i] === 0 ? KEPT : 0);
    }
  }
}

function isFew(marks: Uint8Array, share: number): boolean {
  let count = 0;
  for (const mark of marks) count += mark;
  return count <= share * marks.length;
}

function isSameList(a: ExcludedPairs | undefined, b: ExcludedPairs | undefined): boolean {
  return a ? a.isSameAs(b) : b === undefined || b.isSameAs(undefined);
}

function eitherOf(ofParts: PairRules['isIgnored'], excluded: ExcludedPairs | undefined): PairRules['isIgnored'] {
  if (!excluded) return ofParts;
  return (kind, v0, v1, v2, v3) =>
    ofParts?.(kind, v0, v1, v2, v3) === true || PAIR_KINDS[kind].isExcluded(excluded, v0, v1, v2, v3);
}

/**
 * A pair is ignored iff one side lies wholly in part p, the other wholly in part q, (p, q) is listed, and no side that is a
 * vertex or an edge lies on a seam (part-seams.ts).
 */
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
  const isOnSeam = findSeams(mesh);
  return (kind, v0, v1, v2, v3) => {
    const corner = [v0, v1, v2, v3];
    const sideA = SIDE_A[kind];
    const corners = CORNERS[kind];
    const a = partOfVertex[v0];
    const b = partOfVertex[corner[sideA]];
    let [seamA, seamB] = [1, corners - sideA < 3 ? 1 : 0];
    for (let s = 0; s < corners; s++) {
      const vertex = corner[s];
      if (partOfVertex[vertex] !== (s < sideA ? a : b)) return false;
      if (s < sideA) seamA &= isOnSeam[vertex];
      else seamB &= isOnSeam[vertex];
    }
    return (seamA | seamB) === 0 && ignored.has(a * partCount + b);
  };
}
