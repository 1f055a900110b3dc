import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { MethodName, Quality } from '../../src/contract/parameters.js';
import { makeCases, type ProveCase } from './cases/cases.js';
import { type Bench, type Outcome, tryCase } from './cases/try-case.js';
import { openDoors } from './doors/doors.js';
import { describeThrown } from './failures/tools.js';
import type { Finding } from './judge/answer-judge.js';
import type { ProveScene } from './scenes/builder.js';
import { GENERATED } from './scenes/generated.js';
import { Random } from './scenes/random.js';
import { findRealScenes } from './scenes/real.js';
import { ServerProcess } from './server.js';
import type { ProveSettings } from './settings.js';
import { tryUntangling } from './untangling/try-untangling.js';

export interface CaseFinding extends Finding {
  readonly engine: string;
  readonly case: ProveCase;
}

/** The cases that one engine was tried with, and the findings. */
export interface EngineRun {
  readonly engine: string;
  readonly seconds: number;
  readonly cases: number;
  /** cases that a hurried campaign tries on another day */
  readonly later: number;
  /** cases with findings */
  readonly failed: number;
  readonly answers: number;
  readonly steps: number;
  readonly reused: number;
  readonly pieces: number;
  /** answers during which pairs were excluded because they intersected at the start */
  readonly ignoring: number;
  readonly checks: number;
  readonly endings: Readonly<Record<string, number>>;
  readonly byScene: Readonly<Record<string, number>>;
  /** cases by their door and mode */
  readonly byWay: Readonly<Record<string, number>>;
  readonly findings: readonly CaseFinding[];
}

const FRAMES = 30;
/** Frames of a long session: this many per minute of the campaign, within limits. */
const FRAMES_PER_MINUTE = 200;
const MIN_FRAMES = 60;
const MAX_FRAMES = 600;
/** For campaigns with a number of cases, so that these are the same however long they take. */
const COUNTED_FRAMES = 90;

const framesWithin = (minutes: number): number =>
  Math.min(MAX_FRAMES, Math.max(MIN_FRAMES, Math.round(FRAMES_PER_MINUTE * minutes)));

/**
 * Tries cases against one engine until the time is over, or until the requested number has been tried.
 *
 * @param isTried whether to try a case today, by its index among all
 */
export async function runCampaign(
  engine: 'cpu' | 'webgpu',
  settings: ProveSettings,
  minutes: number,
  isTried: (index: number) => boolean,
  tell: (line: string) => void,
): Promise<EngineRun> {
  const traceFolder = mkdtempSync(join(tmpdir(), 'interstice-prove-'));
  const server = await ServerProcess.start({ engine, environment: { INTERSTICE_TRACE: traceFolder } });
  const started = performance.now();
  const run = emptyRun(engine);
  const doors = openDoors(server);
  try {
    const bench: Bench = {
      doors,
      frames: FRAMES,
      longFrames: Number.isFinite(settings.cases) ? COUNTED_FRAMES : framesWithin(minutes),
      until: started + minutes * 60_000,
      traceFolder,
      isUnverified: false,
    };
    const real = findRealScenes(settings.data);
    const { qualities, methods } = await describeEngine(server);
    for (const prove of makeCases(settings.seed, Object.keys(real), qualities, methods)) {
      const taken = run.cases + run.later;
      if (performance.now() > bench.until || prove.id.startsWith(`${MAX_CASES}-`) || taken === settings.cases) break;
      if (settings.only.length > 0 && !settings.only.some((word) => prove.id.includes(word))) continue;
      if (!isTried(taken)) {
        run.later++;
        continue;
      }
      const random = new Random(prove.seed);
      const scene = (): ProveScene | Promise<ProveScene> =>
        GENERATED[prove.scene]?.(random) ?? real[prove.scene](random);
      const tried = prove.mode === 'UNTANGLE' ? tryUntangling(prove, bench) : tryCase(prove, await scene(), bench);
      const outcome = await tried.catch((error: unknown) => crashed(error, server));
      add(run, prove, outcome, tell);
      if (!server.isAlive) break;
    }
  } finally {
    for (const door of Object.values(doors)) door.close();
    await server.stop();
    rmSync(traceFolder, { recursive: true, force: true });
  }
  return { ...run, seconds: (performance.now() - started) / 1000 };
}

/** Qualities and methods of the engine, as the service reports them to any caller. */
async function describeEngine({ address }: ServerProcess): Promise<EngineChoices> {
  const response = await fetch(`${address}/v1`);
  const { engines } = (await response.json()) as { readonly engines: readonly EngineChoices[] };
  return engines[0];
}

interface EngineChoices {
  readonly qualities: readonly Quality[];
  readonly methods?: readonly MethodName[];
}

/** More than any campaign tries; it ends a search for an id that does not exist. */
const MAX_CASES = 1_000_000;

type Growing = { -readonly [K in keyof EngineRun]: EngineRun[K] } & {
  endings: Record<string, number>;
  byScene: Record<string, number>;
  byWay: Record<string, number>;
  findings: CaseFinding[];
};

function emptyRun(engine: string): Growing {
  return {
    engine,
    seconds: 0,
    cases: 0,
    later: 0,
    failed: 0,
    answers: 0,
    steps: 0,
    reused: 0,
    pieces: 0,
    ignoring: 0,
    checks: 0,
    endings: {},
    byScene: {},
    byWay: {},
    findings: [],
  };
}

function add(run: Growing, prove: ProveCase, outcome: Outcome, tell: (line: string) => void): void {
  run.cases++;
  run.byScene[prove.scene] = (run.byScene[prove.scene] ?? 0) + 1;
  const route = `${prove.door} ${prove.mode}`;
  run.byWay[route] = (run.byWay[route] ?? 0) + 1;
  if (outcome.findings.length > 0) run.failed++;
  for (const name of ['answers', 'steps', 'reused', 'pieces', 'ignoring', 'checks'] as const)
    run[name] += outcome[name];
  for (const [how, count] of Object.entries(outcome.endings)) run.endings[how] = (run.endings[how] ?? 0) + count;
  for (const finding of outcome.findings) {
    run.findings.push({ ...finding, engine: run.engine, case: prove });
    tell(
      `FOUND by ${run.engine} ${prove.id}: ${finding.promise}: ${finding.details} ${JSON.stringify(prove.variation)}`,
    );
  }
}

/** A service that ends or whose answer cannot be read is a finding like any other. */
function crashed(error: unknown, server: ServerProcess): Outcome {
  const cause = error instanceof Error && error.cause instanceof Error ? ` (${error.cause.message})` : '';
  const fate = server.isAlive ? '' : `; the service ended: ${server.log.slice(-3).join(' ')}`;
  const details = `${describeThrown(error)}${cause}${fate}`;
  return {
    findings: [{ promise: 'the service answers', details }],
    endings: { CRASHED: 1 },
    answers: 0,
    steps: 0,
    reused: 0,
    pieces: 0,
    ignoring: 0,
    checks: 0,
  };
}
