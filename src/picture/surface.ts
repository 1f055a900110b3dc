import type { Vec } from './vector.js';

/**
 * Depth, surface normal and colour of every sample of a panel. The rasteriser fills it; lighting follows, because
 * shadows in creases need the depths around a sample.
 */
export interface Surface {
  readonly width: number;
  readonly height: number;
  /** float32[W·H] distance from the eye along its axis, in the unit of the positions; Infinity for the background */
  readonly depth: Float32Array;
  /** float32[3·W·H] unit normals in eye coordinates, turned towards the eye */
  readonly normals: Float32Array;
  /** float32[3·W·H] linear red, green, blue */
  readonly colours: Float32Array;
}

export const makeSurface = (width: number, height: number): Surface => ({
  width,
  height,
  depth: new Float32Array(width * height).fill(Number.POSITIVE_INFINITY),
  normals: new Float32Array(3 * width * height),
  colours: new Float32Array(3 * width * height),
});

/** A projected point: x, y in samples, z its depth. */
export type Seen = Vec;

export interface ShadedCorner {
  readonly seen: Seen;
  readonly normal: Vec;
  /** linear */
  readonly colour: Vec;
}

function put(surface: Surface, sample: number, depth: number, normal: Vec, colour: Vec): void {
  surface.depth[sample] = depth;
  const flip = normal[2] > 0 ? -1 : 1; // the eye looks along +z
  for (let c = 0; c < 3; c++) {
    surface.normals[3 * sample + c] = flip * normal[c];
    surface.colours[3 * sample + c] = colour[c];
  }
}

/** Interpolates the colours of corners. */
function mixColours(corners: readonly ShadedCorner[], u: number, v: number, w: number): Vec {
  const [a, b, c] = corners.map(({ colour }) => colour);
  return [0, 1, 2].map((k) => u * a[k]! + v * b[k]! + w * c[k]!) as unknown as Vec;
}

/** Width of the lines along the edges, in samples, and how much they darken. */
export interface EdgeLines {
  readonly width: number;
  readonly strength: number;
}

/** Fills a triangle. */
export function drawTriangle(
  surface: Surface,
  corners: readonly [ShadedCorner, ShadedCorner, ShadedCorner],
  lines: EdgeLines,
): void {
  const [a, b, c] = corners.map((corner) => corner.seen);
  const area = (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
  if (area === 0) return; // seen edge-on: its neighbours cover those samples
  const lengths = [
    Math.hypot(c[0] - b[0], c[1] - b[1]),
    Math.hypot(a[0] - c[0], a[1] - c[1]),
    Math.hypot(b[0] - a[0], b[1] - a[1]),
  ];
  const minX = Math.max(0, Math.floor(Math.min(a[0], b[0], c[0])));
  const maxX = Math.min(surface.width - 1, Math.ceil(Math.max(a[0], b[0], c[0])));
  const minY = Math.max(0, Math.floor(Math.min(a[1], b[1], c[1])));
  const maxY = Math.min(surface.height - 1, Math.ceil(Math.max(a[1], b[1], c[1])));
  for (let y = minY; y <= maxY; y++) {
    for (let x = minX; x <= maxX; x++) {
      const [px, py] = [x + 0.5, y + 0.5];
      const u = ((b[0] - px) * (c[1] - py) - (b[1] - py) * (c[0] - px)) / area;
      const v = ((c[0] - px) * (a[1] - py) - (c[1] - py) * (a[0] - px)) / area;
      const w = 1 - u - v;
      if (u < 0 || v < 0 || w < 0) continue;
      // Only the reciprocal of the depth is linear in the picture.
      const depth = 1 / (u / a[2] + v / b[2] + w / c[2]);
      const sample = y * surface.width + x;
      if (depth >= surface.depth[sample]) continue;
      const normal: Vec = [0, 1, 2].map(
        (k) => u * corners[0].normal[k] + v * corners[1].normal[k] + w * corners[2].normal[k],
      ) as unknown as Vec;
      const length = Math.hypot(normal[0], normal[1], normal[2]) || 1;
      const unit: Vec = [normal[0] / length, normal[1] / length, normal[2] / length];
      const toEdge = Math.abs(area) * Math.min(u / lengths[0], v / lengths[1], w / lengths[2]);
      const dim = 1 - lines.strength * Math.max(0, 1 - toEdge / lines.width);
      const own = mixColours(corners, u, v, w);
      put(surface, sample, depth, unit, [own[0] * dim, own[1] * dim, own[2] * dim]);
    }
  }
}

/**
 * Fills a round rod between two points; a ball if they coincide.
 * @param radius in the unit of the positions
 * @param focal samples per unit of the positions at depth 1
 */
export function drawRod(surface: Surface, from: Seen, to: Seen, radius: number, focal: number, colour: Vec): void {
  const reach = (radius * focal) / Math.min(from[2], to[2]);
  const [dx, dy] = [to[0] - from[0], to[1] - from[1]];
  const lengthSquared = dx * dx + dy * dy;
  const minX = Math.max(0, Math.floor(Math.min(from[0], to[0]) - reach));
  const maxX = Math.min(surface.width - 1, Math.ceil(Math.max(from[0], to[0]) + reach));
  const minY = Math.max(0, Math.floor(Math.min(from[1], to[1]) - reach));
  const maxY = Math.min(surface.height - 1, Math.ceil(Math.max(from[1], to[1]) + reach));
  for (let y = minY; y <= maxY; y++) {
    for (let x = minX; x <= maxX; x++) {
      const [px, py] = [x + 0.5 - from[0], y + 0.5 - from[1]];
      const share = lengthSquared === 0 ? 0 : Math.min(1, Math.max(0, (px * dx + py * dy) / lengthSquared));
      const axisDepth = from[2] + share * (to[2] - from[2]);
      const perRadius = axisDepth / (radius * focal);
      const nx = (px - share * dx) * perRadius;
      const ny = (py - share * dy) * perRadius;
      const rest = 1 - nx * nx - ny * ny;
      if (rest < 0) continue;
      const nz = -Math.sqrt(rest);
      const depth = axisDepth + radius * nz;
      const sample = y * surface.width + x;
      if (depth < surface.depth[sample]) put(surface, sample, depth, [nx, ny, nz], colour);
    }
  }
}
