import { ExcludedPairs } from '../../mesh/excluded-pairs.js';
import type { LeftOutPairs } from '../../mesh/left-out-pairs.js';
import type { CollisionMesh } from '../../mesh/types.js';
import { allocate, release } from '../../threads/arrays.js';
import { KEPT, PARTIAL_SHARE, PASSIVE } from '../constants.js';
import { eitherOf, findKinematicBorder, ignoredParts, isSameList, type PairPredicate } from '../exclusion-rules.js';
import { comfortablePairs, MIN_REACH_SHARE, shorterLeap, tooManyPairs } from '../pair-budget.js';
import { distancesByVertex, smallestDistance } from '../part-distances.js';
import { carryBoxes, carryNormals, isWithinGroup } from '../rigid/carry.js';
import type { RigidMotions } from '../rigid/move-rigidly.js';
import { PLACEMENT_ERROR } from '../rigid/twist.js';
import type { SavedProximity } from '../saved-scene.js';
import type { Settings } from '../settings.js';
import { StepAbandoned } from '../step-abandoned.js';
import { cutoffOver } from './box-separation.js';
import { fillTrustBoxes, isInBox, isPoint, markCut, markUnserved, shrinkTrustBoxes, type TrustBoxes } from './boxes.js';
import { distanceAt, isFew, isSameAt, ROUND_UP } from './motion.js';
import { PairSet } from './pair-set.js';
import { type PairRules, ProximitySearch, SearchCursor, type UnfinishedSearch } from './search.js';
import { dropApart } from './tighten.js';
import { PairBudgetExceeded } from './walk.js';
import { Workspace } from './workspace.js';

/** Carrying groups may use up this share of the δ between pairs outside P; the rest is far more than a floor. */
const MAX_WORN_SHARE = 1 / 4;

/** The mask bit of elements at rest; the bits of groups follow. PASSIVE and KEPT have lower bits. */
const GROUP_BIT = KEPT << 1;

/**
 * The proximity set with its validity: P and the trust boxes (guard BOXES), or P and the radius D in which it is
 * complete (guard RADIUS). A search replaces both together; they are invalid while it runs and after it has failed.
 */
export class Proximity {
  /** P; complete from {@link acquire} to {@link release} */
  readonly pairs: PairSet;
  readonly boxes: TrustBoxes;
  /** D(l): every pair outside P is at least this far apart (guard RADIUS) */
  radius = 0;
  isValid = false;

  readonly #mesh: CollisionMesh;
  #settings: Settings;
  readonly #search: ProximitySearch;
  readonly #ignoredParts: PairPredicate | undefined;
  #rules: PairRules;
  /** pairs that the search excluded, besides those of ignored parts */
  #excluded: LeftOutPairs | undefined;
  /** uint8[V] PASSIVE | KEPT */
  readonly #mask: Uint8Array;
  /** state of the last search (guard RADIUS) */
  readonly #searched: Float32Array;
  #partialBudget = 0;
  readonly #limit: number;
  /** pairs found by the last search that exceeded its budget */
  #found = 0;
  /** whether it exceeded the budget before it reached the second kind of pairs */
  #isFarOver = false;
  /**
   * engine units: how much nearer than δ pairs outside P may be since the last full search, because groups were carried
   */
  #worn = 0;
  #leap: number;
  #reach: number;
  #unfinished: UnfinishedSearch | undefined;

  /** @param workspace shared with other scenes; one of its own never needs {@link acquire} and {@link release} */
  constructor(mesh: CollisionMesh, settings: Settings, workspace = new Workspace()) {
    this.#mesh = mesh;
    this.#limit = workspace.pairLimit;
    this.#settings = settings;
    this.pairs = new PairSet(workspace.geometry);
    this.#search = new ProximitySearch(mesh, workspace.trees);
    this.boxes = { box: allocate(Float32Array, 6 * mesh.vertexCount), growth: 0 };
    this.#mask = allocate(Uint8Array, mesh.vertexCount).fill(0);
    this.#searched = settings.guard === 'RADIUS' ? new Float32Array(3 * mesh.vertexCount) : new Float32Array(0);
    this.#ignoredParts = ignoredParts(mesh);
    // Under the guard RADIUS Dmax decides, which is at least any δ (checkPartDistances).
    const distances = settings.guard === 'RADIUS' ? undefined : distancesByVertex(mesh, settings);
    const border = settings.skipKinematicPairs ? findKinematicBorder(mesh) : undefined;
    this.#rules = { mask: this.#mask, border, isIgnored: this.#ignoredParts, distances };
    this.#leap = settings.leap;
    this.#reach = settings.reach;
  }

  /**
   * Serves requests with these settings from now on. P stays valid, because those agree with which it was searched
   * ({@link servesBoth}); the floor of a request, by which {@link carry} shrinks boxes, may be another one.
   */
  configure(settings: Settings): void {
    this.#settings = settings;
  }

  /** Bytes kept between requests. */
  get bytes(): number {
    const { border, distances } = this.#rules;
    return (
      this.pairs.bytes +
      this.boxes.box.byteLength +
      this.#mask.byteLength +
      this.#searched.byteLength +
      (border ? border.contactVertices.byteLength + border.edges.byteLength : 0) +
      (distances?.byteLength ?? 0)
    );
  }

  /**
   * Copies what later requests depend on; undefined = P is invalid, or was searched with a rule, which cannot be
   * copied.
   */
  save(): SavedProximity | undefined {
    if (!this.isValid || (this.#excluded && !this.#excluded.proximityPairs)) return undefined;
    return {
      ...this.pairs.save(),
      box: this.boxes.box.slice(),
      growth: this.boxes.growth,
      mask: this.#mask.slice(),
      searched: this.#searched.slice(),
      radius: this.radius,
      partialBudget: this.#partialBudget,
      worn: this.#worn,
      excluded: this.#excluded?.items,
    };
  }

  /**
   * Continues from the copy that {@link save} made of a set of the same mesh and settings; only before the first
   * request.
   */
  restore(saved: SavedProximity): void {
    this.pairs.restore(saved);
    this.boxes.box.set(saved.box);
    this.boxes.growth = saved.growth;
    this.#mask.set(saved.mask);
    this.#searched.set(saved.searched);
    this.radius = saved.radius;
    this.#partialBudget = saved.partialBudget;
    this.#worn = saved.worn;
    this.#exclude(saved.excluded && new ExcludedPairs(saved.excluded));
    this.isValid = true;
  }

  #exclude(excluded: LeftOutPairs | undefined): void {
    this.#excluded = excluded;
    this.#rules = { ...this.#rules, isIgnored: eitherOf(this.#ignoredParts, excluded) };
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
    this.#unfinished = undefined;
    this.pairs.discard();
  }

  /** Frees all memory; no method may be called afterwards. */
  dispose(): void {
    this.invalidate();
    release(this.boxes.box, this.#mask);
  }

  /**
   * Whether P can serve a request from x to y. Every vertex must lie in its box, and one that moves must have a box
   * that is more than a point, because the search skipped pairs of points that did not move (docs/method.md, S12).
   * Guard RADIUS: D follows from the largest displacement since the search and must be at least Dmin.
   */
  isValidFor(x: Float32Array, y: Float32Array): boolean {
    if (!this.isValid) return false;
    if (this.#settings.guard === 'RADIUS') {
      let largest = 0;
      for (let k = 0; k < x.length; k += 3) largest = Math.max(largest, distanceAt(this.#searched, x, k));
      this.radius = Math.min(this.radius, this.#settings.searchRadiusMax - 2 * largest * ROUND_UP);
      if (this.radius < this.#settings.searchRadiusMin) return false;
    }
    return this.#isCovering(x, y);
  }

  /** Whether P is valid and every vertex lies in its box, so that the pairs outside P are apart at x. Guard BOXES. */
  contains(x: Float32Array): boolean {
    const { box } = this.boxes;
    return this.isValid && this.#mask.every((_, i) => isInBox(box, i, x));
  }

  /** Whether the boxes of a complete or interrupted search serve a motion from x to y. */
  #isCovering(x: Float32Array, y: Float32Array): boolean {
    const { box } = this.boxes;
    for (let i = 0; i < this.#mask.length; i++) {
      const k = 3 * i;
      const moves = !isSameAt(x, y, k);
      if (this.#settings.guard === 'RADIUS') {
        if (moves && (this.#mask[i] & PASSIVE) !== 0 && !this.#settings.skipKinematicPairs) return false;
        continue;
      }
      if (!isInBox(box, i, x)) return false;
      // Two axes are enough: no point passes, and a box that is flat in both but no point only costs a search.
      if (moves && box[6 * i] === box[6 * i + 3] && box[6 * i + 1] === box[6 * i + 4]) return false;
    }
    return true;
  }

  /**
   * Restores the full leap and reach, which an earlier request may have shortened. Invalidates P when the excluded
   * pairs change: P contains pairs that must no longer bound, or lacks some that must.
   */
  beginRequest(excluded?: LeftOutPairs): void {
    if (!isSameList(this.#excluded, excluded)) {
      this.isValid = false;
      this.#unfinished = undefined;
      this.#exclude(excluded);
    }
    this.#leap = this.#settings.leap;
    this.#reach = this.#settings.reach;
  }

  /**
   * Searches at x with boxes towards y, and shrinks the leap, then the reach, until P fits its budget. With `wanted`
   * only the marked vertices get new boxes, and only pairs with such a vertex are searched for: all others are in P
   * already or have boxes that were disjoint.
   *
   * @param wanted uint8[V] 1 = needs a new box; undefined = all do
   * @param pulse called at short intervals; may throw
   * @throws TOO_LARGE if P does not fit even with the smallest boxes, and what `pulse` throws; P is then invalid
   */
  renew(x: Float32Array, y: Float32Array, wanted?: Uint8Array, pulse?: () => void): void {
    const settings = this.#settings;
    const isPartial =
      this.isValid && settings.guard === 'BOXES' && wanted !== undefined && isFew(wanted, PARTIAL_SHARE);
    this.isValid = false;
    const isDone = this.#resume(x, y, pulse) || (isPartial && this.#searchPart(x, y, wanted, pulse));
    if (!isDone) this.#searchAll(x, y, pulse);
    if (settings.guard === 'RADIUS') {
      this.#searched.set(x);
      this.radius = settings.searchRadiusMax;
    }
    this.isValid = true;
  }

  /**
   * Keeps P through the motion of groups: boxes and normals move with them, pairs within a group stay, and only pairs
   * between groups, and pairs with elements at rest, are searched for again. If that is not possible, P becomes
   * invalid. Guard BOXES. The settings must be those under which the groups were placed, because a placed vertex may be
   * off by a share of their floor.
   *
   * @param before float32[3·V] positions before the motion
   * @param after float32[3·V] positions after it
   */
  carry(before: Float32Array, after: Float32Array, motions: RigidMotions): void {
    if (!this.isValid) return;
    this.isValid = false;
    const { floor, delta } = this.#settings;
    const { label } = motions;
    const { pairs, boxes } = this;
    const off = PLACEMENT_ERROR * floor * motions.pieces;
    this.#worn += 2 * off;
    const least = smallestDistance(this.#rules.distances, delta);
    if (this.#worn > MAX_WORN_SHARE * least || !carryBoxes(boxes.box, before, after, motions, off)) return;
    carryNormals(pairs, motions);
    const isKept = new Uint8Array(pairs.count);
    for (let p = 0; p < isKept.length; p++) isKept[p] = isWithinGroup(pairs, p, label) ? 1 : 0;
    pairs.retain(isKept);
    for (let v = 0; v < label.length; v++) {
      const isPassive = this.#mesh.kinematic[v] !== 0 && this.#settings.skipKinematicPairs;
      this.#mask[v] = (isPassive ? PASSIVE : 0) | (GROUP_BIT << label[v]);
    }
    try {
      this.#search.search(boxes, after, this.#cutoff, this.#rules, this.#comfortable, pairs);
      this.isValid = true;
    } catch (thrown) {
      if (!(thrown instanceof PairBudgetExceeded)) throw thrown;
    }
  }

  /** Shortens ρ of all searches until the end of the request. @param reach engine units */
  shortenReach(reach: number): void {
    this.#reach = Math.min(this.#reach, reach);
  }

  /**
   * Shrinks every box to the size that x and y need with the present reach, and drops the pairs that can no longer
   * meet. P must be valid for x, and stays so: each new box lies in the old one, so pairs outside P stay apart
   * (docs/method.md, S3), and a pair is dropped by the test that a search applies, a direction that separates the boxes
   * of its elements by more than the cutoff. This costs one test per pair, and no search. Guard BOXES.
   */
  tighten(x: Float32Array, y: Float32Array): void {
    shrinkTrustBoxes(this.boxes, x, y, this.#reach);
    const cutoff = this.#cutoff;
    if (cutoff < Number.POSITIVE_INFINITY) dropApart(this.pairs, this.boxes.box, x, cutoff, this.#rules.distances);
  }

  /**
   * Marks the vertices whose boxes do not serve a motion from x to y: x outside, or a point that must move. Every other
   * vertex may keep its box.
   *
   * @returns whether P can be kept for the others by a partial search
   */
  markUnserved(x: Float32Array, y: Float32Array, unserved: Uint8Array): boolean {
    if (!this.isValid) return false;
    markUnserved(this.boxes.box, x, y, unserved);
    return isFew(unserved, PARTIAL_SHARE);
  }

  /**
   * Marks, besides those marked before, the vertices whose boxes serve but would stop them far from where they get before
   * the next search ({@link markCut}). Under the guard RADIUS there are no boxes that stop a vertex.
   *
   * @returns whether there is one
   */
  markCut(x: Float32Array, y: Float32Array, cut: Uint8Array): boolean {
    const { guard, leap } = this.#settings;
    return guard === 'BOXES' && markCut(this.boxes.box, x, y, leap, cut);
  }

  /** Whether P contains the pairs of an interrupted search, which the next search may continue. */
  get isUnfinished(): boolean {
    return this.#unfinished !== undefined;
  }

  /**
   * Continues the search that the last request abandoned, with its boxes; the pairs that it has found are in P. The
   * boxes determine what a search covers, so its result serves every x and y that they serve, whenever it is completed.
   *
   * @returns false if there is none, or its boxes do not serve; a complete search must then follow
   */
  #resume(x: Float32Array, y: Float32Array, pulse?: () => void): boolean {
    const unfinished = this.#unfinished;
    this.#unfinished = undefined;
    if (!unfinished || !this.#isCovering(x, y)) return false;
    // Geometry is shared memory, which another scene may have used since.
    this.pairs.delta.fill(0, 0, this.pairs.count);
    this.pairs.lambda.fill(0, 0, this.pairs.count);
    const isComplete = this.#find(x, unfinished, pulse) && this.pairs.count > (unfinished.least ?? -1);
    if (isComplete && unfinished.isWhole) this.#settleBudget();
    return isComplete;
  }

  /** Returns false if P exceeded its budget; a complete search must then follow. */
  #searchPart(x: Float32Array, y: Float32Array, wanted: Uint8Array, pulse?: () => void): boolean {
    this.#mark(x, y, wanted);
    this.pairs.keepOnly(this.#mask, KEPT);
    return this.#attempt(x, y, { budget: this.#partialBudget, isWhole: false }, pulse);
  }

  #searchAll(x: Float32Array, y: Float32Array, pulse?: () => void): void {
    this.#worn = 0;
    this.#mark(x, y, undefined);
    for (let n = 0; ; n++) {
      const isSmallest = this.#settings.guard === 'RADIUS' || this.#leap === 0;
      const budget = isSmallest ? this.#limit : this.#comfortable;
      if (this.#attempt(x, y, { budget, isWhole: true }, pulse)) break;
      if (n === 0 && !isSmallest && this.#isFarOver && this.#needsNoLeap(x, y, pulse)) break;
      this.#shrink();
    }
    this.#settleBudget();
  }

  /**
   * Searches without a leap. If P then exceeds the comfortable number, it would do so under any leap, because a box
   * with a leap contains the box without one: min(x, e) − ρ ≤ x − ρ under any rounding, and a direction that separates
   * hulls separates those inside them, term by term in the same order. So the shorter leaps in between need not be
   * tried, and the result is the same as if they were.
   *
   * @returns whether this is P; otherwise the caller tries the next shorter leap or reach
   */
  #needsNoLeap(x: Float32Array, y: Float32Array, pulse?: () => void): boolean {
    const leap = this.#leap;
    const least = this.#comfortable;
    this.#leap = 0;
    const isFound = this.#attempt(x, y, { budget: this.#limit, isWhole: true, least }, pulse);
    if (isFound && this.pairs.count <= least) this.#leap = leap;
    return isFound && this.pairs.count > least;
  }

  /** If even the smallest boxes exceed the comfortable number, a partial search must not fail for that reason. */
  #settleBudget(): void {
    this.#partialBudget = Math.min(this.#limit, Math.max(this.#comfortable, 2 * this.pairs.count));
  }

  #attempt(x: Float32Array, y: Float32Array, of: Omit<UnfinishedSearch, 'cursor'>, pulse?: () => void): boolean {
    if (of.isWhole) this.pairs.clear();
    fillTrustBoxes(this.boxes, x, y, this.#mesh.kinematic, this.#settings, this.#leap, this.#reach, this.#mask);
    return this.#find(x, { ...of, cursor: new SearchCursor() }, pulse);
  }

  /** Searches from the cursor on, with the current boxes and masks. Returns false if P exceeded its budget. */
  #find(x: Float32Array, search: UnfinishedSearch, pulse?: () => void): boolean {
    const { guard } = this.#settings;
    const { budget, cursor } = search;
    try {
      this.#search.search(this.boxes, x, this.#cutoff, this.#rules, budget, this.pairs, pulse, cursor);
      return true;
    } catch (thrown) {
      if (thrown instanceof StepAbandoned && guard === 'BOXES') this.#unfinished = search;
      if (!(thrown instanceof PairBudgetExceeded)) throw thrown;
      this.#isFarOver = cursor.kind === 0;
      this.#found = Math.max(this.#limit + 1, thrown.found);
      return false;
    }
  }

  /** A dropped pair must stay a floor apart: the rounding of its separation may take a quarter of that from the cutoff. */
  get #cutoff(): number {
    const { guard, searchRadiusMax, delta, floor } = this.#settings;
    return cutoffOver(this.boxes.box, guard === 'RADIUS' ? searchRadiusMax : delta, floor / 4);
  }

  get #comfortable(): number {
    return comfortablePairs(this.#mesh.contactVertices.length, this.#limit);
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
    throw tooManyPairs(this.#found, this.#limit);
  }

  /**
   * PASSIVE: kinematic vertices under SKIP; under PROTECT those that stay in place and have a point as their box. One
   * that keeps a larger box may move in it later, without another search. KEPT: not wanted. Under SKIP the search clears
   * PASSIVE for the elements at a border (exclusion-rules.ts), whether they move or not.
   */
  #mark(x: Float32Array, y: Float32Array, wanted: Uint8Array | undefined): void {
    const { kinematic } = this.#mesh;
    const { skipKinematicPairs } = this.#settings;
    const { box } = this.boxes;
    for (let i = 0; i < kinematic.length; i++) {
      const isKept = wanted !== undefined && wanted[i] === 0;
      const rests = isSameAt(x, y, 3 * i) && (!isKept || isPoint(box, i));
      const isPassive = kinematic[i] !== 0 && (skipKinematicPairs || rests);
      this.#mask[i] = (isPassive ? PASSIVE : 0) | (isKept ? KEPT : 0);
    }
  }
}
