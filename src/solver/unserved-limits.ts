import { edgesWithLimit } from '../mesh/limited-edges.js';
import { ownLength } from '../mesh/rest-lengths.js';
import { NO_CORNER } from '../mesh/strain.js';
import type { CollisionMesh } from '../mesh/types.js';
import type { Resolution } from './engine.js';
import type { Settings } from './settings.js';
import { deformationGradient, principalStrains } from './strain/deformation.js';
import { strainElementsOf } from './strain/elements.js';

/** What of a scene decides which limits the positions of an answer exceed. */
export interface LimitedScene {
  readonly mesh: CollisionMesh;
  readonly settings: Pick<Settings, 'sigma' | 'scale' | 'epsilon' | 'pullBack'>;
  /** float32[3·V] y* */
  readonly target: Float32Array;
}

/**
 * Counts as unfinished, with r = 1, what the last steps of the pull-back were still to move when a limit or time ended the
 * run: the dynamic vertices of edges and elements that are over their limits.
 *
 * A run that is cut in its last steps would otherwise state that nothing is left: when the steps towards y* have ended,
 * no vertex may want to move any more. The last steps continue while the excess over limits is not 0. It is measured here as
 * there (EdgeLimits.excess, StrainLimits.excess; the WebGPU engine subtracts the rounding of float32 from it), so at least one
 * vertex is unfinished.
 *
 * A device may be stopped before it has said that no motion is left to Algorithm 1. If there are no such edges and elements
 * either, the run has CONVERGED, whatever its time.
 */
export function countUnserved(resolution: Resolution, { mesh, settings, target }: LimitedScene): Resolution {
  const { status, pullBack, positions } = resolution;
  if (status !== 'STEP_LIMIT' && status !== 'DEADLINE') return resolution;
  if (!pullBack && resolution.unfinishedVertices > 0) return resolution;
  const residuals = resolution.residuals.slice();
  const mark = (v: number): void => {
    if (mesh.inverseMasses[v]! > 0) residuals[v] = 1;
  };
  if (settings.pullBack) {
    markOverlong(mesh, settings, target, positions, mark);
    markStrained(mesh, settings, positions, mark);
  }
  let residual = 0;
  let unfinishedVertices = 0;
  for (const r of residuals) {
    residual = Math.max(residual, r);
    if (r >= settings.epsilon) unfinishedVertices++;
  }
  const isOver = status === 'DEADLINE' && unfinishedVertices === 0;
  return { ...resolution, status: isOver ? 'CONVERGED' : status, residuals, residual, unfinishedVertices };
}

/** Marks the ends of edges that are longer than σ L, L as in EdgeLengths (src/solver/cpu/edges.ts). */
function markOverlong(
  mesh: CollisionMesh,
  { sigma, scale }: LimitedScene['settings'],
  target: Float32Array,
  x: Float32Array,
  mark: (v: number) => void,
): void {
  if (sigma === 0) return;
  for (const { ends, rest } of edgesWithLimit(mesh)) {
    for (let e = 0; e < ends.length; e += 2) {
      const a = ends[e]!;
      const b = ends[e + 1]!;
      const own = ownLength(rest?.[e / 2]);
      const length = own === undefined ? Math.sqrt(squaredLength(target, a, b)) : Math.fround(own * scale);
      const limit = Math.fround(sigma * length);
      if (length === 0 || squaredLength(x, a, b) <= limit * limit) continue;
      mark(a);
      mark(b);
    }
  }
}

/** Marks the corners of elements with a principal strain out of its limits. */
function markStrained(
  mesh: CollisionMesh,
  { scale }: LimitedScene['settings'],
  x: Float32Array,
  mark: (v: number) => void,
): void {
  const elements = strainElementsOf(mesh, scale);
  if (!elements) return;
  const { count, corners, gradients, limits } = elements;
  const f = new Float64Array(9);
  for (let e = 0; e < count; e++) {
    const isTriangle = corners[4 * e + 3] === NO_CORNER;
    deformationGradient(x, corners, gradients, e, f);
    const { least, most } = principalStrains(f, isTriangle);
    const [lower, upper] = [limits[4 * e]!, limits[4 * e + 1]!];
    if (most <= upper && (lower === 0 || least >= lower)) continue;
    for (let k = 4 * e; k < 4 * e + (isTriangle ? 3 : 4); k++) mark(corners[k]!);
  }
}

function squaredLength(x: Float32Array, a: number, b: number): number {
  const dx = x[3 * a]! - x[3 * b]!;
  const dy = x[3 * a + 1]! - x[3 * b + 1]!;
  const dz = x[3 * a + 2]! - x[3 * b + 2]!;
  return dx * dx + dy * dy + dz * dz;
}
