import { PNG } from 'pngjs';
import t from 'tap';
import { drawPanel } from '../../src/picture/panel.js';
import { encodePng } from '../../src/picture/png.js';
import { drawWord } from '../../src/picture/text.js';
import type { Vec } from '../../src/picture/vector.js';

t.test('a PNG holds exactly the pixels it was given', async (t) => {
  const [width, height] = [5, 3];
  const pixels = Uint8Array.from({ length: 3 * width * height }, (_, i) => (i * 37) & 255);
  const read = PNG.sync.read(encodePng(width, height, pixels));
  t.same([read.width, read.height], [width, height]);
  t.same(
    [...read.data].filter((_, i) => i % 4 < 3),
    [...pixels],
  );
  t.ok(
    read.data.every((value, i) => i % 4 < 3 || value === 255),
    'opaque',
  );
  t.throws(() => encodePng(2, 2, pixels), /2 × 2 pixels cannot have 45 bytes/);
});

/** A square across the view, z up, seen along +y; of two, the first is red and the second blue. */
const wall = (y: number) => Float64Array.of(-1, y, -1, 1, y, -1, 1, y, 1, -1, y, 1);
const draw = (near: number, far: number) => {
  const none = new Uint32Array(0);
  const triangles = Uint32Array.of(0, 1, 2, 0, 2, 3, 4, 5, 6, 4, 6, 7);
  const scene = { vertexCount: 8, triangles, segments: none, particles: none };
  const x = Float64Array.of(...wall(near), ...wall(far));
  const options = {
    colourOf: (vertex: number): Vec => (vertex < 4 ? [0.8, 0.2, 0.1] : [0.1, 0.3, 0.6]),
    rodRadius: 0.1,
    grainRadius: 0.1,
    creaseRadius: 0.1,
  };
  const picture = drawPanel(scene, x, [x], [0, 1, 0], 40, 40, options);
  const at = (x: number, y: number) => [...picture.pixels.subarray(3 * (40 * y + x), 3 * (40 * y + x) + 3)];
  return { middle: at(18, 23), corner: at(0, 0) };
};

t.test('the nearer surface hides the farther one', async (t) => {
  const red = draw(0, 0.5).middle;
  const blue = draw(0.5, 0).middle;
  t.ok(red[0] > red[2] + 0.2, `red in front: ${red}`);
  t.ok(blue[2] > blue[0] + 0.2, `blue in front: ${blue}`);
});

t.test('the background stays empty', async (t) => {
  const { corner } = draw(0, 0.5);
  t.ok(Math.min(...corner) > 0.9, `background: ${corner}`);
});

t.test('words are drawn, and unknown letters are refused', async (t) => {
  const pixels = new Uint8Array(3 * 80 * 30).fill(255);
  drawWord(pixels, 80, 'START', 40, 8, 14, [0, 0, 0]);
  t.ok(pixels.some((value) => value < 40));
  t.throws(() => drawWord(pixels, 80, 'Q', 40, 8, 14, [0, 0, 0]), /letter Q/);
});
