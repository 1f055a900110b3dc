import { join } from 'node:path';
import { readMeshFile, toMeshInput } from '../../src/mesh/files/index.js';
import type { ToUntangle } from './run-one.js';

/** A start with intersections from the real inputs. */
export interface FileTangle {
  readonly name: string;
  /** @param folder of the real inputs */
  read(folder: string): Promise<ToUntangle>;
}

/** The first vertices and triangles of the dress are the garment, the others the mannequin. */
const MANNEQUIN_FROM = 15105;
/** Typical edge of the garment, in metres. */
const DRESS_EDGE = 0.00928;

/** The dress with its raw target as start, the motion `times` as far. */
const dress = (times: number): FileTangle => ({
  name: `dress, motion × ${times}`,
  read: async (folder) => {
    const x = await readMeshFile(join(folder, 'dress/x.obj'));
    const y = await readMeshFile(join(folder, 'dress/y_kick1_eighth.obj'));
    const kinematic = Uint8Array.from({ length: x.vertexCount }, (_, v) => (v >= MANNEQUIN_FROM ? 1 : 0));
    const positions = y.positions.map((to, k) => x.positions[k]! + times * (to - x.positions[k]!));
    return { mesh: { ...toMeshInput(x), kinematic }, positions };
  },
});

/** The garment of the dress and a copy of it, `edges` typical edges farther along the normals of its vertices. */
const offsetGarment = (edges: number): FileTangle => ({
  name: `garment and its copy, ${edges} edges off`,
  read: async (folder) => {
    const file = await readMeshFile(join(folder, 'dress/x.obj'));
    const count = 3 * MANNEQUIN_FROM;
    const own = toMeshInput(file).triangles!;
    const end = own.findIndex((v) => v >= MANNEQUIN_FROM);
    const garment = own.subarray(0, end - (end % 3));
    const x = Float64Array.from(file.positions.subarray(0, count));
    const normals = normalsOf(x, garment);
    const positions = new Float64Array(2 * count);
    positions.set(x);
    positions.set(
      x.map((p, k) => p + edges * DRESS_EDGE * normals[k]!),
      count,
    );
    const triangles = Uint32Array.from([...garment, ...garment.map((v) => v + MANNEQUIN_FROM)]);
    return { mesh: { vertexCount: 2 * MANNEQUIN_FROM, triangles }, positions };
  },
});

/** float64[3·V] unit normals of vertices, weighted by the areas of their triangles. */
function normalsOf(x: Float64Array, triangles: Uint32Array): Float64Array {
  const normals = new Float64Array(x.length);
  for (let t = 0; t < triangles.length; t += 3) {
    const [a, b, c] = [3 * triangles[t]!, 3 * triangles[t + 1]!, 3 * triangles[t + 2]!];
    const [ux, uy, uz] = [x[b]! - x[a]!, x[b + 1]! - x[a + 1]!, x[b + 2]! - x[a + 2]!];
    const [vx, vy, vz] = [x[c]! - x[a]!, x[c + 1]! - x[a + 1]!, x[c + 2]! - x[a + 2]!];
    for (const v of [a, b, c]) {
      normals[v]! += uy * vz - uz * vy;
      normals[v + 1]! += uz * vx - ux * vz;
      normals[v + 2]! += ux * vy - uy * vx;
    }
  }
  for (let v = 0; v < normals.length; v += 3) {
    const length = Math.hypot(normals[v]!, normals[v + 1]!, normals[v + 2]!) || 1;
    for (let axis = 0; axis < 3; axis++) normals[v + axis]! /= length;
  }
  return normals;
}

const asItIs = (name: string, path: string): FileTangle => ({
  name,
  read: async (folder) => {
    const file = await readMeshFile(join(folder, path));
    return { mesh: toMeshInput(file), positions: file.positions };
  },
});

export const FILES: readonly FileTangle[] = [
  ...[1, 2, 4, 8].map(dress),
  ...[0.7, 2].map(offsetGarment),
  asItIs('two cubes', 'static/two-cubes-intersecting.ply'),
  asItIs('cloth_ball 92', 'cloth_ball/cloth_ball92.ply'),
  asItIs('cloth_ball 93', 'cloth_ball/cloth_ball93.ply'),
];
