import {
  type ChannelCredentials,
  Client,
  type ClientDuplexStream,
  credentials,
  Metadata,
  type ServiceError,
} from '@grpc/grpc-js';
import { pino } from 'pino';
import protobuf from 'protobufjs';
import type { Test } from 'tap';
import { OPERATIONS } from '../../../src/contract/operation-table.js';
import type { OperationName, Operations } from '../../../src/contract/operations.js';
import type { GrpcOptions } from '../../../src/transport/grpc/options.js';
import { buildGrpcServer } from '../../../src/transport/grpc/server.js';
import { SERVICE } from '../../../src/transport/grpc/service.js';
import { BodyLedger } from '../../../src/transport/intake/body-ledger.js';
import type { WireMessage } from '../../../src/transport/messages/wire-message.js';
import { decodeMessage } from '../../../src/transport/protobuf/decode.js';
import { encodeMessage } from '../../../src/transport/protobuf/encode.js';
import { ServiceState } from '../../../src/transport/service-state.js';
import { FakeOperations } from '../fake-operations.js';

/** A ready gRPC door on loopback, closed with the test; its log lines are kept. */
export async function openGrpc<T extends Operations = FakeOperations>(
  t: Test,
  options: Partial<GrpcOptions> & { operations?: T } = {},
  channel: ChannelCredentials = credentials.createInsecure(),
) {
  const operations = (options.operations ?? new FakeOperations()) as T;
  const state = new ServiceState();
  state.move('ready', 'The service takes requests.');
  const lines: Record<string, unknown>[] = [];
  const log = pino({ level: 'info' }, { write: (line: string) => void lines.push(JSON.parse(line)) });
  const server = buildGrpcServer({
    state,
    maxMessageBytes: 65536,
    log,
    bodies: new BodyLedger(0),
    ...options,
    operations,
  });
  const port = await server.listen('127.0.0.1', 0);
  const client = new Client(`localhost:${port}`, channel, { 'grpc.enable_retries': 0 });
  t.teardown(async () => {
    client.close();
    await server.close(0);
  });
  return { operations, state, lines, server, port, client };
}

export const asBuffer = (bytes: Uint8Array): Buffer => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
const asIs = (bytes: Buffer): Buffer => bytes;

export interface UnaryOptions {
  readonly metadata?: Record<string, string>;
  readonly deadline?: number;
  /** gets a function that cancels the call */
  readonly onStart?: (cancel: () => void) => void;
}

export interface UnaryResult {
  readonly error: ServiceError | undefined;
  readonly bytes: Buffer | undefined;
  /** first headers of the answer; undefined when it had none but trailers */
  readonly headers: Metadata | undefined;
}

/** One unary call in bytes. */
export function callRaw(client: Client, method: string, body: Uint8Array, options: UnaryOptions = {}) {
  return new Promise<UnaryResult>((resolve) => {
    const metadata = new Metadata();
    for (const [name, value] of Object.entries(options.metadata ?? {})) metadata.set(name, value);
    let headers: Metadata | undefined;
    const call = client.makeUnaryRequest(
      `/${SERVICE}/${method}`,
      asBuffer,
      asIs,
      body,
      metadata,
      options.deadline === undefined ? {} : { deadline: options.deadline },
      (error, bytes) => resolve({ error: error ?? undefined, bytes, headers }),
    );
    call.on('metadata', (given: Metadata) => {
      headers = given;
    });
    options.onStart?.(() => call.cancel());
  });
}

/** One unary call in messages of the contract. */
export async function call(client: Client, operation: OperationName, message: object, options: UnaryOptions = {}) {
  const { grpcMethod, request, response } = OPERATIONS[operation];
  const result = await callRaw(client, grpcMethod, encodeMessage(request, message), options);
  return { ...result, answer: result.bytes ? decodeMessage(response, result.bytes) : undefined };
}

/** google.rpc.Status, written down once more so that the encoder is not its own judge. */
const RPC = protobuf.parse(`
  syntax = "proto3";
  message Any { string type_url = 1; bytes value = 2; }
  message Status { int32 code = 1; string message = 2; repeated Any details = 3; }
`).root;

export interface Details {
  readonly bytes: number;
  readonly code: number;
  readonly message: string;
  readonly typeUrl: string;
  readonly error: WireMessage;
}

/** What a refused call carries in its trailers. */
export function detailsOf(error: ServiceError | undefined): Details {
  const [bytes] = error?.metadata.get('grpc-status-details-bin') ?? [];
  if (!Buffer.isBuffer(bytes)) throw new Error(`no details: ${error}`);
  return readDetails(bytes);
}

export function readDetails(bytes: Uint8Array): Details {
  const status = RPC.lookupType('Status').decode(bytes) as unknown as {
    code: number;
    message: string;
    details: { typeUrl: string; value: Uint8Array }[];
  };
  const [detail] = status.details;
  return {
    bytes: bytes.byteLength,
    code: status.code,
    message: status.message,
    typeUrl: detail!.typeUrl,
    error: decodeMessage('Error', detail!.value),
  };
}

/** A step stream in messages, whose answers can be awaited one by one. */
export class TestStream {
  readonly call: ClientDuplexStream<Uint8Array, Buffer>;
  readonly answers: WireMessage[] = [];
  readonly ended: Promise<ServiceError | undefined>;
  #wake: () => void = () => {};

  constructor(client: Client, metadata = new Metadata()) {
    this.call = client.makeBidiStreamRequest(`/${SERVICE}/StepStream`, asBuffer, asIs, metadata);
    this.call.on('data', (bytes: Buffer) => {
      this.answers.push(decodeMessage('StepStreamResponse', bytes));
      this.#wake();
    });
    this.ended = new Promise((resolve) => {
      this.call.on('error', (error: ServiceError) => resolve(error));
      this.call.on('end', () => resolve(undefined));
    });
  }

  send(message: object): void {
    this.call.write(encodeMessage('StepRequest', message));
  }

  /** Waits until there are so many answers. */
  async until(count: number): Promise<readonly WireMessage[]> {
    while (this.answers.length < count) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    return this.answers;
  }
}

/** A promise with its handles outside. */
export function deferred<T = void>() {
  let resolve: (value: T) => void = () => {};
  let reject: (reason: unknown) => void = () => {};
  const promise = new Promise<T>((yes, no) => {
    resolve = yes;
    reject = no;
  });
  return { promise, resolve, reject };
}
