import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ProveCase } from '../cases/cases.js';
import { tryCase } from '../cases/try-case.js';
import { isOfToday } from '../days.js';
import { openDoors } from '../doors/doors.js';
import { Broken } from '../failures/tools.js';
import { GENERATED } from '../scenes/generated.js';
import { Random } from '../scenes/random.js';
import { PLAIN } from '../scenes/variation.js';
import { ServerProcess } from '../server.js';
import type { ProveSettings } from '../settings.js';
import { tryUntangling } from '../untangling/try-untangling.js';
import { GPU_MUTANTS } from './gpu-mutants.js';
import { MUTED_PROBE, type Mutant } from './mutant.js';
import { MUTANTS } from './mutants.js';
import { misfits, plant, removePlant } from './planting.js';

export interface MutantResult {
  readonly name: string;
  readonly fault: string;
  readonly files: readonly string[];
  /** CAUGHT, MISSED, or MISFIT: the build no longer has the function or constant */
  readonly result: 'CAUGHT' | 'MISSED' | 'MISFIT';
  /** the finding that caught it, or why it could not be tried */
  readonly by: string;
  /** number of cases until then */
  readonly cases: number;
  readonly seconds: number;
}

/**
 * Number of seeds of every scene before a mutant counts as missed. Most are caught by the first; faults that show only
 * in the last bits depend on chance: one case in fifteen shows that the rounding of vertices at rest is forgotten, so that
 * of ten campaigns with 32 seeds one missed it, and of six thousand with 128 one does.
 */
const SEEDS = 128;

/**
 * The same where sessions step in company, half a minute each: some of these faults show only if scenes move in the arena
 * while they step, which depends on the scenes that meet in a submission. On a busy machine one campaign has missed one.
 */
const SEEDS_IN_COMPANY = 8;

/** Faults that are tried at the same time: each is a service and a judge that wait for each other. */
const AT_A_TIME = 2;

/** Days over which hurried campaigns share all faults, because all on one day would take minutes longer. */
const DAYS = 40;

/** Plants every fault in a copy of the build and lets the campaign's judge search for it. */
export async function runMutants(
  settings: ProveSettings,
  engines: readonly string[],
  tell: (line: string) => void,
): Promise<MutantResult[]> {
  const asked = [...MUTANTS, ...GPU_MUTANTS].filter(
    ({ name, engine = 'cpu' }) =>
      engines.includes(engine) && (settings.only.length === 0 || settings.only.some((word) => name.includes(word))),
  );
  const isShared = settings.isHurried && settings.only.length === 0;
  const chosen = isShared ? asked.filter((_, k) => isOfToday(k, DAYS)) : asked;
  if (isShared)
    tell(`${chosen.length} of ${asked.length} planted faults: all of them in ${DAYS} days, another share each day`);
  const results: MutantResult[] = [];
  const waiting = [...chosen];
  const work = async (): Promise<void> => {
    for (let mutant = waiting.shift(); mutant; mutant = waiting.shift()) {
      const started = performance.now();
      const outcome = await tryMutant(mutant, settings.seed);
      const seconds = (performance.now() - started) / 1000;
      const files = [...new Set(mutant.faults.map(({ file }) => file))];
      results.push({ name: mutant.name, fault: mutant.description, files, ...outcome, seconds });
      tell(`mutant ${mutant.name}: ${outcome.result} after ${outcome.cases} cases, ${outcome.by}`);
    }
  };
  await Promise.all(Array.from({ length: AT_A_TIME }, work));
  const order = chosen.map(({ name }) => name);
  return results.sort((a, b) => order.indexOf(a.name) - order.indexOf(b.name));
}

type Verdict = Pick<MutantResult, 'result' | 'by' | 'cases'>;

async function tryMutant(mutant: Mutant, seed: number): Promise<Verdict> {
  // The probe at start-up would refuse to start with most faults, so it is disabled in the copy.
  const planted = { name: mutant.name, faults: [...mutant.faults, MUTED_PROBE] };
  const wrong = misfits(planted);
  if (wrong.length > 0) return { result: 'MISFIT', by: wrong.join('; '), cases: 0 };
  const build = await plant(planted);
  if (mutant.failure) return tryFailure(mutant, mutant.failure, build, seed).finally(() => removePlant(build));
  const traceFolder = mkdtempSync(join(tmpdir(), 'interstice-prove-'));
  // One thread, so that sessions which take turns share it.
  const environment = { INTERSTICE_ALLOW_UNVERIFIED: '1', INTERSTICE_TRACE: traceFolder, INTERSTICE_THREADS: '1' };
  let cases = 0;
  try {
    const server = await ServerProcess.start({ engine: mutant.engine ?? 'cpu', build, environment });
    try {
      const bench = {
        doors: openDoors(server),
        frames: mutant.mode === 'TURNS' ? 60 : 20,
        longFrames: 20,
        until: Number.POSITIVE_INFINITY,
        traceFolder,
        isUnverified: !mutant.isVerified,
      };
      for (let n = 0; n < SEEDS; n++) {
        for (const scene of mutant.scenes) {
          const prove = caseOf(mutant, scene, (seed + 7919 * n) >>> 0);
          const trial =
            prove.mode === 'UNTANGLE'
              ? tryUntangling(prove, bench)
              : tryCase(prove, GENERATED[scene](new Random(prove.seed)), bench);
          const outcome = await trial.catch((error: unknown) => {
            throw new Error(`Mutant ${mutant.name}: the service ended: ${server.log.join('\n')}`, { cause: error });
          });
          cases++;
          const finding = outcome.findings.find(({ promise }) => mutant.caughtBy.includes(promise));
          if (finding) return { result: 'CAUGHT', by: `${scene}: ${finding.promise}: ${finding.details}`, cases };
        }
      }
      return { result: 'MISSED', by: `${cases} cases found nothing of ${mutant.caughtBy.join(', ')}`, cases };
    } finally {
      await server.stop();
    }
  } finally {
    await removePlant(build);
    rmSync(traceFolder, { recursive: true, force: true });
  }
}

async function tryFailure(
  mutant: Mutant,
  failure: NonNullable<Mutant['failure']>,
  build: string,
  seed: number,
): Promise<Verdict> {
  let held = '';
  for (let n = 0; n < SEEDS_IN_COMPANY; n++) {
    try {
      held = await failure(mutant.engine ?? 'cpu', new Random((seed + 7919 * n) >>> 0), build);
    } catch (thrown) {
      if (!(thrown instanceof Broken) || !mutant.caughtBy.some((words) => thrown.message.includes(words))) throw thrown;
      return { result: 'CAUGHT', by: thrown.message, cases: n + 1 };
    }
  }
  return { result: 'MISSED', by: held, cases: SEEDS_IN_COMPANY };
}

/** Algorithm 1 alone makes the most of every motion, so faults show soonest in it. Mutants may name another quality. */
const QUALITY = 'FAST';

function caseOf(mutant: Mutant, scene: string, seed: number): ProveCase {
  return {
    id: `mutant-${mutant.name}-${scene}`,
    scene,
    seed,
    mode: mutant.mode ?? 'RESOLVE',
    door: 'JSON',
    variation: { ...PLAIN, quality: QUALITY, ...mutant.sent },
  };
}
