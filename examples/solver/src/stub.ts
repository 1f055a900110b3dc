import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  type ChannelCredentials,
  type ClientDuplexStream,
  credentials,
  loadPackageDefinition,
  type Metadata,
  type ServiceError,
} from '@grpc/grpc-js';
import { loadSync, type PackageDefinition } from '@grpc/proto-loader';
import type { ContactsMessage } from './contacts.js';

/** Parameters of the contract, with their names in JSON; the server's default replaces an absent one. */
export type Parameters = Readonly<Record<string, number | string>>;

/** The fields of the contract's Report that this solver reads. Lengths in m, times in µs. */
export interface Report {
  readonly status: 'CONVERGED' | 'STALLED' | 'STEP_LIMIT' | 'DEADLINE';
  readonly steps: number;
  readonly searches: number;
  readonly proximitySetReused: boolean;
  readonly residual: number;
  readonly unfinishedVertices: number;
  readonly unreachedKinematic: number;
  readonly distanceToTargetMax: number;
  readonly distanceToTargetRms: number;
  readonly maxStretch: number;
  readonly overlongEdges: number;
  /** of the elements with strain limits */
  readonly strain?: { readonly violated: number; readonly min: number; readonly max: number } | null;
  readonly minDistance?: number;
  readonly touchingPairs: number;
  readonly verification: { readonly fellBack: boolean };
  readonly pullBack?: { readonly steps: number } | null;
  readonly timings: Readonly<Record<string, number>>;
  readonly engine: string;
  readonly version: string;
  readonly warnings: readonly { readonly code: string; readonly message: string }[];
  readonly limitingPairs: readonly { readonly kind: string; readonly a: number[]; readonly b: number[] }[];
}

export type Scalar = 'FLOAT32' | 'FLOAT64';

export interface Positions {
  readonly data: Uint8Array;
  readonly scalar: Scalar;
}

export interface StepMessage {
  readonly positions: Positions;
  readonly report: Report;
  readonly contacts?: ContactsMessage | null;
  readonly path?: { readonly positions: Positions } | null;
}

/** The part of the contract's Error that is read here. */
export interface Refusal {
  readonly code: string;
  readonly message: string;
  readonly hint: string;
  /** the same request may succeed later: the queue is full, a device is being reopened */
  readonly retryable: boolean;
  readonly retryAfter?: { readonly seconds: number; readonly nanos: number } | null;
}

export interface StreamMessage {
  readonly response?: StepMessage;
  readonly error?: Refusal;
}

export interface Stub {
  CreateSession(
    request: object,
    metadata: Metadata,
    done: (error: ServiceError | null, session: CreatedSession) => void,
  ): void;
  DeleteSession(request: object, metadata: Metadata, done: (error: ServiceError | null) => void): void;
  GetServerInfo(
    request: object,
    metadata: Metadata,
    done: (error: ServiceError | null, info: ServerInfo) => void,
  ): void;
  StepStream(metadata: Metadata): ClientDuplexStream<object, StreamMessage>;
  close(): void;
}

/** Access to a service that is not open to everyone. */
export interface Access {
  /** API key, if the service requires one */
  readonly apiKey?: string | undefined;
  /** default: without TLS */
  readonly channel?: ChannelCredentials;
}

export interface ServerInfo {
  readonly algorithmVersion: string;
}

export interface CreatedSession {
  readonly id: string;
  readonly resolved: Readonly<Record<string, number | string>>;
}

/** ms after which a lost connection is first reopened; it doubles with every attempt */
export const RECONNECT_MS = 200;

const CONTRACT = join('proto', 'interstice', 'v1', 'collision.proto');

/** Returns the contract, in this folder or in one above it. */
function findContract(): string {
  let folder = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(folder, CONTRACT))) {
    const parent = dirname(folder);
    if (parent === folder)
      throw new Error(`${CONTRACT}, the contract of the service, is in no folder above this program.`);
    folder = parent;
  }
  return join(folder, CONTRACT);
}

export const loadContract = (): PackageDefinition =>
  loadSync(findContract(), { longs: Number, enums: String, defaults: true, oneofs: true });

/** Returns the calls of the contract, over one channel. @param address host:port of the gRPC server */
export function makeStub(address: string, channel: ChannelCredentials = credentials.createInsecure()): Stub {
  const { interstice } = loadPackageDefinition(loadContract()) as unknown as {
    interstice: { v1: { CollisionService: new (...args: unknown[]) => Stub } };
  };
  return new interstice.v1.CollisionService(address, channel, {
    'grpc.max_receive_message_length': -1,
    'grpc.max_send_message_length': -1,
    'grpc.initial_reconnect_backoff_ms': RECONNECT_MS,
  });
}
