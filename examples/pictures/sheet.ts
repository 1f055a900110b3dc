import { BODY_COLOURS, type Colour } from '../../src/page/colours.js';

/** Pictures of states: what a drawing consists of, on both sides of the browser. */

export type Vec = readonly [number, number, number];

/** Elements of one colour over a range of vertices; ids count from 0 within the range. */
export interface Body {
  readonly firstVertex: number;
  readonly vertexCount: number;
  readonly triangles: Uint32Array;
  readonly segments: Uint32Array;
  readonly particles: Uint32Array;
  /** sRGB, each from 0 to 1 */
  readonly colour: Colour;
}

/** States of the same bodies side by side, all seen from the same place. Metres, z up. */
export interface Row {
  readonly bodies: readonly Body[];
  /** float32[3·V], one for each panel */
  readonly states: readonly Float32Array[];
  /** float32[3·n]: points that every panel shows; what else there is may reach beyond the picture */
  readonly framed: Float32Array;
  /** direction of view */
  readonly view: Vec;
}

export interface Sheet {
  readonly rows: readonly Row[];
  /** of each panel, pixels */
  readonly panel: { readonly width: number; readonly height: number };
  /** above the columns; default: none */
  readonly headings?: readonly string[];
}

/** Pixels between panels, and the height of headings. */
export const GAP = 6;
export const HEADING = 44;

export function sizeOf({ rows, panel, headings }: Sheet): { readonly width: number; readonly height: number } {
  const columns = Math.max(...rows.map(({ states }) => states.length));
  return {
    width: columns * (panel.width + GAP) - GAP,
    height: rows.length * (panel.height + GAP) - GAP + (headings ? HEADING : 0),
  };
}

/** float32[3·n] of several states, for `framed`. */
export function joined(states: readonly ArrayLike<number>[]): Float32Array {
  const out = new Float32Array(states.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const state of states) {
    out.set(state, at);
    at += state.length;
  }
  return out;
}

export interface Elements {
  readonly triangles: Uint32Array;
  readonly segments: Uint32Array;
  readonly particles: Uint32Array;
}

type Range = Pick<Body, 'firstVertex' | 'vertexCount'>;

const SAND = BODY_COLOURS[2]!;

/** Shares out elements among ranges of vertices, which are sorted and cover them. Grains have the colour of sand. */
export function bodiesOf<T extends Range>(
  ranges: readonly T[],
  elements: Elements,
  colourOf: (range: T, index: number) => Colour,
): Body[] {
  const share = (ids: Uint32Array, width: number): Uint32Array[] => {
    const lists = ranges.map((): number[] => []);
    const placeOf = new Uint32Array(ranges.reduce((sum, { vertexCount }) => sum + vertexCount, 0));
    ranges.forEach(({ firstVertex, vertexCount }, r) => {
      placeOf.fill(r, firstVertex, firstVertex + vertexCount);
    });
    for (let i = 0; i < ids.length; i += width) {
      const place = placeOf[ids[i]!]!;
      for (let k = 0; k < width; k++) lists[place]!.push(ids[i + k]! - ranges[place]!.firstVertex);
    }
    return lists.map((list) => Uint32Array.from(list));
  };
  const [triangles, segments, particles] = [
    share(elements.triangles, 3),
    share(elements.segments, 2),
    share(elements.particles, 1),
  ];
  return ranges.map((range, r) => ({
    firstVertex: range.firstVertex,
    vertexCount: range.vertexCount,
    triangles: triangles[r]!,
    segments: segments[r]!,
    particles: particles[r]!,
    colour: particles[r]!.length > 0 ? SAND : colourOf(range, r),
  }));
}
