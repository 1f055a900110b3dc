import type { MeshInput } from '../../../src/contract/mesh.js';
import type { Invariant } from '../judge/invariants.js';
import type { Resting } from '../judge/resting-judge.js';

export type Point = readonly [number, number, number];

/** A start without intersections and a target, in metres, with properties that no safe path can change. */
export interface ProveScene {
  readonly mesh: MeshInput;
  /** float64[3·V] */
  readonly start: Float64Array;
  /** float64[3·V] */
  readonly target: Float64Array;
  readonly invariants: readonly Invariant[];
  /** false if gaps are smaller than the jitter of repeats; default true */
  readonly isJittered?: boolean;
  /** true if coordinates are float32 numbers whose last bits matter: they are sent unchanged, in metres */
  readonly isExact?: boolean;
  /** whether its mesh has strain limits that nothing prevents it from keeping */
  readonly keepsStrains?: boolean;
  /** whether its mesh has lengths at rest that hold it far from its target and that nothing prevents it from keeping */
  readonly keepsLengths?: boolean;
  /**
   * uint8[V] of vertices that change their places together: in a session each of these groups has its start or its target
   * as the target of a frame, whatever the others have; absent = all drift from start to target and back
   */
  readonly ways?: Uint8Array;
  /** vertices that end on a plane, at the contact offset, whatever the offset */
  readonly resting?: Resting;
  /** dynamic vertices that nothing keeps from their targets */
  readonly free?: readonly number[];
}

/** Collects vertices and elements of every codimension. */
export class Builder {
  readonly #start: number[] = [];
  readonly #target: number[] = [];
  readonly #kinematic: number[] = [];
  readonly #triangles: number[] = [];
  readonly #segments: number[] = [];
  readonly #particles: number[] = [];
  readonly #tetrahedra: number[] = [];
  readonly invariants: Invariant[] = [];

  get vertexCount(): number {
    return this.#kinematic.length;
  }

  vertex(at: Point, to: Point = at, isKinematic = false): number {
    this.#start.push(...at);
    this.#target.push(...to);
    return this.#kinematic.push(isKinematic ? 1 : 0) - 1;
  }

  triangle(a: number, b: number, c: number): void {
    this.#triangles.push(a, b, c);
  }

  segment(a: number, b: number): void {
    this.#segments.push(a, b);
  }

  particle(at: Point, to: Point = at, isKinematic = false): number {
    return this.point(this.vertex(at, to, isKinematic));
  }

  /** Makes a vertex a particle. */
  point(v: number): number {
    this.#particles.push(v);
    return v;
  }

  tetrahedron(a: number, b: number, c: number, d: number): void {
    this.#tetrahedra.push(a, b, c, d);
  }

  /** (columns + 1) × (rows + 1) vertices; `place` and `aim` map (u, v) in [0, 1]². */
  sheet(
    columns: number,
    rows: number,
    place: (u: number, v: number) => Point,
    aim: (u: number, v: number) => Point = place,
    isKinematic: (u: number, v: number) => boolean = () => false,
  ): number {
    const first = this.#kinematic.length;
    for (let j = 0; j <= rows; j++) {
      for (let i = 0; i <= columns; i++) {
        const [u, v] = [i / columns, j / rows];
        this.vertex(place(u, v), aim(u, v), isKinematic(u, v));
      }
    }
    for (let j = 0; j < rows; j++) {
      for (let i = 0; i < columns; i++) {
        const a = first + j * (columns + 1) + i;
        const [b, c, d] = [a + 1, a + columns + 1, a + columns + 2];
        if ((i + j) % 2 === 0) {
          this.triangle(a, b, d);
          this.triangle(a, d, c);
        } else {
          this.triangle(a, b, c);
          this.triangle(b, d, c);
        }
      }
    }
    return first;
  }

  /** A closed sphere of latitudes and longitudes. @returns its triangles and the ids of its vertices */
  sphere(
    rings: number,
    around: number,
    place: (direction: Point) => Point,
    aim: (direction: Point) => Point = place,
    isKinematic = false,
  ): { triangles: number[][]; vertices: number[] } {
    const ids: number[] = [];
    const put = (direction: Point) => {
      ids.push(this.vertex(place(direction), aim(direction), isKinematic));
    };
    put([0, 0, -1]);
    for (let r = 1; r < rings; r++) {
      const polar = Math.PI * (r / rings);
      for (let k = 0; k < around; k++) {
        const angle = (2 * Math.PI * (k + (r % 2) / 2)) / around;
        put([Math.sin(polar) * Math.cos(angle), Math.sin(polar) * Math.sin(angle), -Math.cos(polar)]);
      }
    }
    put([0, 0, 1]);
    const at = (r: number, k: number) => ids[1 + (r - 1) * around + (k % around)];
    const triangles: number[][] = [];
    for (let k = 0; k < around; k++) {
      triangles.push([ids[0], at(1, k + 1), at(1, k)]);
      for (let r = 1; r + 1 < rings; r++) {
        const [a, b, c, d] = [at(r, k), at(r, k + 1), at(r + 1, k), at(r + 1, k + 1)];
        if (r % 2 === 0) triangles.push([a, b, c], [b, d, c]);
        else triangles.push([a, d, c], [a, b, d]);
      }
      triangles.push([at(rings - 1, k), at(rings - 1, k + 1), ids[ids.length - 1]]);
    }
    for (const [a, b, c] of triangles) this.triangle(a, b, c);
    return { triangles, vertices: ids };
  }

  /** Rods from point to point. */
  strand(points: readonly Point[], aims: readonly Point[] = points, heldAtStart = 0, isClosed = false): number[] {
    const ids = points.map((at, k) => this.vertex(at, aims[k], k < heldAtStart));
    for (let k = 1; k < ids.length; k++) this.segment(ids[k - 1], ids[k]);
    if (isClosed) this.segment(ids[ids.length - 1], ids[0]);
    return ids;
  }

  /** A box of n³ cells, five tetrahedra each, mirrored from cell to cell so that faces match. */
  block(n: number, place: (u: number, v: number, w: number) => Point, aim = place): void {
    const first = this.#kinematic.length;
    const side = n + 1;
    for (let i = 0; i <= n; i++) {
      for (let j = 0; j <= n; j++) {
        for (let k = 0; k <= n; k++) this.vertex(place(i / n, j / n, k / n), aim(i / n, j / n, k / n));
      }
    }
    const solids = ['000 100 010 001', '110 100 010 111', '101 100 001 111', '011 010 001 111', '100 010 001 111'];
    for (let cell = 0; cell < n ** 3; cell++) {
      const [i, j, k] = [Math.floor(cell / (n * n)), Math.floor(cell / n) % n, cell % n];
      const isMirrored = (i + j + k) % 2 === 1;
      for (const solid of solids) {
        const [a, b, c, d] = solid.split(' ').map((corner) => {
          const [p, q, r] = [...corner].map(Number);
          return first + ((i + (isMirrored ? 1 - p : p)) * side + j + q) * side + k + r;
        });
        this.tetrahedron(a, b, c, d);
      }
    }
  }

  build(): ProveScene {
    return {
      mesh: {
        vertexCount: this.#kinematic.length,
        triangles: Uint32Array.from(this.#triangles),
        segments: Uint32Array.from(this.#segments),
        particles: Uint32Array.from(this.#particles),
        tetrahedra: Uint32Array.from(this.#tetrahedra),
        kinematic: Uint8Array.from(this.#kinematic),
      },
      start: Float64Array.from(this.#start),
      target: Float64Array.from(this.#target),
      invariants: this.invariants,
    };
  }
}
