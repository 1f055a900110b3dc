import type { Positions } from '../../../src/contract/mesh.js';
import type { ProveCase } from '../cases/cases.js';
import { type Bench, type Outcome, Tally } from '../cases/try-case.js';
import type { UntangleTerms } from '../doors/door.js';
import { defaultDelta } from '../judge/expectation.js';
import { readSurface } from '../judge/surface.js';
import { Random } from '../scenes/random.js';
import { parametersOf, vary } from '../scenes/variation.js';
import { TANGLED_STARTS } from './tangled-starts.js';
import { takeTracedPath } from './traced-path.js';
import { judgeUntangled, judgeUntangledPath, TOLD } from './untangling-judge.js';

export const BECOMES_FREE = 'a plain tangle becomes free';
export const RIGHT_SIDE = 'a hint or a body decides the side';
const ANSWERED = 'a right request is answered';

/** Share of the cases whose edges have lengths at rest, if the start knows them. */
const REST_SHARE = 0.4;
/** s; some of these end in the queue, some in the first iteration, some in the pull-back */
const SHORTEST_BUDGET = 0.004;
const LONGEST_BUDGET = 0.4;
/** Metres: less than what most tangles need. */
const SHORT_WAY = [0.002, 0.02] as const;

/** Untangles one start, again with less of everything that it may use, and judges every answer and its path. */
export async function tryUntangling(prove: ProveCase, bench: Bench): Promise<Outcome> {
  const { variation } = prove;
  const random = new Random(prove.seed);
  const tangled = TANGLED_STARTS[prove.scene](random);
  const { start } = vary({ ...tangled, target: tangled.start, invariants: [] }, variation, random);
  const rest = random.next() < REST_SHARE ? tangled.rest?.map((p) => variation.scale * p) : undefined;
  const mesh = rest ? { ...tangled.mesh, restLengths: { positions: rest } } : tangled.mesh;
  const surface = readSurface(mesh);
  const parameters = parametersOf(variation, defaultDelta(surface, start));
  const rules = { kinematicPairs: parameters.kinematicPairs ?? 'SKIP' } as const;
  const layers = tangled.layers ? { layers: tangled.layers } : {};
  const tally = new Tally();

  async function ask(name: string, terms: UntangleTerms) {
    const requestId = `${prove.id}-${prove.seed}-${name}`;
    const reply = await bench.doors[prove.door].untangle(
      mesh,
      start,
      parameters,
      { ...layers, ...terms },
      { requestId },
    );
    if ('refusal' in reply) {
      tally.end(reply.refusal.code);
      return reply;
    }
    const find = (promise: string, details: string): void => tally.find(promise, `${name}: ${details}`);
    const question = { surface, start, rules, maxDisplacement: terms.maxDisplacement, rest };
    judgeUntangled(question, reply, find);
    const path = bench.traceFolder ? takeTracedPath(bench.traceFolder, requestId) : undefined;
    if (path) tally.pieces += judgeUntangledPath(question, reply, path, find);
    tally.answers++;
    tally.end(reply.report.ended ? `${reply.report.status}, ${reply.report.ended}` : reply.report.status);
    return reply;
  }

  const whole = await ask('whole', {});
  if ('refusal' in whole) {
    tally.find(ANSWERED, `${whole.refusal.code}: ${whole.refusal.message}`);
    return tally;
  }
  const { status } = whole.report;
  if (tangled.becomesFree && status !== 'FREE')
    tally.find(BECOMES_FREE, `${status}, ${whole.report.piercesAfter} of ${whole.report.piercesBefore} are left`);
  const wrong = status === 'FREE' ? (tangled.countWrong?.(whole.positions) ?? 0) : 0;
  if (wrong > 0) tally.find(RIGHT_SIDE, `${wrong} vertices are on the other one`);
  await ask('one iteration', { maxIterations: 1 });
  await ask('a short way', { maxDisplacement: variation.scale * random.between(...SHORT_WAY) });
  const budgetSeconds = SHORTEST_BUDGET * (LONGEST_BUDGET / SHORTEST_BUDGET) ** random.next();
  const cut = await ask('a short time', { budgetSeconds });
  const isLate = 'refusal' in cut && cut.refusal.code === 'DEADLINE_EXCEEDED';
  if ('refusal' in cut && !isLate) tally.find(ANSWERED, `${cut.refusal.code}: ${cut.refusal.message}`);
  if (!('refusal' in cut) && !cut.report.ended && !isSame(cut.positions, whole.positions))
    tally.find(TOLD, 'cut short without saying so: the answer is another than without a budget');
  return tally;
}

const isSame = (a: Positions, b: Positions): boolean => a.length === b.length && a.every((p, i) => p === b[i]);
