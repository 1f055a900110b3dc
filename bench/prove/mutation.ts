import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ProveCase } from './cases.js';
import { Client } from './client.js';
import { MUTANTS, type Mutant, misfits, plant } from './mutants.js';
import { GENERATED } from './scenes/generated.js';
import { Random } from './scenes/random.js';
import { ServerProcess } from './server.js';
import type { ProveSettings } from './settings.js';
import { tryCase } from './try-case.js';

export interface MutantResult {
  readonly name: string;
  readonly fault: string;
  readonly files: readonly string[];
  /** CAUGHT, MISSED, or MISFIT: the build has changed and the patch no longer fits */
  readonly result: 'CAUGHT' | 'MISSED' | 'MISFIT';
  /** what gave it away, or why it could not be tried */
  readonly by: string;
  /** cases until then */
  readonly cases: number;
  readonly seconds: number;
}

/** Seeds of every scene until a mutant counts as missed. */
const SEEDS = 4;

/** Plants every fault in a copy of the build and lets the campaign's judge look for it. */
export async function runMutants(
  settings: ProveSettings,
  hasTraces: boolean,
  tell: (line: string) => void,
): Promise<MutantResult[]> {
  const results: MutantResult[] = [];
  for (const mutant of MUTANTS) {
    if (settings.only.length > 0 && !settings.only.some((word) => mutant.name.includes(word))) continue;
    const started = performance.now();
    const outcome = await tryMutant(mutant, settings.seed, hasTraces);
    const seconds = (performance.now() - started) / 1000;
    const files = [...new Set(mutant.edits.map(({ file }) => file))];
    results.push({ name: mutant.name, fault: mutant.fault, files, ...outcome, seconds });
    tell(`mutant ${mutant.name}: ${outcome.result} after ${outcome.cases} cases, ${outcome.by}`);
  }
  return results;
}

type Verdict = Pick<MutantResult, 'result' | 'by' | 'cases'>;

async function tryMutant(mutant: Mutant, seed: number, hasTraces: boolean): Promise<Verdict> {
  const wrong = misfits(mutant);
  if (wrong.length > 0) return { result: 'MISFIT', by: wrong.join('; '), cases: 0 };
  const build = plant(mutant);
  const traceFolder = hasTraces ? mkdtempSync(join(tmpdir(), 'interstice-prove-')) : undefined;
  const environment = { INTERSTICE_ALLOW_UNVERIFIED: '1', ...(traceFolder ? { INTERSTICE_TRACE: traceFolder } : {}) };
  let cases = 0;
  try {
    const server = await ServerProcess.start({ engine: 'cpu', build, environment });
    try {
      const bench = {
        client: new Client(server.address),
        frames: 20,
        until: Number.POSITIVE_INFINITY,
        traceFolder,
        isUnverified: !mutant.isVerified,
      };
      for (let n = 0; n < SEEDS; n++) {
        for (const scene of mutant.scenes) {
          const prove = caseOf(mutant, scene, (seed + 7919 * n) >>> 0);
          const outcome = await tryCase(prove, GENERATED[scene](new Random(prove.seed)), bench).catch(
            (error: unknown) => {
              throw new Error(`mutant ${mutant.name}: the service ended: ${server.log.join('\n')}`, { cause: error });
            },
          );
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
    rmSync(build, { recursive: true, force: true });
    if (traceFolder) rmSync(traceFolder, { recursive: true, force: true });
  }
}

function caseOf(mutant: Mutant, scene: string, seed: number): ProveCase {
  return {
    id: `mutant-${mutant.name}-${scene}`,
    scene,
    seed,
    mode: mutant.mode ?? 'RESOLVE',
    variation: {
      scale: 1,
      offset: mutant.offset ?? 0,
      scalar: mutant.scalar ?? 'FLOAT64',
      preset: 'TUNED',
      extreme: 'NONE',
      corner: 'DEFAULT',
    },
  };
}
