/** A process as a queue: some lanes, one queue in the order of arrival, sessions that request steps at a fixed rate. */
export interface Process {
  readonly sessions: number;
  /** steps that it computes at a time */
  readonly lanes: number;
  /** steps per second of each session */
  readonly rate: number;
  /** times of steps on one lane, ms: quantiles at equal steps */
  readonly quantiles: readonly number[];
}

export interface Simulated {
  /** ms from when a step was due to its answer, ascending */
  readonly latencies: Float64Array;
  /** used share of the lanes' time */
  readonly utilisation: number;
}

/** Steps of a simulation over all sessions: enough for a p99 that rests on 400 of them. */
const STEPS = 40_000;
/** Smallest number of steps of each session, so that a growing queue shows. */
const LEAST_STEPS = 100;
/** Share of the steps at the beginning that do not count, because the queue is empty at first. */
const WARM_UP = 0.1;

/**
 * A step of a session is due every 1 / rate seconds, with a random phase per session. A step is sent when it is due and
 * the one before it has been answered, takes the first free lane, and occupies it for a time drawn from the measured
 * ones. Latency counts from when the step was due.
 *
 * The simulation omits lanes that help each other (a large step alone uses idle cores, so an idle process is faster
 * than this), and fairness among tenants, which changes whose step waits, not how many wait.
 *
 * @param random numbers in [0, 1)
 */
export function simulate({ sessions, lanes, rate, quantiles }: Process, random: () => number): Simulated {
  const period = 1000 / rate;
  const perSession = Math.max(LEAST_STEPS, Math.ceil(STEPS / sessions));
  const latencies = new Float64Array(sessions * perSession);
  const phases = Float64Array.from({ length: sessions }, () => random() * period);
  const turns = new Int32Array(sessions);
  const free = new Float64Array(lanes);
  const line = new Line(sessions);
  for (let session = 0; session < sessions; session++) line.push(phases[session]!, session);
  let count = 0;
  let busy = 0;
  let last = 0;
  // Steps start in the order in which they are sent, so each takes the lane that is free first.
  while (line.size > 0) {
    const { time: sent, session } = line.pop();
    let lane = 0;
    for (let other = 1; other < lanes; other++) if (free[other]! < free[lane]!) lane = other;
    const takes = draw(quantiles, random());
    const end = Math.max(sent, free[lane]!) + takes;
    free[lane] = end;
    busy += takes;
    last = Math.max(last, end);
    const turn = turns[session]!++;
    if (turn >= WARM_UP * perSession) latencies[count++] = end - (phases[session]! + turn * period);
    if (turn + 1 < perSession) line.push(Math.max(end, phases[session]! + (turn + 1) * period), session);
  }
  return { latencies: latencies.slice(0, count).sort(), utilisation: busy / (last * lanes) };
}

/** @param share in [0, 1) */
function draw(quantiles: readonly number[], share: number): number {
  const place = share * (quantiles.length - 1);
  const below = Math.floor(place);
  return quantiles[below]! + (place - below) * (quantiles[below + 1]! - quantiles[below]!);
}

/** Sessions by the time at which they send: a binary heap that contains each session at most once. */
class Line {
  readonly #times: Float64Array;
  readonly #sessions: Int32Array;
  size = 0;

  constructor(capacity: number) {
    this.#times = new Float64Array(capacity);
    this.#sessions = new Int32Array(capacity);
  }

  push(time: number, session: number): void {
    let at = this.size++;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (this.#times[parent]! <= time) break;
      this.#put(at, this.#times[parent]!, this.#sessions[parent]!);
      at = parent;
    }
    this.#put(at, time, session);
  }

  pop(): { time: number; session: number } {
    const first = { time: this.#times[0]!, session: this.#sessions[0]! };
    const last = --this.size;
    const [time, session] = [this.#times[last]!, this.#sessions[last]!];
    let at = 0;
    for (let child = 1; child < last; child = 2 * at + 1) {
      if (child + 1 < last && this.#times[child + 1]! < this.#times[child]!) child++;
      if (time <= this.#times[child]!) break;
      this.#put(at, this.#times[child]!, this.#sessions[child]!);
      at = child;
    }
    this.#put(at, time, session);
    return first;
  }

  #put(at: number, time: number, session: number): void {
    this.#times[at] = time;
    this.#sessions[at] = session;
  }
}
