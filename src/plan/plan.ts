import { type Costs, costOf, isOnCard, type StepCost } from './costs.js';
import { type Process, simulate } from './simulate.js';

/** The load for which a plan is made. */
export interface Demand {
  readonly sessions: number;
  readonly triangles: number;
  /** steps per second of each session */
  readonly rate: number;
  /** seconds from when a step is due within which 99 of 100 steps must be answered; default: see {@link withinOf} */
  readonly within?: number | undefined;
  /** steps that one process computes at a time; default, and with a graphics card the only value: as measured */
  readonly lanes?: number | undefined;
}

/** By default a step must be answered before the next one is due. */
export const withinOf = ({ rate, within }: Pick<Demand, 'rate' | 'within'>): number => within ?? 1 / rate;

export interface Plan {
  readonly processes: number;
  /** sessions of the fullest process: they are assigned to processes at random, so some have more than others */
  readonly fullest: number;
  /** of the fullest process, ms */
  readonly p50: number;
  readonly p99: number;
  /** of the fullest process, share of its lanes' time */
  readonly utilisation: number;
  /** of the fullest process; with a graphics card, without the memory on the card */
  readonly memoryBytes: number;
  /** of the fullest process, buffers on its graphics card; undefined if no device was measured */
  readonly deviceBytes: number | undefined;
  /** of all processes per second, in and out together */
  readonly trafficBytes: number;
}

type Queue = Pick<Plan, 'p50' | 'p99' | 'utilisation'>;

export interface Answer {
  readonly cost: StepCost;
  readonly lanes: number;
  /** undefined: no number of processes is enough, because one session alone, or those that chance puts on one process, request too much */
  readonly plan: Plan | undefined;
  /** processes that are enough if sessions are spread evenly; undefined if one session alone requests too much */
  readonly evenly: number | undefined;
  /** steps per second of one session at which 99 of 100 are still answered in time; 0 if not even one per hour is */
  readonly bestRate: number;
}

/** Seed of the simulations, so that the same demand has the same answer. */
const SEED = 1;
/** Bytes per vertex, in and out together, as float32. */
const WIRE_BYTES = 24;
const MS = 1000;
/** With more processes, chance still puts two sessions on one process, and a plan is not meaningful. */
const MOST_PROCESSES = 100_000;

/**
 * The smallest number of processes whose fullest one has 99 of 100 answers in time.
 *
 * @throws RangeError if the demand has other lanes on a graphics card than were measured: all lanes share the card, so
 *   its performance with more or fewer of them cannot be derived from the measurement
 */
export function plan(costs: Costs, demand: Demand): Answer {
  const { sessions, triangles, rate } = demand;
  const within = withinOf(demand);
  const cost = costOf(costs, triangles);
  const lanes = demand.lanes ?? costs.lanes;
  if (isOnCard(costs) && lanes !== costs.lanes)
    throw new RangeError(`Costs of a graphics card are for the lanes that were measured, ${costs.lanes} here.`);
  const sessionBytes = hostBytesOf(costs, cost);
  const bestRate = bestRateOf(cost, demand.within);
  if (!isInTimeAlone(cost, rate, within)) return { cost, lanes, plan: undefined, evenly: undefined, bestRate };
  const known = new Map<number, Queue | undefined>();
  /** @returns undefined if a process with these sessions is not in time */
  const queueOf = (fullest: number): Queue | undefined => {
    if (!known.has(fullest))
      known.set(fullest, queueInTime({ sessions: fullest, lanes, rate, quantiles: cost.quantiles }, cost, within * MS));
    return known.get(fullest);
  };
  const look = (processes: number): Plan | undefined => {
    const fullest = fullestOf(sessions, processes);
    const queue = queueOf(fullest);
    if (queue === undefined) return undefined;
    const working = (cost.workBytes * Math.min(lanes, fullest)) / costs.lanes;
    return {
      processes,
      fullest,
      ...queue,
      deviceBytes: deviceBytesOf(cost, costs.lanes, fullest, lanes),
      memoryBytes: costs.baseBytes + fullest * sessionBytes + working,
      trafficBytes: sessions * rate * cost.vertices * WIRE_BYTES,
    };
  };
  // In time with one session a process, and perhaps with more.
  const tooMany = firstIn(2, sessions + 1, (fullest) => queueOf(fullest) === undefined) ?? sessions + 1;
  const evenly = Math.ceil(sessions / (tooMany - 1));
  const processes = firstIn(1, MOST_PROCESSES, (count) => look(count) !== undefined);
  return { cost, lanes, plan: processes === undefined ? undefined : look(processes), evenly, bestRate };
}

/** The first number of a range from which on a condition holds, found by doubling and halving. */
function firstIn(first: number, last: number, holds: (value: number) => boolean): number | undefined {
  let [before, found] = [first - 1, first];
  while (found <= last && !holds(found)) [before, found] = [found, 2 * found];
  if (found > last) {
    if (before >= last || !holds(last)) return undefined;
    found = last;
  }
  while (found - before > 1) {
    const middle = (before + found) >> 1;
    if (holds(middle)) found = middle;
    else before = middle;
  }
  return found;
}

/** The queue of a process with 99 of 100 answers in time; undefined if they are not. @param within ms */
function queueInTime(process: Process, { meanMs }: StepCost, within: number): Queue | undefined {
  // If more is asked than the lanes can do, the queue grows without end. The simulation, which ends, would miss that where
  // much time is allowed, and take long with many sessions.
  if (process.sessions * process.rate * meanMs > process.lanes * MS) return undefined;
  const { latencies, utilisation } = simulate(process, seeded(SEED));
  const at = (share: number): number => latencies[Math.ceil(share * latencies.length) - 1]!;
  return at(0.99) <= within ? { p50: at(0.5), p99: at(0.99), utilisation } : undefined;
}

/** Sessions of the fullest process if each session is assigned to a random one: the median of several draws. */
function fullestOf(sessions: number, processes: number): number {
  if (processes === 1) return sessions;
  const draws = 9;
  const random = seeded(SEED + processes);
  const most = Array.from({ length: draws }, () => {
    const counts = new Int32Array(processes);
    for (let session = 0; session < sessions; session++) counts[Math.floor(random() * processes)]!++;
    return counts.reduce((a, b) => Math.max(a, b), 0);
  }).sort((a, b) => a - b);
  return most[draws >> 1]!;
}

/**
 * Memory of a session in the machine. The measured memory of a session includes its buffers on the device. A graphics
 * card has its own memory for them; if the processor emulates the card, they lie in that of the machine.
 */
const hostBytesOf = (costs: Costs, { sessionBytes, deviceSessionBytes = 0 }: StepCost): number =>
  isOnCard(costs) ? Math.max(0, sessionBytes - deviceSessionBytes) : sessionBytes;

/** Memory on the device: that of sessions, and what concurrent steps need in addition. */
function deviceBytesOf(
  { deviceBytes, deviceSessionBytes }: StepCost,
  measuredLanes: number,
  sessions: number,
  lanes: number,
): number | undefined {
  if (deviceBytes === undefined || deviceSessionBytes === undefined) return undefined;
  const working = Math.max(0, deviceBytes / measuredLanes - deviceSessionBytes);
  return sessions * deviceSessionBytes + Math.min(lanes, sessions) * working;
}

/** Whether a session alone on a process is in time: a step waits for the one before it, so long steps delay it. */
function isInTimeAlone({ quantiles }: StepCost, rate: number, within: number): boolean {
  const { latencies } = simulate({ sessions: 1, lanes: 1, rate, quantiles }, seeded(SEED));
  return latencies[Math.ceil(0.99 * latencies.length) - 1]! <= within * MS;
}

/**
 * The highest rate at which a session alone on a process has 99 of 100 answers in time.
 *
 * @param within undefined: before the next step is due, which leaves more time at a lower rate
 */
function bestRateOf(cost: StepCost, within: number | undefined): number {
  const isInTime = (rate: number): boolean => isInTimeAlone(cost, rate, withinOf({ rate, within }));
  let [slow, fast] = [1 / 3600, MS / cost.meanMs];
  if (!isInTime(slow)) return 0;
  for (let look = 0; look < 12; look++) {
    const middle = Math.sqrt(slow * fast);
    if (isInTime(middle)) slow = middle;
    else fast = middle;
  }
  return slow;
}

/** mulberry32: numbers in [0, 1) that are the same on every machine. */
export function seeded(seed: number): () => number {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let z = Math.imul(state ^ (state >>> 15), state | 1);
    z ^= z + Math.imul(z ^ (z >>> 7), z | 61);
    return ((z ^ (z >>> 14)) >>> 0) / 2 ** 32;
  };
}
