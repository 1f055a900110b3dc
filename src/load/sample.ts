/** One request as measured by its client. */
export interface Sample {
  /** index of the session, from 0 */
  readonly session: number;
  /** from the first byte out to the last byte in */
  readonly ms: number;
  /** OK, or the code of the refusal */
  readonly code: string;
  /** ms from the beginning of the run to when the request was due; absent if not needed */
  readonly at?: number;
  /** status of an accepted step, e.g. CONVERGED */
  readonly status?: string | undefined;
  /** the server's timings of an accepted request, microseconds by stage */
  readonly timings?: Readonly<Record<string, number>> | undefined;
}

/** The stages of the method and its verification: everything else is overhead of the service. */
const WORK_STAGES = ['search', 'geometry', 'backward', 'forward', 'verify'] as const;

/** The parts of the time of a request, ms. They add up to the time that the client waited. */
export interface Split {
  readonly queue: number;
  /** between client and server: the part of the client's wait that the server does not measure */
  readonly transport: number;
  readonly decode: number;
  /** the checks of the numbers, and their mapping to the engine */
  readonly upload: number;
  readonly compute: number;
  readonly verify: number;
  /** the mapping back from the engine, and the measures of the report */
  readonly readback: number;
  readonly encode: number;
  /** the rest: threads, copies, bookkeeping */
  readonly rest: number;
}

export const SPLIT_PARTS = [
  'queue',
  'transport',
  'decode',
  'upload',
  'compute',
  'verify',
  'readback',
  'encode',
  'rest',
] as const;

export function splitOf({ ms, timings = {} }: Sample): Split {
  const of = (...stages: string[]): number => stages.reduce((sum, stage) => sum + (timings[stage] ?? 0) / 1000, 0);
  const parts = {
    queue: of('queue'),
    transport: ms - of('total'),
    decode: of('decode'),
    upload: of('upload'),
    compute: of('search', 'geometry', 'backward', 'forward'),
    verify: of('verify'),
    readback: of('readback'),
    encode: of('encode'),
  };
  const known = of('queue', 'decode', 'upload', 'readback', ...WORK_STAGES, 'encode');
  return { ...parts, rest: of('total') - known };
}

/** Time outside of search, geometry, backward, forward and verify, ms. */
export const overheadOf = ({ ms, timings = {} }: Sample): number =>
  ms - WORK_STAGES.reduce((sum, stage) => sum + (timings[stage] ?? 0) / 1000, 0);

/** Nearest rank, which is a value that occurred. NaN for no values. */
export function percentile(values: readonly number[], percent: number): number {
  if (values.length === 0) return Number.NaN;
  const sorted = Float64Array.from(values).sort();
  return sorted[Math.max(0, Math.ceil((percent / 100) * sorted.length) - 1)]!;
}

/** Accepted samples of each session: a session that starves has far fewer than the others. */
export function acceptedBySession(samples: readonly Sample[], sessions: number): number[] {
  const counts = new Array<number>(sessions).fill(0);
  for (const { session, code } of samples) if (code === 'OK') counts[session]!++;
  return counts;
}

export interface Summary {
  readonly accepted: number;
  /** accepted requests per second */
  readonly throughput: number;
  readonly p50: number;
  readonly p95: number;
  readonly p99: number;
  readonly max: number;
  /** refusals by code */
  readonly refused: Readonly<Record<string, number>>;
  /** p99 of the refusals, ms; absent without any */
  readonly refusedP99?: number;
  /** means over the accepted requests */
  readonly split: Split;
}

export function summarise(samples: readonly Sample[], seconds: number): Summary {
  const accepted = samples.filter(({ code }) => code === 'OK');
  const others = samples.filter(({ code }) => code !== 'OK');
  const refused: Record<string, number> = {};
  for (const { code } of others) refused[code] = (refused[code] ?? 0) + 1;
  const times = accepted.map(({ ms }) => ms);
  const splits = accepted.map(splitOf);
  const mean = (part: keyof Split): number => splits.reduce((sum, split) => sum + split[part], 0) / splits.length;
  const split = Object.fromEntries(SPLIT_PARTS.map((part) => [part, mean(part)])) as unknown as Split;
  const [p50, p95, p99, max] = [50, 95, 99, 100].map((percent) => percentile(times, percent)) as [
    number,
    number,
    number,
    number,
  ];
  const late =
    others.length > 0
      ? {
          refusedP99: percentile(
            others.map(({ ms }) => ms),
            99,
          ),
        }
      : {};
  return {
    accepted: accepted.length,
    throughput: accepted.length / seconds,
    p50,
    p95,
    p99,
    max,
    refused,
    ...late,
    split,
  };
}
