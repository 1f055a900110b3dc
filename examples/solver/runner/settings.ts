import { parseArgs } from 'node:util';
import { SCENES } from '../scenes/index.js';
import { type Scene, SIZES, type Size } from '../scenes/types.js';
import type { Parameters } from '../src/service.js';

export const HELP = `npm run scenes -- [options]

  --scene A,B      scenes to play, by name (default: all)
  --size S         small (default), quarter or full
  --frames N       at most N time steps of each scene (0: only tables, plots and pictures of saved frames)
  --contested N    only the N consecutive time steps that needed the most steps at --size quarter, in the same --out or in
                   the published results; if more than 40 frames precede them, these are not played: saved frames of size
                   quarter in the same --out, or a warm-up in longer time steps, lead to the first one
  --all-before     with --contested: play all frames before them unchanged, however many these are
  --minutes M      begin no time step after M minutes; the next run plays the rest
  --parameters J   parameters of the sessions as JSON, which override those of the scenes; such runs have their own folders
  --iterations N   Newton iterations of a time step, instead of those of the scene
  --staggered      call the service once per time step, after the last Newton iteration
  --repulsion K    stiffness of the repulsion in 1/s², instead of that of the scene
  --quality Q      FAST, BALANCED or FINE: the same as --parameters '{"quality":"Q"}'
  --server H:P     gRPC address of a running service (default: one is started); if it requires a key, set the
                   variable INTERSTICE_API_KEY
  --engine E       of the service that is started: cpu (default) or webgpu
  --out FOLDER     default: out/scenes
  --again          delete saved frames and start again
  --no-judge       do not test every frame for intersections
  --pictures N     pictures in a strip of each scene (default 5; 0 = none); needs Chromium
  --ply            write every frame as a PLY file too
  --list           list the scenes
  --help

An interrupted run continues where it stopped.
`;

export interface Settings {
  readonly scenes: readonly string[];
  readonly size: Size;
  readonly frames: number;
  /** number of contested frames to play instead of the whole scene; 0 = whole scenes */
  readonly contested: number;
  /** whether all frames before contested ones are played unchanged */
  readonly playsAllBefore: boolean;
  /** minutes after which no time step begins */
  readonly minutes: number;
  readonly parameters: Parameters;
  /** replaces the scene's own settings */
  readonly solver: Pick<Scene, 'iterations' | 'coupling' | 'repulsionStiffness'>;
  readonly server: string | undefined;
  readonly engine: 'cpu' | 'webgpu';
  readonly out: string;
  readonly again: boolean;
  readonly isJudged: boolean;
  readonly pictures: number;
  readonly ply: boolean;
  readonly action: 'play' | 'list' | 'help';
}

export class UsageError extends Error {}

/** @throws UsageError */
export function readSettings(args: readonly string[]): Settings {
  const { values } = parse(args);
  const scenes = values.scene?.split(',') ?? [...SCENES.keys()];
  const unknown = scenes.find((name) => !SCENES.has(name));
  if (unknown !== undefined) {
    throw new UsageError(`No scene is named ${unknown}. The scenes are ${[...SCENES.keys()].join(', ')}.`);
  }
  const size = oneOf('--size', values.size ?? 'small', SIZES);
  const contested = count('--contested', values.contested ?? '0');
  if (values['all-before'] && contested === 0) throw new UsageError('--all-before is for --contested.');
  if (contested > 0 && size === 'quarter') throw new UsageError('--contested is for another size than quarter.');
  return {
    scenes,
    size,
    contested,
    playsAllBefore: values['all-before'] ?? false,
    minutes: values.minutes === undefined ? Number.POSITIVE_INFINITY : count('--minutes', values.minutes),
    frames: values.frames === undefined ? Number.POSITIVE_INFINITY : count('--frames', values.frames),
    parameters: { ...readParameters(values.parameters), ...(values.quality ? { quality: values.quality } : {}) },
    solver: {
      ...(values.iterations === undefined ? {} : { iterations: atLeastOne('--iterations', values.iterations) }),
      ...(values.staggered ? { coupling: 'STAGGERED' as const } : {}),
      ...(values.repulsion === undefined ? {} : { repulsionStiffness: positive('--repulsion', values.repulsion) }),
    },
    server: values.server,
    engine: oneOf('--engine', values.engine ?? 'cpu', ['cpu', 'webgpu'] as const),
    out: values.out ?? 'out/scenes',
    again: values.again ?? false,
    isJudged: !values['no-judge'],
    pictures: count('--pictures', values.pictures ?? '5'),
    ply: values.ply ?? false,
    action: values.help ? 'help' : values.list ? 'list' : 'play',
  };
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      options: {
        scene: { type: 'string' },
        size: { type: 'string' },
        frames: { type: 'string' },
        contested: { type: 'string' },
        'all-before': { type: 'boolean' },
        minutes: { type: 'string' },
        parameters: { type: 'string' },
        iterations: { type: 'string' },
        staggered: { type: 'boolean' },
        repulsion: { type: 'string' },
        quality: { type: 'string' },
        server: { type: 'string' },
        engine: { type: 'string' },
        out: { type: 'string' },
        again: { type: 'boolean' },
        'no-judge': { type: 'boolean' },
        pictures: { type: 'string' },
        ply: { type: 'boolean' },
        list: { type: 'boolean' },
        help: { type: 'boolean' },
      },
    });
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
}

function oneOf<T extends string>(option: string, value: string, allowed: readonly T[]): T {
  const found = allowed.find((each) => each === value);
  if (found === undefined) throw new UsageError(`${option} is one of ${allowed.join(', ')}, not ${value}.`);
  return found;
}

function count(option: string, text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 0) throw new UsageError(`${option} is a whole number, not ${text}.`);
  return value;
}

function atLeastOne(option: string, text: string): number {
  const value = count(option, text);
  if (value === 0) throw new UsageError(`${option} is at least 1.`);
  return value;
}

function positive(option: string, text: string): number {
  const value = Number(text);
  if (!(value > 0 && Number.isFinite(value))) throw new UsageError(`${option} is a positive number, not ${text}.`);
  return value;
}

function readParameters(text: string | undefined): Parameters {
  if (text === undefined) return {};
  try {
    return JSON.parse(text) as Parameters;
  } catch {
    throw new UsageError(`--parameters is not JSON: ${text}`);
  }
}
