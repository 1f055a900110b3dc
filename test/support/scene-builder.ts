import type { MeshInput, PartInput } from '../../src/contract/mesh.js';

export type Point = readonly [number, number, number];

/** Puts small scenes together: every add returns the id of its first vertex. */
export class SceneBuilder {
  readonly start: number[] = [];
  readonly target: number[] = [];
  readonly #triangles: number[] = [];
  readonly #segments: number[] = [];
  readonly #particles: number[] = [];
  readonly #tetrahedra: number[] = [];
  readonly #kinematic: number[] = [];
  readonly #parts: PartInput[] = [];
  readonly #ignoredPartPairs: number[] = [];

  /** What was added since the last part, or the start, is a part of its own. */
  part(name: string): void {
    const firstVertex = this.#parts.reduce((sum, { vertexCount }) => sum + vertexCount, 0);
    this.#parts.push({ name, firstVertex, vertexCount: this.#kinematic.length - firstVertex });
  }

  ignoreParts(a: number, b: number): void {
    this.#ignoredPartPairs.push(a, b);
  }

  vertex(at: Point, to: Point = at, kinematic = false): number {
    this.start.push(...at);
    this.target.push(...to);
    this.#kinematic.push(kinematic ? 1 : 0);
    return this.#kinematic.length - 1;
  }

  triangle(a: number, b: number, c: number): void {
    this.#triangles.push(a, b, c);
  }

  segment(a: number, b: number): void {
    this.#segments.push(a, b);
  }

  particle(a: number): void {
    this.#particles.push(a);
  }

  tetrahedron(a: number, b: number, c: number, d: number): void {
    this.#tetrahedra.push(a, b, c, d);
  }

  /** n × n quads, each split in two; `place` maps (u, v) in [0, 1]² to start and target. */
  sheet(n: number, place: (u: number, v: number) => { at: Point; to: Point }, kinematic = false): number {
    const first = this.#kinematic.length;
    for (let i = 0; i <= n; i++) {
      for (let j = 0; j <= n; j++) {
        const { at, to } = place(i / n, j / n);
        this.vertex(at, to, kinematic);
      }
    }
    for (let i = 0; i < n; i++) {
      for (let j = 0; j < n; j++) {
        const a = first + i * (n + 1) + j;
        this.triangle(a, a + 1, a + n + 1);
        this.triangle(a + 1, a + n + 2, a + n + 1);
      }
    }
    return first;
  }

  strand(points: readonly { at: Point; to: Point }[], hasKinematicRoot = false): number {
    const first = this.#kinematic.length;
    points.forEach(({ at, to }, n) => {
      this.vertex(at, to, hasKinematicRoot && n === 0);
    });
    for (let n = 1; n < points.length; n++) this.segment(first + n - 1, first + n);
    return first;
  }

  /** A box of n × n × n cells, five tetrahedra each, mirrored from cell to cell so that faces match. */
  block(n: number, place: (u: number, v: number, w: number) => { at: Point; to: Point }): number {
    const first = this.#kinematic.length;
    const id = (i: number, j: number, k: number): number => first + (i * (n + 1) + j) * (n + 1) + k;
    for (let i = 0; i <= n; i++) {
      for (let j = 0; j <= n; j++) {
        for (let k = 0; k <= n; k++) {
          const { at, to } = place(i / n, j / n, k / n);
          this.vertex(at, to);
        }
      }
    }
    for (let i = 0; i < n; i++) {
      for (let j = 0; j < n; j++) {
        for (let k = 0; k < n; k++) {
          const c = (p: number, q: number, r: number): number => {
            const m = (i + j + k) % 2 === 0;
            return m ? id(i + p, j + q, k + r) : id(i + 1 - p, j + q, k + r);
          };
          this.tetrahedron(c(0, 0, 0), c(1, 0, 0), c(0, 1, 0), c(0, 0, 1));
          this.tetrahedron(c(1, 1, 0), c(1, 0, 0), c(0, 1, 0), c(1, 1, 1));
          this.tetrahedron(c(1, 0, 1), c(1, 0, 0), c(0, 0, 1), c(1, 1, 1));
          this.tetrahedron(c(0, 1, 1), c(0, 1, 0), c(0, 0, 1), c(1, 1, 1));
          this.tetrahedron(c(1, 0, 0), c(0, 1, 0), c(0, 0, 1), c(1, 1, 1));
        }
      }
    }
    return first;
  }

  build(): { mesh: MeshInput; start: Float64Array; target: Float64Array } {
    return {
      mesh: {
        vertexCount: this.#kinematic.length,
        triangles: Uint32Array.from(this.#triangles),
        segments: Uint32Array.from(this.#segments),
        particles: Uint32Array.from(this.#particles),
        tetrahedra: Uint32Array.from(this.#tetrahedra),
        kinematic: Uint8Array.from(this.#kinematic),
        parts: this.#parts,
        ignoredPartPairs: Uint32Array.from(this.#ignoredPartPairs),
      },
      start: Float64Array.from(this.start),
      target: Float64Array.from(this.target),
    };
  }
}
