import { Surfaces } from './surfaces.js';
import { between, SIZE, shake, type TangleGroup } from './tangle.js';

/** Half of the width of a fold, its depth, and the length over which it ends within the sheet. */
const WIDTH = 0.7;
const DEPTH = 4;
const END = 0.7;

/** Columns of the fold: as many edges as its cross-section is long, so that edges are not stretched along its walls. */
const COLUMNS = 23;
const ROWS = 14;

/**
 * A sheet with a narrow fold from its border to its middle, and a copy of it that is offset along its normals by more
 * than the radius of the fold, so that the walls of the copy pass through each other.
 */
export function foldAndCopy(edges: number): TangleGroup {
  return {
    name: `fold and its copy, ${edges} edges off`,
    isDecided: false,
    make: (random) => {
      const scene = new Surfaces();
      const height = foldAt(SIZE / 2 + between(random, -1, 1), between(random, 5, 7));
      const columns = evenColumns((x) => height(x, 0));
      const place = (u: number, v: number) => [columns[Math.round(COLUMNS * u)]!, ROWS * v] as const;
      scene.grid('garment', COLUMNS, ROWS, (u, v) => {
        const [x, y] = place(u, v).map((p) => p + 0.3 * shake(random)) as [number, number];
        return { at: [x, y, height(x, y)] };
      });
      scene.grid('copy', COLUMNS, ROWS, (u, v) => {
        const [x, y] = place(u, v);
        const [nx, ny] = [slope((t) => height(x + t, y)), slope((t) => height(x, y + t))];
        const off = edges / Math.hypot(nx, ny, 1);
        return { at: [x - off * nx, y - off * ny, height(x, y) + off] };
      });
      return scene.build();
    },
  };
}

type Curve = (t: number) => number;

/** The height of a sheet with a fold along x = middle that ends at y = end. */
function foldAt(middle: number, end: number): (x: number, y: number) => number {
  return (x, y) => (-DEPTH * Math.exp(-((x - middle) ** 2) / (2 * WIDTH ** 2))) / (1 + Math.exp((y - end) / END));
}

/** Slope of a curve at 0. */
const slope = (curve: Curve): number => (curve(1e-4) - curve(-1e-4)) / 2e-4;

/** Positions on [0, SIZE] between which a curve has equal lengths. */
function evenColumns(curve: Curve): number[] {
  const samples = 4000;
  const at = (k: number): number => (SIZE * k) / samples;
  const lengths = [0];
  for (let k = 1; k <= samples; k++)
    lengths.push(lengths[k - 1]! + Math.hypot(at(k) - at(k - 1), curve(at(k)) - curve(at(k - 1))));
  const whole = lengths[samples]!;
  return Array.from({ length: COLUMNS + 1 }, (_, n) =>
    at(lengths.findIndex((length) => length >= (whole * n) / COLUMNS - 1e-9)),
  );
}
