import type { ResolveRequest } from '../../src/contract/requests.js';

/** Engine-independent scenes in which a dressed body moves as a whole; lengths in metres, the y axis points up. */

type Vector = readonly [number, number, number];

/** A rotation about the vertical axis through `about`, then a shift. */
export interface Move {
  readonly degrees: number;
  readonly shift: Vector;
  readonly about: Vector;
}

/** The motion of a dressed body: rotated by 20° and moved by 30 cm. */
const TURN = 20;
const SHIFT = 0.3;

/** Distance of the floor below the lowest vertex, and how far the pillar extends into the way of the skirt. */
const CLEARANCE = 0.002;
const GRAZE = 0.015;

/** [3·V] */
type Points = Float32Array | Float64Array;

function moved(points: Points, { degrees, shift, about }: Move): Float64Array {
  const angle = (degrees * Math.PI) / 180;
  const [c, s] = [Math.cos(angle), Math.sin(angle)];
  const out = new Float64Array(points.length);
  for (let k = 0; k < points.length; k += 3) {
    const [x, y, z] = [points[k] - about[0], points[k + 1] - about[1], points[k + 2] - about[2]];
    out[k] = c * x + s * z + about[0] + shift[0];
    out[k + 1] = y + about[1] + shift[1];
    out[k + 2] = c * z - s * x + about[2] + shift[2];
  }
  return out;
}

interface Extent {
  readonly low: Vector;
  readonly high: Vector;
  readonly centre: Vector;
}

function extentOf(points: Points): Extent {
  const low = [Infinity, Infinity, Infinity];
  const high = [-Infinity, -Infinity, -Infinity];
  for (let k = 0; k < points.length; k++) {
    low[k % 3] = Math.min(low[k % 3], points[k]);
    high[k % 3] = Math.max(high[k % 3], points[k]);
  }
  const centre = low.map((l, c) => (l + high[c]) / 2);
  return { low, high, centre } as unknown as Extent;
}

/** Combines bodies side by side into one request with float32 positions. */
class Assembly {
  readonly #start: number[] = [];
  readonly #target: number[] = [];
  readonly #triangles: number[] = [];
  readonly #kinematic: number[] = [];

  add(triangles: ArrayLike<number>, kinematic: ArrayLike<number>, start: Points, target: Points): void {
    const first = this.#kinematic.length;
    for (let k = 0; k < triangles.length; k++) this.#triangles.push(triangles[k] + first);
    for (let v = 0; v < kinematic.length; v++) this.#kinematic.push(kinematic[v]);
    for (let k = 0; k < start.length; k++) {
      this.#start.push(start[k]);
      this.#target.push(target[k]);
    }
  }

  addStatic(triangles: readonly number[], points: readonly number[]): void {
    const at = Float64Array.from(points);
    this.add(triangles, new Uint8Array(at.length / 3).fill(1), at, at);
  }

  request(): ResolveRequest {
    return {
      mesh: {
        vertexCount: this.#kinematic.length,
        triangles: Uint32Array.from(this.#triangles),
        kinematic: Uint8Array.from(this.#kinematic),
      },
      start: Float32Array.from(this.#start),
      target: Float32Array.from(this.#target),
      parameters: {},
    };
  }
}

function floorAt(height: number, { centre }: Extent, cells = 8, cell = 0.5): { triangles: number[]; points: number[] } {
  const points: number[] = [];
  const triangles: number[] = [];
  for (let i = 0; i <= cells; i++) {
    for (let j = 0; j <= cells; j++) {
      points.push(centre[0] + (i - cells / 2) * cell, height, centre[2] + (j - cells / 2) * cell);
    }
  }
  for (let i = 0; i < cells; i++) {
    for (let j = 0; j < cells; j++) {
      const a = i * (cells + 1) + j;
      triangles.push(a, a + 1, a + cells + 1, a + 1, a + cells + 2, a + cells + 1);
    }
  }
  return { triangles, points };
}

function pillarAt([x, low, z]: Vector, height: number, radius: number): { triangles: number[]; points: number[] } {
  const sides = 32;
  const rows = 16;
  const points: number[] = [];
  const triangles: number[] = [];
  for (let r = 0; r <= rows; r++) {
    for (let n = 0; n < sides; n++) {
      const angle = (2 * Math.PI * n) / sides;
      points.push(x + radius * Math.cos(angle), low + (height * r) / rows, z + radius * Math.sin(angle));
    }
  }
  for (let r = 0; r < rows; r++) {
    for (let n = 0; n < sides; n++) {
      const [a, b] = [r * sides + n, r * sides + ((n + 1) % sides)];
      triangles.push(a, b, a + sides, b, b + sides, a + sides);
    }
  }
  return { triangles, points };
}

/** The largest extent along z while the body turns. */
function widestAcross(points: Points, about: Vector): number {
  const widths = Array.from({ length: TURN + 1 }, (_, degrees) => {
    const { low, high } = extentOf(moved(points, { degrees, shift: [0, 0, 0], about }));
    return high[2] - low[2];
  });
  return Math.max(...widths);
}

export type MovingDress = 'alone' | 'floor' | 'pillar' | 'passing';

/**
 * The dress rotated by 20° and moved by 30 cm.
 *
 * @param dress the pair of the data folder (cases.ts): the target moves as a whole
 * @param among alone; over a static floor; past a pillar that grazes the skirt; two of them passing each other
 */
export function movingDress(dress: ResolveRequest, among: MovingDress): ResolveRequest {
  const { mesh, start, target } = dress;
  const triangles = mesh.triangles!;
  const kinematic = mesh.kinematic as Uint8Array;
  const extent = extentOf(start);
  const about = extent.centre;
  const all = new Assembly();
  all.add(triangles, kinematic, start, moved(target, { degrees: TURN, shift: [SHIFT, 0, 0], about }));
  if (among === 'floor' || among === 'pillar') {
    const { triangles, points } = floorAt(extent.low[1] - CLEARANCE, extent);
    all.addStatic(triangles, points);
  }
  if (among === 'pillar') {
    const skirt = extentOf(start.subarray(0, 3 * kinematic.indexOf(1)));
    const radius = 0.05;
    // It hangs beside the way, from the knees to just above the hem, behind the thighs, so that it obstructs only the
    // skirt.
    const height = 0.35;
    const low = skirt.low[1] + 0.05 - height;
    const { triangles, points } = pillarAt([about[0] + SHIFT / 2, low, skirt.low[2] + GRAZE - radius], height, radius);
    all.addStatic(triangles, points);
  }
  if (among === 'passing') {
    const away: Vector = [SHIFT, 0, widestAcross(start, about) + GRAZE];
    const unturned: Move = { degrees: 0, shift: away, about };
    const other = moved(start, unturned);
    const end = moved(moved(target, unturned), {
      degrees: TURN,
      shift: [-SHIFT, 0, 0],
      about: [about[0] + away[0], about[1], about[2] + away[2]],
    });
    all.add(triangles, kinematic, other, end);
  }
  return all.request();
}

/** Targets of a session: the dress walks on by 3 cm and turns by 2° per frame. @returns float32[3·V] by frame */
export function walkingDress({ start, target }: ResolveRequest, frames: number): Float32Array[] {
  const about = extentOf(start).centre;
  return Array.from({ length: frames }, (_, n) =>
    Float32Array.from(moved(target, { degrees: 2 * (n + 1), shift: [0.03 * (n + 1), 0, 0], about })),
  );
}
