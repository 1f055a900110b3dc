import { inflateSync } from 'node:zlib';
import t from 'tap';
import { assemble } from '../../examples/scenes/assemble.js';
import { drawPanel } from '../../src/picture/panel.js';
import { encodePng } from '../../src/picture/png.js';
import { drawWord } from '../../src/picture/text.js';

t.test('a PNG holds exactly the pixels it was given', async (t) => {
  const [width, height] = [5, 3];
  const pixels = Uint8Array.from({ length: 3 * width * height }, (_, i) => (i * 37) & 255);
  const png = encodePng(width, height, pixels);
  t.equal(png.subarray(1, 4).toString(), 'PNG');
  t.equal(png.readUInt32BE(16), width);
  t.equal(png.readUInt32BE(20), height);
  const size = png.readUInt32BE(33);
  t.equal(png.subarray(37, 41).toString(), 'IDAT');
  const rows = inflateSync(png.subarray(41, 41 + size));
  const read = new Uint8Array(pixels.length);
  for (let y = 0; y < height; y++) {
    t.equal(rows[y * (3 * width + 1)], 2, 'filter: difference to the row above');
    for (let i = 0; i < 3 * width; i++) {
      const above = y === 0 ? 0 : read[(y - 1) * 3 * width + i];
      read[y * 3 * width + i] = rows[y * (3 * width + 1) + 1 + i] + above;
    }
  }
  t.same([...read], [...pixels]);
  // The checksum of the empty last chunk is a constant of the format.
  t.equal(png.readUInt32BE(png.length - 4), 0xae426082);
  t.throws(() => encodePng(2, 2, pixels), /2 × 2 pixels cannot have 45 bytes/);
});

/** A square across the view, z up, seen along +y. */
const wall = (y: number) => Float64Array.of(-1, y, -1, 1, y, -1, 1, y, 1, -1, y, 1);
const draw = (near: number, far: number) => {
  const square = (name: string, role: 'first' | 'second', y: number) =>
    ({ name, role, isKinematic: false, start: wall(y), target: wall(y), triangles: [0, 1, 2, 0, 2, 3] }) as const;
  const scene = assemble('two', '', [square('red', 'first', near), square('blue', 'second', far)]);
  const picture = drawPanel(scene, scene.start, [scene.start], [0, 1, 0], 40, 40);
  const at = (x: number, y: number) => [...picture.pixels.subarray(3 * (40 * y + x), 3 * (40 * y + x) + 3)];
  return { middle: at(18, 23), corner: at(0, 0) };
};

t.test('the nearer surface hides the farther one', async (t) => {
  const red = draw(0, 0.5).middle;
  const blue = draw(0.5, 0).middle;
  t.ok(red[0] > red[2] + 0.2, `red in front: ${red}`);
  t.ok(blue[2] > blue[0] + 0.2, `blue in front: ${blue}`);
});

t.test('nothing is drawn where nothing is', async (t) => {
  const { corner } = draw(0, 0.5);
  t.ok(Math.min(...corner) > 0.9, `background: ${corner}`);
});

t.test('words leave ink, unknown letters are refused', async (t) => {
  const pixels = new Uint8Array(3 * 80 * 30).fill(255);
  drawWord(pixels, 80, 'START', 40, 8, 14, [0, 0, 0]);
  t.ok(pixels.some((value) => value < 40));
  t.throws(() => drawWord(pixels, 80, 'Q', 40, 8, 14, [0, 0, 0]), /letter Q/);
});
