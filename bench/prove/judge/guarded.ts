import { isPromised, type Surface } from './surface.js';

/**
 * Which pairs may not meet on a path. Besides the promised ones these are pairs of kinematic elements under SKIP, and of
 * ignored parts, in which a promised pair of an edge and a triangle can begin to meet: a vertex and a triangle through an edge
 * at the vertex, two edges through a triangle at one of them.
 */
export class GuardedPairs {
  readonly #edgesAt = new Map<number, (readonly number[])[]>();
  readonly #trianglesAt = new Map<string, (readonly number[])[]>();

  constructor(
    private readonly surface: Surface,
    private readonly kinematicPairs: 'SKIP' | 'PROTECT',
  ) {
    for (const edge of surface.edges) for (const v of edge) listed(this.#edgesAt, v).push(edge);
    for (const triangle of surface.triangles) {
      for (const apex of triangle) {
        listed(this.#trianglesAt, nameOf(triangle.filter((v) => v !== apex))).push(triangle);
      }
    }
  }

  has(a: readonly number[], b: readonly number[]): boolean {
    if (this.#isPromised(a, b)) return true;
    if (a.some((v) => b.includes(v))) return false;
    if (b.length === 3) return listed(this.#edgesAt, a[0]).some((edge) => this.#isPromised(edge, b));
    if (a.length !== 2) return false;
    return (
      listed(this.#trianglesAt, nameOf(b)).some((triangle) => this.#isPromised(a, triangle)) ||
      listed(this.#trianglesAt, nameOf(a)).some((triangle) => this.#isPromised(b, triangle))
    );
  }

  #isPromised(a: readonly number[], b: readonly number[]): boolean {
    return isPromised(this.surface, a, b, this.kinematicPairs);
  }
}

const nameOf = (edge: readonly number[]): string =>
  edge[0] < edge[1] ? `${edge[0]} ${edge[1]}` : `${edge[1]} ${edge[0]}`;

function listed<K, V>(map: Map<K, V[]>, key: K): V[] {
  const list = map.get(key) ?? [];
  map.set(key, list);
  return list;
}
