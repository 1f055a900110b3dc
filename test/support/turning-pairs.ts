import type { Random } from './random.js';

/** A pair of an edge, or of a point, and an edge, on a straight piece: float64[12], side a first. */
export interface TurningPair {
  readonly kind: 'EDGE_EDGE' | 'VERTEX_EDGE';
  readonly start: Float64Array;
  readonly end: Float64Array;
}

const KINDS = ['EDGE_EDGE', 'VERTEX_EDGE'] as const;

const points = (values: readonly number[]): Float64Array => {
  const all = new Float64Array(12);
  all.set(values);
  return all;
};

/**
 * Edges of length 2 that are parallel, or a point beside an edge, turned by up to a right angle in the plane of both
 * and carried along. They never meet: with vertices on straight ways, too, they stay parallel, their distance at least
 * half of the gap.
 */
export function parallelPair(random: Random, kind: TurningPair['kind'], gap: number): TurningPair {
  const tilt = random.between(0, 6);
  const shift = random.between(-0.9, 0.9);
  const beside = (shares: readonly number[]) => shares.map((along) => [shift + along, gap] as const);
  const edge = [[-1, 0] as const, [1, 0] as const];
  const local = kind === 'EDGE_EDGE' ? [...edge, ...beside([-1, 1])] : [...beside([0]), ...edge];
  const place = (angle: number, slide: number): Float64Array => {
    const [c, s] = [Math.cos(angle), Math.sin(angle)];
    return points(
      local.flatMap(([x, y]) => {
        const [along, across] = [c * x - s * y + slide, s * x + c * y];
        return [along, Math.cos(tilt) * across, Math.sin(tilt) * across];
      }),
    );
  };
  const from = random.between(0, 6);
  return { kind, start: place(from, 0), end: place(from + random.between(0.2, 1.5), random.between(-3, 3)) };
}

/**
 * Whole numbers so large that products round: edges that lie on one line at the start, at the end, or all the time, or a
 * point on an edge, while the line turns. They meet.
 */
export function pairOnOneLine(random: Random, round: number): TurningPair {
  const kind = KINDS[round % 2]!;
  const bits = 4 + random.int(44);
  const whole = (): number[] => [0, 0, 0].map(() => random.int(2 ** bits) - 2 ** (bits - 1));
  const [few, many] = [2 + random.int(3), 5 + random.int(3)];
  const shares = kind === 'EDGE_EDGE' ? [0, few, 1, many] : [few, 0, many];
  const line = (isBeside: boolean): Float64Array => {
    const [origin, along, beside] = [whole(), whole(), whole()];
    const isOfB = (k: number): boolean => k >= shares.length - 2;
    return points(
      shares.flatMap((share, k) =>
        origin.map((value, c) => value + share * along[c]! + (isBeside && isOfB(k) ? beside[c]! : 0)),
      ),
    );
  };
  const when = random.int(3);
  return { kind, start: line(when === 1), end: line(when === 2) };
}
