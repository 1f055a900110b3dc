import type { Diagram } from './link.js';

/**
 * Returns the signature of a link from a diagram, by Gordon and Litherland (On the signature of a link, 1978): the
 * faces of the diagram are coloured like a chessboard, and
 *
 *     σ = sign G − μ,     G_ij = −Σ η(c) over the crossings c at which the white faces i ≠ j meet,     Σ_j G_ij = 0,
 *
 * where η is 1 if the upper strand, turned to the left, sweeps black, and −1 if it sweeps white; μ is the sum of η over
 * the crossings that both strands traverse from one black corner to the other. It is that of a Seifert matrix, −2 for
 * the right-handed trefoil; the mirror image has the opposite one, so it distinguishes the square knot (0) from the
 * granny (±4), whose Alexander polynomials are equal.
 *
 * @throws Error if the projection is degenerate: the faces are then not those of a drawing in the plane
 */
export function signatureOf(diagram: Diagram): number {
  const crossings = diagram.signs.length;
  const around = dartsAround(diagram);
  const faces = findFaces(around);
  const isBlack = colour(around, faces);
  const white = new Map([...isBlack.keys()].filter((face) => !isBlack[face]).map((face, i) => [face, i]));
  const goeritz = Array.from(white, () => new Array<bigint>(white.size).fill(0n));
  const add = (i: number, j: number, value: bigint): void => {
    goeritz[i]![j]! += value;
  };
  let mu = 0n;
  for (let c = 0; c < crossings; c++) {
    const corners = around.slice(4 * c, 4 * c + 4).map((dart) => faces[dart]!);
    const eta = isBlack[corners[0]!] ? 1n : -1n;
    // The upper strand sweeps the corner between the two outgoing ends if the sign is +1, and does not if it is −1.
    if (eta === BigInt(diagram.signs[c]!)) mu += eta;
    const [i, j] = corners.flatMap((face) => white.get(face) ?? []) as [number, number];
    if (i === j) continue;
    add(i, j, -eta);
    add(j, i, -eta);
    add(i, i, eta);
    add(j, j, eta);
  }
  return signatureOfMatrix(goeritz) - Number(mu);
}

/**
 * Returns the ends of edges at every crossing, counter-clockwise, beginning with the end at which the upper strand
 * leaves. Edge e of the diagram has the darts 2e, which leaves at its beginning, and 2e + 1, which leaves at its other
 * end.
 */
function dartsAround({ signs, visits }: Diagram): number[] {
  const upper: [number, number][] = [];
  const lower: [number, number][] = [];
  let first = 0;
  for (const own of visits) {
    const count = own.length;
    own.forEach(({ crossing, isOver }, i) => {
      const before = (i + count - 1) % count;
      (isOver ? upper : lower)[crossing] = [2 * (first + i), 2 * (first + before) + 1];
    });
    first += count;
  }
  return signs.flatMap((sign, c) => {
    const [[forth, back], [out, into]] = [upper[c]!, lower[c]!];
    return sign > 0 ? [forth, out, back, into] : [forth, into, back, out];
  });
}

/**
 * Returns the face to the left of every dart, numbered from 0: a walk around it turns left as far as possible at the
 * end of each edge.
 */
function findFaces(around: readonly number[]): number[] {
  const placeOf: number[] = [];
  around.forEach((dart, place) => {
    placeOf[dart] = place;
  });
  const next = (dart: number): number => {
    const place = placeOf[dart ^ 1]!;
    return around[place - (place % 4) + ((place + 3) % 4)]!;
  };
  const faces = new Array<number>(around.length).fill(-1);
  let count = 0;
  for (let from = 0; from < faces.length; from++) {
    if (faces[from]! >= 0) continue;
    for (let dart = from; faces[dart]! < 0; dart = next(dart)) faces[dart] = count;
    count++;
  }
  return faces;
}

/** Whether a face is black; the faces on both sides of an edge differ. */
function colour(around: readonly number[], faces: readonly number[]): boolean[] {
  const isBlack: boolean[] = [];
  const beside: number[][] = [];
  faces.forEach((face, dart) => {
    (beside[face] ??= []).push(faces[dart ^ 1]!);
  });
  let parts = 0;
  for (let from = 0; from < beside.length; from++) {
    if (isBlack[from] !== undefined) continue;
    parts++;
    isBlack[from] = false;
    const open = [from];
    for (let face = open.pop(); face !== undefined; face = open.pop()) {
      for (const other of beside[face]!) {
        if (isBlack[other] === undefined) {
          isBlack[other] = !isBlack[face];
          open.push(other);
        } else if (isBlack[other] === isBlack[face]) throw new Error('The projection of the link is degenerate.');
      }
    }
  }
  // Euler: crossings − edges + faces = 2 in every part of the drawing.
  if (beside.length !== around.length / 4 + 2 * parts) throw new Error('The projection of the link is degenerate.');
  return isBlack;
}

/**
 * Positive minus negative eigenvalues of a symmetric matrix of integers, which is overwritten. Elimination without
 * fractions (Bareiss): the remainder after k steps is the Schur complement times the k-th leading minor, so all entries
 * remain integers, and the signs of two consecutive minors give the sign of a pivot.
 */
export function signatureOfMatrix(m: bigint[][]): number {
  let [signature, before] = [0, 1n];
  for (let k = 0; k < m.length; k++) {
    if (!bringPivot(m, k)) return signature;
    const pivot = m[k]![k]!;
    signature += pivot > 0n === before > 0n ? 1 : -1;
    for (let i = k + 1; i < m.length; i++) {
      for (let j = k + 1; j <= i; j++) {
        m[i]![j] = (m[i]![j]! * pivot - m[i]![k]! * m[k]![j]!) / before;
        m[j]![i] = m[i]![j]!;
      }
    }
    before = pivot;
  }
  return signature;
}

/**
 * Makes the k-th entry of the diagonal nonzero, by exchanging or adding rows and the same columns.
 *
 * @returns false if the rest is zero
 */
function bringPivot(m: bigint[][], k: number): boolean {
  const rest = Array.from({ length: m.length - k }, (_, i) => k + i);
  const whole = rest.find((i) => m[i]![i] !== 0n);
  if (whole === undefined) {
    const row = rest.find((i) => rest.some((j) => m[i]![j] !== 0n));
    if (row === undefined) return false;
    const column = rest.find((j) => m[row]![j] !== 0n)!;
    for (const j of rest) m[row]![j]! += m[column]![j]!;
    for (const i of rest) m[i]![row]! += m[i]![column]!;
  }
  const at = whole ?? rest.find((i) => m[i]![i] !== 0n)!;
  [m[k], m[at]] = [m[at]!, m[k]!];
  for (const row of m) [row[k], row[at]] = [row[at]!, row[k]!];
  return true;
}
