import { EDGE_EDGE, EDGE_TRIANGLE, type PairCode, VERTEX_EDGE, VERTEX_TRIANGLE } from './pair-kinds.js';
import { arePlain, isPlain, signOfArea, signOfVolume } from './predicates.js';

/**
 * Error of a 3×3 determinant of differences in doubles, relative to the sum of the absolute values of its six products:
 * three subtractions, two multiplications, one subtraction of minors and two additions are eight factors (1 + δ),
 * |δ| ≤ 2^-53; two more cover the rounding of that sum itself and of the comparison.
 */
const DETERMINANT_ERROR = 10 * 2 ** -53;

/** The result of {@link certainSign} if rounding may have changed the sign. */
const UNCERTAIN = 2;

/** −1, 0, 1 or UNCERTAIN. @param magnitude sum of the absolute values of the determinant's products */
function certainSign(determinant: number, magnitude: number): number {
  if (determinant > DETERMINANT_ERROR * magnitude) return 1;
  if (determinant < -DETERMINANT_ERROR * magnitude) return -1;
  // Within the plain range a product is 0 only if a factor is, and a rounded difference is 0 only if the difference is.
  return magnitude === 0 ? 0 : UNCERTAIN;
}

/**
 * Decides exactly whether two closed elements have a common point, on one set of coordinates. Vertices are given by index.
 * Degenerate elements (equal points, collinear triangles) are treated as the points and segments that they are.
 */
export class ExactMeeting {
  /** Pairs that the floating-point filter could not decide. */
  doubtfulPairs = 0;

  /** @param x float64[3·V], finite @param isAllPlain of predicates.ts */
  constructor(
    private x: Float64Array,
    private isAllPlain = arePlain(x),
  ) {}

  /** Replaces the state on which it decides. */
  use(x: Float64Array, isAllPlain: boolean): void {
    this.x = x;
    this.isAllPlain = isAllPlain;
  }

  /** @returns whether vertices p and q have the same coordinates */
  pointsMeet(p: number, q: number): boolean {
    const { x } = this;
    return x[3 * p] === x[3 * q] && x[3 * p + 1] === x[3 * q + 1] && x[3 * p + 2] === x[3 * q + 2];
  }

  pointMeetsEdge(p: number, a: number, b: number): boolean {
    return this.edgesMeet(p, p, a, b);
  }

  pointMeetsTriangle(p: number, a: number, b: number, c: number): boolean {
    return this.edgeMeetsTriangle(p, p, a, b, c);
  }

  edgesMeet(p: number, q: number, a: number, b: number): boolean {
    const { x } = this;
    if (this.isAllPlain) {
      const [ux, uy, uz] = [x[3 * q] - x[3 * p], x[3 * q + 1] - x[3 * p + 1], x[3 * q + 2] - x[3 * p + 2]];
      const [vx, vy, vz] = [x[3 * a] - x[3 * p], x[3 * a + 1] - x[3 * p + 1], x[3 * a + 2] - x[3 * p + 2]];
      const [wx, wy, wz] = [x[3 * b] - x[3 * p], x[3 * b + 1] - x[3 * p + 1], x[3 * b + 2] - x[3 * p + 2]];
      const sign = signOfDeterminant(ux, uy, uz, vx, vy, vz, wx, wy, wz);
      if (sign === 1 || sign === -1) return false;
      if (sign === UNCERTAIN) this.doubtfulPairs++;
    } else {
      this.doubtfulPairs++;
    }
    return this.segmentsMeet(p, q, a, b);
  }

  edgeMeetsTriangle(p: number, q: number, a: number, b: number, c: number): boolean {
    if (!this.isAllPlain) {
      this.doubtfulPairs++;
      return this.decideExactly(p, q, a, b, c);
    }
    const { x } = this;
    const ax = x[3 * a];
    const ay = x[3 * a + 1];
    const az = x[3 * a + 2];
    const ux = x[3 * b] - ax;
    const uy = x[3 * b + 1] - ay;
    const uz = x[3 * b + 2] - az;
    const vx = x[3 * c] - ax;
    const vy = x[3 * c + 1] - ay;
    const vz = x[3 * c + 2] - az;
    const nx = uy * vz - uz * vy;
    const ny = uz * vx - ux * vz;
    const nz = ux * vy - uy * vx;
    const sumX = Math.abs(uy * vz) + Math.abs(uz * vy);
    const sumY = Math.abs(uz * vx) + Math.abs(ux * vz);
    const sumZ = Math.abs(ux * vy) + Math.abs(uy * vx);
    let dx = x[3 * p] - ax;
    let dy = x[3 * p + 1] - ay;
    let dz = x[3 * p + 2] - az;
    const sideP = certainSign(
      nx * dx + ny * dy + nz * dz,
      sumX * Math.abs(dx) + sumY * Math.abs(dy) + sumZ * Math.abs(dz),
    );
    dx = x[3 * q] - ax;
    dy = x[3 * q + 1] - ay;
    dz = x[3 * q + 2] - az;
    const sideQ = certainSign(
      nx * dx + ny * dy + nz * dz,
      sumX * Math.abs(dx) + sumY * Math.abs(dy) + sumZ * Math.abs(dz),
    );
    if (sideP === sideQ && (sideP === 1 || sideP === -1)) return false;
    if (sideP !== UNCERTAIN && sideQ !== UNCERTAIN) {
      if (sideP === 0 && sideQ === 0) return this.meetsInPlane(p, q, a, b, c);
      const passes = this.linePasses(p, q, a, b, c);
      if (passes !== undefined) return passes;
    }
    this.doubtfulPairs++;
    return this.decideExactly(p, q, a, b, c);
  }

  /** Whether the line pq, which crosses the plane abc in one point, meets the closed triangle; undefined = uncertain. */
  private linePasses(p: number, q: number, a: number, b: number, c: number): boolean | undefined {
    const { x } = this;
    const px = x[3 * p];
    const py = x[3 * p + 1];
    const pz = x[3 * p + 2];
    const dx = x[3 * q] - px;
    const dy = x[3 * q + 1] - py;
    const dz = x[3 * q + 2] - pz;
    const ax = x[3 * a] - px;
    const ay = x[3 * a + 1] - py;
    const az = x[3 * a + 2] - pz;
    const bx = x[3 * b] - px;
    const by = x[3 * b + 1] - py;
    const bz = x[3 * b + 2] - pz;
    const cx = x[3 * c] - px;
    const cy = x[3 * c + 1] - py;
    const cz = x[3 * c + 2] - pz;
    const ab = signOfDeterminant(dx, dy, dz, ax, ay, az, bx, by, bz);
    const bc = signOfDeterminant(dx, dy, dz, bx, by, bz, cx, cy, cz);
    // Two certain signs that differ decide, whatever the third is.
    if (ab * bc === -1) return false;
    const ca = signOfDeterminant(dx, dy, dz, cx, cy, cz, ax, ay, az);
    if (ab * ca === -1 || bc * ca === -1) return false;
    return ab === UNCERTAIN || bc === UNCERTAIN || ca === UNCERTAIN ? undefined : true;
  }

  private decideExactly(p: number, q: number, a: number, b: number, c: number): boolean {
    const sideP = this.volume(a, b, c, p);
    const sideQ = this.volume(a, b, c, q);
    if (sideP * sideQ > 0) return false;
    if (sideP === 0 && sideQ === 0) return this.meetsInPlane(p, q, a, b, c);
    // One end lies off the plane, so the triangle has an area, and the line meets its plane once, between the ends.
    const ab = this.volume(p, q, a, b);
    const bc = this.volume(p, q, b, c);
    const ca = this.volume(p, q, c, a);
    return !((ab > 0 || bc > 0 || ca > 0) && (ab < 0 || bc < 0 || ca < 0));
  }

  /** An edge in the plane of a triangle, or any edge and a triangle without area: a b c p and a b c q are both flat. */
  private meetsInPlane(p: number, q: number, a: number, b: number, c: number): boolean {
    for (let axis = 0; axis < 3; axis++) {
      const turn = this.area(a, b, c, axis);
      // A projection that keeps the triangle's area is one-to-one on its plane: it alone decides.
      if (turn !== 0) return this.meetsInProjection(p, q, a, b, c, axis, turn);
    }
    return this.segmentsMeet(p, q, a, b) || this.segmentsMeet(p, q, b, c) || this.segmentsMeet(p, q, c, a);
  }

  /**
   * Two convex polygons in a plane are disjoint iff an edge normal of their Minkowski difference separates them: an outward
   * normal of a side of the triangle, or one of the two normals of the segment.
   */
  private meetsInProjection(
    p: number,
    q: number,
    a: number,
    b: number,
    c: number,
    axis: number,
    turn: number,
  ): boolean {
    if (this.area(a, b, p, axis) === -turn && this.area(a, b, q, axis) === -turn) return false;
    if (this.area(b, c, p, axis) === -turn && this.area(b, c, q, axis) === -turn) return false;
    if (this.area(c, a, p, axis) === -turn && this.area(c, a, q, axis) === -turn) return false;
    const side = this.area(p, q, a, axis);
    return side === 0 || this.area(p, q, b, axis) !== side || this.area(p, q, c, axis) !== side;
  }

  /**
   * Closed segments (or points) in space. Coplanar segments meet iff they meet in all three coordinate projections: one of
   * these is one-to-one on the plane, and segments that meet in space meet in every projection.
   */
  private segmentsMeet(p: number, q: number, a: number, b: number): boolean {
    if (this.volume(p, q, a, b) !== 0) return false;
    const { x } = this;
    for (let k = 0; k < 3; k++) {
      if (Math.max(x[3 * p + k], x[3 * q + k]) < Math.min(x[3 * a + k], x[3 * b + k])) return false;
      if (Math.max(x[3 * a + k], x[3 * b + k]) < Math.min(x[3 * p + k], x[3 * q + k])) return false;
    }
    // If the boxes overlap, projected segments meet iff neither has both ends strictly on one side of the other's line.
    // For collinear segments all areas are zero, and the boxes alone decide correctly.
    for (let axis = 0; axis < 3; axis++) {
      if (this.area(p, q, a, axis) * this.area(p, q, b, axis) > 0) return false;
      if (this.area(a, b, p, axis) * this.area(a, b, q, axis) > 0) return false;
    }
    return true;
  }

  private volume(a: number, b: number, c: number, d: number): number {
    const { x } = this;
    const plain = this.isAllPlain || [a, b, c, d].every((v) => this.isVertexPlain(v));
    return signOfVolume(
      x[3 * a],
      x[3 * a + 1],
      x[3 * a + 2],
      x[3 * b],
      x[3 * b + 1],
      x[3 * b + 2],
      x[3 * c],
      x[3 * c + 1],
      x[3 * c + 2],
      x[3 * d],
      x[3 * d + 1],
      x[3 * d + 2],
      plain,
    );
  }

  /** Sign of the area of a b c in the projection along a coordinate axis. */
  private area(a: number, b: number, c: number, axis: number): number {
    const { x } = this;
    const i = axis === 0 ? 1 : 0;
    const j = axis === 2 ? 1 : 2;
    const plain = this.isAllPlain || [a, b, c].every((v) => this.isVertexPlain(v));
    return signOfArea(x[3 * a + i], x[3 * a + j], x[3 * b + i], x[3 * b + j], x[3 * c + i], x[3 * c + j], plain);
  }

  private isVertexPlain(v: number): boolean {
    return isPlain(this.x[3 * v]) && isPlain(this.x[3 * v + 1]) && isPlain(this.x[3 * v + 2]);
  }
}

function signOfDeterminant(
  ux: number,
  uy: number,
  uz: number,
  vx: number,
  vy: number,
  vz: number,
  wx: number,
  wy: number,
  wz: number,
): number {
  const yz = vy * wz;
  const zy = vz * wy;
  const zx = vz * wx;
  const xz = vx * wz;
  const xy = vx * wy;
  const yx = vy * wx;
  return certainSign(
    ux * (yz - zy) + uy * (zx - xz) + uz * (xy - yx),
    Math.abs(ux) * (Math.abs(yz) + Math.abs(zy)) +
      Math.abs(uy) * (Math.abs(zx) + Math.abs(xz)) +
      Math.abs(uz) * (Math.abs(xy) + Math.abs(yx)),
  );
}

/**
 * Whether the elements of a pair have a common point.
 *
 * @param v vertices of side a, from p on @param w vertices of side b, from q on
 */
export function hasCommonPoint(
  meeting: ExactMeeting,
  code: PairCode,
  v: Uint32Array,
  p: number,
  w: Uint32Array,
  q: number,
): boolean {
  switch (code) {
    case EDGE_TRIANGLE:
      return meeting.edgeMeetsTriangle(v[p], v[p + 1], w[q], w[q + 1], w[q + 2]);
    case VERTEX_TRIANGLE:
      return meeting.pointMeetsTriangle(v[p], w[q], w[q + 1], w[q + 2]);
    case EDGE_EDGE:
      return meeting.edgesMeet(v[p], v[p + 1], w[q], w[q + 1]);
    case VERTEX_EDGE:
      return meeting.pointMeetsEdge(v[p], w[q], w[q + 1]);
    default:
      return meeting.pointsMeet(v[p], w[q]);
  }
}
