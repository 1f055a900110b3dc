import type { Crossing, CutEnd, Label } from './crossings.js';
import type { Pulse } from './pulse.js';
import { rowOf, type Topology } from './topology.js';

const LABELS = [1, -1] as const;

/**
 * Rings that a flood extends from a contour, for each of its pierces: half of the length of the contour, which has some
 * three pierces per edge.
 */
const RINGS_PER_PIERCE = 1 / 6;

/**
 * Returns the right sides along a contour of a sheet with itself, whether or not it cuts anything off. The contour is
 * two lines on the sheet. If walls of a fold have passed through each other, the wrong part lies between these lines,
 * where floods from one line meet those from the other. So of the possible pairs of sides, the wrong one is that from
 * which floods of the same number of rings cover the smallest area together. The sides of the last iteration do not
 * count.
 *
 * @param relation −1 or 1: the sheets are nearly parallel along the contour, with normals against or along each other;
 *   0: they are not
 */
export function narrowSides(
  topology: Topology,
  crossing: Crossing,
  c: number,
  pierces: number,
  areas: Float64Array,
  relation: Label | 0,
  pulse: Pulse = () => {},
): { readonly right: readonly [Label, Label]; readonly confidence: number } | undefined {
  const ends = crossing.ends.get(c)!;
  const rings = Math.max(2, Math.ceil(RINGS_PER_PIERCE * pierces));
  const areaOf = (a: Label, b: Label): number => {
    const from = [...ends[0].filter(({ label }) => label === a), ...ends[1].filter(({ label }) => label === b)];
    return flood(topology, crossing, from, rings, areas, pulse);
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

/**
 * Returns the area within some rings of the ends of cut edges; a flood does not cross a cut edge or a vertex on the
 * contour.
 */
function flood(
  { mesh: { edges }, edgesAt }: Topology,
  { cut, tips }: Crossing,
  from: readonly CutEnd[],
  rings: number,
  areas: Float64Array,
  pulse: Pulse,
): number {
  const seen = new Set(from.map(({ vertex }) => vertex));
  let [rim, area] = [[...seen], 0];
  for (let ring = 0; rim.length > 0; ring++) {
    pulse();
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
