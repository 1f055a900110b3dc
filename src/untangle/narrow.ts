import type { Crossing, CutEnd, Label } from './crossings.js';
import { rowOf, type Topology } from './topology.js';

const LABELS = [1, -1] as const;

/** Rings that a flood goes from a contour, for each of its pierces: half of its length, of which an edge has some three. */
const RINGS_PER_PIERCE = 1 / 6;

/**
 * The right sides along a contour of a sheet with itself, whether it cuts anything off or not. The contour is two lines on the sheet. Where
 * walls of a fold went through each other, what is wrong lies between them, where floods from the one line meet those from the
 * other: of the pairs of sides it is the one from which floods of the same number of rings reach the least area together. What was wrong in
 * the last iteration does not count.
 *
 * @param relation −1 or 1: the sheets are nearly parallel along the contour, with normals against or along each other; 0: they are not
 */
export function narrowSides(
  topology: Topology,
  crossing: Crossing,
  c: number,
  pierces: number,
  areas: Float64Array,
  relation: Label | 0,
): { readonly right: readonly [Label, Label]; readonly confidence: number } | undefined {
  const ends = crossing.ends.get(c)!;
  const rings = Math.max(2, Math.ceil(RINGS_PER_PIERCE * pierces));
  const areaOf = (a: Label, b: Label): number => {
    const from = [...ends[0].filter(({ label }) => label === a), ...ends[1].filter(({ label }) => label === b)];
    return flood(topology, crossing, from, rings, areas);
  };
  const pairs = LABELS.flatMap((a) =>
    LABELS.filter((b) => relation === 0 || b === -a * relation).map((b) => ({
      a,
      b,
      area: areaOf(-a as Label, -b as Label),
      other: areaOf(a, b),
    })),
  );
  const { a, b, area, other } = pairs.reduce((least, pair) => (pair.area < least.area ? pair : least));
  if (area + other === 0) return undefined;
  return { right: [a, b], confidence: Math.max(0.5, other / (area + other)) };
}

/** Area within some rings of ends of cut edges, not over an edge that is cut or a vertex on the contour. */
function flood(
  { mesh: { edges }, edgesAt }: Topology,
  { cut, tips }: Crossing,
  from: readonly CutEnd[],
  rings: number,
  areas: Float64Array,
): number {
  const seen = new Set(from.map(({ vertex }) => vertex));
  let [rim, area] = [[...seen], 0];
  for (let ring = 0; rim.length > 0; ring++) {
    const next: number[] = [];
    for (const v of rim) {
      area += areas[v];
      if (ring === rings || tips.has(v)) continue;
      for (const e of rowOf(edgesAt, v)) {
        const w = edges[2 * e] === v ? edges[2 * e + 1] : edges[2 * e];
        if (cut.has(e) || tips.has(w) || seen.has(w)) continue;
        seen.add(w);
        next.push(w);
      }
    }
    rim = next;
  }
  return area;
}
