import { assemble } from './assemble.js';
import { EDGE, fill, gridPositions, gridTriangles, offsetBy, type Point, rasterOffsets } from './shapes.js';
import type { Body, MakeScene } from './types.js';

const DEFAULT_VERTICES = 1100;
const CELLS: Point = [8, 8, 5];
const TABLE_SIDE = 26;
const BUMP_HEIGHT = 0.025;
const BUMP_WIDTH = 0.03;
const CLEARANCE = 0.005;
const PRESS = 0.025;
const PITCH = 0.4;

/** The six tetrahedra of a cell around its long diagonal: neighbouring cells agree on every shared face. */
const AXIS_ORDERS: readonly Point[] = [
  [0, 1, 2],
  [1, 2, 0],
  [2, 0, 1],
  [1, 0, 2],
  [0, 2, 1],
  [2, 1, 0],
];

const makeBlock = () => {
  const [nx, ny, nz] = [CELLS[0] + 1, CELLS[1] + 1, CELLS[2] + 1];
  const idOf = (p: Point) => (p[2] * ny + p[1]) * nx + p[0];
  const positions = fill(nx * ny * nz, (i): Point => {
    const [x, y, z] = [i % nx, Math.floor(i / nx) % ny, Math.floor(i / (nx * ny))];
    return [(x - CELLS[0] / 2) * EDGE, (y - CELLS[1] / 2) * EDGE, z * EDGE];
  });
  const tetrahedra: number[] = [];
  for (let z = 0; z < CELLS[2]; z++) {
    for (let y = 0; y < CELLS[1]; y++) {
      for (let x = 0; x < CELLS[0]; x++) {
        AXIS_ORDERS.forEach((order, kind) => {
          const corner: [number, number, number] = [x, y, z];
          const ids = [idOf(corner)];
          for (const axis of order) {
            corner[axis] += 1;
            ids.push(idOf(corner));
          }
          // The last three orders are mirror images of the first three.
          tetrahedra.push(...(kind < 3 ? ids : [ids[1], ids[0], ids[2], ids[3]]));
        });
      }
    }
  }
  return { positions, tetrahedra };
};

/** Faces that belong to one tetrahedron only, and the vertices on them renumbered from 0. */
const makeSurface = (positions: Float64Array, tetrahedra: readonly number[]) => {
  const faces = new Map<string, readonly number[]>();
  for (let k = 0; k < tetrahedra.length; k += 4) {
    const [a, b, c, d] = tetrahedra.slice(k, k + 4);
    for (const face of [
      [a, c, b],
      [a, b, d],
      [a, d, c],
      [b, c, d],
    ]) {
      const key = [...face].sort((i, j) => i - j).join();
      if (!faces.delete(key)) faces.set(key, face);
    }
  }
  const used = [...new Set([...faces.values()].flat())].sort((i, j) => i - j);
  const renumbered = new Map(used.map((id, i) => [id, i]));
  return {
    positions: fill(
      used.length,
      (i): Point => [positions[3 * used[i]], positions[3 * used[i] + 1], positions[3 * used[i] + 2]],
    ),
    triangles: [...faces.values()].flat().map((id) => renumbered.get(id) ?? -1),
  };
};

const bump = (x: number, y: number) => BUMP_HEIGHT * Math.exp(-(x * x + y * y) / (2 * BUMP_WIDTH * BUMP_WIDTH));

const make = (
  name: string,
  sentence: string,
  block: Pick<Body, 'triangles' | 'tetrahedra'>,
  shape: Float64Array,
  count: number,
) => {
  const table = gridPositions(TABLE_SIDE, TABLE_SIDE, EDGE, bump);
  const bodies = rasterOffsets(count, PITCH, PITCH).flatMap((offset, i): Body[] => {
    const start = offsetBy(shape, [offset[0], offset[1], BUMP_HEIGHT + CLEARANCE]);
    const fixed = offsetBy(table, offset);
    return [
      {
        name: `block ${i + 1}`,
        role: 'first',
        isKinematic: false,
        start,
        target: offsetBy(start, [0, 0, -PRESS]),
        ...block,
      },
      {
        name: `table ${i + 1}`,
        role: 'obstacle',
        isKinematic: true,
        start: fixed,
        target: fixed,
        triangles: gridTriangles(TABLE_SIDE, TABLE_SIDE),
      },
    ];
  });
  return assemble(name, sentence, bodies);
};

const copiesFor = (vertices: number, shape: Float64Array) =>
  Math.max(1, Math.round(vertices / (shape.length / 3 + TABLE_SIDE * TABLE_SIDE)));

/** A block as a closed surface, for files that cannot contain tetrahedra. */
export const makeSolidSurface: MakeScene = (vertices = DEFAULT_VERTICES) => {
  const block = makeBlock();
  const surface = makeSurface(block.positions, block.tetrahedra);
  return make(
    'solid',
    'A soft block is pressed 25 mm down onto a table with a bump; these files hold its surface, its tetrahedra are in `request.json`.',
    { triangles: surface.triangles },
    surface.positions,
    copiesFor(vertices, surface.positions),
  );
};

/** The same block with its tetrahedra, for requests that can contain them. */
export const makeSolid: MakeScene = (vertices = DEFAULT_VERTICES) => {
  const block = makeBlock();
  return make(
    'solid-tetrahedra',
    'A soft block of tetrahedra is pressed 25 mm down onto a table with a bump.',
    { tetrahedra: block.tetrahedra },
    block.positions,
    copiesFor(vertices, block.positions),
  );
};
