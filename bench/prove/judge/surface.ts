import type { MeshInput } from '../../../src/contract/mesh.js';

/** Vertices of an element: one of a point, two of an edge, three of a triangle. */
export type Element = readonly number[];

export interface PairList {
  has(a: Element, b: Element): boolean;
}

/**
 * The elements of a mesh that can touch, derived from the request alone: the judge does not rely on how the service
 * reads it.
 */
export interface Surface {
  readonly vertexCount: number;
  /** sent triangles, then faces that belong to exactly one tetrahedron and were not sent */
  readonly triangles: readonly Element[];
  /** edges of triangles and segments, each once */
  readonly edges: readonly Element[];
  /** segments that are not an edge of a triangle */
  readonly rods: readonly Element[];
  /** points whose vertex belongs to nothing else */
  readonly particles: readonly Element[];
  /** every vertex of the above */
  readonly vertices: readonly Element[];
  /** edges and edges inside solids: their lengths count as stretch */
  readonly lengths: readonly Element[];
  /** those with a limit besides those of strains: if strains have limits, only the rods */
  readonly limited: readonly Element[];
  /** lengths at rest by the key of an edge, the caller's unit; empty = none has one */
  readonly atRest: ReadonlyMap<string, number>;
  readonly kinematic: Uint8Array;
  /** -1 = none */
  readonly partOf: Int32Array;
  /** "p q" with p ≤ q */
  readonly ignoredParts: ReadonlySet<string>;
  /** δ of each part, the caller's unit; undefined = that of the parameters */
  readonly partDistances: readonly (number | undefined)[];
  /** pairs that a request under IGNORE_PAIRS does not promise */
  readonly excused?: PairList;
}

const rows = (list: Uint32Array | undefined, size: number): number[][] =>
  Array.from({ length: (list?.length ?? 0) / size }, (_, i) => Array.from(list!.subarray(size * i, size * i + size)));

export const keyOf = (vertices: readonly number[]): string => [...vertices].sort((a, b) => a - b).join(' ');

const FACES = [
  [1, 2, 3],
  [0, 3, 2],
  [0, 1, 3],
  [0, 2, 1],
];

function unique(elements: readonly Element[]): number[][] {
  const byKey = new Map<string, number[]>();
  for (const element of elements) {
    const key = keyOf(element);
    if (!byKey.has(key))
      byKey.set(
        key,
        [...element].sort((a, b) => a - b),
      );
  }
  return [...byKey.values()];
}

export function readSurface(mesh: MeshInput): Surface {
  const sent = rows(mesh.triangles, 3);
  const solids = rows(mesh.tetrahedra, 4);
  const faceCount = new Map<string, number>();
  const faces = solids.flatMap((solid) => FACES.map((face) => face.map((corner) => solid[corner])));
  for (const face of faces) faceCount.set(keyOf(face), (faceCount.get(keyOf(face)) ?? 0) + 1);
  const isSent = new Set(sent.map(keyOf));
  const triangles = [...sent, ...faces.filter((face) => faceCount.get(keyOf(face)) === 1 && !isSent.has(keyOf(face)))];
  const sides = unique(
    triangles.flatMap(([a, b, c]) => [
      [a, b],
      [b, c],
      [c, a],
    ]),
  );
  const isSide = new Set(sides.map(keyOf));
  const rods = unique(rows(mesh.segments, 2)).filter((rod) => !isSide.has(keyOf(rod)));
  const edges = [...sides, ...rods];
  const used = new Set([...edges.flat(), ...solids.flat()]);
  const particles = unique(rows(mesh.particles, 1)).filter(([v]) => !used.has(v));
  const vertices = [...new Set([...edges.flat(), ...particles.flat()])].sort((a, b) => a - b).map((v) => [v]);
  const inner = solids.flatMap(([a, b, c, d]) => [
    [a, b],
    [a, c],
    [a, d],
    [b, c],
    [b, d],
    [c, d],
  ]);
  const lengths = unique([...edges, ...inner]);
  const kinematic = new Uint8Array(mesh.vertexCount);
  mesh.kinematic?.forEach((flag, v) => {
    kinematic[v] = flag === 0 ? 0 : 1;
  });
  const partOf = new Int32Array(mesh.vertexCount).fill(-1);
  mesh.parts?.forEach((part, p) => {
    partOf.fill(p, part.firstVertex, part.firstVertex + part.vertexCount);
    if (part.kinematic) kinematic.fill(1, part.firstVertex, part.firstVertex + part.vertexCount);
  });
  return {
    vertexCount: mesh.vertexCount,
    triangles,
    edges,
    rods,
    particles,
    vertices,
    lengths,
    limited: mesh.strainLimits ? rods : lengths,
    atRest: readRest(mesh, lengths),
    kinematic,
    partOf,
    ignoredParts: new Set(rows(mesh.ignoredPartPairs, 2).map(keyOf)),
    partDistances: mesh.parts?.map(({ activationDistance }) => activationDistance) ?? [],
  };
}

/** Named lengths replace those between positions. */
function readRest({ restLengths }: MeshInput, edges: readonly Element[]): ReadonlyMap<string, number> {
  const found = new Map<string, number>();
  const { positions, edges: named, lengths } = restLengths ?? {};
  if (positions) {
    for (const [a, b] of edges)
      found.set(keyOf([a, b]), Math.hypot(...[0, 1, 2].map((c) => positions[3 * a + c] - positions[3 * b + c])));
  }
  for (const [k, ends] of rows(named, 2).entries()) found.set(keyOf(ends), lengths![k]);
  return found;
}

/** Two lists of elements; each element of one is tested against each of the other. */
export type Relation = readonly [readonly Element[], readonly Element[]];

/** Proximity pairs: those through which elements begin to meet in a motion, and in which they are nearest to each other. */
export function proximityRelations({ edges, triangles, rods, particles, vertices }: Surface): Relation[] {
  return [
    [vertices, triangles],
    [edges, edges],
    [particles, rods],
    [particles, particles],
  ];
}

/** Smallest and largest δ of a mesh's parts; that of the parameters for a part without one. */
export function distanceRange({ partDistances }: Surface, delta: number): { smallest: number; largest: number } {
  if (partDistances.length === 0) return { smallest: delta, largest: delta };
  const all = partDistances.map((own) => own ?? delta);
  return { smallest: Math.min(...all), largest: Math.max(...all) };
}
