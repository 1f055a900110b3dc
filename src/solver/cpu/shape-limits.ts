import { limitOfEdges } from '../../mesh/limited-edges.js';
import type { CollisionMesh } from '../../mesh/types.js';
import type { Settings } from '../settings.js';
import { strainElementsOf } from '../strain/elements.js';
import { EdgeLimits } from './edge-limits.js';
import { StrainLimits } from './strain-limits.js';
import type { Scratch } from './workspace.js';

/** What keeps elements in shape during the pull-back: limits of edge lengths, then of strains. */
export class ShapeLimits {
  readonly #edges: EdgeLimits | undefined;
  readonly #strains: StrainLimits | undefined;

  private constructor(edges: EdgeLimits | undefined, strains: StrainLimits | undefined) {
    this.#edges = edges;
    this.#strains = strains;
  }

  /**
   * @param ends uint32[2·n] the edges with a limit, in sweep order; undefined = σ is off
   * @returns undefined = there are none
   */
  static of(
    mesh: CollisionMesh,
    settings: Settings,
    ends: Uint32Array | undefined,
    target: Float32Array,
    scratch: Scratch,
  ): ShapeLimits | undefined {
    const { inverseMasses } = mesh;
    const edges = ends && new EdgeLimits(ends, inverseMasses, target, settings.sigma, scratch, limitOfEdges(mesh));
    const elements = strainElementsOf(mesh, settings.scale);
    const strains = elements && new StrainLimits(elements, inverseMasses, scratch);
    return edges || strains ? new ShapeLimits(edges, strains) : undefined;
  }

  /** Settles the shares of the way to y* that vertices take (StrainLimits.settlePaces). @param paceOf the share of a vertex by itself */
  settlePaces(paceOf: (v: number) => number): void {
    this.#strains?.settlePaces(paceOf);
  }

  /** The share of a vertex in strained elements; undefined = it goes by itself. */
  paceOf(v: number): number | undefined {
    return this.#strains?.paceOf(v);
  }

  /** Multipliers 0. */
  reset(): void {
    this.#edges?.reset();
    this.#strains?.reset();
  }

  /** Begins the sweeps of a step with the multipliers of the last one. @param share of those of edges */
  begin(x: Float32Array, y: Float32Array, share: number): void {
    this.#edges?.begin(y, share);
    this.#strains?.begin(x, y);
  }

  sweep(y: Float32Array, isComplete: boolean, slack: number): void {
    this.#edges?.sweep(y, isComplete, slack);
    this.#strains?.sweep(y, isComplete, slack);
  }

  extrapolate(beta: number): void {
    this.#edges?.extrapolate(beta);
    this.#strains?.extrapolate(beta);
  }

  /** After the sweeps of a step (StrainLimits.shortenMotions). @param longest engine units */
  end(x: Float32Array, y: Float32Array, longest: number): void {
    this.#strains?.shortenMotions(x, y, longest);
  }

  /** Whether the sweeps of a step should go on (StrainLimits.wantsMoreSweeps). @param rounds how many rounds there were */
  wantsMoreSweeps(y: Float32Array, rounds: number): boolean {
    return this.#strains?.wantsMoreSweeps(y, rounds) ?? false;
  }

  forEachActiveVertex(visit: (v: number) => void): void {
    this.#edges?.forEachActiveVertex(visit);
    this.#strains?.forEachActiveVertex(visit);
  }

  /** Marks the neighbours of the marked vertices as well. @param marks uint8[V] 1 = marked */
  spread(marks: Uint8Array): void {
    this.#edges?.spread(marks);
    this.#strains?.spread(marks);
  }

  /** Sum of the squares of what exceeds a limit, squared engine units. */
  excess(x: Float32Array): number {
    return (this.#edges?.excess(x) ?? 0) + (this.#strains?.excess(x) ?? 0);
  }

  /** Lowers α of vertices whose edges would grow past their limits, or whose neighbours in an element are held. */
  holdBack(x: Float32Array, y: Float32Array, alpha: Float32Array): void {
    this.#edges?.holdBack(x, y, alpha);
    this.#strains?.holdBack(x, y, alpha);
  }
}
