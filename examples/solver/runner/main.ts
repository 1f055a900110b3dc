import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ServerProcess } from '../../../bench/prove/server.js';
import { SCENES } from '../scenes/index.js';
import { FrameCache } from './cache.js';
import { writeOutputs } from './outputs.js';
import { modelOf, play } from './play.js';
import { Progress } from './progress.js';
import type { Played, StepRecord } from './records.js';
import { HELP, readSettings, type Settings, UsageError } from './settings.js';
import { makeTable } from './table.js';

/** Set by a signal: the step that runs is finished and saved first. */
let isInterrupted = false;

async function playAll(settings: Settings): Promise<void> {
  const server = settings.server === undefined ? await ServerProcess.start({ engine: settings.engine }) : undefined;
  const interrupt = (): void => {
    isInterrupted = true;
  };
  process.once('SIGINT', interrupt).once('SIGTERM', interrupt);
  const played: Played[] = [];
  try {
    for (const name of settings.scenes) {
      if (isInterrupted) break;
      played.push(await playOne(name, settings, settings.server ?? server!.grpcAddress));
    }
  } finally {
    await server?.stop();
  }
  const table = makeTable(played);
  writeFileSync(join(settings.out, `table-${settings.size}.md`), table);
  process.stdout.write(`\n${table}`);
}

async function playOne(name: string, settings: Settings, address: string): Promise<Played> {
  const { size, frames, parameters, isJudged } = settings;
  const scene = SCENES.get(name)!(size);
  const model = modelOf(scene);
  const folder = join(settings.out, `${name}-${size}`);
  if (settings.again) rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const cache = new FrameCache(folder, model);
  const progress = new Progress(`${name}, ${size}`);
  const onStep = (record: StepRecord, of: number): boolean => {
    progress.show(record, of);
    return !isInterrupted;
  };
  const options = { address, size, frames, parameters, isJudged, cache, model, onStep };
  const played = await play(scene, options)
    .catch((error: unknown) => {
      // A signal to the whole process group ends the service too: what was saved is complete all the same.
      if (!isInterrupted) throw error;
      return play(scene, { ...options, frames: 0 });
    })
    .finally(() => progress.end());
  writeOutputs(played, model, cache, settings);
  return played;
}

try {
  const settings = readSettings(process.argv.slice(2));
  if (settings.action === 'help') process.stdout.write(HELP);
  else if (settings.action === 'list') {
    for (const [name, make] of SCENES) process.stdout.write(`${name.padEnd(18)}${make('small').sentence}\n`);
  } else await playAll(settings);
} catch (error) {
  const text =
    error instanceof UsageError ? `${error.message}\n\n${HELP}` : `${error instanceof Error ? error.stack : error}`;
  process.stderr.write(`${text}\n`);
  process.exitCode = error instanceof UsageError ? 2 : 1;
}
