import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { writeWhole } from '../../../bench/whole-file.js';
import '../../../bench/closed-pipe.js';
import { ServerProcess } from '../../../bench/prove/server.js';
import { SCENES } from '../scenes/index.js';
import type { Scene } from '../scenes/types.js';
import { type State, startOf } from '../src/integrator.js';
import { FrameCache, MixedRunError } from './cache.js';
import { isBeginningOf, isShortWay, mostContested, strideOf, warmUpOf } from './contested.js';
import { follow, type Leader } from './follow.js';
import { writeOutputs } from './outputs.js';
import { IntersectionError, modelOf, type PlayOptions, play } from './play.js';
import { Progress } from './progress.js';
import type { Played, StepRecord } from './records.js';
import { refine } from './refine.js';
import { RESULTS, readPublished, readRecords } from './saved-records.js';
import { HELP, readSettings, type Settings, UsageError } from './settings.js';
import { makeTable } from './table.js';

/** Set by a signal: the current step is finished and saved first. */
let isInterrupted = false;
/** in the time of performance.now(): no step begins later */
let end = Number.POSITIVE_INFINITY;
const isOver = (): boolean => isInterrupted || performance.now() > end;

/** s: so that no answer depends on how busy the machine is. Contested frames at full size take minutes. */
const TIME_BUDGET = '86400';

async function playAll(settings: Settings): Promise<void> {
  const environment = {
    INTERSTICE_MAX_TIME_BUDGET_SECONDS: TIME_BUDGET,
    INTERSTICE_DEFAULT_TIME_BUDGET_SECONDS: TIME_BUDGET,
  };
  const { engine } = settings;
  const server = settings.server === undefined ? await ServerProcess.start({ engine, environment }) : undefined;
  const service = {
    address: settings.server ?? server!.grpcAddress,
    processorTime: () => server?.processorTime(),
  };
  end = performance.now() + 60_000 * settings.minutes;
  const interrupt = (): void => {
    isInterrupted = true;
  };
  process.once('SIGINT', interrupt).once('SIGTERM', interrupt);
  const played: Played[] = [];
  try {
    for (const name of settings.scenes) {
      if (isInterrupted) break;
      try {
        const one = await playOne(name, settings, service);
        if (one) played.push(one);
      } catch (error) {
        // The other scenes are played nevertheless.
        process.stderr.write(`\n${name}: ${textOf(error)}\n`);
        process.exitCode = 1;
      }
    }
  } finally {
    await server?.stop();
  }
  const table = makeTable(played);
  writeWhole(join(settings.out, `table-${titleOf('', settings).slice(1)}.md`), table);
  process.stdout.write(`\n${table}`);
}

/**
 * Runs with another solver or other parameters than the scene's have folders of their own, so that none is mistaken for
 * the scene.
 */
const titleOf = (name: string, { size, contested, solver, parameters }: Settings): string =>
  [
    name,
    size,
    ...(contested > 0 ? ['contested'] : []),
    ...(solver.iterations === undefined ? [] : ['iterations', solver.iterations]),
    ...(solver.coupling === undefined ? [] : ['staggered']),
    ...(solver.repulsionStiffness === undefined ? [] : ['repulsion', solver.repulsionStiffness]),
    ...Object.keys(parameters)
      .sort()
      .flatMap((parameter) => [parameter, parameters[parameter]!]),
  ].join('-');

const textOf = (error: unknown): string => {
  if (error instanceof MixedRunError || error instanceof IntersectionError) return error.message;
  return error instanceof Error ? (error.stack ?? error.message) : `${error}`;
};

/**
 * @returns undefined if the frames before the first one were cut short, or if it is not known which of its frames are
 *   contested
 */
async function playOne(
  name: string,
  settings: Settings,
  service: Pick<PlayOptions, 'address' | 'processorTime'>,
): Promise<Played | undefined> {
  const { size, contested, parameters, isJudged, out, playsAllBefore } = settings;
  const scene = { ...SCENES.get(name)!(size), ...settings.solver };
  const model = modelOf(scene);
  const title = titleOf(name, settings);
  const folders = { run: join(out, title), warmUp: join(out, `${title.replace('-contested', '')}-warm-up`) };
  if (settings.again) for (const folder of Object.values(folders)) rmSync(folder, { recursive: true, force: true });
  const options = { ...service, size, parameters, isJudged, model, out, playsAllBefore };
  let [begin, frames] = [startOf(model), settings.frames];
  if (contested > 0) {
    const quarter = `${name}-quarter`;
    const [own, published] = [readRecords(join(out, quarter)), readPublished(RESULTS, quarter)];
    const records = own.length < published.length ? published : own;
    if (records.length === 0) {
      process.stderr.write(`${name} is left out: no frames of it at --size quarter are in ${out} or ${RESULTS}.\n`);
      return undefined;
    }
    const first = mostContested(records, contested, strideOf(scene));
    // Another run of the scene is elsewhere at these frames.
    const mayLead = records === own || isBeginningOf(own, records);
    const reached = await reach(first, title, scene, folders.warmUp, { ...options, model, mayLead });
    if (!reached) return undefined;
    begin = reached;
    frames = Math.min(frames, contested);
  }
  const cache = new FrameCache(folders.run, model, begin);
  const played = await playShown(title, scene, { ...options, frames, cache });
  await writeOutputs(played, model, cache, settings);
  return played;
}

/**
 * The state of a scene after its first frames, for those that follow. A few frames are played unchanged, and any
 * number if that is asked for. More frames are led by those of size quarter if they exist in the same folder and belong
 * to the run whose frames are contested (follow.ts), and otherwise played in longer time steps.
 *
 * @returns undefined if it was cut short
 */
async function reach(
  frame: number,
  title: string,
  scene: Scene,
  folder: string,
  options: Omit<PlayOptions, 'frames' | 'cache' | 'onStep'> &
    Pick<Settings, 'out' | 'playsAllBefore'> & { readonly mayLead: boolean },
): Promise<State | undefined> {
  const isUnchanged = options.playsAllBefore || isShortWay(frame);
  const leader = isUnchanged || !options.mayLead ? undefined : leaderOf(scene, options.out);
  if (leader && leader.cache.frameCount >= frame) {
    const progress = new Progress(`${title}, led to its first frame`);
    const onTarget = (at: number, steps: number): boolean => {
      progress.tell(at, frame, `${steps} steps`);
      return !isOver();
    };
    const { address, parameters } = options;
    const how = { address, parameters, stride: strideOf(scene), folder, onTarget };
    return follow(scene, options.model, frame, leader, how).finally(() => progress.end());
  }
  const before = warmUpOf(scene, frame, isUnchanged);
  const cache = new FrameCache(folder, options.model);
  await playShown(`${title}, warm-up`, before, { ...options, frames: before.frames, cache });
  const reached = cache.open()?.saved ?? startOf(options.model);
  return reached.frame < before.frames ? undefined : { ...reached, frame };
}

/** Returns the run of the scene at size quarter in the same folder; undefined if none can lead this size. */
function leaderOf(scene: Scene, out: string): Leader | undefined {
  const folder = join(out, `${scene.name}-quarter`);
  const quarter = SCENES.get(scene.name)!('quarter');
  const refinement = existsSync(folder) ? refine(quarter.bodies, scene.bodies) : undefined;
  if (!refinement) return undefined;
  const model = modelOf(quarter);
  return { cache: new FrameCache(folder, model), refinement, start: model.start };
}

/** Plays with a progress bar; a run that is cut short has the frames that were saved. */
async function playShown(title: string, scene: Scene, options: Omit<PlayOptions, 'onStep'>): Promise<Played> {
  const progress = new Progress(title);
  const onStep = (record: StepRecord, of: number): boolean => {
    progress.show(record, of);
    return !isOver();
  };
  return play(scene, { ...options, onStep, frames: isOver() ? 0 : options.frames })
    .catch((error: unknown) => {
      // A signal to the whole process group also ends the service; the saved frames are complete nevertheless.
      if (!isInterrupted) throw error;
      return play(scene, { ...options, onStep, frames: 0 });
    })
    .finally(() => progress.end());
}

try {
  const settings = readSettings(process.argv.slice(2));
  if (settings.action === 'help') process.stdout.write(HELP);
  else if (settings.action === 'list') {
    for (const [name, make] of SCENES) process.stdout.write(`${name.padEnd(18)}${make('small').sentence}\n`);
  } else await playAll(settings);
} catch (error) {
  const text = error instanceof UsageError ? `${error.message}\n\n${HELP}` : textOf(error);
  process.stderr.write(`${text}\n`);
  process.exitCode = error instanceof UsageError ? 2 : 1;
}
