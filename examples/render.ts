/**
 * Draws docs/pictures/before-after.png: the start, the target and the service's answer for a few scenes.
 *
 *     npm run pictures                      docs/pictures/before-after.png from real answers
 *     npm run pictures -- OUT.png hair      another file, other scenes
 */
import { join, relative } from 'node:path';
import { writeWhole } from '../bench/whole-file.js';
import { projectRoot } from '../src/paths.js';
import { sheetRow } from './pictures/example.js';
import type { Row, Vec } from './pictures/sheet.js';
import { drawSheet } from './pictures/studio.js';
import { openOperations, resolveScene } from './resolve-scene.js';
import { EXAMPLES } from './scenes/index.js';

const PANEL = { width: 400, height: 260 };
const HEADINGS = ['Start', 'Target', 'Answer'];

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

async function main(): Promise<void> {
  const [out = join(projectRoot, 'docs', 'pictures', 'before-after.png'), ...asked] = process.argv.slice(2);
  const names = asked.length > 0 ? asked : DEFAULT_SCENES;
  // The reference engine: the pictures are the same on every machine.
  const operations = await openOperations('cpu');
  try {
    const rows: Row[] = [];
    for (const name of names) {
      const make = EXAMPLES[name];
      if (!make) throw new Error(`No scene is named ${name}. The scenes are ${Object.keys(EXAMPLES).join(', ')}.`);
      const scene = make();
      const { positions, report } = await resolveScene(operations, scene, { quality: 'BALANCED' });
      const { status, steps, maxStretch } = report;
      process.stdout.write(`${name}: ${status} after ${steps} steps, largest stretch ${maxStretch.toFixed(2)}\n`);
      const answer = Float64Array.from(positions);
      const states = [scene.start, scene.target, answer];
      rows.push(sheetRow(scene, states, states, VIEWS[name]!));
    }
    writeWhole(out, await drawSheet({ rows, panel: PANEL, headings: HEADINGS }));
    process.stdout.write(`Wrote ${relative(process.cwd(), out)}.\n`);
  } finally {
    await operations.close();
  }
}

await main();
