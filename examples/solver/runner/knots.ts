import type { Loop, Scene } from '../scenes/types.js';
import type { Vec } from '../src/bodies.js';
import { startOf } from '../src/integrator.js';
import type { Model } from '../src/model.js';
import type { FrameCache } from './cache.js';
import { drawDiagram, type Invariants, invariantsOf, type Link, linkingIn, partOf } from './link.js';

/** The state of the knot of a scene. */
export interface KnotVerdict {
  /** linking numbers of all loops together, at the start */
  readonly linking: readonly number[];
  readonly determinant?: number;
  readonly signature?: number;
  /** the first of the examined frames with a different knot */
  readonly changedAt?: number;
}

/**
 * Far arcs lie on spheres of this many times the size of a state for the first loop, and more for each of the others.
 */
const FAR = 20;
const FARTHER = 5;
/** Points of a far arc. */
const ARC = 24;

/**
 * Compares the frames of a scene with its start. Strands are followed along edges of the mesh. Two edges that share no
 * vertex never meet in states and on paths without intersections, so no invariant of their link can change, as long as
 * the free ends do not cross a ray from another free end to infinity: an independent check of the whole path.
 */
export function judgeKnot(scene: Scene, model: Model, cache: FrameCache): KnotVerdict | undefined {
  const { loops, linked } = scene;
  const { frameCount, begin } = cache;
  if (loops === undefined || frameCount === 0) return undefined;
  const start = fingerprintOf(loops, linked, startOf(model).x);
  const { linking, determinant, signature }: Fingerprint[number] = linked
    ? { linking: start.flatMap((pair) => pair.linking) }
    : start.at(-1)!;
  const verdict = { linking, ...(determinant === undefined ? {} : { determinant, signature: signature! }) };
  const other = cache.sample().find((index) => !isSame(start, fingerprintOf(loops, linked, cache.read(index))));
  return other === undefined ? verdict : { ...verdict, changedAt: begin.frame + other };
}

type Fingerprint = readonly (Pick<Invariants, 'linking'> & Partial<Invariants>)[];

/**
 * Invariants of every subset of loops, the complete one last; or the linking numbers of the given pairs.
 * @param x float64[3·V]
 */
export function fingerprintOf(loops: readonly Loop[], linked: Scene['linked'], x: Float64Array): Fingerprint {
  const diagram = drawDiagram(closeFarAway(loops, x));
  if (linked) return linked.map((pair) => ({ linking: linkingIn(partOf(diagram, pair)) }));
  return Array.from({ length: 2 ** loops.length - 1 }, (_, choice) =>
    invariantsOf(
      partOf(
        diagram,
        loops.flatMap((__, k) => (((choice + 1) >> k) % 2 === 1 ? [k] : [])),
      ),
    ),
  );
}

export const isSame = (a: Fingerprint, b: Fingerprint): boolean => JSON.stringify(a) === JSON.stringify(b);

/** Returns the text in a cell of a table. */
export const describeKnot = ({ linking, determinant, signature, changedAt }: KnotVerdict): string => {
  const kind = [
    ...(linking.length === 0 ? [] : [`linking ${linking.join(', ')}`]),
    ...(determinant === undefined ? [] : [`determinant ${determinant}`, `signature ${signature}`]),
  ].join('; ');
  return changedAt === undefined ? `the same (${kind})` : `ANOTHER ONE from frame ${changedAt} on (${kind} before)`;
};

/**
 * Loops as closed lines: ends of strands are extended along straight lines, and joined along circles about the common
 * centre.
 */
function closeFarAway(loops: readonly Loop[], x: Float64Array): Link {
  const at = (v: number): Vec => [x[3 * v]!, x[3 * v + 1]!, x[3 * v + 2]!];
  const points = loops.flat().flatMap(({ line }) => Array.from(line, at));
  const middle = [0, 1, 2].map((c) => points.reduce((sum, p) => sum + p[c]!, 0) / points.length) as unknown as Vec;
  const size = points.reduce((most, p) => Math.max(most, Math.hypot(...minus(p, middle))), 0);
  return loops.map((loop, k) =>
    loop.flatMap(({ line, to }, i) => {
      const own = Array.from(line, at);
      const { from } = loop[(i + 1) % loop.length]!;
      if (from === undefined || to === undefined) return own;
      const radius = size * (FAR + FARTHER * k);
      const arc = Array.from({ length: ARC + 1 }, (_, j): Vec => {
        const [a, b] = [1 - j / ARC, j / ARC];
        const along = [0, 1, 2].map((c) => a * to[c]! + b * from[c]!) as unknown as Vec;
        const scale = radius / Math.hypot(...along);
        return [0, 1, 2].map((c) => middle[c]! + scale * along[c]!) as unknown as Vec;
      });
      return [...own, ...arc];
    }),
  );
}

const minus = (a: Vec, b: Vec): Vec => [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
