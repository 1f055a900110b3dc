import type { Warning } from '../contract/errors.js';
import type { Positions } from '../contract/mesh.js';
import type { CollisionMesh } from '../mesh/types.js';
import { findUnitRatio } from '../mesh/unit-ratios.js';

/**
 * A target whose edges are all larger or smaller than those of the start by this factor is not a motion that solvers
 * request in one call; the smallest common mistake of units is a factor of 10.
 */
const SUSPICIOUS = 8;

/** Edges of a part that are compared: enough for a median, and next to nothing beside a step of a small session. */
const SAMPLES = 128;

/** With fewer edges a common factor is not significant. */
const LEAST_EDGES = 8;

/** Share of the edges that is left out at either end, and how far the others may be from the median. */
const TAIL = 0.1;
const SPREAD = 1.4;

/** The fields of a mesh that are read; pairs of vertices that are listed twice, or only in part, do no harm. */
export type ScaledMesh = Pick<
  CollisionMesh,
  'edges' | 'innerEdges' | 'particles' | 'kinematic' | 'parts' | 'partOfVertex'
>;

interface Group {
  readonly name: string;
  /** one of its vertices */
  readonly example: number;
  readonly ratios: number[];
}

/**
 * Warns of a target that is the start on another scale, usually in other units. Edges reveal it: a motion, however far,
 * keeps their lengths, and a crumpled or stretched target does not change all of them alike. Dynamic and kinematic
 * vertices of each part are judged separately, because they often come from different sources.
 *
 * It is a warning and not a refusal, because a mesh may grow tenfold on purpose, and because the answer is safe either way.
 * It costs about a hundred edges per part.
 *
 * @param start [3·V] @param target [3·V] in the same unit
 */
export function warnOfScale(mesh: ScaledMesh, start: Positions, target: Positions): Warning[] {
  return groupsOf(mesh, start, target).flatMap(({ name, example, ratios }) => {
    const factor = commonFactor(ratios);
    if (factor === undefined || (factor < SUSPICIOUS && factor > 1 / SUSPICIOUS)) return [];
    const [size, times] = factor > 1 ? ['large', factor] : ['small', 1 / factor];
    const known = findUnitRatio(times);
    const ratio = known ? `, the ratio of ${known.units}` : '';
    return [
      {
        code: 'TARGET_SCALED',
        message: `The target of ${name} is ${round(times)} times as ${size} as the start${ratio}: are both in the same unit?`,
        element: { kind: 'vertex' as const, index: example, vertices: [example] },
        count: 1,
      },
    ];
  });
}

/** Lengths in the target over lengths in the start, for some edges per group; of neighbours in a list of particles. */
function groupsOf(mesh: ScaledMesh, start: Positions, target: Positions): Group[] {
  const { edges, innerEdges, particles, kinematic, parts, partOfVertex } = mesh;
  const groups = new Map<number, Group>();
  const add = (a: number, b: number): void => {
    const part = partOfVertex[a] ?? -1;
    // An edge between parts, or from a pinned to a dynamic vertex, is evidence for neither group.
    if (kinematic[a] !== kinematic[b] || part !== (partOfVertex[b] ?? -1)) return;
    const key = 2 * part + kinematic[a]!;
    const before = lengthOf(start, a, b);
    if (before === 0 || before === Number.POSITIVE_INFINITY) return;
    let group = groups.get(key);
    if (!group) {
      const vertices = kinematic[a] === 1 ? 'the kinematic vertices' : 'the dynamic vertices';
      const name = part < 0 ? vertices : `${vertices} of part "${parts[part]!.name}"`;
      group = { name, example: a, ratios: [] };
      groups.set(key, group);
    }
    group.ratios.push(lengthOf(target, a, b) / before);
  };
  const count = Math.max(1, parts.length);
  for (const list of [edges, innerEdges]) {
    // Evenly spread over the list, so that every part gets its share.
    const stride = Math.max(1, Math.floor(list.length / 2 / (SAMPLES * count)));
    for (let e = 0; e < list.length; e += 2 * stride) add(list[e]!, list[e + 1]!);
  }
  const stride = Math.max(1, Math.floor(particles.length / (SAMPLES * count)));
  for (let k = 0; k + 1 < particles.length; k += stride) add(particles[k]!, particles[k + 1]!);
  return [...groups.values()];
}

/** The median of the ratios, if nearly all of them are near it; undefined otherwise, and with too few. */
function commonFactor(ratios: readonly number[]): number | undefined {
  const sorted = [...ratios].sort((a, b) => a - b);
  const at = (share: number): number => sorted[Math.floor(share * (sorted.length - 1))]!;
  if (sorted.length < LEAST_EDGES) return undefined;
  const median = at(0.5);
  if (!(median > 0 && Number.isFinite(median))) return undefined;
  return at(TAIL) * SPREAD >= median && at(1 - TAIL) <= median * SPREAD ? median : undefined;
}

const round = (factor: number): string => String(Number(factor.toPrecision(4)));

/** Infinite for coordinates beyond 1e154, whose edges are then no evidence. */
function lengthOf(x: Positions, a: number, b: number): number {
  const [dx, dy, dz] = [x[3 * a]! - x[3 * b]!, x[3 * a + 1]! - x[3 * b + 1]!, x[3 * a + 2]! - x[3 * b + 2]!];
  return Math.sqrt(dx * dx + dy * dy + dz * dz);
}
