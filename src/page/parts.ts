import type { MeshInput } from '../contract/mesh.js';
import { BODY_COLOURS, type Colour, OBSTACLE_COLOUR } from './colours.js';

/** Elements that are shown and hidden together: a named part of the mesh, or a connected component. */
export interface Part {
  readonly name: string;
  readonly vertexCount: number;
  readonly isKinematic: boolean;
  readonly colour: Colour;
}

export interface Parts {
  readonly list: readonly Part[];
  /** uint8[V] index into the list of parts */
  readonly of: Uint8Array<ArrayBuffer>;
}

/** Further ones share one entry of the list, "others": a list of a thousand strands is of no use. */
const MAX_LISTED = 12;
const MAX_NAMED = 200;

/** The named parts of the mesh, or if there are none its connected components. */
export function findParts(mesh: MeshInput): Parts {
  const groups = mesh.parts?.length ? namedGroups(mesh) : connectedGroups(mesh);
  let bodies = 0;
  const list = groups.map(({ name, vertices }) => {
    const isKinematic = vertices.every((v) => mesh.kinematic?.[v] === 1);
    const colour = isKinematic ? OBSTACLE_COLOUR : BODY_COLOURS[bodies++ % BODY_COLOURS.length]!;
    return { name, vertexCount: vertices.length, isKinematic, colour };
  });
  const of = new Uint8Array(mesh.vertexCount);
  for (const [i, { vertices }] of groups.entries()) for (const v of vertices) of[v] = i;
  return { list, of };
}

interface Group {
  readonly name: string;
  readonly vertices: readonly number[];
}

const range = (first: number, count: number): number[] => Array.from({ length: count }, (_, i) => first + i);

function namedGroups({ parts = [] }: MeshInput): Group[] {
  const groups = parts.map(({ name, firstVertex, vertexCount }) => ({
    name,
    vertices: range(firstVertex, vertexCount),
  }));
  if (groups.length <= MAX_NAMED) return groups;
  const others = groups.splice(MAX_NAMED - 1);
  return [...groups, { name: `${others.length} others`, vertices: others.flatMap(({ vertices }) => vertices) }];
}

type Kind = 'surface' | 'strand' | 'grain' | 'unused vertex';

function connectedGroups(mesh: MeshInput): Group[] {
  const roots = connect(mesh);
  const members = new Map<number, number[]>();
  for (let v = 0; v < mesh.vertexCount; v++) {
    const list = members.get(roots[v]!);
    if (list) list.push(v);
    else members.set(roots[v]!, [v]);
  }
  const kinds = kindsOf(mesh);
  const byKind = new Map<string, number[][]>();
  for (const vertices of members.values()) {
    const isKinematic = vertices.every((v) => mesh.kinematic?.[v] === 1);
    const key = `${isKinematic ? 'kinematic ' : ''}${kinds(vertices[0]!)}`;
    const list = byKind.get(key);
    if (list) list.push(vertices);
    else byKind.set(key, [vertices]);
  }
  const groups: Group[] = [];
  for (const [kind, components] of byKind) {
    const isFew = components.length <= MAX_LISTED && !/strand|grain|vertex/.test(kind);
    if (isFew) {
      components.forEach((vertices, i) => {
        groups.push({ name: components.length === 1 ? kind : `${kind} ${i + 1}`, vertices });
      });
    } else {
      const isOne = components.length === 1;
      const name = isOne ? kind : `${components.length} ${kind.replace(/vertex$/, 'vertice')}s`;
      groups.push({ name, vertices: components.flat() });
    }
  }
  return groups;
}

function kindsOf({ triangles, segments, particles, vertexCount }: MeshInput): (vertex: number) => Kind {
  const kinds = new Uint8Array(vertexCount);
  for (const v of particles ?? []) kinds[v] = 1;
  for (const v of segments ?? []) kinds[v] = 2;
  for (const v of triangles ?? []) kinds[v] = 3;
  const names: readonly Kind[] = ['unused vertex', 'grain', 'strand', 'surface'];
  return (vertex) => names[kinds[vertex]!]!;
}

/** uint32[V] one vertex of the connected component of each vertex. */
function connect({ vertexCount, triangles, segments, tetrahedra }: MeshInput): Uint32Array {
  const parent = Uint32Array.from({ length: vertexCount }, (_, v) => v);
  const rootOf = (vertex: number): number => {
    let v = vertex;
    while (parent[v] !== v) {
      parent[v] = parent[parent[v]!]!;
      v = parent[v]!;
    }
    return v;
  };
  const join = (elements: Uint32Array | undefined, width: number) => {
    for (let i = 0; i < (elements?.length ?? 0); i += width) {
      const root = rootOf(elements![i]!);
      for (let k = 1; k < width; k++) parent[rootOf(elements![i + k]!)] = root;
    }
  };
  join(triangles, 3);
  join(segments, 2);
  join(tetrahedra, 4);
  return parent.map((_, v) => rootOf(v));
}
