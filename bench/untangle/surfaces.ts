import type { MeshInput, PartInput } from '../../src/contract/mesh.js';

export type Point = readonly [number, number, number];

interface Placed {
  readonly at: Point;
  /** its true position; absent = its current one */
  readonly truth?: Point;
}

/** Combines parts to one mesh: sheets and tubes over a grid, and spheres. */
export class Surfaces {
  readonly positions: number[] = [];
  /** true position of every vertex: free of intersections by construction */
  readonly truth: number[] = [];
  readonly #triangles: number[] = [];
  readonly #kinematic: number[] = [];
  readonly #parts: PartInput[] = [];

  /**
   * A grid of n × m quads over (u, v) in [0, 1]²; `wraps` joins u = 1 to u = 0.
   *
   * @param place the position of a vertex, and its true position; a number = an existing vertex of the mesh
   * @returns the vertex of column i and row j
   */
  grid(
    name: string,
    n: number,
    m: number,
    place: (u: number, v: number) => Placed | number,
    { wraps = false, isKinematic = false } = {},
  ): (i: number, j: number) => number {
    const first = this.#kinematic.length;
    const columns = wraps ? n : n + 1;
    const ids: number[] = [];
    for (let i = 0; i < columns; i++) {
      for (let j = 0; j <= m; j++) {
        const placed = place(i / n, j / m);
        ids.push(typeof placed === 'number' ? placed : this.#vertex(placed, isKinematic));
      }
    }
    const id = (i: number, j: number): number => ids[(i % columns) * (m + 1) + j]!;
    for (let i = 0; i < n; i++) {
      for (let j = 0; j < m; j++) {
        // Alternating diagonals, so that no direction is stiffer than its mirror image.
        const [a, b, c, d] = [id(i, j), id(i + 1, j), id(i + 1, j + 1), id(i, j + 1)];
        if ((i + j) % 2 === 0) this.#triangles.push(a, b, c, a, c, d);
        else this.#triangles.push(a, b, d, b, c, d);
      }
    }
    this.#part(name, first);
    return id;
  }

  /** The surface of a cube of n × n quads per side. @param place of (u, v, w) in [0, 1]³ */
  cube(name: string, n: number, place: (u: number, v: number, w: number) => Point): void {
    const first = this.#kinematic.length;
    const ids = new Map<string, number>();
    const id = (corner: Point): number => {
      const key = corner.join(' ');
      const known = ids.get(key);
      if (known !== undefined) return known;
      const own = this.#vertex({ at: place(corner[0] / n, corner[1] / n, corner[2] / n) }, false);
      ids.set(key, own);
      return own;
    };
    for (let axis = 0; axis < 3; axis++) {
      for (const end of [0, n]) {
        const at = (i: number, j: number): number => {
          const corner: [number, number, number] = [0, 0, 0];
          // The opposite side is reversed, so that normals point outwards.
          corner[axis] = end;
          corner[(axis + 1) % 3] = end === 0 ? j : i;
          corner[(axis + 2) % 3] = end === 0 ? i : j;
          return id(corner);
        };
        for (let i = 0; i < n; i++) {
          for (let j = 0; j < n; j++) {
            const [a, b, c, d] = [at(i, j), at(i + 1, j), at(i + 1, j + 1), at(i, j + 1)];
            if ((i + j) % 2 === 0) this.#triangles.push(a, b, c, a, c, d);
            else this.#triangles.push(a, b, d, b, c, d);
          }
        }
      }
    }
    this.#part(name, first);
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

  #vertex({ at, truth = at }: Placed, isKinematic: boolean): number {
    this.positions.push(...at);
    this.truth.push(...truth);
    return this.#kinematic.push(isKinematic ? 1 : 0) - 1;
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
