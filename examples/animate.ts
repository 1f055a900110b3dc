/**
 * Draws docs/pictures/spike.webp, an animation: left the straight way from start to target, right the path of the answer.
 *
 *     node dist/examples/animate.js [OUT.webp]
 */
import { join, relative } from 'node:path';
import sharp from 'sharp';
import { writeWhole } from '../bench/whole-file.js';
import { projectRoot } from '../src/paths.js';
import { sheetRow } from './pictures/example.js';
import { Studio } from './pictures/studio.js';
import { openOperations, requestOf } from './resolve-scene.js';
import { makeSpikeScene } from './scenes/spike.js';

const PANEL = { width: 360, height: 250 };
const VIEW = [-0.4, 1, -0.36] as const;
/** Pictures from start to end, and how long they and the first and last one are shown, ms. */
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
/** The state at a share of the path, by steps. */
const onPath = (share: number): Float64Array => {
  const place = share * (count - 1);
  const before = Math.min(Math.floor(place), count - 2);
  const [from, to] = [before, before + 1].map((i) => path.positions.subarray(i * width, (i + 1) * width));
  return Float64Array.from(from!, (value, i) => value + (place - before) * (to![i]! - value));
};

const pictures: Buffer[] = [];
const studio = await Studio.open();
try {
  for (let i = 0; i <= MOVING; i++) {
    const share = i / MOVING;
    const straight = scene.start.map((value, k) => value + share * (scene.target[k]! - value));
    const row = sheetRow(scene, [straight, onPath(share)], [scene.start, scene.target, positions], VIEW);
    pictures.push(await studio.draw({ rows: [row], panel: PANEL, headings: ['Target', 'Answer'] }));
  }
} finally {
  await studio.close();
}
const out = process.argv[2] ?? join(projectRoot, 'docs', 'pictures', 'spike.webp');
const animation = await sharp(pictures, { join: { animated: true } })
  .webp({
    loop: 0,
    delay: pictures.map((_, i) => (i === 0 || i === MOVING ? REST_MS : FRAME_MS)),
    quality: 85,
    effort: 6,
  })
  .toBuffer();
writeWhole(out, animation);
process.stdout.write(
  `Wrote ${relative(process.cwd(), out)}, ${pictures.length} pictures, ${animation.length} bytes.\n`,
);
