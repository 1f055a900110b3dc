import { IntersticeError } from '../../contract/errors.js';
import type { Quality } from '../../contract/parameters.js';
import { trianglesOf } from '../../load/sheets.js';
import { algorithmVersion as versionHere } from '../../paths.js';
import { type Costs, costsOfEngine, isOnCard, isOnDevice, readCosts } from '../../plan/costs.js';
import { measureCosts } from '../../plan/measure.js';
import { type Answer, type Demand, plan, withinOf } from '../../plan/plan.js';
import type { CliContext } from '../backend.js';
import { EXIT, UsageError } from '../exit-codes.js';
import { formatCount, formatNumber, formatPlural, formatRate, formatRows, formatSeconds } from '../format.js';
import { assertWritable, writeAtomically } from '../outputs.js';
import { startService } from '../service-process.js';
import { withInterrupt } from '../terminal.js';

export interface PlanFlags {
  readonly sessions?: number;
  readonly triangles?: number;
  readonly rate?: number;
  readonly within?: number;
  readonly lanes?: number;
  readonly costs?: string;
  readonly measure?: string;
  readonly engine?: string;
  readonly quality: Quality;
  readonly motion: number;
  readonly sizes: readonly number[];
  readonly duration: number;
  readonly json?: boolean;
}

/** Upper limits of a plan, beyond which its simulation is not meaningful. */
const LIMITS = { sessions: 1_000_000, triangles: 100_000_000, rate: 1000, within: 3600, lanes: 4096 } as const;

/** Upper limits for each size that is measured. */
const MOST = { triangles: 8_000_000, duration: 3600 } as const;

/** `interstice plan`: how many processes a load needs. Returns the exit code: 1 if no number of them is enough. */
export async function runPlan(flags: PlanFlags, cli: CliContext): Promise<number> {
  const { terminal } = cli;
  const { sessions, triangles, rate, measure: file } = flags;
  assertBounded(flags);
  const isAsked = sessions !== undefined && triangles !== undefined && rate !== undefined;
  if (!isAsked && (file === undefined || sessions !== undefined || triangles !== undefined || rate !== undefined))
    throw new UsageError(
      '--sessions, --triangles and --rate must be given together; --measure may be given alone.',
      'plan',
    );
  if (file !== undefined) await assertWritable(file, []);
  const costs = file === undefined ? costsOf(flags) : await measureHere(file, flags, cli);
  if (!isAsked) return EXIT.OK;
  const demand: Demand = { sessions, triangles, rate, within: flags.within, lanes: flags.lanes };
  const answer = planOf(costs, demand);
  terminal.out.write(flags.json === true ? toJson(costs, demand, answer) : toText(costs, demand, answer));
  return answer.plan === undefined ? EXIT.FOUND : EXIT.OK;
}

function assertBounded(flags: PlanFlags): void {
  for (const [name, most] of Object.entries(LIMITS)) {
    const value = flags[name as keyof typeof LIMITS];
    if (value !== undefined && !(value > 0 && value <= most))
      throw new UsageError(`--${name} must be greater than 0 and at most ${formatCount(most)}.`, 'plan');
  }
  const refuse = (what: string): never => {
    throw new UsageError(what, 'plan');
  };
  const { sizes, motion, duration } = flags;
  if (sizes.length < 2 || sizes.some((size) => size < 4 || size > MOST.triangles))
    refuse(`--sizes needs at least two numbers of triangles, each from 4 to ${formatCount(MOST.triangles)}.`);
  if (new Set(sizes.map(trianglesOf)).size < sizes.length) refuse('Two of --sizes give the same sheets.');
  if (!(motion > 0 && motion <= 50)) refuse('--motion must be greater than 0 and at most 50.');
  if (!(duration > 0 && duration <= MOST.duration))
    refuse(`--duration must be greater than 0 and at most ${formatCount(MOST.duration)}.`);
}

function planOf(costs: Costs, demand: Demand): Answer {
  try {
    return plan(costs, demand);
  } catch (error) {
    if (error instanceof RangeError)
      throw new UsageError(`${error.message} Measure with --measure FILE --lanes ${demand.lanes}.`, 'plan');
    throw error;
  }
}

/** The costs of the named file or machine, or else included costs for the engine. */
function costsOf({ costs: name, engine }: PlanFlags): Costs {
  if (engine === 'auto')
    throw new UsageError('--engine auto is valid only with --measure, because a plan is for one engine.', 'plan');
  try {
    if (name === undefined) return costsOfEngine(engine === 'webgpu' ? 'webgpu' : 'cpu');
    const costs = readCosts(name);
    if (engine !== undefined && isOnDevice(costs) !== (engine === 'webgpu'))
      throw new Error(`The costs ${name} are of the engine ${costs.engine}.`);
    return costs;
  } catch (error) {
    throw new UsageError((error as Error).message, 'plan');
  }
}

/** Starts a service that does nothing else, measures it, and writes the file. */
async function measureHere(file: string, flags: PlanFlags, { terminal }: CliContext): Promise<Costs> {
  const { quality, motion, sizes, duration: seconds, engine = 'cpu', lanes } = flags;
  return withInterrupt(async (signal) => {
    const ended = (thrown: unknown): unknown =>
      signal.aborted ? new IntersticeError('CANCELLED', 'The measurement was ended.', { cause: thrown }) : thrown;
    const service = await startService({ ...terminal.env, INTERSTICE_ENGINE: engine }, signal).catch((thrown) => {
      throw ended(thrown);
    });
    try {
      const address = { http: service.http, grpc: service.grpc, access: {} };
      const words = [`--measure FILE --engine ${engine} --quality ${quality.toLowerCase()} --motion ${motion}`];
      const command = [...words, `--sizes ${sizes.join(',')} --duration ${seconds}`].join(' ');
      const costs = await measureCosts({
        address,
        admin: service.admin,
        triangles: sizes,
        seconds,
        motion,
        lanes,
        quality,
        command: `interstice plan ${command}`,
        signal,
        tell: (line) => terminal.err.write(`${line}\n`),
      }).catch((thrown) => {
        throw ended(thrown);
      });
      await writeAtomically(file, [Buffer.from(`${JSON.stringify(costs, rounded, 1)}\n`)]);
      terminal.err.write(`wrote ${file}\n`);
      return costs;
    } finally {
      await service.stop();
    }
  });
}

const rounded = (_name: string, value: unknown): unknown =>
  typeof value === 'number' ? Math.round(value * 1000) / 1000 : value;

const toJson = (costs: Costs, demand: Demand, answer: Answer): string => {
  const { date, algorithmVersion, command, machine, engine, adapter, isSoftware, loadBefore, quality, motion, lanes } =
    costs;
  const source = {
    ...{ date, algorithmVersion, command, machine, engine, adapter },
    ...{ isSoftware, loadBefore, quality, motion, lanes },
  };
  return `${JSON.stringify({ demand: { ...demand, within: withinOf(demand) }, ...answer, costs: source }, rounded, 2)}\n`;
};

const GIB = 2 ** 30;
const MB = 1e6;
const gibibytes = (bytes: number): string => `${(bytes / GIB).toFixed(2)} GiB`;
/** Share of the cores that may be busy with other work before a warning that elapsed times are too long. */
const QUIET = 0.25;

function toText(costs: Costs, demand: Demand, answer: Answer): string {
  const { sessions, triangles, rate } = demand;
  const { cost, lanes, plan: found, evenly, bestRate } = answer;
  const computer = isOnDevice(costs) ? `webgpu on ${costs.adapter}` : costs.engine;
  const rows: [string, string][] = [
    ['asked', `${formatPlural(sessions, 'session')} of ${formatCount(triangles)} triangles, ${formatRate(rate)} each`],
    ['', `99 of 100 answers within ${formatSeconds(withinOf(demand))}`],
    ['a step takes', `${formatSeconds(cost.meanMs / 1000)} of one of ${formatPlural(lanes, 'lane')} (mean)`],
  ];
  if (found === undefined && evenly !== undefined) {
    rows.push(['possible', 'not if sessions are assigned to processes at random: some process gets too many']);
  } else if (found === undefined) {
    rows.push(['possible', 'no: a single session asks for more than one process can deliver']);
    rows.push([
      '',
      bestRate > 0 ? `at most ${formatRate(Number(formatNumber(bestRate)))}` : 'not one step within this time',
    ]);
  } else {
    rows.push(['processes', formatCount(found.processes)]);
    if (isOnCard(costs)) rows.push(['graphics cards', `${formatCount(found.processes)}, one each`]);
    else rows.push(['cores', `${formatCount(found.processes * lanes)}, ${lanes} each`]);
    rows.push(['memory', `${gibibytes(found.memoryBytes)} each, without a reserve`]);
    if (found.deviceBytes !== undefined)
      rows.push([
        '',
        `${gibibytes(found.deviceBytes)} ${isOnCard(costs) ? 'on each card' : 'of it would be on a card'}, without the memory that the driver keeps`,
      ]);
    rows.push(['fullest', `${formatPlural(found.fullest, 'session')}, ${Math.round(100 * found.utilisation)} % busy`]);
    rows.push(['', `p50 ${formatSeconds(found.p50 / 1000)}, p99 ${formatSeconds(found.p99 / 1000)}`]);
    rows.push(['traffic', `${formatNumber(found.trafficBytes / MB)} MB/s in and out, all together`]);
  }
  if (evenly !== undefined && evenly !== found?.processes)
    rows.push([
      'spread evenly',
      `${formatPlural(evenly, 'process', 'processes')} would be enough, with at most ${formatPlural(Math.ceil(sessions / evenly), 'session')} each`,
    ]);
  const { machine, quality, motion, date } = costs;
  rows.push(['costs of', `${machine.processor}, ${formatPlural(machine.cores, 'core')}, ${computer}`]);
  rows.push(['', `${quality}, sheets that move by ${motion} % of their first gap`]);
  rows.push(['', `${date.slice(0, 10)}, version ${costs.algorithmVersion} of the algorithm`]);
  if (costs.algorithmVersion !== versionHere)
    rows.push([
      'beware',
      `this program has version ${versionHere} of the algorithm, whose steps may cost more or less`,
    ]);
  if (cost.isExtrapolated) rows.push(['beware', 'this size lies outside the measured sizes']);
  if (costs.isSoftware === true)
    rows.push([
      'beware',
      'these costs come from the processor, not from a graphics card; measure on a machine that has one',
    ]);
  const { loadBefore = 0 } = costs;
  if (isOnCard(costs) && loadBefore > QUIET * machine.cores)
    rows.push([
      'beware',
      `other work ran while this was measured (load ${formatNumber(loadBefore)}): times are too long`,
    ]);
  if (lanes !== costs.lanes)
    rows.push(['beware', `measured with ${formatPlural(costs.lanes, 'lane')}; more of them may share memory`]);
  return `${formatRows(rows).join('\n')}\n`;
}
