import type { Vec } from '../src/bodies.js';
import { signatureOf } from './signature.js';

/** Closed polylines in space, none of which meets itself or another one. */
export type Link = readonly (readonly Vec[])[];

/** Numbers of a link that no motion without passing through changes. */
export interface Invariants {
  /** of every two components, in the order 0 1, 0 2, 1 2, … */
  readonly linking: readonly number[];
  /** |Δ(−1)| of the Alexander polynomial, modulo {@link PRIME}: 1 for the unknot, 0 for a split link */
  readonly determinant: number;
  /** of a Seifert matrix; −2 for the right-handed trefoil */
  readonly signature: number;
  /** Δ(t) Δ(1/t) modulo {@link PRIME} at every t of {@link POINTS} */
  readonly alexander: readonly number[];
}

/** The largest prime below 2^26: products of residues are exact in a double. */
export const PRIME = 67_108_859;
/**
 * Where the Alexander polynomial is evaluated. It is known only up to ± t^k, which Δ(t) Δ(1/t) eliminates. Two
 * different polynomials of degree d agree at a point by chance with a probability of at most 2d / PRIME.
 */
const POINTS = [2, 3];

/** Axes of the plane in which the link is drawn, and its normal: not parallel to any line on which a scene is built. */
const ACROSS: Vec = [0.83, -0.29, -0.4769];
const ALONG: Vec = [0.2437, 0.9561, -0.1573];
const UP: Vec = [0.5016, 0.0143, 0.865];

interface Visit {
  readonly crossing: number;
  readonly isOver: boolean;
  /** segment of the component, and the share of it */
  readonly at: number;
}

/** A link, drawn in a plane. */
export interface Diagram {
  /** +1 if the lower strand comes from the right of the upper one */
  readonly signs: readonly number[];
  /** components of the upper and of the lower strand */
  readonly strands: readonly (readonly [number, number])[];
  /** of every component, in the order along it */
  readonly visits: readonly (readonly Visit[])[];
}

/**
 * Linking numbers, the signature, and the Alexander polynomial at some points from the Wirtinger presentation of a
 * diagram.
 * @throws Error if the projection is degenerate
 */
export function invariantsOf(diagram: Diagram): Invariants {
  const linking = linkingIn(diagram);
  const alexander = POINTS.map((t) => multiply(alexanderAt(diagram, t), alexanderAt(diagram, inverseOf(t))));
  const atMinusOne = alexanderAt(diagram, PRIME - 1);
  return { linking, determinant: Math.min(atMinusOne, PRIME - atMinusOne), signature: signatureOf(diagram), alexander };
}

/** Linking numbers alone. @throws Error if the projection is degenerate */
export function linkingIn({ signs, strands, visits }: Diagram): number[] {
  const linking: number[] = [];
  for (let b = 0; b < visits.length; b++) {
    for (let a = 0; a < b; a++) {
      const own = signs.filter((_, c) => {
        const [over, under] = strands[c]!;
        return (over === a && under === b) || (over === b && under === a);
      });
      const sum = own.reduce((total, sign) => total + sign, 0);
      if (sum % 2 !== 0) throw new Error('The projection of the link is degenerate.');
      linking.push(sum / 2);
    }
  }
  return linking;
}

/** Returns the diagram of some components, in the given order. */
export function partOf({ signs, strands, visits }: Diagram, components: readonly number[]): Diagram {
  const kept = signs.flatMap((_, c) => (strands[c]!.every((component) => components.includes(component)) ? [c] : []));
  const numbers = new Map(kept.map((c, i) => [c, i]));
  return {
    signs: kept.map((c) => signs[c]!),
    strands: kept.map((c) => strands[c]!.map((component) => components.indexOf(component)) as [number, number]),
    visits: components.map((component) =>
      visits[component]!.flatMap((visit) => {
        const crossing = numbers.get(visit.crossing);
        return crossing === undefined ? [] : [{ ...visit, crossing }];
      }),
    ),
  };
}

/** Projects a link. */
export function drawDiagram(link: Link): Diagram {
  const flat = link.map((line) =>
    line.map((point) => [dot(point, ACROSS), dot(point, ALONG), dot(point, UP)] as const),
  );
  const segments = flat.flatMap((line, component) =>
    line.map((from, i) => ({ from, to: line[(i + 1) % line.length]!, component, i, count: line.length })),
  );
  const signs: number[] = [];
  const strands: [number, number][] = [];
  const visits: Visit[][] = link.map(() => []);
  for (let p = 0; p < segments.length; p++) {
    for (let q = p + 1; q < segments.length; q++) {
      const [a, b] = [segments[p]!, segments[q]!];
      const isNext = a.component === b.component && ((a.i + 1) % a.count === b.i || (b.i + 1) % a.count === a.i);
      if (isNext || !boxesMeet(a, b)) continue;
      const crossing = cross(a, b);
      if (crossing === undefined) continue;
      const [s, t, turn, higher] = crossing;
      const isOver = higher > 0;
      const id = signs.length;
      // `turn` is from a to b; seen from the upper strand it is the sign of the crossing.
      signs.push(isOver ? turn : -turn);
      strands.push(isOver ? [a.component, b.component] : [b.component, a.component]);
      visits[a.component]!.push({ crossing: id, isOver, at: a.i + s });
      visits[b.component]!.push({ crossing: id, isOver: !isOver, at: b.i + t });
    }
  }
  for (const own of visits) own.sort((v, w) => v.at - w.at);
  return { signs, strands, visits };
}

type Point = readonly [number, number, number];
interface Segment {
  readonly from: Point;
  readonly to: Point;
}

const boxesMeet = (a: Segment, b: Segment): boolean =>
  Math.max(a.from[0], a.to[0]) >= Math.min(b.from[0], b.to[0]) &&
  Math.max(b.from[0], b.to[0]) >= Math.min(a.from[0], a.to[0]) &&
  Math.max(a.from[1], a.to[1]) >= Math.min(b.from[1], b.to[1]) &&
  Math.max(b.from[1], b.to[1]) >= Math.min(a.from[1], a.to[1]);

/** Twice the area of a triangle in the plane of the drawing, positive if it turns left. */
const areaOf = (a: Point, b: Point, c: Point): number => (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);

/** Shares of both segments, the turn from a to b, and how much higher a is; undefined if they do not cross. */
function cross(a: Segment, b: Segment): [number, number, 1 | -1, number] | undefined {
  const [p, q] = [areaOf(b.from, b.to, a.from), areaOf(b.from, b.to, a.to)];
  const [u, v] = [areaOf(a.from, a.to, b.from), areaOf(a.from, a.to, b.to)];
  if (p > 0 === q > 0 || u > 0 === v > 0) return undefined;
  const [s, t] = [p / (p - q), u / (u - v)];
  const higher = a.from[2] + s * (a.to[2] - a.from[2]) - b.from[2] - t * (b.to[2] - b.from[2]);
  return [s, t, v > u ? 1 : -1, higher];
}

/**
 * Δ(t) up to a unit ± t^k: a first minor of the matrix with one row for every crossing, (1 − t) over + t left − right,
 * where left and right are the two arcs of the lower strand as seen along the upper one.
 */
function alexanderAt({ signs, visits }: Diagram, t: number): number {
  const [over, entering, leaving] = [0, 1, 2].map(() => new Array<number>(signs.length)) as [
    number[],
    number[],
    number[],
  ];
  let arcs = 0;
  for (const own of visits) {
    const first = arcs;
    const count = own.filter(({ isOver }) => !isOver).length;
    let at = 0;
    for (const { crossing, isOver } of own) {
      const arc = first + (count === 0 ? 0 : at % count);
      if (isOver) over[crossing] = arc;
      else {
        entering[crossing] = arc;
        leaving[crossing] = first + (++at % count);
      }
    }
    arcs = first + Math.max(1, count);
  }
  // A component that is never below lies above all others.
  if (arcs !== signs.length) return arcs === 1 ? 1 : 0;
  const rows = signs.map((sign, c) => {
    const row = new Float64Array(arcs);
    const [left, right] = sign > 0 ? [leaving[c]!, entering[c]!] : [entering[c]!, leaving[c]!];
    row[over[c]!] = (row[over[c]!]! + 1 + PRIME - t) % PRIME;
    row[left] = (row[left]! + t) % PRIME;
    row[right] = (row[right]! + PRIME - 1) % PRIME;
    return row.slice(1);
  });
  return determinantOf(rows.slice(1));
}

/** Modulo the prime; the rows are overwritten. */
function determinantOf(rows: Float64Array[]): number {
  let product = 1;
  for (let k = 0; k < rows.length; k++) {
    const pivot = rows.findIndex((row, i) => i >= k && row[k] !== 0);
    if (pivot < 0) return 0;
    if (pivot !== k) {
      [rows[k], rows[pivot]] = [rows[pivot]!, rows[k]!];
      product = PRIME - product;
    }
    const top = rows[k]!;
    product = multiply(product, top[k]!);
    const inverse = inverseOf(top[k]!);
    for (let i = k + 1; i < rows.length; i++) {
      const row = rows[i]!;
      if (row[k] === 0) continue;
      const factor = PRIME - multiply(row[k]!, inverse);
      for (let j = k; j < row.length; j++) row[j] = (row[j]! + multiply(factor, top[j]!)) % PRIME;
    }
  }
  return product;
}

const multiply = (a: number, b: number): number => (a * b) % PRIME;

/** By Fermat: a^(p − 2). */
function inverseOf(a: number): number {
  let [result, base, exponent] = [1, a, PRIME - 2];
  while (exponent > 0) {
    if (exponent % 2 === 1) result = multiply(result, base);
    base = multiply(base, base);
    exponent = Math.floor(exponent / 2);
  }
  return result;
}

const dot = (a: Vec, b: Vec): number => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
