import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** vertices along one side of a sheet */
const side = 6;
/** metres */
const edge = 0.01;
export const sheetVertices = side * side;

/** Two square sheets, one above the other: the first `sheetVertices` vertices lie at height `upper`, the rest at `lower`. */
export function twoSheets(upper: number, lower: number, shift = 0): string {
  const lines: string[] = [];
  for (const [height, offset] of [
    [upper, shift],
    [lower, edge / 3],
  ] as const) {
    for (let row = 0; row < side; row++) {
      for (let column = 0; column < side; column++) lines.push(`v ${column * edge + offset} ${row * edge} ${height}`);
    }
  }
  for (let first = 1; first <= 2 * sheetVertices; first += sheetVertices) {
    for (let row = 0; row + 1 < side; row++) {
      for (let column = 0; column + 1 < side; column++) {
        const a = first + row * side + column;
        lines.push(`f ${a} ${a + 1} ${a + side + 1}`, `f ${a} ${a + side + 1} ${a + side}`);
      }
    }
  }
  return `${lines.join('\n')}\n`;
}

/** start: sheets 5 mm apart; free: the upper one 2 mm to the side; through: the upper one 5 mm below the lower. */
export function writeSheets(folder: string): string {
  writeFileSync(join(folder, 'start.obj'), twoSheets(0.005, 0));
  writeFileSync(join(folder, 'free.obj'), twoSheets(0.005, 0, 0.002));
  writeFileSync(join(folder, 'through.obj'), twoSheets(-0.005, 0));
  writeFileSync(join(folder, 'crossing.obj'), twoSheets(0.005, 0).replace('v 0 0 0.005', 'v 0.01 0.004 -0.005'));
  return folder;
}

/** [x, y, z] of every vertex of an OBJ text */
export function verticesOf(text: string): number[][] {
  return text
    .split('\n')
    .filter((line) => line.startsWith('v '))
    .map((line) => line.slice(2).trim().split(/\s+/).map(Number));
}
