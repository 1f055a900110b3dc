/** Regenerates every generated file of examples/. Deterministic: a second run changes nothing. */
import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { makeFolder } from '../src/folders.js';
import { projectRoot } from '../src/paths.js';
import { exampleFiles } from './files.js';

for (const [path, contents] of exampleFiles()) {
  const file = join(projectRoot, 'examples', path);
  makeFolder(dirname(file));
  writeFileSync(file, contents);
  process.stdout.write(`examples/${path}: ${Math.ceil(contents.length / 1024)} KiB\n`);
}
