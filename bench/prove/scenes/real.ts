import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { readMeshFile } from '../../../src/mesh/files/index.js';
import type { ProveScene } from './builder.js';
import type { Random } from './random.js';

/** Garment vertices of the dress come first; the mannequin after them is kinematic. */
const DRESS_VERTICES = 15105;

/** Metres of the median edge of a generated scene, for which the parameters are made. */
const EDGE = 0.01;

/** Brings the median edge near that of the generated scenes by a power of two, which changes no digit of any coordinate. */
function normalise(scene: ProveScene): ProveScene {
  const { triangles = new Uint32Array(0) } = scene.mesh;
  const lengths: number[] = [];
  for (let k = 0; k < triangles.length; k += 3) {
    const [a, b] = [3 * triangles[k], 3 * triangles[k + 1]];
    lengths.push(Math.hypot(...[0, 1, 2].map((c) => scene.start[a + c] - scene.start[b + c])));
  }
  lengths.sort((a, b) => a - b);
  const factor = 2 ** Math.round(Math.log2(EDGE / lengths[Math.floor(lengths.length / 2)]));
  const scaled = (x: Float64Array) => x.map((p) => p * factor);
  return { ...scene, start: scaled(scene.start), target: scaled(scene.target) };
}

async function pair(folder: string, start: string, target: string, kinematicFrom?: number): Promise<ProveScene> {
  const x = await readMeshFile(join(folder, start));
  const y = await readMeshFile(join(folder, target));
  const vertexCount = x.positions.length / 3;
  const kinematic = new Uint8Array(vertexCount);
  if (kinematicFrom !== undefined) kinematic.fill(1, kinematicFrom);
  return normalise({
    mesh: { vertexCount, triangles: x.triangles, kinematic },
    start: Float64Array.from(x.positions),
    target: Float64Array.from(y.positions),
    invariants: [],
  });
}

/** A closed surface moved along its vertex normals, inwards or outwards. */
async function normalFlow(file: string, random: Random): Promise<ProveScene> {
  const x = await readMeshFile(file);
  const start = Float64Array.from(x.positions);
  const normals = new Float64Array(start.length);
  const at = (v: number, c: number) => start[3 * v + c];
  for (let k = 0; k < x.triangles.length; k += 3) {
    const [a, b, c] = x.triangles.subarray(k, k + 3);
    const [u, w] = [0, 1, 2].reduce<number[][]>(
      ([p, q], i) => [
        [...p, at(b, i) - at(a, i)],
        [...q, at(c, i) - at(a, i)],
      ],
      [[], []],
    );
    const normal = [u[1] * w[2] - u[2] * w[1], u[2] * w[0] - u[0] * w[2], u[0] * w[1] - u[1] * w[0]];
    for (const v of [a, b, c]) for (let i = 0; i < 3; i++) normals[3 * v + i] += normal[i];
  }
  const sides = [0, 1, 2].map((c) => {
    const column = start.filter((_, i) => i % 3 === c);
    return column.reduce((m, p) => Math.max(m, p), -Infinity) - column.reduce((m, p) => Math.min(m, p), Infinity);
  });
  const by = random.between(-0.15, 0.15) * Math.max(...sides);
  const target = start.map((p, i) => {
    const v = 3 * Math.floor(i / 3);
    const length = Math.hypot(normals[v], normals[v + 1], normals[v + 2]);
    return length > 0 ? p + (by * normals[i]) / length : p;
  });
  return normalise({
    mesh: { vertexCount: start.length / 3, triangles: x.triangles },
    start,
    target,
    invariants: [],
  });
}

export type LoadScene = (random: Random) => Promise<ProveScene>;

/** Real inputs that exist in the folder, by name. */
export function findRealScenes(data: string | undefined): Readonly<Record<string, LoadScene>> {
  if (data === undefined) return {};
  const scenes: Record<string, LoadScene> = {};
  const has = (...path: string[]) => existsSync(join(data, ...path));
  if (has('thick_cloth', 'x.ply')) scenes.thickCloth = () => pair(join(data, 'thick_cloth'), 'x.ply', 'y.ply');
  for (const [name, file] of [
    ['bunny', 'bunny.ply'],
    ['spot', 'spot.obj'],
    ['heightField', 'height-field.ply'],
    ['twoCubes', 'two-cubes-close.ply'],
  ]) {
    if (has('static', file)) scenes[name] = (random) => normalFlow(join(data, 'static', file), random);
  }
  if (has('dress', 'x.obj'))
    scenes.dress = () => pair(join(data, 'dress'), 'x.obj', 'y_kick1_eighth.obj', DRESS_VERTICES);
  return scenes;
}
