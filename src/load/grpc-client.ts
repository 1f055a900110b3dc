import {
  Client,
  type ClientDuplexStream,
  type ClientUnaryCall,
  credentials,
  Metadata,
  type ServiceError,
} from '@grpc/grpc-js';
import protobuf from 'protobufjs/minimal.js';
import { SESSION_KEY } from '../transport/grpc/call-interceptor.js';
import { SERVICE, SERVICE_DEFINITION } from '../transport/grpc/service.js';
import type { WireMessage } from '../transport/messages/wire-message.js';
import { decodeMessage } from '../transport/protobuf/decode.js';

export type Stream = ClientDuplexStream<Uint8Array, Uint8Array>;

export type Reply =
  | { readonly bytes: Uint8Array; readonly code: 'OK' }
  | { readonly bytes?: undefined; readonly code: string; readonly error: ServiceError };

/** Longest time of a call, ms: beyond it the run fails. */
const PATIENCE_MS = 300_000;

export interface Access {
  readonly apiKey?: string | undefined;
  /** whether to use TLS, with the authorities that Node trusts (NODE_EXTRA_CA_CERTS adds some) */
  readonly isEncrypted?: boolean;
  /** `x-session-id` of every call, on which a proxy may hash */
  readonly routingKey?: string;
}

/** A gRPC client that exchanges bytes: a measurement must not include the work of a client library on messages. */
export class GrpcClient {
  private readonly client: Client;
  private readonly calls = new Set<ClientUnaryCall>();

  /** @param address HOST:PORT */
  constructor(
    address: string,
    private readonly access: Access = {},
  ) {
    const channel = access.isEncrypted ? credentials.createSsl() : credentials.createInsecure();
    this.client = new Client(address, channel, {
      'grpc.max_receive_message_length': -1,
      'grpc.max_send_message_length': -1,
      // A separate connection without hidden retries, so that every refusal is counted.
      'grpc.use_local_subchannel_pool': 1,
      'grpc.enable_retries': 0,
    });
  }

  /**
   * @param session sent before the message, so that a refusal need not wait for the message
   * @param signal cancels the call if aborted
   */
  call(
    name: keyof typeof SERVICE_DEFINITION & string,
    message: Uint8Array,
    session?: string,
    signal?: AbortSignal,
  ): Promise<Reply> {
    const { requestSerialize, responseDeserialize } = SERVICE_DEFINITION.Step;
    const metadata = this.#metadata(session);
    return new Promise((resolve) => {
      const call = this.client.makeUnaryRequest(
        `/${SERVICE}/${name}`,
        requestSerialize,
        responseDeserialize,
        message,
        metadata,
        { deadline: Date.now() + PATIENCE_MS },
        (error, bytes) => {
          this.calls.delete(call);
          resolve(error ? { code: codeOf(error), error } : { code: 'OK', bytes: bytes! });
        },
      );
      this.calls.add(call);
      signal?.addEventListener('abort', () => call.cancel(), { once: true });
    });
  }

  openStream(): Stream {
    const { path, requestSerialize, responseDeserialize } = SERVICE_DEFINITION.StepStream;
    return this.client.makeBidiStreamRequest(path, requestSerialize, responseDeserialize, this.#metadata());
  }

  #metadata(session?: string): Metadata {
    const metadata = new Metadata();
    if (session !== undefined) metadata.set(SESSION_KEY, session);
    if (this.access.routingKey !== undefined) metadata.set('x-session-id', this.access.routingKey);
    if (this.access.apiKey !== undefined) metadata.set('authorization', `Bearer ${this.access.apiKey}`);
    return metadata;
  }

  /** Ends the calls under way; they are answered with `GRPC_1`. */
  cancel(): void {
    for (const call of this.calls) call.cancel();
  }

  close(): void {
    this.client.close();
  }
}

/** The contract's code in the details of a refused call; the library's status if there are none. */
export function codeOf(error: ServiceError): string {
  const [details] = error.metadata?.get('grpc-status-details-bin') ?? [];
  return codeInDetails(Buffer.isBuffer(details) ? details : undefined) ?? `GRPC_${error.code}`;
}

/** Microseconds by stage, from the report of an answer. */
export function timingsOf(answer: WireMessage | undefined): Record<string, number> | undefined {
  const report = answer?.report as WireMessage | undefined;
  return report?.timings as unknown as Record<string, number> | undefined;
}

export const readStep = (bytes: Uint8Array): WireMessage => decodeMessage('StepResponse', bytes);

/** One stream that stays open, one message at a time. */
export class StreamClient {
  private readonly client: GrpcClient;
  private readonly stream: Stream;
  private waiting: { resolve: (bytes: Uint8Array) => void; reject: (reason: Error) => void } | undefined;
  /** the reason why no further message is answered */
  private ended: Error | undefined;

  constructor(address: string, access: Access = {}) {
    this.client = new GrpcClient(address, access);
    this.stream = this.client.openStream();
    this.stream.on('data', (bytes: Uint8Array) => this.waiting?.resolve(bytes));
    // A server may end the stream between two messages, or without an error.
    this.stream.on('error', (error) => this.endWith(error));
    this.stream.on('end', () => this.endWith(new Error('The server has ended the stream.')));
  }

  /** @throws the error that ended the stream; an answer that takes longer than any call may take ends it */
  async send(message: Uint8Array): Promise<Uint8Array> {
    if (this.ended) throw this.ended;
    let timer: NodeJS.Timeout | undefined;
    try {
      return await new Promise((resolve, reject) => {
        this.waiting = { resolve, reject };
        timer = setTimeout(() => this.stream.cancel(), PATIENCE_MS);
        this.stream.write(message);
      });
    } finally {
      clearTimeout(timer);
    }
  }

  private endWith(error: Error): void {
    this.ended ??= error;
    this.waiting?.reject(error);
  }

  /** Ends the stream: a message that waits for its answer, and every later one, is rejected. */
  cancel(): void {
    this.stream.cancel();
  }

  close(): void {
    this.waiting = undefined;
    this.stream.end();
    this.client.close();
  }

  /** Microseconds by stage of an answer; undefined for a refusal. */
  static timingsOf(bytes: Uint8Array): Record<string, number> | undefined {
    const message = decodeMessage('StepStreamResponse', bytes) as Record<string, WireMessage | undefined>;
    return timingsOf(message.response);
  }
}

/** Numbers of the fields that lead to our Error: google.rpc.Status.details, google.protobuf.Any.value. */
const DETAILS = 3;
const VALUE = 2;

/** The contract's code in `grpc-status-details-bin`; undefined if there is none. */
export function codeInDetails(trailer: Uint8Array | undefined): string | undefined {
  const any = trailer && bytesOf(trailer, DETAILS);
  const error = any && bytesOf(any, VALUE);
  return error && String(decodeMessage('Error', error).code);
}

/** The first bytes field with this number. */
function bytesOf(message: Uint8Array, number: number): Uint8Array | undefined {
  const reader = protobuf.Reader.create(message);
  while (reader.pos < reader.len) {
    const tag = reader.uint32();
    if (tag >>> 3 === number) return reader.bytes();
    reader.skipType(tag & 7);
  }
  return undefined;
}
