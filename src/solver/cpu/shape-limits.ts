import { limitOfEdges } from '../../mesh/limited-edges.js';
import type { CollisionMesh } from '../../mesh/types.js';
import { SWEPT_STRAIN } from '../constants.js';
import type { Settings } from '../settings.js';
import { strainElementsOf } from '../strain/elements.js';
import { EdgeLimits } from './edge-limits.js';
import type { EdgeLengths } from './edges.js';
import { StrainLimits } from './strain-limits.js';
import type { Scratch } from './workspace.js';

/** The limits on the shape of elements in the pull-back: those of edge lengths, then those of strains. */
export class ShapeLimits {
  readonly edges: EdgeLimits | undefined;
  readonly strains: StrainLimits | undefined;

  private constructor(edges: EdgeLimits | undefined, strains: StrainLimits | undefined) {
    this.edges = edges;
    this.strains = strains;
  }

  /**
   * @param longest the longest motion of a step, engine units
   * @param lengths the edges with a limit, in sweep order; undefined = σ is off
   * @returns undefined = there are none
   */
  static of(
    mesh: CollisionMesh,
    settings: Settings,
    longest: number,
    lengths: EdgeLengths | undefined,
    target: Float32Array,
    scratch: Scratch,
  ): ShapeLimits | undefined {
    const { inverseMasses } = mesh;
    const { sigma, scale } = settings;
    const lengthOf = lengths?.hasRest
      ? (n: number, inTarget: number): number => lengths.lengthOf(n, inTarget, scale)
      : undefined;
    const edges =
      lengths && new EdgeLimits(lengths, inverseMasses, target, sigma, scratch, limitOfEdges(mesh), lengthOf);
    const elements = strainElementsOf(mesh, settings.scale);
    const strains = elements && new StrainLimits(elements, inverseMasses, longest, scratch);
    return edges || strains ? new ShapeLimits(edges, strains) : undefined;
  }

  /**
   * Settles the shares of the way to y* that vertices take (ComponentShares.settlePaces).
   *
   * @param paceOf the share of a vertex on its own
   */
  settlePaces(paceOf: (v: number) => number): void {
    this.strains?.shares.settlePaces(paceOf);
  }

  /** Returns the share of a vertex in strained elements; undefined = it has a share of its own. */
  paceOf(v: number): number | undefined {
    return this.strains?.shares.paceOf(v);
  }

  /** Sets all multipliers to 0. */
  reset(): void {
    this.edges?.reset();
    this.strains?.reset();
  }

  /** Begins the sweeps of a step for strains, before any other row has moved y (StrainLimits.begin). */
  beginStrains(x: Float32Array, y: Float32Array, best?: Float32Array): void {
    this.strains?.begin(x, y, best);
  }

  /** Begins the sweeps of a step for edges, with this share of the multipliers of the last step. */
  beginEdges(y: Float32Array, share: number): void {
    this.edges?.begin(y, share);
  }

  /** Ends the sweeps of a step (ComponentShares.shortenMotions). */
  end(x: Float32Array, y: Float32Array): void {
    this.strains?.shares.shortenMotions(x, y);
  }

  /**
   * Whether the sweeps of a step should continue, for strains (StrainLimits.wantsMoreSweeps) or for edges
   * (EdgeLimits.wantsMore).
   *
   * @param rounds number of rounds so far
   * @param most largest permitted excess over edge limits; with 0, no strain may exceed its limits either
   */
  wantsMoreSweeps(x: Float32Array, y: Float32Array, rounds: number, most: number): boolean {
    if (this.strains?.wantsMoreSweeps(x, y, rounds, most === 0 ? 0 : SWEPT_STRAIN)) return true;
    return this.edges?.wantsMore(y, rounds, most) ?? false;
  }

  /** Marks the neighbours of the marked vertices as well. @param marks uint8[V] 1 = marked */
  spread(marks: Uint8Array): void {
    this.edges?.spread(marks);
    this.strains?.spread(marks);
  }

  /** Sum of the squares of all excesses over limits, squared engine units. */
  excess(x: Float32Array): number {
    return (this.edges?.excess(x) ?? 0) + (this.strains?.excess(x) ?? 0);
  }

  /** Lowers α of vertices whose edges would grow past their limits, or whose neighbours in an element are held. */
  holdBack(x: Float32Array, y: Float32Array, alpha: Float32Array): void {
    this.edges?.holdBack(x, y, alpha);
    this.strains?.holdBack(x, y, alpha);
  }
}
