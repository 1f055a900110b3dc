import type { CutEnd, Label } from './crossings.js';

/** A contour continues a region if more than this share of the wrong ends of its cut edges lie in it. */
const CONTINUES = 0.5;

interface TurnedRegion {
  /** lowest vertices of its sheet, and of the one that it passes through */
  readonly sheet: number;
  readonly other: number;
  /** the side of the (consistently oriented) triangles of the other sheet on which it belongs */
  readonly right: Label;
  readonly vertices: Set<number>;
}

/**
 * The regions of contours whose choice the caller has reversed. Ids are those of the start, but a region takes several
 * iterations to pass through, and its contours are new ones in each. They lie within the region, which shrinks towards
 * its far end, so contours between the same two sheets whose wrong ends lie in it keep its side.
 */
export class TurnedRegions {
  readonly #regions: TurnedRegion[] = [];

  add({ vertices, ...of }: Omit<TurnedRegion, 'vertices'> & { readonly vertices: readonly number[] }): void {
    const known = this.#regions.find(
      ({ sheet, other, right }) => sheet === of.sheet && other === of.other && right === of.right,
    );
    if (!known) this.#regions.push({ ...of, vertices: new Set(vertices) });
    else for (const v of vertices) known.vertices.add(v);
  }

  /** @param ends of the edges of the sheet that a contour cuts @returns 0 = it continues none of these regions */
  sideOf(sheet: number, other: number, ends: readonly CutEnd[]): Label | 0 {
    const continued = this.#regions.find((region) => {
      if (region.sheet !== sheet || region.other !== other) return false;
      const wrong = ends.filter(({ label }) => label !== region.right);
      return wrong.filter(({ vertex }) => region.vertices.has(vertex)).length > CONTINUES * wrong.length;
    });
    return continued?.right ?? 0;
  }
}
