import '../closed-pipe.js';
import { SCENES as SOLVER_SCENES } from '../../examples/solver/scenes/index.js';
import type { ParametersInput } from '../../src/contract/parameters.js';
import { buildMesh } from '../../src/mesh/build.js';
import { measureMesh } from '../../src/mesh/measure.js';
import type { CollisionMesh } from '../../src/mesh/types.js';
import { createCpuEngine } from '../../src/solver/cpu/engine.js';
import type { EngineUnits, Resolution, StepInput } from '../../src/solver/engine.js';
import { CoordinateFrame, floorOf } from '../../src/solver/frame.js';
import { resolveParameters } from '../../src/solver/parameters.js';
import { toSettings } from '../../src/solver/settings.js';
import { VolumeImpulses } from '../../src/solver/volume-impulses/volume-impulses.js';
import { testPath } from '../../src/verify/path.js';
import { readNumber } from '../command-line.js';
import { alignTable } from '../table.js';
import { runFrames } from './ablations/frames.js';
import { runAblations } from './ablations/run.js';
import { GaussSeidel } from './gauss-seidel.js';
import { measureAnswer } from './measure-answer.js';
import { SCENES } from './scenes.js';

const HELP = `npm run rivals -- [SECONDS for each resolve, default 20] [WORD of the scene's name]

  Runs several methods on the same start and target: the two-way method, volume-preserving impulses, and the Gauss-Seidel impulses
  with which their paper compares its method, in the same loop of searches and pieces.

npm run rivals -- --ablations [STEPS of each run, default 64] [WORD, '' = all scenes] [FOLDER]

  What becomes of Algorithm 1 when one of its stages is replaced, as the paper compares them, and plots of residual and cost over the
  steps in FOLDER.

npm run rivals -- --frames [SCENE, default bow-knot] [FRAMES, default all] [STEPS of each frame, default 256] [FOLDER] [GROUP]

  The same variants in a simulation each, of the first frames of a scene of examples/solver (small).
`;

interface Rival {
  readonly name: string;
  readonly parameters: ParametersInput;
  run(mesh: CollisionMesh, parameters: Resolved, units: EngineUnits, step: StepInput): Promise<Resolution>;
}

type Resolved = ReturnType<typeof resolveParameters>['parameters'];

const twoWay: Rival['run'] = async (mesh, parameters, units, step) =>
  (await createCpuEngine().open(mesh, parameters, units)).resolve(step);

const RIVALS: readonly Rival[] = [
  { name: 'two-way, FAST', parameters: { quality: 'FAST' }, run: twoWay },
  { name: 'two-way, BALANCED', parameters: {}, run: twoWay },
  {
    name: 'volume impulses',
    parameters: { method: 'VOLUME_IMPULSES' },
    run: async (mesh, parameters, units, step) => new VolumeImpulses(mesh, toSettings(parameters, units), step).run(),
  },
  {
    name: 'Gauss-Seidel impulses',
    parameters: { method: 'VOLUME_IMPULSES' },
    run: async (mesh, parameters, units, step) =>
      new VolumeImpulses(mesh, toSettings(parameters, units), step, new GaussSeidel(mesh.inverseMasses)).run(),
  },
];

const HEADINGS = [
  ...['scene', 'method', 'status', 'motion made', 'pieces', 'searches', 'rms to target', 'longest edge'],
  ...['momentum', 'ms'],
];

async function main(): Promise<void> {
  const seconds = readNumber(HELP, 'SECONDS', process.argv[2] ?? '20', false);
  const word = process.argv[3] ?? '';
  const rows: string[][] = [];
  for (const { name, make } of SCENES) {
    if (!name.includes(word)) continue;
    const { mesh: input, start, target } = make();
    const mesh = buildMesh(input);
    const measures = measureMesh(mesh, start);
    const frame = CoordinateFrame.fit(start, measures.medianEdge, measures.bounds);
    const [x, y] = [frame.toEngine(start), frame.toEngine(target)];
    for (const rival of RIVALS) {
      const { parameters } = resolveParameters(rival.parameters, measures);
      const units = { scale: frame.scale, floor: floorOf(parameters.activationDistance, frame, 'FLOAT64') };
      const states: Float32Array[] = [x];
      const began = performance.now();
      const timeLeft = () => 1000 * seconds - (performance.now() - began);
      const step = { x, y, timeLeft, onState: (state: Float32Array) => void states.push(state.slice()) };
      const processor = process.cpuUsage();
      const { status, positions, steps, searches, impulses } = await rival.run(mesh, parameters, units, step);
      const { user } = process.cpuUsage(processor);
      const rules = { kinematicPairs: 'SKIP', maxPairs: 1 } as const;
      const hits = states.slice(1).filter((state, k) => !testPath(mesh, states[k], state, rules).pathFree).length;
      if (hits > 0) throw new Error(`${rival.name} collides on ${hits} pieces of ${name}.`);
      const { rms, stretch, momentum } = measureAnswer(mesh, positions, y, measures.medianEdge * frame.scale);
      rows.push([
        ...[name, rival.name, status, impulses ? `${(100 * impulses.motionShare).toFixed(1)} %` : ''],
        ...[String(steps), String(searches), rms.toFixed(3), stretch.toFixed(2)],
        ...[momentum.toExponential(0), (user / 1000).toFixed(0)],
      ]);
      process.stderr.write(`${rows.at(-1)?.join(' | ')}\n`);
    }
  }
  process.stdout.write(`${alignTable([HEADINGS, ...rows])}\n`);
}

async function overFrames(
  name = 'bow-knot',
  frames = '1000000',
  stepLimit = '256',
  folder: string | undefined = undefined,
  group = '',
): Promise<void> {
  const make = SOLVER_SCENES.get(name);
  if (!make) throw new Error(`The scenes are ${[...SOLVER_SCENES.keys()].join(', ')}.`);
  await runFrames(
    make('small'),
    readNumber(HELP, 'FRAMES', frames),
    readNumber(HELP, 'STEPS', stepLimit),
    folder,
    group,
  );
}

const [first, stepLimit, word, folder] = process.argv.slice(2);
if (first === '--help') process.stdout.write(HELP);
else if (first === '--ablations') runAblations(readNumber(HELP, 'STEPS', stepLimit ?? '64'), word ?? '', folder);
else if (first === '--frames') await overFrames(...process.argv.slice(3));
else await main();
