import type { MeshInput } from '../../../src/contract/mesh.js';
import { Builder, type Point, type ProveScene } from './builder.js';
import type { Random } from './random.js';

/** A sheet whose target is twice as long and half as wide, with limits that nothing prevents it from keeping. */
export function strainedSheet(random: Random): ProveScene {
  const b = new Builder();
  const [length, press] = [random.between(1.6, 2.2), random.between(0.4, 0.7)];
  const at = (u: number, v: number): Point => [0.1 * (u - 0.5), 0.08 * (v - 0.5), 0.002 * Math.sin(9 * u)];
  b.sheet(10, 8, at, (u, v) => [length * at(u, v)[0], press * at(u, v)[1], at(u, v)[2]]);
  return limited(b.build(), random.between(0.9, 0.97), random.between(1.03, 1.1));
}

/** A block whose target is inside out. */
export function strainedSolid(random: Random): ProveScene {
  const b = new Builder();
  const flat = random.between(-0.8, -0.3);
  const at = (u: number, v: number, w: number): Point => [0.03 * u, 0.03 * v, 0.03 * (w - 0.5)];
  b.block(3, at, (u, v, w) => [at(u, v, w)[0], at(u, v, w)[1], flat * at(u, v, w)[2]]);
  return limited(b.build(), 0.8, 1.2);
}

/** The start itself is the rest shape. */
function limited(scene: ProveScene, min: number, max: number): ProveScene {
  return { ...scene, mesh: { ...scene.mesh, strainLimits: { rest: scene.start, min, max } }, keepsStrains: true };
}

/** Limits for a scene without its own: wide ones, with the start as rest shape. */
const WIDE = { min: 0.7, max: 1.4 };
/** A rest shape flatter than this share of its longest edge gets no limits; the service refuses a tenth of it. */
const FLATTEST = 1e-5;
/** Elements beyond which a case would take minutes. */
const MOST_ELEMENTS = 2000;

/**
 * The mesh as it is sent: with rest shapes in the caller's unit, and with limits if the case wants some and every
 * element of the scene has a rest shape.
 */
export function withStrainLimits(
  { mesh, start }: ProveScene,
  { scale, wantsLimits }: { readonly scale: number; readonly wantsLimits: boolean },
): MeshInput {
  const own = mesh.strainLimits ?? (wantsLimits && hasRestShapes(mesh, start) ? { rest: start, ...WIDE } : undefined);
  return own ? { ...mesh, strainLimits: { ...own, rest: Float64Array.from(own.rest, (p) => scale * p) } } : mesh;
}

function hasRestShapes({ triangles, tetrahedra }: MeshInput, x: Float64Array): boolean {
  const [faces, solids] = [triangles?.length ?? 0, tetrahedra?.length ?? 0];
  const count = faces / 3 + solids / 4;
  if (count === 0 || count > MOST_ELEMENTS) return false;
  for (const [ids, size] of [
    [triangles, 3],
    [tetrahedra, 4],
  ] as const) {
    for (let k = 0; k < (ids?.length ?? 0); k += size) if (isFlat(x, [...ids!.subarray(k, k + size)])) return false;
  }
  return true;
}

function isFlat(x: Float64Array, ids: readonly number[]): boolean {
  const edges = ids.slice(1).map((v) => [0, 1, 2].map((c) => x[3 * v + c] - x[3 * ids[0] + c]));
  const longest = Math.max(...edges.map((e) => Math.hypot(...e)));
  const [a, b, d] = edges;
  const normal = [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
  if (!d) return !(Math.hypot(...normal) > FLATTEST * longest ** 2);
  const volume = Math.abs(normal[0] * d[0] + normal[1] * d[1] + normal[2] * d[2]);
  return !(volume > FLATTEST * longest ** 3);
}
