import { TriangleTree } from '../diagnose/triangle-tree.js';
import type { Label } from './crossings.js';
import { heightOver, NEAREST_PER_PULSE } from './heights.js';
import type { Topology } from './topology.js';

/**
 * Edges within which a vertex counts as lying over a sheet. Sheets that are farther apart here are not layers, even if
 * they cross elsewhere.
 */
const REACH = 3;

/** Two sheets are layers if the area of one that lies over the other is at least this share of the smaller sheet. */
const COVERED = 0.3;

/** At least this share of that area must lie on one side; otherwise it is not clear which sheet is above. */
const CLEAR = 0.75;

/** A sheet that lies above another one. */
export interface Layered {
  /** lowest vertex of the sheet */
  readonly upper: number;
  /** the side of the (consistently oriented) triangles of the other sheet on which it lies */
  readonly side: Label;
  /** 0.5 to 1: share of its area over the other one that is on this side */
  readonly confidence: number;
}

/** The areas that lie over each side of another sheet. */
interface Vote {
  readonly sheet: number;
  readonly plus: number;
  readonly minus: number;
  /** of the whole sheet */
  readonly area: number;
}

/**
 * Decides which of two sheets is above where they lie over one another nearly everywhere, as two copies do: the side on
 * which most of its area lies, for all contours of the two together. The decision is made in the state in which they
 * first cross, and kept, so that no contour changes its side from one iteration to the next.
 */
export class Layering {
  readonly #topology: Topology;
  readonly #areas: Float64Array;
  readonly #reach: number;
  readonly #pulse: () => void;
  readonly #known = new Map<string, Layered | undefined>();
  /** by lowest vertex of a sheet: its vertices, ascending */
  #members: ReadonlyMap<number, readonly number[]> | undefined;

  /**
   * @param areas float64[V] share of the surface of each vertex
   * @param edge typical length of an edge
   * @param pulse called at short intervals; may throw, and then nothing is decided
   */
  constructor(topology: Topology, areas: Float64Array, edge: number, pulse: () => void) {
    this.#topology = topology;
    this.#areas = areas;
    this.#reach = REACH * edge;
    this.#pulse = pulse;
  }

  /**
   * @param x float64[3·V]
   * @returns undefined if they are not layers, or if it is not clear which one is above
   * @throws what `pulse` throws
   */
  of(sheets: readonly [number, number], x: Float64Array): Layered | undefined {
    const key = sheets.join(' ');
    if (!this.#known.has(key)) this.#known.set(key, sheets[0] === sheets[1] ? undefined : this.#guess(sheets, x));
    return this.#known.get(key);
  }

  #guess([a, b]: readonly [number, number], x: Float64Array): Layered | undefined {
    const votes = [this.#vote(a, b, x), this.#vote(b, a, x)];
    const over = ({ plus, minus }: Vote): number => plus + minus;
    if (Math.max(...votes.map(over)) < COVERED * Math.min(...votes.map(({ area }) => area))) return undefined;
    // Within folds the two sheets may contradict each other; the clearer one decides.
    const clearness = (vote: Vote): number => Math.max(vote.plus, vote.minus) / (over(vote) || 1);
    const [first, second] = votes as [Vote, Vote];
    const clearer = clearness(first) > clearness(second) ? first : second;
    const confidence = clearness(clearer);
    if (confidence < CLEAR) return undefined;
    return { upper: clearer.sheet, side: clearer.plus >= clearer.minus ? 1 : -1, confidence };
  }

  #vote(own: number, other: number, x: Float64Array): Vote {
    const { mesh, sheets } = this.#topology;
    const chosen = Uint32Array.from(sheets.get(other)?.triangles ?? []);
    const tree = new TriangleTree(x, mesh.triangles, chosen, this.#pulse);
    const vote = { sheet: own, plus: 0, minus: 0, area: 0 };
    this.#members ??= membersOf(this.#topology);
    for (const [n, v] of (this.#members.get(own) ?? []).entries()) {
      if (n % NEAREST_PER_PULSE === 0) this.#pulse();
      vote.area += this.#areas[v];
      const height = heightOver(this.#topology, x, tree, v, this.#reach) ?? 0;
      if (height > 0) vote.plus += this.#areas[v];
      else if (height < 0) vote.minus += this.#areas[v];
    }
    return vote;
  }
}

function membersOf({ mesh, sheet }: Topology): Map<number, number[]> {
  const members = new Map<number, number[]>();
  for (let v = 0; v < mesh.vertexCount; v++) {
    const known = members.get(sheet[v]);
    if (known) known.push(v);
    else members.set(sheet[v], [v]);
  }
  return members;
}
