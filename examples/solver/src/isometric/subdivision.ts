import type { Geometry } from '../bodies.js';

/** A triangle mesh with a node at the middle of every edge: black nodes are its vertices, red nodes the middles. */
export interface Subdivision {
  /** four triangles per base triangle; the black nodes come first, then the red ones */
  readonly geometry: Geometry;
  readonly blackCount: number;
  readonly redCount: number;
  /** uint32[3·T]: black nodes of the base triangles */
  readonly corners: Uint32Array;
  /** uint32[3·T]: the red node opposite to each corner */
  readonly middles: Uint32Array;
  /** uint32[2·E]: black ends of the edge of every red node */
  readonly edges: Uint32Array;
  /** for the edge of every red node: its triangles, one or two */
  readonly trianglesOfEdge: readonly (readonly number[])[];
}

/**
 * One step of 4 : 1 subdivision (Wang 2012, section 3.1).
 * @throws Error if an edge has more than two triangles
 */
export function subdivide({ positions, triangles }: Geometry): Subdivision {
  const corners = triangles ?? new Uint32Array(0);
  const blackCount = positions.length / 3;
  const ids = new Map<number, number>();
  const edges: number[] = [];
  const trianglesOfEdge: number[][] = [];
  const middles = new Uint32Array(corners.length);
  const fine: number[] = [];
  for (let first = 0; first < corners.length; first += 3) {
    for (let k = 0; k < 3; k++) {
      const [a, b] = [corners[first + ((k + 1) % 3)]!, corners[first + ((k + 2) % 3)]!];
      const key = Math.min(a, b) * blackCount + Math.max(a, b);
      const edge = ids.get(key) ?? edges.length / 2;
      if (!ids.has(key)) {
        ids.set(key, edge);
        edges.push(a, b);
        trianglesOfEdge.push([]);
      }
      const around = trianglesOfEdge[edge]!;
      around.push(first / 3);
      if (around.length > 2) throw new Error(`The edge of vertices ${a} and ${b} has more than two triangles.`);
      middles[first + k] = blackCount + edge;
    }
    const [p, q, r] = middles.subarray(first, first + 3) as unknown as [number, number, number];
    fine.push(p, q, r);
    fine.push(corners[first]!, r, q, corners[first + 1]!, p, r, corners[first + 2]!, q, p);
  }
  const redCount = edges.length / 2;
  const all = new Float64Array(3 * (blackCount + redCount));
  all.set(positions);
  for (let e = 0; e < redCount; e++) {
    for (let c = 0; c < 3; c++) {
      all[3 * (blackCount + e) + c] = (positions[3 * edges[2 * e]! + c]! + positions[3 * edges[2 * e + 1]! + c]!) / 2;
    }
  }
  return {
    geometry: { positions: all, triangles: Uint32Array.from(fine) },
    ...{ blackCount, redCount, corners, middles, trianglesOfEdge },
    edges: Uint32Array.from(edges),
  };
}

/** Corners (indices into `corners`) at every black node. */
export function cornersOfBlack({ blackCount, corners }: Subdivision): number[][] {
  const lists = Array.from({ length: blackCount }, (): number[] => []);
  corners.forEach((black, corner) => {
    lists[black]!.push(corner);
  });
  return lists;
}

/**
 * The position that the triangle of a corner gives its black node: x(a) + x(b) − x(c) of its red nodes, c the one
 * opposite to it.
 * @returns the nodes a, b, c
 */
export function extrapolation({ middles }: Subdivision, corner: number): [number, number, number] {
  const first = corner - (corner % 3);
  const k = corner % 3;
  return [middles[first + ((k + 1) % 3)]!, middles[first + ((k + 2) % 3)]!, middles[corner]!];
}
