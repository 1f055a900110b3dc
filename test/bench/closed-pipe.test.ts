import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import t from 'tap';
import { projectRoot } from '../../src/paths.js';

/** Programs that people read with `| head`, with a short output. */
const PROGRAMS = [
  ['examples/solver/runner/main.js', '--list'],
  ['examples/solver/runner/publish.js', '--help'],
  ['bench/bounds/main.js', '--help'],
  ['bench/load/main.js', '--help'],
];

for (const [program, flag] of PROGRAMS) {
  t.test(`${program} ends quietly if nobody reads its output`, async (t) => {
    const path = join(projectRoot, 'dist', program!);
    // The reader is gone before the program writes: it starts when the pipe has been closed.
    const command = '{ sleep 0.2; exec "$0" "$1" "$2"; } | true';
    const { stderr } = spawnSync('sh', ['-c', command, process.execPath, path, flag!], { encoding: 'utf8' });
    t.equal(stderr, '');
  });
}
