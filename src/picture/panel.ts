import { frame } from './camera.js';
import { light } from './light.js';
import { drawRod, drawTriangle, makeSurface, type ShadedCorner } from './surface.js';
import { add, at, cross, normalise, sub, type Vec } from './vector.js';

/** The content of a picture. */
export interface Drawable {
  readonly vertexCount: number;
  /** uint32[3·T] */
  readonly triangles: Uint32Array;
  /** uint32[2·S] */
  readonly segments: Uint32Array;
  /** uint32[P] */
  readonly particles: Uint32Array;
}

export interface PanelOptions {
  /** Linear colour of a vertex; a rod has that of its first vertex. */
  readonly colourOf: (vertex: number) => Vec;
  /** Radii of rods and grains, in the unit of the positions. */
  readonly rodRadius: number;
  readonly grainRadius: number;
  /** Reach of soft shadows, in the unit of the positions. */
  readonly creaseRadius: number;
}

/** Samples per pixel along each side. */
const SAMPLES = 3;
const MARGIN = 0.08;

/** Sums of the normals of the triangles around each vertex, weighted by area. */
function vertexNormals(scene: Drawable, positions: Float64Array): Vec[] {
  const sums: Vec[] = Array.from({ length: scene.vertexCount }, () => [0, 0, 0]);
  for (let i = 0; i < scene.triangles.length; i += 3) {
    const ids = scene.triangles.subarray(i, i + 3);
    const [a, b, c] = Array.from(ids, (id) => at(positions, id));
    const normal = cross(sub(b, a), sub(c, a));
    for (const id of ids) sums[id] = add(sums[id], normal);
  }
  return sums.map(normalise);
}

export interface Picture {
  readonly width: number;
  readonly height: number;
  /** float32[3·width·height] screen values 0 … 1 */
  readonly pixels: Float32Array;
}

/**
 * Draws one state of a scene.
 * @param framing states that must all fit, so that several panels show the same region of space
 * @param direction viewing direction
 */
export function drawPanel(
  scene: Drawable,
  positions: Float64Array,
  framing: readonly Float64Array[],
  direction: Vec,
  width: number,
  height: number,
  { colourOf, rodRadius, grainRadius, creaseRadius }: PanelOptions,
): Picture {
  const surface = makeSurface(width * SAMPLES, height * SAMPLES);
  const camera = frame(framing, direction, surface.width, surface.height, MARGIN);
  const normals = vertexNormals(scene, positions);
  const cornerOf = (vertex: number): ShadedCorner => ({
    seen: camera.see(at(positions, vertex)),
    normal: camera.turn(normals[vertex]),
    colour: colourOf(vertex),
  });
  const lines = { width: 0.9 * SAMPLES, strength: 0.2 };
  for (let i = 0; i < scene.triangles.length; i += 3) {
    const [a, b, c] = scene.triangles.subarray(i, i + 3);
    drawTriangle(surface, [cornerOf(a), cornerOf(b), cornerOf(c)], lines);
  }
  for (let i = 0; i < scene.segments.length; i += 2) {
    const [a, b] = scene.segments.subarray(i, i + 2);
    const [from, to] = [camera.see(at(positions, a)), camera.see(at(positions, b))];
    drawRod(surface, from, to, rodRadius, camera.focal, colourOf(a));
  }
  for (const grain of scene.particles) {
    const seen = camera.see(at(positions, grain));
    drawRod(surface, seen, seen, grainRadius, camera.focal, colourOf(grain));
  }
  return { width, height, pixels: light(surface, SAMPLES, camera.focal, creaseRadius) };
}
