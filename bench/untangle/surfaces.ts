import type { MeshInput, PartInput } from '../../src/contract/mesh.js';

export type Point = readonly [number, number, number];

/** Puts parts together to one mesh: sheets and tubes over a grid, and spheres. */
export class Surfaces {
  readonly positions: number[] = [];
  /** where every vertex belongs: free of intersections by construction */
  readonly truth: number[] = [];
  readonly #triangles: number[] = [];
  readonly #kinematic: number[] = [];
  readonly #parts: PartInput[] = [];

  /**
   * A grid of n × m quads over (u, v) in [0, 1]²; `wraps` joins u = 1 to u = 0.
   *
   * @param place where a vertex is, and where it belongs
   * @returns its first vertex
   */
  grid(
    name: string,
    n: number,
    m: number,
    place: (u: number, v: number) => { readonly at: Point; readonly truth?: Point },
    { wraps = false, isKinematic = false } = {},
  ): number {
    const first = this.#kinematic.length;
    const rows = wraps ? n : n + 1;
    for (let i = 0; i < rows; i++) {
      for (let j = 0; j <= m; j++) this.#vertex(place(i / n, j / m), isKinematic);
    }
    const id = (i: number, j: number): number => first + (i % rows) * (m + 1) + j;
    for (let i = 0; i < n; i++) {
      for (let j = 0; j < m; j++) {
        // Alternating diagonals, so that no direction is stiffer than its mirror image.
        const [a, b, c, d] = [id(i, j), id(i + 1, j), id(i + 1, j + 1), id(i, j + 1)];
        if ((i + j) % 2 === 0) this.#triangles.push(a, b, c, a, c, d);
        else this.#triangles.push(a, b, d, b, c, d);
      }
    }
    this.#part(name, first);
    return first;
  }

  /** A closed surface of n meridians and m parallels, from a pole at v = 0 to one at v = 1. */
  ball(name: string, n: number, m: number, at: (u: number, v: number) => Point, isKinematic = true): void {
    const first = this.#kinematic.length;
    this.#vertex({ at: at(0, 0) }, isKinematic);
    for (let j = 1; j < m; j++) for (let i = 0; i < n; i++) this.#vertex({ at: at(i / n, j / m) }, isKinematic);
    this.#vertex({ at: at(0, 1) }, isKinematic);
    const id = (i: number, j: number): number => first + 1 + (j - 1) * n + (i % n);
    const last = this.#kinematic.length - 1;
    for (let i = 0; i < n; i++) {
      this.#triangles.push(first, id(i, 1), id(i + 1, 1), last, id(i + 1, m - 1), id(i, m - 1));
      for (let j = 1; j < m - 1; j++) {
        this.#triangles.push(id(i, j), id(i, j + 1), id(i + 1, j + 1), id(i, j), id(i + 1, j + 1), id(i + 1, j));
      }
    }
    this.#part(name, first);
  }

  sphere(name: string, n: number, m: number, centre: Point, radius: number, isKinematic: boolean): void {
    const place = (u: number, v: number): Point => [
      centre[0] + radius * Math.sin(Math.PI * v) * Math.cos(2 * Math.PI * u),
      centre[1] + radius * Math.sin(Math.PI * v) * Math.sin(2 * Math.PI * u),
      centre[2] + radius * Math.cos(Math.PI * v),
    ];
    this.ball(name, n, m, place, isKinematic);
  }

  #vertex({ at, truth = at }: { readonly at: Point; readonly truth?: Point }, isKinematic: boolean): void {
    this.positions.push(...at);
    this.truth.push(...truth);
    this.#kinematic.push(isKinematic ? 1 : 0);
  }

  #part(name: string, firstVertex: number): void {
    this.#parts.push({ name, firstVertex, vertexCount: this.#kinematic.length - firstVertex });
  }

  build(): { readonly mesh: MeshInput; readonly positions: Float64Array; readonly truth: Float64Array } {
    return {
      mesh: {
        vertexCount: this.#kinematic.length,
        triangles: Uint32Array.from(this.#triangles),
        kinematic: Uint8Array.from(this.#kinematic),
        parts: this.#parts,
      },
      positions: Float64Array.from(this.positions),
      truth: Float64Array.from(this.truth),
    };
  }
}
