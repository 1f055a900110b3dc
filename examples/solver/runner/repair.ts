import { join } from 'node:path';
import { endWithUsage, readFlags, readNumber } from '../../../bench/command-line.js';
import { writeWhole } from '../../../bench/whole-file.js';
import '../../../bench/closed-pipe.js';
import { ServerProcess } from '../../../bench/prove/server.js';
import { SCENES } from '../scenes/index.js';
import { SIZES, type Size } from '../scenes/types.js';
import { repair, simulateBlindly } from '../src/repair.js';
import { FrameCache } from './cache.js';
import { makeJudge } from './judge.js';
import { modelOf, play } from './play.js';
import { encodePly } from './ply.js';

const HELP = `node dist/examples/solver/runner/repair.js [options]

Plays a scene up to a good frame, goes on without collision handling until the frame is heavily penetrated, and repairs it
from the good one (Fig. 19). Writes good.ply, penetrated.ply and repaired.ply, the judge's counts and the report.

  --scene NAME     default: blade
  --size SIZE      small (default), quarter, full
  --good N         time steps with collision handling; default 12
  --blind N        time steps without; default 3
  --engine NAME    cpu (default), webgpu
  --out FOLDER     default: out/repair
`;

const values = readFlags(HELP, {
  options: {
    scene: { type: 'string', default: 'blade' },
    size: { type: 'string', default: 'small' },
    good: { type: 'string', default: '12' },
    blind: { type: 'string', default: '3' },
    engine: { type: 'string', default: 'cpu' },
    out: { type: 'string', default: join('out', 'repair') },
    help: { type: 'boolean', default: false },
  },
});

async function main(): Promise<void> {
  const size =
    SIZES.find((known) => known === values.size) ?? endWithUsage(`--size is one of ${SIZES.join(', ')}.`, HELP);
  const make = SCENES.get(values.scene) ?? endWithUsage(`--scene is one of ${[...SCENES.keys()].join(', ')}.`, HELP);
  if (!['cpu', 'webgpu'].includes(values.engine)) endWithUsage('--engine is cpu or webgpu.', HELP);
  const counts = { good: readNumber(HELP, '--good', values.good), blind: readNumber(HELP, '--blind', values.blind) };
  const server = await ServerProcess.start({ engine: values.engine as 'cpu' | 'webgpu' });
  try {
    await repairScene(make(size), size, counts, server.grpcAddress);
  } finally {
    await server.stop();
  }
}

async function repairScene(
  scene: ReturnType<NonNullable<ReturnType<typeof SCENES.get>>>,
  size: Size,
  counts: { readonly good: number; readonly blind: number },
  address: string,
): Promise<void> {
  const model = modelOf(scene);
  const folder = join(values.out, `${scene.name}-${size}-${counts.good}`);
  const cache = new FrameCache(folder, model);
  const fixed = { address, size, parameters: {}, isJudged: true, cache, model, onStep: () => true };
  await play(scene, { ...fixed, frames: counts.good });
  const good = cache.open()!.saved;
  const penetrated = await simulateBlindly(model, good, scene.timeStep, counts.blind);
  const { positions, report } = await repair(address, model, good.x, penetrated, scene.parameters ?? {});
  const judge = makeJudge(model);
  const states = { good: good.x, penetrated, repaired: positions };
  for (const [name, x] of Object.entries(states)) writeWhole(join(folder, `${name}.ply`), encodePly(model, x));
  const kinematicFrom = model.isKinematic.indexOf(1);
  const { status, steps, searches, distanceToTargetRms, distanceToTargetMax, overlongEdges, minDistance } = report;
  const facts = {
    scene: `${scene.name}, ${size}`,
    vertices: model.vertexCount,
    kinematicFrom,
    intersections: Object.fromEntries(Object.entries(states).map(([name, x]) => [name, judge(x)])),
    report: { status, steps, searches, distanceToTargetRms, distanceToTargetMax, overlongEdges, minDistance },
    seconds: (report.timings.total! - report.timings.queue!) / 1e6,
    engine: report.engine,
  };
  writeWhole(join(folder, 'repair.json'), `${JSON.stringify(facts, null, 2)}\n`);
  process.stdout.write(`${JSON.stringify(facts, null, 2)}\n`);
  if (facts.intersections.repaired !== 0) throw new Error('The repaired frame intersects.');
}

if (values.help) process.stdout.write(HELP);
else await main();
