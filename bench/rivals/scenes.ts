import { requestOf } from '../../examples/resolve-scene.js';
import { EXAMPLES } from '../../examples/scenes/index.js';
import type { MeshInput } from '../../src/contract/mesh.js';
import type { ResolveRequest } from '../../src/contract/requests.js';

/** A mesh, its start and its target. */
export type Pair = Pick<ResolveRequest, 'mesh' | 'start' | 'target'>;

interface RivalScene {
  readonly name: string;
  make(): Pair;
}

class Points {
  readonly start: number[] = [];
  readonly target: number[] = [];
  readonly triangles: number[] = [];

  add(at: readonly number[], motion: readonly number[]): number {
    this.start.push(...at);
    this.target.push(...at.map((value, c) => value + motion[c]));
    return this.start.length / 3 - 1;
  }

  build(): Pair {
    const mesh: MeshInput = { vertexCount: this.start.length / 3, triangles: Uint32Array.from(this.triangles) };
    return { mesh, start: Float64Array.from(this.start), target: Float64Array.from(this.target) };
  }
}

/** Figure 1 of the paper: two spheres move towards each other. @param n rows of vertices from pole to pole */
function spheres(n: number): Pair {
  const points = new Points();
  for (const side of [-1, 1]) {
    const place = (theta: number, phi: number) =>
      points.add(
        [1.05 * side + Math.sin(theta) * Math.cos(phi), 0.05 * side + Math.cos(theta), Math.sin(theta) * Math.sin(phi)],
        [-0.2 * side, 0, 0],
      );
    const [top, bottom] = [place(0, 0), place(Math.PI, 0)];
    const rows = Array.from({ length: n - 1 }, (_, i) =>
      Array.from({ length: 2 * n }, (__, j) => place((Math.PI * (i + 1)) / n, (Math.PI * j) / n)),
    );
    for (let j = 0; j < 2 * n; j++) {
      const k = (j + 1) % (2 * n);
      points.triangles.push(top, rows[0][k], rows[0][j], bottom, rows[n - 2][j], rows[n - 2][k]);
      for (let i = 0; i + 2 < n; i++) {
        points.triangles.push(rows[i][j], rows[i][k], rows[i + 1][j], rows[i][k], rows[i + 1][k], rows[i + 1][j]);
      }
    }
  }
  return points.build();
}

/**
 * Wavy drapes one above the other, rotated relative to each other, each of which falls by a share of the gap more than
 * the one below.
 */
function drapes(layers: number, n: number, fall: number, gap = 0.02): Pair {
  const points = new Points();
  for (let layer = 0; layer < layers; layer++) {
    const angle = 0.37 * layer;
    const id = (i: number, j: number): number => layer * (n + 1) ** 2 + i * (n + 1) + j;
    for (let i = 0; i <= n; i++) {
      for (let j = 0; j <= n; j++) {
        const [u, v] = [i / n - 0.5, j / n - 0.5];
        const x = u * Math.cos(angle) - v * Math.sin(angle);
        const z = u * Math.sin(angle) + v * Math.cos(angle);
        points.add([x, layer * gap + 0.004 * Math.sin(9 * x + 5 * z), z], [0, -fall * layer * gap, 0]);
      }
    }
    for (let i = 0; i < n; i++) {
      for (let j = 0; j < n; j++) {
        points.triangles.push(id(i, j), id(i, j + 1), id(i + 1, j), id(i, j + 1), id(i + 1, j + 1), id(i + 1, j));
      }
    }
  }
  return points.build();
}

/** A share of the way from start to target. */
const partOf = ({ mesh, start, target }: Pair, share: number): Pair => ({
  mesh,
  start,
  target: Float64Array.from(target, (value, k) => start[k] + share * (value - start[k])),
});

const example = (name: string, share: number): RivalScene => ({
  name: share === 1 ? name : `${name}, ${share} of its motion`,
  make: () => partOf(requestOf(EXAMPLES[name]()), share),
});

/**
 * The paper's figure, drapes that fall onto each other, and the examples, whose whole motion is larger than that of a
 * time step.
 */
export const SCENES: readonly RivalScene[] = [
  { name: 'spheres', make: () => spheres(12) },
  { name: 'drapes, 5 layers', make: () => drapes(5, 16, 1.2) },
  { name: 'drapes, 8 layers, faster', make: () => drapes(8, 16, 2) },
  example('hair', 0.1),
  ...['hair', 'layers', 'spike', 'sleeve', 'solid'].map((name) => example(name, 1)),
];

/**
 * Layers in contact, all of which have their targets in the lowest one; layers that fall onto each other; and the
 * examples with their whole motion, because a tenth of it, about that of a time step, causes hardly any contact except
 * in hair.
 */
export const ABLATION_SCENES: readonly RivalScene[] = [
  { name: 'drapes, resting', make: () => drapes(3, 16, 1, 0.004) },
  { name: 'drapes, 5 layers', make: () => drapes(5, 12, 1.2) },
  ...Object.keys(EXAMPLES).map((name) => example(name, name === 'hair' ? 0.1 : 1)),
];
