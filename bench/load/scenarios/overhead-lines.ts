import type { ServerProcess } from '../../prove/server.js';
import { asBuffer, type Cloth, stepMessage } from '../cloth.js';
import type { EchoAddresses } from '../echo.js';
import { GrpcClient, readStep, timingsOf } from '../grpc-client.js';
import { HttpClient } from '../http-client.js';
import { overheadOf, percentile, type Sample } from '../sample.js';
import { StreamClient } from '../stream-client.js';

/**
 * The limit of a short step. What a step costs besides search, geometry, backward, forward and verification does not depend
 * on how many iterations it makes; after one more vertices are still under way than after all of them, which makes the
 * report dearer, never cheaper.
 */
const SHORT_LIMIT = 1;

type Body = Uint8Array;
type Timings = Record<string, number> | undefined;

/** How one door is asked: the same bytes to the echo and to the service. */
interface Door {
  readonly door: string;
  readonly echo: (body: Body, isShort: boolean) => Promise<unknown>;
  readonly step: (body: Body, isShort: boolean) => Promise<Timings>;
  /** by turns, whole and short */
  readonly whole: readonly Body[];
  readonly short: readonly Body[];
  readonly close: () => void;
}

/** One door with what was measured at it. */
export interface Line {
  readonly door: string;
  /** ms of the echoes beside the short steps */
  readonly echoes: readonly number[];
  readonly short: readonly Sample[];
  readonly whole: readonly Sample[];
  /** One echo and one step, either first by turns. @returns ms of the step */
  measure(round: number, kind: 'warmUp' | 'whole' | 'short'): Promise<number>;
  close(): void;
}

/** @param sessions one for each door: http, unary, stream */
export function openLines(
  cloth: Cloth,
  sessions: readonly string[],
  echo: EchoAddresses,
  server: Pick<ServerProcess, 'address' | 'grpcAddress'>,
): Line[] {
  const [http, unary, stream] = sessions as [string, string, string];
  return [
    httpDoor(cloth, http, echo.address, server.address),
    unaryDoor(cloth, unary, echo.grpcAddress, server.grpcAddress),
    streamDoor(cloth, stream, echo.grpcAddress, server.grpcAddress),
  ].map(lineOf);
}

function httpDoor({ targets }: Cloth, session: string, echoAddress: string, address: string): Door {
  const [echo, service] = [new HttpClient(echoAddress), new HttpClient(address)];
  const path = `/v1/sessions/${session}/steps`;
  const override = { 'interstice-override': JSON.stringify({ stepLimit: SHORT_LIMIT }) };
  const post = (client: HttpClient, body: Body, isShort: boolean) =>
    client.post(path, body, 'application/octet-stream', isShort ? override : {});
  const bodies = targets.map(asBuffer);
  return {
    door: 'http',
    whole: bodies,
    short: bodies,
    echo: (body, isShort) => post(echo, body, isShort),
    step: async (body, isShort) => (await post(service, body, isShort)).timings,
    close: () => {
      for (const client of [echo, service]) client.close();
    },
  };
}

const messagesOf = ({ targets }: Cloth, session: string) => ({
  whole: targets.map((target) => stepMessage(session, target)),
  short: targets.map((target) => stepMessage(session, target, { stepLimit: SHORT_LIMIT })),
});

function unaryDoor(cloth: Cloth, session: string, echoAddress: string, address: string): Door {
  const [echo, service] = [new GrpcClient(echoAddress), new GrpcClient(address)];
  return {
    door: 'unary',
    ...messagesOf(cloth, session),
    echo: (body) => echo.call('Step', body),
    step: async (body) => {
      const { bytes } = await service.call('Step', body);
      return bytes && timingsOf(readStep(bytes));
    },
    close: () => {
      for (const client of [echo, service]) client.close();
    },
  };
}

function streamDoor(cloth: Cloth, session: string, echoAddress: string, address: string): Door {
  const [echo, service] = [new StreamClient(echoAddress), new StreamClient(address)];
  return {
    door: 'stream',
    ...messagesOf(cloth, session),
    echo: (body) => echo.send(body),
    step: async (body) => StreamClient.timingsOf(await service.send(body)),
    close: () => {
      for (const client of [echo, service]) client.close();
    },
  };
}

function lineOf(door: Door): Line {
  const echoes: number[] = [];
  const samples = { short: [] as Sample[], whole: [] as Sample[] };
  return {
    door: door.door,
    echoes,
    ...samples,
    measure: async (round, kind) => {
      const isShort = kind !== 'whole';
      const body = (isShort ? door.short : door.whole)[round % 2]!;
      const echo = async (): Promise<number> => {
        const begun = performance.now();
        await door.echo(body, isShort);
        return performance.now() - begun;
      };
      const step = async (): Promise<Sample> => {
        const begun = performance.now();
        const timings = await door.step(body, isShort);
        const ms = performance.now() - begun;
        if (!timings) throw new Error('a step of the overhead scenario was refused');
        return { session: 0, ms, code: 'OK', timings };
      };
      // Whoever comes second finds the caches of client and kernel as the first has left them. Two rounds have one order,
      // so that neither target goes with one of them.
      const isEchoFirst = Math.floor(round / 2) % 2 === 0;
      let echoed = isEchoFirst ? await echo() : 0;
      const sample = await step();
      if (!isEchoFirst) echoed = await echo();
      if (kind === 'short') echoes.push(echoed);
      if (kind !== 'warmUp') samples[kind].push(sample);
      return sample.ms;
    },
    close: door.close,
  };
}

const median = (values: readonly number[]): number => percentile(values, 50);

/** ms, but for the two ratios. The share is that of whole steps, the rest comes from the many short ones. */
export function figuresOf({ echoes, short, whole }: Pick<Line, 'echoes' | 'short' | 'whole'>) {
  const added = median(short.map(overheadOf));
  const echo = median(echoes);
  return {
    step: median(whole.map(({ ms }) => ms)),
    echo,
    added,
    share: median(whole.map((sample) => overheadOf(sample) / sample.ms)),
    echoesAdded: added / echo,
  };
}
