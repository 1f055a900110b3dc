import type { Quality } from '../../src/contract/parameters.js';
import { TwoWay } from '../../src/solver/cpu/two-way.js';
import { Workspace } from '../../src/solver/cpu/workspace.js';
import { toSettings } from '../../src/solver/settings.js';
import { prepare } from '../measure-engines.js';
import { alignTable } from '../table.js';
import { measureFidelity } from './measure.js';
import { readReferences } from './references-file.js';
import { FIDELITY_SCENES, type FidelityScene, missingFiles } from './scenes.js';

export interface VariationOptions {
  /** empty = all that have a reference and no session */
  readonly scenes: readonly string[];
  readonly qualities: readonly Quality[];
  /** first and last seed */
  readonly seeds: readonly [number, number];
  readonly dataFolder: string | undefined;
  print(text: string): void;
  /** reports progress */
  tell(text: string): void;
}

/** Steps between the numbers of the first steps of two seeds: more than a request makes. */
const STEPS_OF_SEED = 10_007;

const HEADINGS = [
  ...['scene', 'quality', 'answers', 'least rms', 'median', 'most'],
  ...['least gap to reference', 'median', 'most', 'most overlong'],
];

/**
 * Measures how answers depend on the random orders in which steps sweep their contacts: those follow from the number of
 * the step, so a scene whose first step has another number is another sample. The CPU engine alone, without checks.
 */
export async function runVariation(options: VariationOptions): Promise<void> {
  const { scenes, qualities, dataFolder, print, tell } = options;
  const references = readReferences();
  const rows: string[][] = [];
  for (const scene of FIDELITY_SCENES) {
    const reference = references[scene.name];
    if (scene.session || !reference || (scenes.length > 0 && !scenes.includes(scene.name))) continue;
    if (missingFiles(scene, dataFolder).length > 0) {
      rows.push([scene.name, '', `no ${missingFiles(scene, dataFolder)[0]}`, ...HEADINGS.slice(3).map(() => '')]);
      continue;
    }
    for (const quality of qualities) {
      tell(`${scene.name}: ${quality} …`);
      const answers = await answersOf(scene, quality, options);
      const lengths = answers.map(({ rms }) => rms).sort((a, b) => a - b);
      const figures = [lengths[0]!, lengths[lengths.length >> 1]!, lengths[lengths.length - 1]!];
      rows.push([
        ...[scene.name, quality, String(answers.length)],
        ...figures.map((rms) => rms.toPrecision(3)),
        ...figures.map((rms) => `${(100 * (rms / reference.rms - 1)).toFixed(1)} %`),
        String(Math.max(...answers.map(({ overlong }) => overlong))),
      ]);
    }
  }
  print(alignTable([HEADINGS, ...rows]));
}

async function answersOf(scene: FidelityScene, quality: Quality, { seeds, dataFolder }: VariationOptions) {
  const { mesh, parameters, units, x, y } = prepare({ request: await scene.make(dataFolder ?? '') });
  const settings = toSettings({ ...parameters, quality }, units);
  return Array.from({ length: seeds[1] - seeds[0] + 1 }, (_, n) => {
    const solver = new TwoWay(mesh, settings, new Workspace());
    solver.restore({ step: (seeds[0] + n) * STEPS_OF_SEED, proximity: undefined });
    const { positions } = solver.resolve({ x, y });
    const { rms, overlong } = measureFidelity(mesh, positions, y, settings.sigma);
    return { rms: rms / units.scale, overlong };
  });
}
