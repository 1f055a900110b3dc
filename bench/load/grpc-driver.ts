import { setTimeout as wait } from 'node:timers/promises';
import { drive } from '../../src/load/drive.js';
import { GrpcClient, readStep, timingsOf } from '../../src/load/grpc-client.js';
import { type StepTerms, stepMessage } from '../../src/load/messages.js';
import type { Sample } from '../../src/load/sample.js';
import type { WireMessage } from '../../src/transport/messages/wire-message.js';
import { decodeMessage } from '../../src/transport/protobuf/decode.js';
import type { Cloth } from './cloth.js';
import { shareOf } from './http-driver.js';

export interface GrpcLoad extends StepTerms {
  /** of the gRPC port */
  readonly address: string;
  readonly sessions: readonly string[];
  readonly cloth: Cloth;
  readonly seconds: number;
  /** ends the run after this many steps of each loop or stream, however long they take; absent = after `seconds` */
  readonly steps?: number | undefined;
}

/** The pause of a polite client before it repeats a refused request; without it a refusal costs more than a step. */
const REFUSAL_PAUSE_MS = 100;
/** Calls that share one connection. */
const LOOPS_A_CONNECTION = 32;

export interface UnaryLoad extends GrpcLoad {
  readonly concurrency: number;
  /** ms from one call of a loop to the next, however long the answers take; absent = the next follows the answer */
  readonly period?: number | undefined;
}

/** Runs unary steps in this many loops, each of which serves its share of the sessions in turn. */
export async function runUnary(load: UnaryLoad): Promise<Sample[]> {
  const { address, sessions, cloth, concurrency } = load;
  const clients = openClients(address, concurrency);
  const shares = Array.from({ length: concurrency }, (_, loop) => shareOf(sessions, concurrency, loop));
  const samples = await drive(
    async (loop, turn) => {
      const mine = shares[loop]!;
      const session = mine[turn % mine.length]!;
      const target = cloth.targets[Math.floor(turn / mine.length) % 2]!;
      const message = stepMessage(sessions[session]!, target, load);
      const { code, bytes } = await clients[loop % clients.length]!.call('Step', message, sessions[session]);
      return { session, code, timings: bytes && timingsOf(readStep(bytes)) };
    },
    { ...load, loops: concurrency },
  );
  for (const client of clients) client.close();
  return samples;
}

/** Runs a stream for each session, with this many steps sent but not yet answered. */
export async function runStreams(load: GrpcLoad & { readonly window: number }): Promise<Sample[]> {
  const clients = openClients(load.address, load.sessions.length);
  const end = endOf(load, performance.now());
  const runs = load.sessions.map((_, session) => runStream(load, session, clients[session % clients.length]!, end));
  const samples = (await Promise.all(runs)).flat();
  for (const client of clients) client.close();
  return samples;
}

function runStream(
  load: GrpcLoad & { readonly window: number },
  session: number,
  client: GrpcClient,
  end: number,
): Promise<Sample[]> {
  const id = load.sessions[session]!;
  const samples: Sample[] = [];
  const sent: number[] = [];
  const stream = client.openStream();
  const send = (): void => {
    if (performance.now() >= end || sent.length === load.steps) {
      if (sent.length === samples.length) stream.end();
      return;
    }
    sent.push(performance.now());
    stream.write(stepMessage(id, load.cloth.targets[sent.length % 2]!, load));
  };
  return new Promise((resolve, reject) => {
    stream.on('data', (bytes: Uint8Array) => {
      const ms = performance.now() - sent[samples.length]!;
      const { response, error } = decodeMessage('StepStreamResponse', bytes) as Record<string, WireMessage | undefined>;
      samples.push({ session, ms, code: error ? String(error.code) : 'OK', timings: timingsOf(response) });
      if (error) void wait(REFUSAL_PAUSE_MS).then(send);
      else send();
    });
    stream.on('error', reject);
    stream.on('end', () => resolve(samples));
    for (let i = 0; i < load.window; i++) send();
  });
}

/** Time in ms after which no further step is sent. */
const endOf = ({ seconds, steps }: GrpcLoad, start: number): number =>
  steps === undefined ? start + seconds * 1000 : Number.POSITIVE_INFINITY;

const openClients = (address: string, loops: number): GrpcClient[] =>
  Array.from({ length: Math.ceil(loops / LOOPS_A_CONNECTION) }, () => new GrpcClient(address));
