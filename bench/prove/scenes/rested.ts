import type { MeshInput } from '../../../src/contract/mesh.js';
import { readSurface } from '../judge/surface.js';
import { Builder, type Point, type ProveScene } from './builder.js';
import type { Random } from './random.js';

/** One edge in this many has a length at rest of its own, longer by this factor than that in its positions. */
const NAMED_EVERY = 4;
const SLACK = 1.25;

/**
 * A sheet whose target is twice as long, with lengths at rest that nothing prevents it from keeping: those of its start
 * and, for some edges, their own, which are longer.
 */
export function restedSheet(random: Random): ProveScene {
  const b = new Builder();
  const length = random.between(1.8, 2.4);
  const at = (u: number, v: number): Point => [0.1 * (u - 0.5), 0.08 * (v - 0.5), 0.002 * Math.sin(9 * u)];
  b.sheet(10, 8, at, (u, v) => [length * at(u, v)[0], at(u, v)[1], at(u, v)[2]]);
  const scene = b.build();
  const { start } = scene;
  const named = readSurface(scene.mesh).edges.filter((_, e) => e % NAMED_EVERY === 0);
  const lengthOf = ([p, q]: readonly number[]) =>
    Math.hypot(...[0, 1, 2].map((c) => start[3 * p + c] - start[3 * q + c]));
  const restLengths = {
    positions: start,
    edges: Uint32Array.from(named.flat()),
    lengths: Float32Array.from(named, (edge) => SLACK * lengthOf(edge)),
  };
  return { ...scene, mesh: { ...scene.mesh, restLengths }, keepsLengths: true };
}

/** The mesh with lengths at rest in the caller's unit. */
export function withRestLengths(mesh: MeshInput, scale: number): MeshInput {
  if (!mesh.restLengths) return mesh;
  const { positions, edges, lengths } = mesh.restLengths;
  const restLengths = {
    ...(positions ? { positions: Float64Array.from(positions, (p) => scale * p) } : {}),
    ...(edges && lengths ? { edges, lengths: lengths.map((length) => scale * length) } : {}),
  };
  return { ...mesh, restLengths };
}
