import type { Parameters } from '../src/contract/parameters.js';
import { monotonicMs } from '../src/jobs/clock.js';
import { openJob } from '../src/jobs/open-job.js';
import { ResidentScenes } from '../src/jobs/resident-scenes.js';
import { stepJob } from '../src/jobs/step-job.js';
import { verifierFor } from '../src/jobs/verifier.js';
import { createCpuEngine } from '../src/solver/cpu/engine.js';
import { makeCases } from './cases.js';

/**
 * Measures the cost of a small time budget in every frame: sessions of the dress that move towards one target, first
 * without a budget, then with one for every frame. Bar: within 10 % of the distance without a budget in at most twice
 * its time.
 *
 *   node dist/bench/budget.js DATA [SECONDS [FRAMES [QUALITY [CLOCK]]]]      DATA: the folder that holds dress/; default 0.2 25
 *                                                                            BALANCED wall
 *
 * CLOCK: wall or processor; the latter is the processor time of this process, as on a machine without other work. The
 * engine works on one thread here, so both are the same on a quiet machine, except for the threads of the runtime.
 */

const NEAR = 1.1;
const WARM_UP = 1;

const [data, seconds = '0.2', frames = '25', quality = 'BALANCED', clock = 'wall'] = process.argv.slice(2);
if (data === undefined) throw new Error('Name the folder that holds dress/.');

/** ms */
function processorMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

const now = clock === 'processor' ? processorMs : monotonicMs;
const engine = createCpuEngine();
const context = {
  engine,
  limits: { maxVertices: 1e6, maxElements: 1e7 },
  allowUnverified: false,
  verifier: verifierFor(engine),
  now,
  isCancelled: () => false,
  onFinding: () => {
    throw new Error('The verifier found a fault of the engine.');
  },
};

for await (const { request } of makeCases(['dress'], [], data)) {
  const { mesh, start, target } = request;
  const parameters = { ...request.parameters, quality: quality as Parameters['quality'] };
  const arrival = () => ({ receivedAt: now(), queuedAt: now() });

  /** @param budget seconds; undefined = none */
  async function* session(count: number, budget?: number) {
    const scenes = new ResidentScenes();
    const scene = { key: 1, meshVersion: 0 };
    await openJob({ ...arrival(), state: { ...scene, mesh, stateVersion: 0, start }, parameters }, scenes, context);
    let total = 0;
    for (let frame = 0; frame < count; frame++) {
      const held = {
        ...scene,
        stateVersion: frame,
        mesh: undefined,
        start: undefined,
        saved: undefined,
        wasLost: false,
      };
      const begun = now();
      const task = { ...arrival(), state: held, nextVersion: frame + 1, target, parameters };
      const { report } = await stepJob({ ...task, timeBudgetSeconds: budget }, scenes, context);
      const milliseconds = now() - begun;
      total += milliseconds;
      scenes.prepareStart(1);
      yield { frame, report, milliseconds, total };
    }
  }

  let free = { rms: 0, total: 0 };
  for (let n = 0; n <= WARM_UP; n++) {
    for await (const { report, total } of session(1)) free = { rms: report.distanceToTargetRms, total };
  }
  console.log(`without a budget: rms ${free.rms.toPrecision(4)} in ${free.total.toFixed(0)} ms`);
  let reached: string | undefined;
  for await (const { frame, report, milliseconds, total } of session(Number(frames), Number(seconds))) {
    const { status, steps, searches, distanceToTargetRms: rms, budget } = report;
    const kept = ((budget?.keptForTestUs ?? 0) / 1000).toFixed(0);
    const needed = budget?.neededUs === undefined ? '–' : (budget.neededUs / 1000).toFixed(0);
    console.log(
      `frame ${frame}: ${status}, ${steps} steps, ${searches} searches, ${milliseconds.toFixed(0)} ms, rms ${rms.toPrecision(4)}, kept ${kept} ms, needed ${needed} ms`,
    );
    if (rms <= NEAR * free.rms) reached ??= `frame ${frame}, after ${(total / free.total).toFixed(2)} times the time`;
  }
  console.log(`within 10 %: ${reached ?? 'not reached'}`);
}
