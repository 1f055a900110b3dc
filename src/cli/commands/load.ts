import { IntersticeError } from '../../contract/errors.js';
import type { Quality } from '../../contract/parameters.js';
import type { DoorName } from '../../load/doors.js';
import type { Subject } from '../../load/messages.js';
import { type LoadFigures, runLoad } from '../../load/run.js';
import { makeSheets } from '../../load/sheets.js';
import { formatTable, type Row } from '../../load/table.js';
import { readApiKey } from '../api-key.js';
import type { CliContext } from '../backend.js';
import { EXIT, exitCodeOfError, UsageError } from '../exit-codes.js';
import { formatCount, formatPlural, formatRate } from '../format.js';
import { namingMeshes, readInputs } from '../inputs.js';
import { reportProblem, toProblem } from '../problem.js';
import { parseServerUrl } from '../remote-http.js';
import { withInterrupt } from '../terminal.js';
import { UnreachableError } from '../unreachable.js';

export interface LoadFlags {
  readonly server: string;
  readonly grpc?: string;
  readonly apiKeyFile?: string;
  readonly door: DoorName;
  readonly sessions: readonly number[];
  readonly rate?: number;
  readonly triangles: number;
  readonly motion: number;
  readonly mesh?: string;
  readonly target?: string;
  readonly quality?: Quality;
  readonly deadline?: number;
  readonly duration: number;
  readonly warmUp: number;
  readonly json?: boolean;
}

/** Upper limits of a run: a load that is forgotten must end. */
const LIMITS = { sessions: 10_000, duration: 3600, warmUp: 600, triangles: 8_000_000, rate: 1000 } as const;

/** `interstice load`: puts load on a running service and prints its performance. Returns the exit code. */
export async function runLoadCommand(flags: LoadFlags, cli: CliContext): Promise<number> {
  assertBounded(flags);
  const base = parseServerUrl(flags.server);
  const { host: grpc, isEncrypted } = grpcAddress(flags.grpc, base);
  const apiKey = readApiKey(flags.apiKeyFile, cli.terminal.env);
  const address = { http: base.href.replace(/\/$/, ''), grpc, access: { apiKey, isEncrypted } };
  const subject = await subjectOf(flags);
  const results: { sessions: number; figures: LoadFigures }[] = [];
  const measureAll = async (signal: AbortSignal): Promise<void> => {
    const { door, rate, warmUp, deadline, quality, duration: seconds } = flags;
    for (const sessions of flags.sessions) {
      const run = { address, door, subject, sessions, rate, seconds, warmUp, deadline, quality, signal };
      const figures = await namingMeshes({ start: flags.mesh, target: flags.target }, () =>
        runLoad({ ...run, label: 'interstice load' }),
      ).catch((thrown: unknown) => {
        if (signal.aborted)
          throw new IntersticeError('CANCELLED', 'The load was ended.', {
            cause: thrown,
            hint: 'The sessions of the load are deleted, or end a few minutes later if the service does not answer.',
          });
        if (thrown instanceof IntersticeError) throw thrown;
        if (door === 'http') throw new UnreachableError(base.origin, thrown);
        throw new UnreachableError(
          grpc,
          reasonOfGrpc(thrown),
          'Is this the gRPC port of the service? Name it with --grpc URL.',
        );
      });
      results.push({ sessions, figures });
    }
  };
  const failure = await withInterrupt(measureAll).then(
    () => undefined,
    (thrown: unknown) => ({ thrown }),
  );
  // What was measured before the failure took its time, and is valid.
  if (failure !== undefined && results.length === 0) throw failure.thrown;
  const { terminal } = cli;
  const problem = failure && toProblem(failure.thrown);
  const text = flags.json === true ? `${toJson(flags, subject, results, problem)}\n` : toText(flags, subject, results);
  terminal.out.write(text);
  if (failure !== undefined) {
    reportProblem(terminal, failure.thrown, false);
    return exitCodeOfError(failure.thrown);
  }
  return results.every(({ figures }) => figures.accepted > 0) ? EXIT.OK : EXIT.INTERNAL;
}

function assertBounded(flags: LoadFlags): void {
  const refuse = (what: string): never => {
    throw new UsageError(what, 'load');
  };
  for (const [name, most] of Object.entries(LIMITS)) {
    const values = [flags[name as keyof typeof LIMITS] ?? 0].flat();
    if (values.some((value) => value > most)) refuse(`${flagOf(name)} must be at most ${formatCount(most)}.`);
  }
  if (flags.sessions.includes(0)) refuse('--sessions must be at least 1.');
  if (flags.triangles < 4) refuse('--triangles must be at least 4.');
  if (flags.warmUp < 0) refuse('--warm-up must be 0 or greater.');
  if (flags.deadline !== undefined && !(flags.deadline > 0)) refuse('--deadline must be greater than 0.');
  if (!(flags.duration > 0)) refuse('--duration must be greater than 0.');
  if (flags.rate !== undefined && !(flags.rate > 0)) refuse('--rate must be greater than 0.');
  if (!(flags.motion > 0 && flags.motion <= 50)) refuse('--motion must be greater than 0 and at most 50.');
  if ((flags.mesh === undefined) !== (flags.target === undefined))
    refuse('--mesh and --target must be given together.');
}

const flagOf = (name: string): string => `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;

/** The default gRPC port on the host of the HTTP port, unless another address is named. */
function grpcAddress(text: string | undefined, base: URL): { host: string; isEncrypted: boolean } {
  if (text === undefined) return { host: `${base.hostname}:50051`, isEncrypted: base.protocol === 'https:' };
  const url = URL.canParse(text) && text.includes('://') ? new URL(text) : undefined;
  if (url === undefined || !['http:', 'https:'].includes(url.protocol) || url.port === '')
    throw new UsageError(`--grpc needs a URL with a port like http://127.0.0.1:50051, not "${text}".`, 'load');
  return { host: url.host, isEncrypted: url.protocol === 'https:' };
}

/** Sheets of the requested size, or the user's mesh, which alternates between its two states. */
async function subjectOf({ mesh, target, triangles, motion }: LoadFlags): Promise<Subject> {
  if (mesh === undefined || target === undefined) return makeSheets(triangles, motion / 100);
  const { file, other, mesh: input } = await readInputs('resolve', mesh, target, {});
  const [start, end] = [Float32Array.from(file.positions), Float32Array.from(other!.positions)];
  const count = (input.triangles?.length ?? 0) / 3;
  return { vertices: input.vertexCount, triangles: count, mesh: input, start, targets: [end, start] };
}

/** What the gRPC library tells of the connection, without its own words around it and the time. */
function reasonOfGrpc(thrown: unknown): unknown {
  const { message } = thrown as Error;
  const [, reason] = /Last error: (?:Error: )?(.+?)(?: \(\d{4}-[^)]*\))?\. Resolution note/s.exec(message) ?? [];
  if (reason === undefined) return thrown;
  const code = reason.includes('wrong version number') ? { code: 'EPROTO' } : {};
  return Object.assign(new Error(reason, { cause: thrown }), code);
}

const rowOf = (sessions: number, figures: LoadFigures): Row => {
  const { split } = figures;
  const refused = Object.values(figures.refused).reduce((sum, count) => sum + count, 0);
  return {
    sessions,
    'steps/s': figures.throughput,
    p50: figures.p50,
    p95: figures.p95,
    p99: figures.p99,
    max: figures.max,
    ...(figures.inTime === undefined ? {} : { 'in time %': 100 * figures.inTime }),
    queue: split.queue,
    compute: split.compute,
    verify: split.verify,
    other: split.transport + split.decode + split.upload + split.readback + split.encode + split.rest,
    refused,
  };
};

type Results = readonly { readonly sessions: number; readonly figures: LoadFigures }[];

function toText({ door, rate, duration }: LoadFlags, subject: Subject, results: Results): string {
  const pace = rate === undefined ? 'each step after the answer to the one before' : `${formatRate(rate)} per session`;
  const lines = [
    `${formatCount(subject.vertices)} vertices, ${formatCount(subject.triangles)} triangles; ${door}; ${pace}; ${duration} s each. Latencies in ms.`,
    '',
    formatTable(results.map(({ sessions, figures }) => rowOf(sessions, figures))),
  ];
  const tell = (what: string, counts: Readonly<Record<string, number>>, sessions: number): void => {
    const words = Object.entries(counts).map(([name, count]) => `${name} ${formatCount(count)}`);
    if (words.length > 0) lines.push(`${formatPlural(sessions, 'session')}, ${what}: ${words.join(', ')}`);
  };
  lines.push('');
  for (const { sessions, figures } of results) {
    tell('ended as', figures.statuses, sessions);
    tell('refused', figures.refused, sessions);
  }
  return `${lines.join('\n')}\n`;
}

/** Times in ms with three decimals; without file paths, so that it can be published. */
function toJson(flags: LoadFlags, { vertices, triangles }: Subject, results: Results, problem?: object): string {
  const { server, door, rate, duration, warmUp, deadline, quality } = flags;
  const report = { server, door, rate, duration, warmUp, deadline, quality, vertices, triangles, results, problem };
  const round = (_name: string, value: unknown): unknown => {
    if (typeof value === 'bigint') return Number(value);
    return typeof value === 'number' ? Math.round(value * 1000) / 1000 : value;
  };
  return JSON.stringify(report, round, 2);
}
