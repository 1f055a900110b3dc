import { Client, credentials, Metadata, type CallOptions as RpcOptions, type ServiceError } from '@grpc/grpc-js';
import { type CallOptions, isClosedSocket, isLostCall, sendAgainIfLost } from './door.js';
import {
  type Carrier,
  decode,
  encode,
  errorInTrailer,
  type Method,
  type Plain,
  type Returned,
} from './protobuf-door.js';

const TYPE = 'application/x-protobuf';

/** Messages as the bodies of HTTP requests. */
export class HttpCarrier implements Carrier {
  constructor(private readonly address: string) {}

  async call(method: Method, message: Uint8Array, options: CallOptions, session?: string): Promise<Returned> {
    const path = {
      Resolve: 'resolve',
      CreateSession: 'sessions',
      Step: `sessions/${session}/steps`,
      DeleteSession: `sessions/${session}`,
      Check: 'check',
      Untangle: 'untangle',
    }[method];
    const isDeletion = method === 'DeleteSession';
    const terms = {
      method: isDeletion ? 'DELETE' : 'POST',
      headers: {
        accept: `${TYPE}, application/problem+json`,
        ...(isDeletion ? {} : { 'content-type': TYPE }),
        ...(options.requestId ? { 'x-request-id': options.requestId } : {}),
      },
      ...(isDeletion ? {} : { body: message as Uint8Array<ArrayBuffer> }),
      ...(options.signal ? { signal: options.signal } : {}),
    };
    const response = await sendAgainIfLost(() => fetch(`${this.address}/v1/${path}`, terms), isClosedSocket);
    const bytes = new Uint8Array(await response.arrayBuffer());
    if (response.ok) return { bytes };
    const isMessage = response.headers.get('content-type')?.startsWith(TYPE) === true;
    return { error: isMessage ? decode('Error', bytes) : (JSON.parse(Buffer.from(bytes).toString()) as Plain) };
  }

  stepFast(session: string, message: Uint8Array): Promise<Returned> {
    return this.call('Step', message, {}, session);
  }

  close(): void {}
}

const SERVICE = 'interstice.v1.CollisionService';
const asBuffer = (bytes: Uint8Array): Buffer => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
const asIs = (bytes: Buffer): Uint8Array => bytes;
/** ms; far beyond the budget of any request: no answer arrives after it */
const PATIENCE_MS = 600_000;

/** gRPC; the shortest path of a step is one message on a stream of its own. */
export class GrpcCarrier implements Carrier {
  readonly #client: Client;

  constructor(address: string) {
    this.#client = new Client(address, credentials.createInsecure(), {
      'grpc.max_receive_message_length': -1,
      'grpc.max_send_message_length': -1,
      // Without a policy the library repeats only requests that the service never received. That happens here: while
      // the judge computes for minutes it answers no pings, and the service closes the connection.
      'grpc.use_local_subchannel_pool': 1,
    });
  }

  call(method: Method, message: Uint8Array, options: CallOptions): Promise<Returned> {
    return sendAgainIfLost(() => this.#callOnce(method, message, options), isLostCall);
  }

  #callOnce(method: Method, message: Uint8Array, { signal, requestId }: CallOptions): Promise<Returned> {
    const metadata = new Metadata();
    if (requestId) metadata.set('x-request-id', requestId);
    return new Promise((resolve, reject) => {
      const call = this.#client.makeUnaryRequest(
        `/${SERVICE}/${method}`,
        asBuffer,
        asIs,
        message,
        metadata,
        this.#terms(),
        (error, bytes) => {
          if (!error) return resolve({ bytes: bytes! });
          const details = errorOf(error);
          if (details) resolve({ error: details });
          else reject(error);
        },
      );
      signal?.addEventListener('abort', () => call.cancel());
    });
  }

  stepFast(_session: string, message: Uint8Array): Promise<Returned> {
    return sendAgainIfLost(() => this.#streamOnce(message), isLostCall);
  }

  #streamOnce(message: Uint8Array): Promise<Returned> {
    const path = `/${SERVICE}/StepStream`;
    const stream = this.#client.makeBidiStreamRequest(path, asBuffer, asIs, new Metadata(), this.#terms());
    return new Promise((resolve, reject) => {
      stream.on('error', reject);
      stream.on('end', () => reject(new Error('The stream ended without an answer.')));
      stream.on('data', (bytes: Uint8Array) => {
        const { response, error } = decode('StepStreamResponse', bytes) as Record<string, Plain | undefined>;
        if (error) resolve({ error });
        else if (response) resolve({ bytes: encode('StepResponse', response) });
      });
      stream.write(message);
      stream.end();
    });
  }

  close(): void {
    this.#client.close();
  }

  #terms(): RpcOptions {
    return { deadline: Date.now() + PATIENCE_MS };
  }
}

function errorOf(error: ServiceError): Plain | undefined {
  const [details] = error.metadata?.get('grpc-status-details-bin') ?? [];
  return Buffer.isBuffer(details) ? errorInTrailer(details) : undefined;
}
