import { frame } from './camera.js';
import { light } from './light.js';
import { drawRod, drawTriangle, makeSurface, type ShadedCorner } from './surface.js';
import { add, at, cross, normalise, sub, type Vec } from './vector.js';

/** What a picture shows: elements, and the bodies that they belong to. */
export interface Drawable {
  readonly vertexCount: number;
  /** uint32[3·T] */
  readonly triangles: Uint32Array;
  /** uint32[2·S] */
  readonly segments: Uint32Array;
  /** uint32[P] */
  readonly particles: Uint32Array;
  /** In the order of their vertices, which they cover. */
  readonly bodies: readonly { readonly role: Role; readonly firstVertex: number; readonly vertexCount: number }[];
}

/** Decides the colour of a body. */
export type Role = 'first' | 'second' | 'obstacle';

/** How a picture may differ from the usual one. */
export interface PanelOptions {
  /** Linear colour of a vertex in place of that of its body. */
  readonly colourOf?: (vertex: number) => Vec;
  /** Radii of rods and grains, in the unit of the positions; default: those of the examples. */
  readonly rodRadius?: number;
  readonly grainRadius?: number;
  /** Reach of soft shadows, in the unit of the positions. */
  readonly creaseRadius?: number;
}

/** Samples per pixel along each side. */
const SAMPLES = 3;
const MARGIN = 0.08;
const ROD_RADIUS = 0.0012;
const GRAIN_RADIUS = 0.0026;
/** The reach of soft shadows. */
const CREASE_RADIUS = 0.03;

/** Linear colours: front and back of each role. */
const COLOURS: Record<Role, { readonly front: Vec; readonly back: Vec }> = {
  first: { front: [0.83, 0.2, 0.1], back: [0.93, 0.48, 0.3] },
  second: { front: [0.06, 0.27, 0.56], back: [0.2, 0.46, 0.74] },
  obstacle: { front: [0.6, 0.62, 0.65], back: [0.42, 0.44, 0.47] },
};
const SAND: Vec = [0.8, 0.52, 0.2];
const STRANDS: readonly [Vec, Vec] = [COLOURS.first.front, COLOURS.second.front];

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
  { colourOf, rodRadius = ROD_RADIUS, grainRadius = GRAIN_RADIUS, creaseRadius = CREASE_RADIUS }: PanelOptions = {},
): Picture {
  const surface = makeSurface(width * SAMPLES, height * SAMPLES);
  const camera = frame(framing, direction, surface.width, surface.height, MARGIN);
  const normals = vertexNormals(scene, positions);
  const roleOf = (vertex: number) =>
    scene.bodies.find((body) => vertex < body.firstVertex + body.vertexCount)?.role ?? 'first';
  const cornerOf = (vertex: number): ShadedCorner => ({
    seen: camera.see(at(positions, vertex)),
    normal: camera.turn(normals[vertex]),
    ...(colourOf ? { colour: colourOf(vertex) } : {}),
  });
  const lines = { width: 0.9 * SAMPLES, strength: 0.2 };
  for (let i = 0; i < scene.triangles.length; i += 3) {
    const [a, b, c] = scene.triangles.subarray(i, i + 3);
    const { front, back } = COLOURS[roleOf(a)];
    drawTriangle(surface, [cornerOf(a), cornerOf(b), cornerOf(c)], front, back, lines);
  }
  // Strands alternate between the two bunches; a new strand begins where a segment does not continue the previous one.
  let strand = -1;
  for (let i = 0; i < scene.segments.length; i += 2) {
    const [a, b] = scene.segments.subarray(i, i + 2);
    if (i === 0 || scene.segments[i - 1] !== a) strand += 1;
    const colour = colourOf?.(a) ?? STRANDS[strand % 2];
    drawRod(surface, camera.see(at(positions, a)), camera.see(at(positions, b)), rodRadius, camera.focal, colour);
  }
  for (const grain of scene.particles) {
    const seen = camera.see(at(positions, grain));
    drawRod(surface, seen, seen, grainRadius, camera.focal, colourOf?.(grain) ?? SAND);
  }
  return { width, height, pixels: light(surface, SAMPLES, camera.focal, creaseRadius) };
}
