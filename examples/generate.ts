/** Regenerates every generated file of examples/. Deterministic: a second run changes nothing. */
import { join } from 'node:path';
import { writeWhole } from '../bench/whole-file.js';
import { projectRoot } from '../src/paths.js';
import { exampleFiles } from './files.js';

for (const [path, contents] of exampleFiles()) {
  const file = join(projectRoot, 'examples', path);
  writeWhole(file, contents);
  process.stdout.write(`examples/${path}: ${Math.ceil(contents.length / 1024)} KiB\n`);
}
