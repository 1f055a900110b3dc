import type { DiagnosisFinding } from '../contract/diagnosis.js';
import { findUnitRatio } from '../mesh/unit-ratios.js';
import { finding, type Subject, show, vertexRef } from './subject.js';
import { extentOf } from './units.js';

/** From here on a common scale is reported even if it is not a ratio of units: no motion of one call does that. */
const SUSPICIOUS = 8;

/** Half of the edges must have the common scale within this. */
const SPREAD = 0.05;

/** Samples of edges and vertices: enough for a median, and cheap compared with a search. */
const SAMPLES = 4096;

/** Largest remaining distance (rms, relative to the extent) with which a map of axes explains the target. */
const EXPLAINED = 0.02;

/**
 * Largest change of shape (rms, relative to the size of the components) of components that have only moved. Components
 * that exchange places are arranged like their mirror image, without a change of axes; a change of axes turns or
 * mirrors each of them.
 */
const SHAPE_KEPT = 0.1;

/** Distance of a target, in extents, from which on it is reported. */
const FAR = 10;

const MAPS: readonly (readonly [what: string, map: (p: readonly number[]) => number[], advice: string])[] = [
  ['with y and z exchanged and one of them reversed', ([x, y, z]) => [x, -z, y], 'One program has y up, the other z.'],
  ['with y and z exchanged and one of them reversed', ([x, y, z]) => [x, z, -y], 'One program has y up, the other z.'],
  [
    'with y and z exchanged',
    ([x, y, z]) => [x, z, y],
    'One program has y up, the other z; the target is also mirrored.',
  ],
  ['mirrored in x', ([x, y, z]) => [-x, y, z], 'One program is left-handed.'],
  ['mirrored in y', ([x, y, z]) => [x, -y, z], 'One program is left-handed.'],
  ['mirrored in z', ([x, y, z]) => [x, y, -z], 'One program is left-handed.'],
];

/** Compares start and target: scale, axes, distance. */
export function findTargetMismatch(subject: Subject): DiagnosisFinding[] {
  const { y } = subject;
  if (!y) return [];
  const scale = commonScale(subject, y);
  const byScale = scale === undefined ? undefined : findScale(scale);
  const byAxes = byScale ? undefined : findAxes(subject, y);
  const far = byScale || byAxes ? undefined : findFarTarget(subject, y);
  return [byScale, byAxes, far].filter((one) => one !== undefined);
}

/** The median of target length over start length of sampled edges, if half of them are near it. */
function commonScale({ mesh, x }: Subject, y: Float64Array): number | undefined {
  const { edges } = mesh;
  const stride = Math.max(1, Math.floor(edges.length / 2 / SAMPLES));
  const ratios: number[] = [];
  for (let e = 0; e < edges.length; e += 2 * stride) {
    const before = lengthOf(x, edges[e], edges[e + 1]);
    if (before > 0) ratios.push(lengthOf(y, edges[e], edges[e + 1]) / before);
  }
  if (ratios.length < 8) return undefined;
  ratios.sort((a, b) => a - b);
  const at = (share: number): number => ratios[Math.floor(share * (ratios.length - 1))];
  const median = at(0.5);
  // Edges without length, or beyond all numbers, are no evidence of another unit.
  if (!(median > 0 && Number.isFinite(median))) return undefined;
  return at(0.25) >= median * (1 - SPREAD) && at(0.75) <= median * (1 + SPREAD) ? median : undefined;
}

function findScale(scale: number): DiagnosisFinding | undefined {
  const times = Math.max(scale, 1 / scale);
  const known = findUnitRatio(times);
  if (!known && times < SUSPICIOUS) return undefined;
  const why = known ? `, the ratio of ${known.units}` : '';
  return finding({
    code: 'TARGET_SCALED',
    severity: 'PROBLEM',
    count: 1,
    measure: scale,
    unit: 'ratio',
    message: `The target is the start ${show(times)} times as ${scale > 1 ? 'large' : 'small'}${why}.`,
    advice: `Send both in one unit: multiply the target by ${show(1 / (known ? (scale > 1 ? known.factor : 1 / known.factor) : scale))}.`,
  });
}

/** Finds a target that is far from the start but that a change of axes maps to it, up to a translation. */
function findAxes(subject: Subject, y: Float64Array): DiagnosisFinding | undefined {
  const { mesh, x } = subject;
  const extent = extentOf(subject);
  const vertices = sample(mesh.contactVertices);
  if (vertices.length < 4 || extent === 0) return undefined;
  const remainder = (map: (p: readonly number[]) => number[]): number => {
    const differences = vertices.map((v) => {
      const from = map([x[3 * v], x[3 * v + 1], x[3 * v + 2]]);
      return from.map((value, axis) => y[3 * v + axis] - value);
    });
    const mean = [0, 1, 2].map((axis) => differences.reduce((sum, d) => sum + d[axis], 0) / differences.length);
    const squares = differences.reduce(
      (sum, d) => sum + d.reduce((s, value, axis) => s + (value - mean[axis]) ** 2, 0),
      0,
    );
    return Math.sqrt(squares / differences.length);
  };
  const asIs = remainder((p) => [...p]);
  if (asIs < EXPLAINED * extent) return undefined;
  if (changeOfShapes(subject, y, vertices) < SHAPE_KEPT) return undefined;
  // A flat sheet is its own mirror image: a map must explain far more than the target itself does.
  const explained = MAPS.find(([, map]) => remainder(map) < Math.min(EXPLAINED * extent, 0.1 * asIs));
  if (!explained) return undefined;
  return finding({
    code: 'TARGET_AXES',
    severity: 'PROBLEM',
    count: 1,
    message: `The target is the start ${explained[0]}, up to a translation.`,
    advice: `${explained[2]} Export both with the same axes.`,
  });
}

/** How much the components differ from their start, each up to its translation: rms, relative to their size. */
function changeOfShapes({ x, componentOf }: Subject, y: Float64Array, vertices: readonly number[]): number {
  const byComponent = new Map<number, number[]>();
  for (const v of vertices) {
    const members = byComponent.get(componentOf[v]);
    if (members) members.push(v);
    else byComponent.set(componentOf[v], [v]);
  }
  let [change, size] = [0, 0];
  for (const members of byComponent.values()) {
    change += spreadOf(members, (v, axis) => y[3 * v + axis] - x[3 * v + axis]);
    size += spreadOf(members, (v, axis) => x[3 * v + axis]);
  }
  return Math.sqrt(change / size);
}

/** The sum of squared distances of the vertices' vectors from their mean. */
function spreadOf(members: readonly number[], vectorOf: (vertex: number, axis: number) => number): number {
  let sum = 0;
  for (const axis of [0, 1, 2]) {
    const mean = members.reduce((total, v) => total + vectorOf(v, axis), 0) / members.length;
    sum += members.reduce((total, v) => total + (vectorOf(v, axis) - mean) ** 2, 0);
  }
  return sum;
}

function findFarTarget(subject: Subject, y: Float64Array): DiagnosisFinding | undefined {
  const { mesh, x, maxElements } = subject;
  const extent = extentOf(subject);
  const limit = FAR * extent;
  let [count, farthest] = [0, 0];
  const elements = [];
  for (const v of mesh.contactVertices) {
    const distance = Math.hypot(y[3 * v] - x[3 * v], y[3 * v + 1] - x[3 * v + 1], y[3 * v + 2] - x[3 * v + 2]);
    farthest = Math.max(farthest, distance);
    if (!(distance > limit)) continue;
    count++;
    if (elements.length < maxElements) elements.push(vertexRef(v));
  }
  if (count === 0 || extent === 0) return undefined;
  return finding({
    code: 'TARGET_FAR',
    severity: 'WARNING',
    count,
    measure: farthest,
    unit: 'length',
    elements,
    message: `${count} of ${mesh.contactVertices.length} vertices have a target more than ${FAR} times the extent of the mesh away, the farthest ${show(farthest)}.`,
    advice: 'The solver may have diverged; such a target takes many steps.',
  });
}

function sample(vertices: Uint32Array): number[] {
  const stride = Math.max(1, Math.floor(vertices.length / SAMPLES));
  return Array.from(vertices).filter((_, k) => k % stride === 0);
}

function lengthOf(x: Float64Array, a: number, b: number): number {
  return Math.hypot(x[3 * a] - x[3 * b], x[3 * a + 1] - x[3 * b + 1], x[3 * a + 2] - x[3 * b + 2]);
}
