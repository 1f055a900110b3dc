import type { MeshInput, Positions } from '../contract/mesh.js';

/** The part of a mesh that changes when another state of a study is shown; the rest is the same in all of them. */
export interface Moving {
  /** All vertices that move, or whose normal changes, lie in the range from `first` to before `end`. */
  readonly first: number;
  readonly end: number;
  /** uint32[] vertices whose normal changes: those that move, and their neighbours */
  readonly vertices: Uint32Array;
  /** uint8[V] 1 for these vertices */
  readonly isChanged: Uint8Array;
  /** uint32[3·N] the triangles at these vertices */
  readonly triangles: Uint32Array;
}

/** @param states [3·V] each, all that the page shows, apart from states between two of them */
export function findMoving({ vertexCount, triangles }: MeshInput, states: readonly Positions[]): Moving {
  const moves = new Uint8Array(vertexCount);
  const [start, ...others] = states;
  for (const state of others) {
    for (let v = 0, i = 0; v < vertexCount; v++, i += 3) {
      if (moves[v] === 1) continue;
      if (state[i] !== start![i] || state[i + 1] !== start![i + 1] || state[i + 2] !== start![i + 2]) moves[v] = 1;
    }
  }
  const corners = triangles ?? new Uint32Array(0);
  const isChanged = moves.slice();
  for (let i = 0; i < corners.length; i += 3) {
    const [a, b, c] = [corners[i]!, corners[i + 1]!, corners[i + 2]!];
    if (moves[a] === 1 || moves[b] === 1 || moves[c] === 1) isChanged[a] = isChanged[b] = isChanged[c] = 1;
  }
  const touching = corners.filter((_, i) => {
    const first = i - (i % 3);
    return (
      isChanged[corners[first]!] === 1 || isChanged[corners[first + 1]!] === 1 || isChanged[corners[first + 2]!] === 1
    );
  });
  const vertices = new Uint32Array(isChanged.reduce((sum, flag) => sum + flag, 0));
  for (let v = 0, n = 0; v < vertexCount; v++) if (isChanged[v] === 1) vertices[n++] = v;
  const [first = 0, last = -1] = [vertices[0], vertices.at(-1)];
  return { first, end: last + 1, vertices, isChanged, triangles: touching };
}
