import { parseArgs } from 'node:util';
import type { Quality } from '../src/contract/parameters.js';
import { sceneNames } from './cases.js';
import { CORES_SCENES } from './cores.js';
import type { EngineName } from './engines.js';
import { FIDELITY_SCENES } from './fidelity/scenes.js';
import { SLOW_SCENES } from './scenes/slow.js';

/** The suite that measures how near answers are to their targets. */
export const FIDELITY = 'fidelity';

/** The suite that measures the benefit of several cores for a request. */
export const CORES = 'cores';

/** The suite of requests whose answers are expensive or impossible. */
export const SLOW = 'slow';

/** The suite that counts the submissions of requests to the device. */
export const LAUNCHES = 'launches';

/** The suite of sessions that submit together. */
export const CONVOY = 'convoy';

/** The suite for a machine with a graphics card. */
export const HARDWARE = 'hardware';

/** The suite that measures how answers depend on the random orders of sweeps. */
export const VARIATION = 'variation';

/** The suite of starts with intersections. */
export const UNTANGLE = 'untangle';

const SUITES: readonly string[] = [HARDWARE, FIDELITY, CORES, SLOW, LAUNCHES, CONVOY, UNTANGLE, VARIATION];

export interface Settings {
  /** measured side by side; only the first one if whole requests are measured */
  readonly engines: readonly EngineName[];
  /**
   * true: whole requests, with the checks of start and answer, through the service's operations; otherwise the engines
   * alone
   */
  readonly isWhole: boolean;
  /** suite to run instead of scenes */
  readonly suite: string | undefined;
  /** qualities that a suite compares; without a suite at most one, none = the default of the service */
  readonly qualities: readonly Quality[];
  /** numbers of cores that the suite of cores compares */
  readonly cores: readonly number[];
  /** numbers of sessions that the suite of convoys compares */
  readonly sessions: readonly number[];
  /** whether the suite fidelity computes its references instead of the table */
  readonly isReference: boolean;
  /** minutes that a suite may take */
  readonly minutes: number;
  readonly scenes: readonly string[];
  /** empty = the size of the committed examples */
  readonly vertices: readonly number[];
  readonly repeat: number;
  /** first and last seed: of the generated tangles of the suite untangle, of the orders of the suite variation */
  readonly seeds: readonly [number, number];
  readonly warmUp: number;
  readonly dataFolder: string | undefined;
  /** file of the JSON; undefined = bench/results with a dated name; '' = none */
  readonly out: string | undefined;
}

const QUALITIES: readonly Quality[] = ['FAST', 'BALANCED', 'FINE'];

/** An error in the arguments, shown together with the help. */
export class UsageError extends Error {}

export const HELP = `Measures resolves of the example scenes at any size, in this process and without a transport.

  npm run bench -- --engine cpu,webgpu --scene layers,spike --vertices 10000,40000 --repeat 3
  npm run bench -- --scene dress --data DIR --whole
  npm run bench -- --suite hardware --minutes 10 --out FILE

  --engine LIST      cpu, webgpu; by turns on the same start and target   default cpu
  --whole            whole requests, with all checks, instead of the engine alone; one engine
  --suite hardware   performance of a graphics card with the WebGPU engine: a fixed list, without --scene and --vertices
  --suite fidelity   how near answers are to their targets: --scene, --quality, --engine, --repeat; default all scenes
  --quality LIST     ${QUALITIES.join(', ')}; default FAST,BALANCED, without --suite one, default BALANCED
  --suite variation  how much these answers depend on the random orders of sweeps: --scene, --quality, --seeds; engine cpu
  --suite slow       the same table for requests that are expensive to answer or cannot be met; default all scenes
  --suite launches   dispatches that requests submit, and those with work to do: --scene, --vertices, --quality
  --suite convoy     sessions on one device that submit together, and each alone: --sessions, --scene, --vertices, --quality
  --sessions LIST    numbers of sessions of that suite                    default 64
  --suite untangle   what becomes of starts with intersections: --seeds, --scene words of their names, --data; runs are
                     added to those of the file --out, and the table has all of them
  --seeds A-B        seeds of the generated tangles of that suite, and of the suite variation   default 1-3
  --suite cores      what requests gain from several cores, stage by stage: --cores, --scene (those of the suite slow
                     too), --vertices, --quality
  --cores LIST       numbers of cores of that suite, the first one to compare with   default 1,2
  --reference        computes the references of the suite fidelity again, which takes minutes
  --minutes N        time for the suite hardware; what does not fit is left out, and said so   default 10
  --scene LIST       ${sceneNames().join(', ')}, or all      default layers
  --vertices LIST    about how many vertices; without it the examples' own size (1000 to 2300)
  --repeat N         counted runs of each case                            default 3
  --warm-up N        runs before them that are not counted                default 1
  --data DIR         folder that holds dress/                             default INTERSTICE_DATA
  --out FILE         where the JSON goes; "" for nowhere                  default bench/results/DATE-ENGINE.json
  --help
`;

const ENGINES = ['cpu', 'webgpu'] as const;

const toCount = (text: string, name: string, least: number): number => {
  const value = Number(text);
  if (!Number.isInteger(value) || value < least) {
    throw new UsageError(`--${name} takes whole numbers of at least ${least}, not "${text}".`);
  }
  return value;
};

/** @throws UsageError; returns undefined if help was requested */
export function readSettings(argv: readonly string[]): Settings | undefined {
  const text = { type: 'string' } as const;
  let values: Record<string, string | boolean | undefined>;
  try {
    ({ values } = parseArgs({
      args: [...argv],
      strict: true,
      options: {
        engine: text,
        whole: { type: 'boolean' },
        suite: text,
        quality: text,
        cores: text,
        sessions: text,
        reference: { type: 'boolean' },
        minutes: text,
        scene: text,
        vertices: text,
        repeat: text,
        'warm-up': text,
        seeds: text,
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
  const engines = (read('engine') ?? 'cpu').split(',').map((asked): EngineName => {
    const engine = ENGINES.find((name) => name === asked.trim());
    if (!engine) throw new UsageError(`--engine takes ${ENGINES.join(' and ')}, not "${asked}".`);
    return engine;
  });
  const isWhole = values.whole === true;
  if (isWhole && engines.length > 1) throw new UsageError('--whole measures one engine at a time.');
  const suite = read('suite');
  if (suite !== undefined && !SUITES.includes(suite)) {
    throw new UsageError(`--suite is one of ${SUITES.join(', ')}, not "${suite}".`);
  }
  if (suite !== undefined && isWhole) throw new UsageError('--suite measures engines alone, --whole does not.');
  const qualities = qualitiesOf(read('quality') ?? (suite === undefined ? '' : 'FAST,BALANCED'));
  if (suite === undefined && qualities.length > 1)
    throw new UsageError('Without --suite, --quality takes one quality.');
  const dataFolder = read('data') ?? process.env.INTERSTICE_DATA;
  const scenes =
    suite === FIDELITY || suite === VARIATION
      ? namesAmong(FIDELITY_SCENES, read('scene'))
      : suite === SLOW
        ? namesAmong(SLOW_SCENES, read('scene'))
        : suite === CORES
          ? coresScenes(read('scene'))
          : suite === UNTANGLE
            ? listed(read('scene') ?? '').filter((word) => word !== '')
            : casesOf(read('scene') ?? 'layers', dataFolder);
  return {
    engines: [...new Set(engines)],
    isWhole,
    suite,
    qualities,
    cores: listed(read('cores') ?? '1,2').map((part) => toCount(part, 'cores', 1)),
    sessions: listed(read('sessions') ?? '64').map((part) => toCount(part, 'sessions', 1)),
    isReference: values.reference === true,
    minutes: toCount(read('minutes') ?? '10', 'minutes', 1),
    scenes,
    vertices: (read('vertices') ?? '')
      .split(',')
      .filter((part) => part.trim() !== '')
      .map((part) => toCount(part, 'vertices', 1)),
    repeat: toCount(read('repeat') ?? '3', 'repeat', 1),
    warmUp: toCount(read('warm-up') ?? '1', 'warm-up', 0),
    seeds: seedsOf(read('seeds') ?? '1-3'),
    dataFolder,
    out: read('out'),
  };
}

/** @throws UsageError; one number is also a range */
function seedsOf(text: string): [number, number] {
  const [first = '', last = first, ...rest] = text.split('-');
  const range: [number, number] = [toCount(first, 'seeds', 1), toCount(last, 'seeds', 1)];
  if (rest.length > 0 || range[1] < range[0]) throw new UsageError(`--seeds takes A-B, A at most B, not "${text}".`);
  return range;
}

const listed = (text: string): string[] => text.split(',').map((name) => name.trim());

/** @throws UsageError for a scene that does not exist, or that needs data */
function casesOf(text: string, dataFolder: string | undefined): string[] {
  const asked = listed(text);
  const scenes = asked.includes('all')
    ? sceneNames().filter((name) => name !== 'dress' || dataFolder !== undefined)
    : asked;
  refuseUnknown(scenes, sceneNames());
  if (scenes.includes('dress') && dataFolder === undefined) {
    throw new UsageError('The scene "dress" needs --data DIR or INTERSTICE_DATA.');
  }
  return scenes;
}

/** Scenes without their data are also rows of the table. @returns empty = all */
function namesAmong(scenes: readonly { readonly name: string }[], text = 'all'): string[] {
  const asked = listed(text);
  if (asked.includes('all')) return [];
  refuseUnknown(
    asked,
    scenes.map(({ name }) => name),
  );
  return asked;
}

function coresScenes(text = 'all'): string[] {
  const asked = listed(text);
  if (asked.includes('all')) return [...CORES_SCENES];
  refuseUnknown(asked, [...CORES_SCENES, ...SLOW_SCENES.map(({ name }) => name)]);
  return asked;
}

function refuseUnknown(asked: readonly string[], known: readonly string[]): void {
  const unknown = asked.find((name) => !known.includes(name));
  if (unknown !== undefined)
    throw new UsageError(`No scene is named "${unknown}"; there are ${known.join(', ')} and all.`);
}

/** @throws UsageError; an empty text is no quality */
function qualitiesOf(text: string): Quality[] {
  if (text === '') return [];
  return listed(text).map((asked) => {
    const quality = QUALITIES.find((name) => name === asked);
    if (!quality) throw new UsageError(`--quality takes ${QUALITIES.join(', ')}, not "${asked}".`);
    return quality;
  });
}
