import type { Body } from '../src/bodies.js';

/**
 * Positions of the vertices of a model within a coarser one of the same bodies, by which a state of the coarse one is
 * transferred.
 */
export interface Refinement {
  /** uint32[4·V]: vertices of the coarse model; unused entries have weight 0 */
  readonly vertices: Uint32Array;
  /** float64[4·V], which sum to 1 */
  readonly weights: Float64Array;
}

const CORNERS = { tetrahedra: 4, triangles: 3, segments: 2 } as const;

/** Relative to the mean distance of neighbours: the width of a cell in which the nearest vertex is searched for. */
const CELL = 1.5;

/**
 * Finds, for every vertex of the fine bodies, the nearest point of the corresponding body of the coarse ones in their
 * initial states: in the element around the nearest vertex whose closest point is nearest, by the weights of its
 * corners.
 *
 * @returns undefined if the bodies are not the same, or consist of anything other than elements with corners (grains)
 */
export function refine(coarse: readonly Body[], fine: readonly Body[]): Refinement | undefined {
  if (coarse.length !== fine.length) return undefined;
  const parts: Refinement[] = [];
  let firstOfCoarse = 0;
  for (const [b, body] of fine.entries()) {
    const from = coarse[b]!;
    const elements = elementsOf(from);
    if (from.name !== body.name || !elements || !elementsOf(body)) return undefined;
    parts.push(locate(from.geometry.positions, elements, body.geometry.positions, firstOfCoarse));
    firstOfCoarse += from.geometry.positions.length / 3;
  }
  return {
    vertices: Uint32Array.from(parts.flatMap(({ vertices }) => [...vertices])),
    weights: Float64Array.from(parts.flatMap(({ weights }) => [...weights])),
  };
}

/** Σ w v of the coarse vertices. @param v float64[3·coarse V] @returns float64[3·V] */
export function interpolate({ vertices, weights }: Refinement, v: Float64Array): Float64Array {
  const out = new Float64Array((3 * vertices.length) / 4);
  for (let k = 0; k < vertices.length; k++) {
    const to = 3 * Math.floor(k / 4);
    for (let i = 0; i < 3; i++) out[to + i]! += weights[k]! * v[3 * vertices[k]! + i]!;
  }
  return out;
}

interface Elements {
  readonly corners: number;
  readonly ids: Uint32Array;
}

function elementsOf({ geometry }: Body): Elements | undefined {
  for (const kind of ['tetrahedra', 'triangles', 'segments'] as const) {
    const ids = geometry[kind];
    if (ids && ids.length > 0) return { corners: CORNERS[kind], ids };
  }
  return undefined;
}

function locate(x: Float64Array, { corners, ids }: Elements, points: Float64Array, first: number): Refinement {
  const incident: number[][] = Array.from({ length: x.length / 3 }, () => []);
  for (let k = 0; k < ids.length; k++) incident[ids[k]!]!.push(Math.floor(k / corners));
  /** the elements of a vertex and those of their vertices */
  const near = (vertex: number): Set<number> =>
    new Set(
      incident[vertex]!.flatMap((element) =>
        Array.from(ids.subarray(corners * element, corners * (element + 1)), (id) => incident[id]!).flat(),
      ),
    );
  const nearest = nearestVertex(x, CELL * meanLength(x, corners, ids));
  const count = points.length / 3;
  const vertices = new Uint32Array(4 * count).fill(first);
  const weights = new Float64Array(4 * count);
  for (let p = 0; p < count; p++) {
    const point = points.subarray(3 * p, 3 * p + 3);
    const vertex = nearest(point);
    let best = Number.POSITIVE_INFINITY;
    for (const element of near(vertex)) {
      const own = ids.subarray(corners * element, corners * (element + 1));
      const { w, squared } = closest(
        point,
        Array.from(own, (id) => x.subarray(3 * id, 3 * id + 3)),
      );
      if (squared >= best) continue;
      best = squared;
      own.forEach((id, k) => {
        vertices[4 * p + k] = first + id;
        weights[4 * p + k] = w[k]!;
      });
    }
    // A vertex of no element.
    if (incident[vertex]!.length === 0) {
      vertices[4 * p] = first + vertex;
      weights[4 * p] = 1;
    }
  }
  return { vertices, weights };
}

type Point = ArrayLike<number>;

const minus = (a: Point, b: Point): number[] => [a[0]! - b[0]!, a[1]! - b[1]!, a[2]! - b[2]!];
const dot = (a: Point, b: Point): number => a[0]! * b[0]! + a[1]! * b[1]! + a[2]! * b[2]!;

/** Weights of the point of a simplex that is nearest to `p`, and the square of its distance. */
function closest(p: Point, corners: readonly Point[]): { readonly w: number[]; readonly squared: number } {
  const inner = barycentric(p, corners);
  if (inner.every((weight) => weight >= 0)) {
    const at = [0, 1, 2].map((i) => corners.reduce((sum, corner, k) => sum + inner[k]! * corner[i]!, 0));
    const off = minus(p, at);
    return { w: inner, squared: dot(off, off) };
  }
  // The projection is outside, so the nearest point is on one of its faces.
  return corners
    .map((_, left) => {
      const { w, squared } = closest(
        p,
        corners.filter((__, k) => k !== left),
      );
      return { w: w.toSpliced(left, 0, 0), squared };
    })
    .reduce((a, b) => (b.squared < a.squared ? b : a));
}

/** Weights of the projection of a point onto the space spanned by a simplex; outside the simplex some are negative. */
function barycentric(p: Point, corners: readonly Point[]): number[] {
  const [origin, ...others] = corners;
  const axes = others.map((corner) => minus(corner, origin!));
  const to = minus(p, origin!);
  // Gauss elimination of the Gram matrix.
  const rows = axes.map((a) => [...axes.map((b) => dot(a, b)), dot(a, to)]);
  const n = rows.length;
  for (let i = 0; i < n; i++) {
    for (let j = i + 1; j < n; j++) {
      const share = rows[j]![i]! / rows[i]![i]!;
      for (let k = i; k <= n; k++) rows[j]![k]! -= share * rows[i]![k]!;
    }
  }
  const weights = new Array<number>(n).fill(0);
  for (let i = n - 1; i >= 0; i--) {
    let rest = rows[i]![n]!;
    for (let k = i + 1; k < n; k++) rest -= rows[i]![k]! * weights[k]!;
    weights[i] = rest / rows[i]![i]!;
  }
  return [1 - weights.reduce((sum, weight) => sum + weight, 0), ...weights];
}

function meanLength(x: Float64Array, corners: number, ids: Uint32Array): number {
  let sum = 0;
  for (let k = 0; k < ids.length; k += corners) {
    const off = minus(x.subarray(3 * ids[k]!, 3 * ids[k]! + 3), x.subarray(3 * ids[k + 1]!, 3 * ids[k + 1]! + 3));
    sum += Math.hypot(...off);
  }
  return (corners * sum) / ids.length;
}

/** Returns a function that finds the vertex that is nearest to a point, over a grid of cells. */
function nearestVertex(x: Float64Array, cell: number): (point: Point) => number {
  const cells = new Map<string, number[]>();
  const cellOf = (point: Point): [number, number, number] => [
    Math.floor(point[0]! / cell),
    Math.floor(point[1]! / cell),
    Math.floor(point[2]! / cell),
  ];
  for (let v = 0; v < x.length / 3; v++) {
    const key = cellOf(x.subarray(3 * v, 3 * v + 3)).join();
    const list = cells.get(key);
    if (list) list.push(v);
    else cells.set(key, [v]);
  }
  return (point) => {
    const [a, b, c] = cellOf(point);
    let [found, best] = [-1, Number.POSITIVE_INFINITY];
    // All vertices of a ring are at least ring − 1 cells away.
    for (let ring = 0; found < 0 || (ring - 1) * cell < Math.sqrt(best); ring++) {
      for (let i = -ring; i <= ring; i++) {
        for (let j = -ring; j <= ring; j++) {
          const isShell = Math.max(Math.abs(i), Math.abs(j)) === ring;
          for (let k = -ring; k <= ring; k += isShell || ring === 0 ? 1 : 2 * ring) {
            for (const v of cells.get(`${a + i},${b + j},${c + k}`) ?? []) {
              const off = minus(point, x.subarray(3 * v, 3 * v + 3));
              const squared = dot(off, off);
              if (squared < best) [found, best] = [v, squared];
            }
          }
        }
      }
    }
    return found;
  };
}
