import { join } from 'node:path';
import { endWithUsage, readFlags, readNumber } from '../../../bench/command-line.js';
import { writeWhole } from '../../../bench/whole-file.js';
import '../../../bench/closed-pipe.js';
import { ServerProcess } from '../../../bench/prove/server.js';
import { makeFolder } from '../../../src/folders.js';
import { BUMPY_SHELLS } from '../scenes/bumpy-shell.js';
import { sphereDrape } from '../scenes/sphere-drape.js';
import { SIZES, type Size } from '../scenes/types.js';
import { COUPLINGS, type Compared, makeComparison, playCouplings, plotComparison } from './couplings.js';

/** Compares simultaneous and staggered collisions of isometric shells. */
const HELP = `node dist/examples/solver/runner/isometric.js [options]

Plays the isometric shells with collisions inside the Newton loop and after it; prints a table, and writes plots and a result.

  --scene NAME     one scene; default: all
  --coupling NAME  staggered or simultaneous; default: both. Results of one replace those of the other in a folder.
  --size SIZE      small (default), quarter or full
  --frames N       time steps at most
  --out FOLDER     default out/isometric
  --server ADDRESS gRPC address of a running service; default: one is started, on the CPU engine
`;

const values = readFlags(HELP, {
  options: {
    scene: { type: 'string' },
    coupling: { type: 'string' },
    size: { type: 'string', default: 'small' },
    frames: { type: 'string', default: '1000000' },
    out: { type: 'string', default: 'out/isometric' },
    server: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
});

async function compare(size: Size, frames: number): Promise<void> {
  const scenes = [sphereDrape, ...BUMPY_SHELLS].map((make) => make(size));
  const chosen = scenes.filter(({ name }) => values.scene === undefined || name === values.scene);
  if (chosen.length === 0) endWithUsage(`--scene is one of ${scenes.map(({ name }) => name).join(', ')}.`, HELP);
  const couplings = COUPLINGS.filter((name) => values.coupling === undefined || name === values.coupling);
  if (couplings.length === 0) endWithUsage(`--coupling is one of ${COUPLINGS.join(', ')}.`, HELP);
  const server = values.server === undefined ? await ServerProcess.start({ engine: 'cpu' }) : undefined;
  makeFolder(values.out);
  const all: Compared[] = [];
  try {
    for (const scene of chosen) {
      const compared = await playCouplings(scene, values.server ?? server!.grpcAddress, frames, couplings, (line) =>
        process.stderr.write(`${line}\n`),
      );
      all.push(compared);
      writeWhole(join(values.out, `${scene.name}-${size}.svg`), plotComparison(compared));
      writeWhole(
        join(values.out, `couplings-${size}.json`),
        `${JSON.stringify(
          all.flatMap(({ rows }) => rows),
          null,
          1,
        )}\n`,
      );
    }
  } finally {
    await server?.stop();
  }
  process.stdout.write(makeComparison(all));
}

if (values.help) process.stdout.write(HELP);
else {
  const size =
    SIZES.find((name) => name === values.size) ?? endWithUsage(`--size is one of ${SIZES.join(', ')}.`, HELP);
  await compare(size, readNumber(HELP, '--frames', values.frames));
}
