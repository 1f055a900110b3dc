import type { Scene } from '../scenes/types.js';
import type { Vec } from '../src/bodies.js';
import type { Model } from '../src/model.js';
import type { FrameCache } from './cache.js';
import { boundaryOf } from './picture.js';

/** The state of a pile. */
export interface PileVerdict {
  readonly bodies: number;
  /** the first of the examined frames in which bodies had changed places, and these bodies */
  readonly changedAt?: number;
  readonly exchanged?: readonly Exchange[];
}

/** Compares the frames of a scene with a pile with the order of its bodies in the scene. */
export function judgePile(scene: Scene, model: Model, cache: FrameCache): PileVerdict | undefined {
  const { pile } = scene;
  if (pile === undefined || cache.frameCount === 0) return undefined;
  for (const index of cache.sample()) {
    const exchanged = findExchanged(model, pile, cache.read(index));
    if (exchanged.length > 0) return { bodies: pile.length, changedAt: cache.begin.frame + index, exchanged };
  }
  return { bodies: pile.length };
}

/** Returns the text in a cell of a table. */
export const describePile = ({ bodies, changedAt, exchanged = [] }: PileVerdict): string =>
  changedAt === undefined
    ? `in order (${bodies} layers)`
    : `NOT IN ORDER from frame ${changedAt} on (${exchanged.map(({ lower, upper }) => `${lower} above ${upper}`).join(', ')})`;

/** Two bodies of a pile, the upper of which lies below the lower one somewhere. */
export interface Exchange {
  readonly lower: string;
  readonly upper: string;
}

/**
 * Finds bodies that have changed places in a pile: on every vertical line through a vertex of one of two bodies that
 * meets the other one, the upper one must be above.
 *
 * @param pile bodies from the lowest to the highest, as indices into `model.parts`
 * @param x float64[3·V]
 */
export function findExchanged(model: Model, pile: readonly number[], x: Float64Array): Exchange[] {
  const columns = pile.map((part) => new Columns(model, part, x));
  return pile.flatMap((upperPart, above) =>
    pile.slice(0, above).flatMap((lowerPart, below) => {
      const [upper, lower] = [columns[above]!, columns[below]!];
      const isExchanged =
        upper.someVertex((p) => lower.heightsAt(p).some((z) => z > p[2])) ||
        lower.someVertex((p) => upper.heightsAt(p).some((z) => z < p[2]));
      return isExchanged ? [{ lower: model.parts[lowerPart]!.name, upper: model.parts[upperPart]!.name }] : [];
    }),
  );
}

/** Cells of the grid along a side. */
const CELLS = 24;

/** The surface of a body over a horizontal grid. */
class Columns {
  readonly #vertices: readonly Vec[];
  readonly #low: readonly [number, number];
  readonly #size: readonly [number, number];
  /** triangles over every cell */
  readonly #cells: (readonly [Vec, Vec, Vec])[][] = Array.from({ length: CELLS * CELLS }, () => []);

  constructor({ parts, mesh }: Model, part: number, x: Float64Array) {
    const { firstVertex, vertexCount } = parts[part]!;
    const at = (v: number): Vec => [x[3 * v]!, x[3 * v + 1]!, x[3 * v + 2]!];
    this.#vertices = Array.from({ length: vertexCount }, (_, i) => at(firstVertex + i));
    const bounds = [0, 1].map((c) => {
      const values = this.#vertices.map((p) => p[c]!);
      return [Math.min(...values), Math.max(...values)] as const;
    });
    this.#low = [bounds[0]![0], bounds[1]![0]];
    this.#size = [bounds[0]![1] - bounds[0]![0], bounds[1]![1] - bounds[1]![0]];
    const isOwn = (v: number): boolean => v >= firstVertex && v < firstVertex + vertexCount;
    const surface = [...mesh.triangles.filter(isOwn), ...boundaryOf(mesh.tetrahedra.filter(isOwn))];
    for (let i = 0; i < surface.length; i += 3) {
      const corners = [0, 1, 2].map((k) => at(surface[i + k]!)) as [Vec, Vec, Vec];
      const [fromX, toX] = this.#range(0, corners);
      const [fromY, toY] = this.#range(1, corners);
      for (let a = fromX; a <= toX; a++) for (let b = fromY; b <= toY; b++) this.#cells[a * CELLS + b]!.push(corners);
    }
  }

  someVertex(test: (p: Vec) => boolean): boolean {
    return this.#vertices.some(test);
  }

  /**
   * Heights at which the vertical line through a point meets the surface: z, m. A line through an edge may be missed.
   */
  heightsAt([x, y]: Vec): number[] {
    const [a, b] = [this.#cell(0, x), this.#cell(1, y)];
    if (a < 0 || a >= CELLS || b < 0 || b >= CELLS) return [];
    return this.#cells[a * CELLS + b]!.flatMap(([p, q, r]) => {
      const sides = [areaOf(p, q, x, y), areaOf(q, r, x, y), areaOf(r, p, x, y)] as const;
      if (!sides.every((side) => side > 0) && !sides.every((side) => side < 0)) return [];
      const sum = sides[0] + sides[1] + sides[2];
      return [(sides[0] * r[2] + sides[1] * p[2] + sides[2] * q[2]) / sum];
    });
  }

  /** May lie outside the grid. */
  #cell(c: 0 | 1, value: number): number {
    return Math.min(Math.floor((CELLS * (value - this.#low[c])) / this.#size[c]), CELLS);
  }

  #range(c: 0 | 1, corners: readonly Vec[]): [number, number] {
    const cells = corners.map((p) => Math.min(CELLS - 1, this.#cell(c, p[c])));
    return [Math.min(...cells), Math.max(...cells)];
  }
}

/** Twice the area of a triangle as seen from above, positive if it turns left. */
const areaOf = (p: Vec, q: Vec, x: number, y: number): number =>
  (q[0] - p[0]) * (y - p[1]) - (q[1] - p[1]) * (x - p[0]);
