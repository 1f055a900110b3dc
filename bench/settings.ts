import { parseArgs } from 'node:util';
import { sceneNames } from './cases.js';

export interface Settings {
  readonly engine: 'auto' | 'cpu' | 'webgpu';
  readonly scenes: readonly string[];
  /** empty = the size of the committed examples */
  readonly vertices: readonly number[];
  readonly repeat: number;
  readonly warmUp: number;
  readonly dataFolder: string | undefined;
  /** where the JSON goes; undefined = bench/results with a dated name; '' = nowhere */
  readonly out: string | undefined;
}

/** A fault in the arguments, to be shown with the help. */
export class UsageError extends Error {}

export const HELP = `Measures resolves of the example scenes at any size, in this process and without a transport.

  npm run bench -- --scene layers,spike --vertices 10000,40000 --repeat 3
  npm run bench -- --scene dress --data DIR

  --engine NAME      auto, cpu or webgpu                                  default cpu
  --scene LIST       ${sceneNames().join(', ')}, or all      default layers
  --vertices LIST    about how many vertices; without it the examples' own size (1000 to 2300)
  --repeat N         counted runs of each case                            default 3
  --warm-up N        runs before them that are not counted                default 1
  --data DIR         folder that holds dress/                             default INTERSTICE_DATA
  --out FILE         where the JSON goes; "" for nowhere                  default bench/results/DATE-ENGINE.json
  --help
`;

const ENGINES = ['auto', 'cpu', 'webgpu'] as const;

const toCount = (text: string, name: string, least: number): number => {
  const value = Number(text);
  if (!Number.isInteger(value) || value < least) {
    throw new UsageError(`--${name} takes whole numbers of at least ${least}, not "${text}"`);
  }
  return value;
};

/** @throws UsageError; returns undefined when help was asked for */
export function readSettings(argv: readonly string[]): Settings | undefined {
  const text = { type: 'string' } as const;
  let values: Record<string, string | boolean | undefined>;
  try {
    ({ values } = parseArgs({
      args: [...argv],
      strict: true,
      options: {
        engine: text,
        scene: text,
        vertices: text,
        repeat: text,
        'warm-up': text,
        data: text,
        out: text,
        help: { type: 'boolean' },
      },
    }));
  } catch (thrown) {
    throw new UsageError(thrown instanceof Error ? thrown.message : String(thrown));
  }
  if (values.help === true) return undefined;
  const read = (name: string): string | undefined => {
    const value = values[name];
    return typeof value === 'string' ? value : undefined;
  };
  const engine = ENGINES.find((name) => name === (read('engine') ?? 'cpu'));
  if (!engine) throw new UsageError(`--engine is one of ${ENGINES.join(', ')}, not "${read('engine')}"`);
  const asked = (read('scene') ?? 'layers').split(',').map((name) => name.trim());
  const dataFolder = read('data') ?? process.env.INTERSTICE_DATA;
  const scenes = asked.includes('all')
    ? sceneNames().filter((name) => name !== 'dress' || dataFolder !== undefined)
    : asked;
  const unknown = scenes.find((name) => !sceneNames().includes(name));
  if (unknown !== undefined) {
    throw new UsageError(`no scene is named "${unknown}"; there are ${sceneNames().join(', ')} and all`);
  }
  if (scenes.includes('dress') && dataFolder === undefined) {
    throw new UsageError('the scene "dress" needs --data DIR or INTERSTICE_DATA');
  }
  return {
    engine,
    scenes,
    vertices: (read('vertices') ?? '')
      .split(',')
      .filter((part) => part.trim() !== '')
      .map((part) => toCount(part, 'vertices', 1)),
    repeat: toCount(read('repeat') ?? '3', 'repeat', 1),
    warmUp: toCount(read('warm-up') ?? '1', 'warm-up', 0),
    dataFolder,
    out: read('out'),
  };
}
