/**
 * Draws docs/pictures/before-after.png: the start, the target and the service's answer for a few scenes.
 *
 *     npm run pictures                      docs/pictures/before-after.png from real answers
 *     npm run pictures -- OUT.png hair      another file, other scenes
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { projectRoot } from '../src/paths.js';
import { drawPanel, type Picture } from '../src/picture/panel.js';
import { encodePng } from '../src/picture/png.js';
import { drawWord } from '../src/picture/text.js';
import type { Vec } from '../src/picture/vector.js';
import { openOperations, resolveScene } from './resolve-scene.js';
import { EXAMPLES } from './scenes/index.js';

const PANEL = { width: 400, height: 260 };
const GAP = 6;
const HEADING = { height: 44, letters: 14, top: 16 };
const HEADINGS = ['START', 'TARGET', 'ANSWER'];
const PAPER: readonly [number, number, number] = [255, 255, 255];
const INK: readonly [number, number, number] = [62, 68, 78];

/** The viewing direction of each scene. */
const VIEWS: Readonly<Record<string, Vec>> = {
  layers: [-0.5, 1, -0.35],
  spike: [-0.4, 1, -0.36],
  sleeve: [-0.35, 1, -0.45],
  hair: [-0.25, 1, -0.15],
  sand: [-0.4, 1, -1.3],
  solid: [-0.5, 1, -0.3],
};
const DEFAULT_SCENES = ['spike', 'sleeve', 'layers'];

/** Arranges rows of panels under their headings. */
function compose(rows: readonly (readonly Picture[])[]): Buffer {
  const width = HEADINGS.length * (PANEL.width + GAP) - GAP;
  const height = HEADING.height + rows.length * (PANEL.height + GAP) - GAP;
  const pixels = new Uint8Array(3 * width * height);
  for (let i = 0; i < pixels.length; i++) pixels[i] = PAPER[i % 3];
  rows.forEach((row, r) => {
    row.forEach((panel, column) => {
      const [left, top] = [column * (PANEL.width + GAP), HEADING.height + r * (PANEL.height + GAP)];
      for (let y = 0; y < panel.height; y++) {
        const from = panel.pixels.subarray(3 * y * panel.width, 3 * (y + 1) * panel.width);
        pixels.set(
          from.map((value) => Math.round(255 * Math.min(1, Math.max(0, value)))),
          3 * ((top + y) * width + left),
        );
      }
    });
  });
  HEADINGS.forEach((word, column) => {
    const centre = column * (PANEL.width + GAP) + PANEL.width / 2;
    drawWord(pixels, width, word, centre, HEADING.top, HEADING.letters, INK);
  });
  return encodePng(width, height, pixels);
}

async function main(): Promise<void> {
  const [out = join(projectRoot, 'docs', 'pictures', 'before-after.png'), ...asked] = process.argv.slice(2);
  const names = asked.length > 0 ? asked : DEFAULT_SCENES;
  // The reference engine: the pictures are the same on every machine.
  const operations = await openOperations('cpu');
  try {
    const rows: Picture[][] = [];
    for (const name of names) {
      const make = EXAMPLES[name];
      if (!make) throw new Error(`No scene is named ${name}. The scenes are ${Object.keys(EXAMPLES).join(', ')}.`);
      const scene = make();
      const { positions, report } = await resolveScene(operations, scene, { quality: 'BALANCED' });
      const { status, steps, maxStretch } = report;
      process.stdout.write(`${name}: ${status} after ${steps} steps, largest stretch ${maxStretch.toFixed(2)}\n`);
      const answer = Float64Array.from(positions);
      const states = [scene.start, scene.target, answer];
      rows.push(states.map((state) => drawPanel(scene, state, states, VIEWS[name], PANEL.width, PANEL.height)));
    }
    mkdirSync(dirname(out), { recursive: true });
    writeFileSync(out, compose(rows));
    process.stdout.write(`Wrote ${relative(process.cwd(), out)}.\n`);
  } finally {
    await operations.close();
  }
}

await main();
