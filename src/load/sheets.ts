import type { Subject } from './messages.js';

/** Length of an edge, m: the scale of garments, for which the method's defaults were chosen. */
const EDGE = 0.01;
/** Distance of the layers at the start, m. */
const GAP = 0.03;
/** Rotation of the second grid against the first: if they coincided, every pair would meet vertex on vertex. */
const TURN = (7 * Math.PI) / 180;
/** Height of the waves of each layer, m: they meet in places first, not everywhere at once. */
const WAVE = 0.003;

/** Vertices along a side of a layer: two layers of (s − 1)² squares have 4 (s − 1)² triangles. */
const sideOf = (triangles: number): number => Math.max(2, Math.round(Math.sqrt(triangles / 4)) + 1);

/** Number of triangles of the sheets with about this many. */
export const trianglesOf = (triangles: number): number => 4 * (sideOf(triangles) - 1) ** 2;

/** Share of the way to the place of the other layer at which the layers lie on each other. */
const PRESSED = 0.5;

/**
 * Two layers of cloth that lie on each other after the first step and then move by a little, like the frames of a
 * simulation.
 *
 * @param triangles approximate number in all
 * @param motion of a step, as a share of the initial gap of the layers (30 mm, three edges)
 */
export function makeSheets(triangles: number, motion: number): Subject {
  const side = sideOf(triangles);
  const count = side * side;
  const heights = (share: number): Float32Array => {
    const positions = new Float32Array(6 * count);
    for (let layer = 0; layer < 2; layer++) {
      const [cos, sin] = [Math.cos(layer * TURN), Math.sin(layer * TURN)];
      for (let vertex = 0; vertex < count; vertex++) {
        const x = ((vertex % side) - (side - 1) / 2) * EDGE;
        const y = (Math.floor(vertex / side) - (side - 1) / 2) * EDGE;
        const wave = WAVE * Math.sin(210 * x + layer + 1) * Math.cos(170 * y - layer);
        const z = GAP * (layer === 0 ? share : 1 - share) + wave;
        positions.set([x * cos - y * sin, x * sin + y * cos, z], 3 * (layer * count + vertex));
      }
    }
    return positions;
  };
  const triangleIds: number[] = [];
  for (let layer = 0; layer < 2; layer++) {
    for (let row = 0; row + 1 < side; row++) {
      for (let column = 0; column + 1 < side; column++) {
        const a = layer * count + row * side + column;
        triangleIds.push(a, a + 1, a + side, a + 1, a + side + 1, a + side);
      }
    }
  }
  return {
    vertices: 2 * count,
    triangles: triangleIds.length / 3,
    mesh: { vertexCount: 2 * count, triangles: Uint32Array.from(triangleIds) },
    start: heights(0),
    targets: [heights(PRESSED), heights(PRESSED - motion)],
  };
}
