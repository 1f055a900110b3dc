import { GrpcClient, readStep, StreamClient, timingsOf } from '../../../src/load/grpc-client.js';
import { HttpClient } from '../../../src/load/http-client.js';
import { asBuffer, stepMessage } from '../../../src/load/messages.js';
import { overheadOf, percentile, type Sample } from '../../../src/load/sample.js';
import type { ServerProcess } from '../../prove/server.js';
import type { Cloth } from '../cloth.js';
import type { EchoAddresses } from '../echo.js';
import type { Echoes } from '../echo-process.js';
import { readWork } from '../late-echo.js';

/**
 * The step limit of a short step: of all step limits it is the one after which the fewest vertices are on their
 * targets.
 */
const SHORT_LIMIT = 1;

type Body = Uint8Array;
type Timings = Record<string, number> | undefined;

/** Whole steps end when the method ends, short ones after one iteration. */
export const KINDS = ['whole', 'short'] as const;
export type Kind = (typeof KINDS)[number];

/** A client of one door: it sends the same bytes to the echoes and to the service. */
interface DoorClient {
  /** @returns the received bytes */
  send(body: Body, isShort: boolean): Promise<Uint8Array>;
  /** @returns the timings in the answer; undefined for a refusal */
  step(body: Body, isShort: boolean): Promise<Timings>;
  close(): void;
}

interface Door {
  readonly door: string;
  readonly echo: DoorClient;
  readonly late: DoorClient;
  readonly service: DoorClient;
  /** used in turn */
  readonly bodies: Readonly<Record<Kind, readonly Body[]>>;
}

/** One round: the times for the same bytes with all three, ms. */
export interface Round {
  readonly echo: number;
  /** without the work of its thread */
  readonly late: number;
  readonly step: Sample;
}

/** One door with its measurements. */
export interface Line {
  readonly door: string;
  readonly rounds: Readonly<Record<Kind, readonly Round[]>>;
  /**
   * Measures the echoes and a step; the order alternates.
   *
   * @param counts whether the result is kept @returns ms of the step
   */
  measure(round: number, kind: Kind, counts: boolean): Promise<number>;
  close(): void;
}

type Addresses = Pick<ServerProcess, 'address' | 'grpcAddress'> | EchoAddresses;

/** @param sessions one for each door: http, unary, stream */
export function openLines(cloth: Cloth, sessions: readonly string[], echoes: Echoes, server: Addresses): Line[] {
  const [http, unary, stream] = sessions as [string, string, string];
  const everywhere = (open: (addresses: Addresses) => DoorClient) => ({
    echo: open(echoes.echo),
    late: open(echoes.late),
    service: open(server),
  });
  const bare = cloth.targets.map(asBuffer);
  return [
    { door: 'http', bodies: { whole: bare, short: bare }, ...everywhere((at) => httpClient(at, http)) },
    { door: 'unary', bodies: messagesOf(cloth, unary), ...everywhere(unaryClient) },
    { door: 'stream', bodies: messagesOf(cloth, stream), ...everywhere(streamClient) },
  ].map(lineOf);
}

const messagesOf = ({ targets }: Cloth, session: string) => ({
  whole: targets.map((target) => stepMessage(session, target)),
  short: targets.map((target) => stepMessage(session, target, { stepLimit: SHORT_LIMIT })),
});

function httpClient({ address }: Addresses, session: string): DoorClient {
  const client = new HttpClient(address);
  const override = { 'interstice-override': JSON.stringify({ stepLimit: SHORT_LIMIT }) };
  const post = (body: Body, isShort: boolean) =>
    client.post(`/v1/sessions/${session}/steps`, body, 'application/octet-stream', isShort ? override : {});
  return {
    send: async (body, isShort) => (await post(body, isShort)).body,
    step: async (body, isShort) => (await post(body, isShort)).timings,
    close: () => client.close(),
  };
}

function unaryClient({ grpcAddress }: Addresses): DoorClient {
  const client = new GrpcClient(grpcAddress);
  const send = async (body: Body) => (await client.call('Step', body)).bytes;
  return {
    send: async (body) => (await send(body))!,
    step: async (body) => {
      const bytes = await send(body);
      return bytes && timingsOf(readStep(bytes));
    },
    close: () => client.close(),
  };
}

function streamClient({ grpcAddress }: Addresses): DoorClient {
  const client = new StreamClient(grpcAddress);
  return {
    send: (body) => client.send(body),
    step: async (body) => StreamClient.timingsOf(await client.send(body)),
    close: () => client.close(),
  };
}

function lineOf({ door, bodies, echo, late, service }: Door): Line {
  const rounds: Record<Kind, Round[]> = { whole: [], short: [] };
  return {
    door,
    rounds,
    measure: async (round, kind, counts) => {
      const isShort = kind === 'short';
      const body = bodies[kind][round % 2]!;
      const echoed = async () => {
        const [ms] = await timed(() => echo.send(body, isShort));
        const [lateMs, answer] = await timed(() => late.send(body, isShort));
        return { echo: ms, late: lateMs - readWork(answer) };
      };
      // The second finds the caches of client and kernel in the state that the first has left. Two rounds have the same
      // order, so that neither target is tied to one of them.
      const isEchoFirst = Math.floor(round / 2) % 2 === 0;
      const before = isEchoFirst ? await echoed() : undefined;
      const [ms, timings] = await timed(() => service.step(body, isShort));
      if (!timings) throw new Error('A step of the overhead scenario was refused.');
      const echoes = before ?? (await echoed());
      if (counts) rounds[kind].push({ ...echoes, step: { session: 0, ms, code: 'OK', timings } });
      return ms;
    },
    close: () => {
      for (const client of [echo, late, service]) client.close();
    },
  };
}

async function timed<T>(work: () => Promise<T>): Promise<[ms: number, value: T]> {
  const begun = performance.now();
  const value = await work();
  return [performance.now() - begun, value];
}

/** Medians, ms, except for the share and the ratios. */
export function figuresOf(rounds: readonly Round[]) {
  const median = (of: (round: Round) => number): number => percentile(rounds.map(of), 50);
  const added = median(({ step }) => overheadOf(step));
  const echo = median((round) => round.echo);
  const late = median((round) => round.late);
  return {
    step: median(({ step }) => step.ms),
    echo,
    late,
    added,
    share: median(({ step }) => overheadOf(step) / step.ms),
    echoesAdded: added / echo,
    latesAdded: added / late,
  };
}
