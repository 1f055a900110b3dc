/**
 * Draws docs/pictures/spike.png, an animated PNG: left the straight way from start to target, right the path of the answer.
 *
 *     node dist/examples/animate.js [OUT.png]
 */
import { writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { projectRoot } from '../src/paths.js';
import { encodeAnimation, type Frame } from '../src/picture/animation.js';
import { drawPanel } from '../src/picture/panel.js';
import { drawWord } from '../src/picture/text.js';
import { openOperations, requestOf } from './resolve-scene.js';
import { makeSpikeScene } from './scenes/spike.js';

const PANEL = { width: 360, height: 250 };
const HEADING = 36;
const GAP = 6;
const INK = [62, 68, 78] as const;
const VIEW = [-0.4, 1, -0.36] as const;
/** Pictures from start to end, and how long they and the last one are shown, ms. */
const MOVING = 20;
const FRAME_MS = 90;
const REST_MS = 1600;

const scene = makeSpikeScene();
const operations = await openOperations('cpu');
const { positions, path } = await operations.resolve({ ...requestOf(scene), include: { path: true } });
await operations.close();
if (!path) throw new Error('The answer has no path.');

const width = 3 * scene.vertexCount;
const count = path.phases.length;
const last = Float64Array.from(positions);
/** The state at a share of the path, by steps. */
const onPath = (share: number): Float64Array => {
  const place = share * (count - 1);
  const before = Math.min(Math.floor(place), count - 2);
  const [from, to] = [before, before + 1].map((i) => path.positions.subarray(i * width, (i + 1) * width));
  return Float64Array.from(from!, (value, i) => value + (place - before) * (to![i]! - value));
};

const frames: Frame[] = [];
const size = { width: 2 * PANEL.width + GAP, height: PANEL.height + HEADING };
for (let i = 0; i <= MOVING; i++) {
  const share = i / MOVING;
  const straight = scene.start.map((value, k) => value + share * (scene.target[k]! - value));
  const pixels = new Uint8Array(3 * size.width * size.height).fill(255);
  for (const [column, state] of [straight, onPath(share)].entries()) {
    const states = [scene.start, scene.target, last];
    const panel = drawPanel(scene, state, states, VIEW, PANEL.width, PANEL.height);
    for (let y = 0; y < PANEL.height; y++) {
      const row = panel.pixels.subarray(3 * y * PANEL.width, 3 * (y + 1) * PANEL.width);
      const bytes = row.map((value) => Math.round(255 * Math.min(1, Math.max(0, value))));
      pixels.set(bytes, 3 * ((HEADING + y) * size.width + column * (PANEL.width + GAP)));
    }
    const centre = column * (PANEL.width + GAP) + PANEL.width / 2;
    drawWord(pixels, size.width, ['TARGET', 'ANSWER'][column]!, centre, 12, 13, INK);
  }
  frames.push({ pixels, milliseconds: i === 0 || i === MOVING ? REST_MS : FRAME_MS });
}
const out = process.argv[2] ?? join(projectRoot, 'docs', 'pictures', 'spike.png');
const bytes = encodeAnimation(size.width, size.height, frames);
writeFileSync(out, bytes);
process.stdout.write(`Wrote ${relative(process.cwd(), out)}, ${frames.length} pictures, ${bytes.length} bytes.\n`);
