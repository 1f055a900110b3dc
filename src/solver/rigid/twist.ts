import { UNIT_ROUNDOFF } from '../constants.js';
import { fitRotation, type Rotation, rotationOf, type Vector } from './rotation.js';

/** A rigid motion about a centre: x → exp(ω) (x − c) + c + v. */
export interface Twist {
  /** c, engine units */
  readonly centre: Vector;
  /** v, engine units */
  readonly shift: Vector;
  /** ω, radians */
  readonly spin: Vector;
}

/**
 * The largest rotation of a piece: up to a right angle, a linear path keeps the pairs within a group apart
 * (near-pairs.ts).
 */
const MAX_ANGLE = Math.PI / 2;

/** |ε| of a placed vertex is at most this share of the floor. */
export const PLACEMENT_ERROR = 1 / 8;

/** Covers the rounding of an image in double, relative; a few 2⁻⁵³ of the coordinates that it is computed from. */
const IMAGE_ROUNDING = 2 ** -20;

/** The same, where ε is measured from an image in double. */
export const MEASURED_ERROR = (1 - IMAGE_ROUNDING) * PLACEMENT_ERROR;

/** Returns the twist scaled by `share`, and by more if it turns by more than a right angle. */
export function shorten({ centre, shift, spin }: Twist, share: number): Twist {
  const angle = Math.hypot(...spin);
  const s = angle * share > MAX_ANGLE ? MAX_ANGLE / angle : share;
  if (s === 1) return { centre, shift, spin };
  return { centre, shift: scaled(shift, s), spin: scaled(spin, s) };
}

/** Least squares: the twist about the mean of x that brings the vertices nearest to their targets. */
export function fitTwist(vertices: Uint32Array, x: Float32Array, target: Float32Array): Twist {
  const centre = meanOf(vertices, x);
  const goal = meanOf(vertices, target);
  const s = new Float64Array(9);
  let sizeX = 0;
  let sizeY = 0;
  for (const v of vertices) {
    const k = 3 * v;
    const [px, py, pz] = [x[k] - centre[0], x[k + 1] - centre[1], x[k + 2] - centre[2]];
    const [qx, qy, qz] = [target[k] - goal[0], target[k + 1] - goal[1], target[k + 2] - goal[2]];
    s[0] += px * qx;
    s[1] += px * qy;
    s[2] += px * qz;
    s[3] += py * qx;
    s[4] += py * qy;
    s[5] += py * qz;
    s[6] += pz * qx;
    s[7] += pz * qy;
    s[8] += pz * qz;
    sizeX += px * px + py * py + pz * pz;
    sizeY += qx * qx + qy * qy + qz * qz;
  }
  const shift: Vector = [goal[0] - centre[0], goal[1] - centre[1], goal[2] - centre[2]];
  return { centre, shift, spin: fitRotation(s, Math.sqrt(sizeX * sizeY)) };
}

/** Computes the images of points under a twist: x → R (x − c) + c + v. */
export class Placement {
  readonly rotation: Rotation;
  readonly #centre: Vector;
  readonly #goal: Vector;

  constructor({ centre, shift, spin }: Twist) {
    this.rotation = rotationOf(spin);
    this.#centre = centre;
    this.#goal = [centre[0] + shift[0], centre[1] + shift[1], centre[2] + shift[2]];
  }

  /** Writes the image of the vertex whose coordinates start at k, in double. */
  at(x: Float32Array, k: number, out: Float64Array): void {
    const r = this.rotation;
    const px = x[k] - this.#centre[0];
    const py = x[k + 1] - this.#centre[1];
    const pz = x[k + 2] - this.#centre[2];
    out[0] = r[0] * px + r[1] * py + r[2] * pz + this.#goal[0];
    out[1] = r[3] * px + r[4] * py + r[5] * pz + this.#goal[1];
    out[2] = r[6] * px + r[7] * py + r[8] * pz + this.#goal[2];
  }
}

const image = new Float64Array(3);

/**
 * z_i = fl(R (x_i − c) + c + v), in doubles and rounded once, to nearest: an error of at most √3 (u/2) max|z| ≤
 * floor/8 by {@link reachOf}. A vertex that comes within floor/8 of its target is set onto it, bit for bit, so that a
 * motion that is rigid ends where the caller wants it. In both cases |ε_i| ≤ floor/8, ε_i = z_i − (R (x_i − c) + c +
 * v).
 *
 * @param z float32[3·V] written for these vertices
 */
export function place(
  vertices: Uint32Array,
  placement: Placement,
  x: Float32Array,
  target: Float32Array,
  floor: number,
  z: Float32Array,
): void {
  const snap = (MEASURED_ERROR * floor) ** 2;
  for (const v of vertices) {
    const k = 3 * v;
    placement.at(x, k, image);
    const dx = target[k] - image[0];
    const dy = target[k + 1] - image[1];
    const dz = target[k + 2] - image[2];
    const isThere = dx * dx + dy * dy + dz * dz <= snap;
    for (let c = 0; c < 3; c++) z[k + c] = isThere ? target[k + c] : image[c];
  }
}

/** Whether the motion takes each of these vertices to within `off` of its target. @param off engine units */
export function takesTo(
  vertices: Uint32Array,
  placement: Placement,
  x: Float32Array,
  target: Float32Array,
  off: number,
): boolean {
  return vertices.every((v) => {
    placement.at(x, 3 * v, image);
    return (
      (target[3 * v] - image[0]) ** 2 + (target[3 * v + 1] - image[1]) ** 2 + (target[3 * v + 2] - image[2]) ** 2 <=
      off * off
    );
  });
}

/**
 * Returns the largest coordinate that a placed vertex may have: √3 (u/2) max|z| ≤ floor/8. Beyond it, rounding z would
 * bring pairs together. It is at least twice the largest coordinate of the start, whose floor is 8√3 u max|x| or more
 * (solver/frame.ts), so a mesh far from the origin can move away from it.
 */
export function reachOf(floor: number): number {
  return (MEASURED_ERROR * floor) / ((Math.sqrt(3) / 2) * UNIT_ROUNDOFF);
}

function meanOf(vertices: Uint32Array, x: Float32Array): Vector {
  const mean = [0, 0, 0];
  for (const v of vertices) for (let c = 0; c < 3; c++) mean[c] += x[3 * v + c];
  return [mean[0] / vertices.length, mean[1] / vertices.length, mean[2] / vertices.length];
}

function scaled([x, y, z]: Vector, s: number): Vector {
  return [s * x, s * y, s * z];
}
