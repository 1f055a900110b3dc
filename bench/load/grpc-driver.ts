import { setTimeout as wait } from 'node:timers/promises';
import type { WireMessage } from '../../src/transport/messages/wire-message.js';
import { decodeMessage } from '../../src/transport/protobuf/decode.js';
import { type Cloth, type StepTerms, stepMessage } from './cloth.js';
import { GrpcClient, readStep, timingsOf } from './grpc-client.js';
import { shareOf } from './http-driver.js';
import type { Sample } from './sample.js';

export interface GrpcLoad extends StepTerms {
  /** of the gRPC door */
  readonly address: string;
  readonly sessions: readonly string[];
  readonly cloth: Cloth;
  readonly seconds: number;
  /** ends the run after so many steps of each loop or stream, however long they take; absent = after `seconds` */
  readonly steps?: number | undefined;
}

/** What a polite client waits before it asks again where it was refused; without it a refusal costs more than a step. */
const REFUSAL_PAUSE_MS = 100;
/** Calls that share one connection. */
const LOOPS_A_CONNECTION = 32;

export interface UnaryLoad extends GrpcLoad {
  readonly concurrency: number;
  /** ms from one call of a loop to its next, whatever the answers take; absent = the next follows the answer */
  readonly period?: number | undefined;
}

/**
 * Unary steps, so many at a time, each loop over its share of the sessions in turn. With a period the loops take their turns
 * evenly, and a call that had to wait for the one before it has waited since it was due.
 */
export async function runUnary(load: UnaryLoad): Promise<Sample[]> {
  const { address, sessions, cloth, concurrency, period, steps = Number.POSITIVE_INFINITY } = load;
  const samples: Sample[] = [];
  const clients = openClients(address, concurrency);
  const start = performance.now();
  const end = endOf(load, start);
  const loop = async (index: number): Promise<void> => {
    const mine = shareOf(sessions, concurrency, index);
    const client = clients[index % clients.length]!;
    for (let turn = 0; turn < steps; turn++) {
      const due = period === undefined ? performance.now() : start + period * (turn + index / concurrency);
      if (due >= end || performance.now() >= end) return;
      if (due > performance.now()) await wait(due - performance.now());
      const session = mine[turn % mine.length]!;
      const target = cloth.targets[Math.floor(turn / mine.length) % 2]!;
      const message = stepMessage(sessions[session]!, target, load);
      const begun = period === undefined ? performance.now() : due;
      const { code, bytes } = await client.call('Step', message, sessions[session]);
      const ms = performance.now() - begun;
      samples.push({ session, ms, code, timings: bytes && timingsOf(readStep(bytes)) });
      if (code !== 'OK') await wait(REFUSAL_PAUSE_MS);
    }
  };
  await Promise.all(Array.from({ length: concurrency }, (_, index) => loop(index)));
  for (const client of clients) client.close();
  return samples;
}

/** A stream for each session, with so many steps sent and not yet answered. */
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

/** ms at which no further step is sent. */
const endOf = ({ seconds, steps }: GrpcLoad, start: number): number =>
  steps === undefined ? start + seconds * 1000 : Number.POSITIVE_INFINITY;

const openClients = (address: string, loops: number): GrpcClient[] =>
  Array.from({ length: Math.ceil(loops / LOOPS_A_CONNECTION) }, () => new GrpcClient(address));
