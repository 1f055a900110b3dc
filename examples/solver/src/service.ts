import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { type ClientDuplexStream, credentials, loadPackageDefinition, type ServiceError, status } from '@grpc/grpc-js';
import { loadSync } from '@grpc/proto-loader';
import { type Contacts, type ContactsMessage, NO_CONTACTS, readContacts } from './contacts.js';
import type { Model } from './model.js';

/** Parameters of the contract, as its JSON names them; what is absent has the server's default. */
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
  /** of the elements with limits of their strains */
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

export interface Answer {
  /** float64[3·V]: float32 numbers, verified as they are */
  readonly positions: Float64Array;
  readonly contacts: Contacts;
  readonly report: Report;
  /** if asked for: states between which all vertices moved on straight lines, start and answer included */
  readonly path?: readonly Float64Array[];
}

interface StepMessage {
  readonly positions: { readonly data: Uint8Array };
  readonly report: Report;
  readonly contacts?: ContactsMessage | null;
  readonly path?: { readonly positions: { readonly data: Uint8Array } } | null;
}

interface StreamMessage {
  readonly response?: StepMessage;
  readonly error?: { readonly code: string; readonly message: string; readonly hint: string };
}

interface Stub {
  CreateSession(request: object, done: (error: ServiceError | null, session: CreatedSession) => void): void;
  DeleteSession(request: object, done: (error: ServiceError | null) => void): void;
  GetServerInfo(request: object, done: (error: ServiceError | null, info: ServerInfo) => void): void;
  StepStream(): ClientDuplexStream<object, StreamMessage>;
  close(): void;
}

interface ServerInfo {
  readonly algorithmVersion: string;
}

interface CreatedSession {
  readonly id: string;
  readonly resolved: Readonly<Record<string, number | string>>;
}

/** A call that ended so may not have arrived: the connection was lost, or the service is being replaced. */
const LOST: ReadonlySet<number> = new Set([status.UNAVAILABLE, status.INTERNAL, status.CANCELLED, status.UNKNOWN]);
/** times that a target is sent at most */
const ATTEMPTS = 5;
/** ms after which a lost connection is opened again for the first time; it doubles from one time to the next */
const RECONNECT_MS = 200;

/** The stream has ended without an answer. */
class LostStreamError extends Error {}

/**
 * One session of the service, over a gRPC stream: an answer for every target, in order. The session outlives the stream. If the
 * connection is lost, another stream is opened and the same target sent again under the same number: it is computed once.
 */
export class Service {
  #stream: ClientDuplexStream<object, StreamMessage> | undefined;
  #frame = 0;

  private constructor(
    private readonly stub: Stub,
    private readonly session: CreatedSession,
    /** equal requests have answers of equal bytes within one */
    readonly algorithmVersion: string,
  ) {}

  /**
   * @param address host:port of the gRPC door
   * @param start float64[3·V], free of intersections
   * @throws Error with the contract's code when the service refuses
   */
  static async open(address: string, model: Model, start: Float64Array, parameters: Parameters): Promise<Service> {
    const { mesh, masses, isKinematic, parts, limitedRest } = model;
    const stub = makeStub(address);
    const request = {
      mesh: {
        vertexCount: model.vertexCount,
        triangles: bytesOf(mesh.triangles),
        segments: bytesOf(mesh.segments),
        particles: bytesOf(mesh.particles),
        tetrahedra: bytesOf(mesh.tetrahedra),
        masses: bytesOf(Float32Array.from(masses)),
        kinematic: Buffer.from(isKinematic),
        parts,
        ...(limitedRest ? { strainLimits: { rest: positionsOf(limitedRest) } } : {}),
      },
      start: positionsOf(start),
      parameters,
    };
    const session = await new Promise<CreatedSession>((resolve, reject) => {
      stub.CreateSession(request, (error, created) => (error ? reject(error) : resolve(created)));
    });
    const { algorithmVersion } = await new Promise<ServerInfo>((resolve, reject) => {
      stub.GetServerInfo({}, (error, info) => (error ? reject(error) : resolve(info)));
    });
    return new Service(stub, session, algorithmVersion);
  }

  /** A parameter as the service has resolved it for this mesh. */
  parameter(name: string): number {
    return Number(this.session.resolved[name]);
  }

  /**
   * Moves towards y as far as contact allows.
   * @param contactDistance pairs nearer than this in the answer come with it, m
   * @param also what the answer is to carry besides
   * @throws Error with the contract's code when the service refuses
   */
  async step(y: Float64Array, contactDistance: number, also: { readonly path?: boolean } = {}): Promise<Answer> {
    const request = {
      sessionId: this.session.id,
      frame: ++this.#frame,
      target: positionsOf(y),
      include: { contacts: true, contactDistance, ...also },
    };
    for (let attempt = 1; ; attempt++) {
      try {
        return readAnswer(await this.#ask(request));
      } catch (error) {
        if (!(error instanceof LostStreamError) || attempt === ATTEMPTS) throw error;
        await wait(RECONNECT_MS * 2 ** (attempt - 1));
      }
    }
  }

  /** @throws LostStreamError when the stream ends before its answer */
  #ask(request: object): Promise<StepMessage> {
    const stream = this.#openStream();
    return new Promise((resolve, reject) => {
      const settle = (act: () => void): void => {
        stream.off('data', answered).off('error', failed).off('end', ended);
        act();
      };
      const answered = ({ response, error }: StreamMessage): void =>
        settle(() => {
          if (response) resolve(response);
          else reject(new Error(`${error?.code}: ${error?.message} ${error?.hint}`));
        });
      const failed = (error: ServiceError): void =>
        settle(() => reject(LOST.has(error.code) ? new LostStreamError(error.message, { cause: error }) : error));
      const ended = (): void => settle(() => reject(new LostStreamError('The service has ended the stream.')));
      stream.on('data', answered).on('error', failed).on('end', ended);
      stream.write(request);
    });
  }

  /** The stream, or another one where it was lost. */
  #openStream(): ClientDuplexStream<object, StreamMessage> {
    if (this.#stream) return this.#stream;
    const stream = this.stub.StepStream();
    const forget = (): void => {
      if (this.#stream === stream) this.#stream = undefined;
    };
    stream.on('error', forget).on('end', forget); // at any time: between two steps too
    this.#stream = stream;
    return stream;
  }

  async close(): Promise<void> {
    this.#stream?.end();
    await new Promise<void>((resolve) => {
      this.stub.DeleteSession({ sessionId: this.session.id }, () => resolve());
    });
    this.stub.close();
  }
}

const readPositions = ({ data }: { readonly data: Uint8Array }): Float64Array =>
  Float64Array.from(new Float32Array(Uint8Array.from(data).buffer));

const readAnswer = ({ positions, contacts, report, path }: StepMessage): Answer => ({
  positions: readPositions(positions),
  contacts: contacts ? readContacts(contacts) : NO_CONTACTS,
  report,
  ...(path ? { path: readStates(readPositions(path.positions), positions.data.length / 4) } : {}),
});

const readStates = (all: Float64Array, length: number): Float64Array[] =>
  Array.from({ length: all.length / length }, (_, i) => all.subarray(i * length, (i + 1) * length));

const bytesOf = (array: Uint32Array | Float32Array): Buffer =>
  Buffer.from(array.buffer, array.byteOffset, array.byteLength);

const positionsOf = (x: Float64Array) => ({ data: bytesOf(Float32Array.from(x)), scalar: 'FLOAT32' });

const CONTRACT = join('proto', 'interstice', 'v1', 'collision.proto');

/** The contract, in this folder or in one above it. */
function findContract(): string {
  let folder = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(folder, CONTRACT))) {
    const parent = dirname(folder);
    if (parent === folder) throw new Error(`${CONTRACT} was not found in any folder above this program.`);
    folder = parent;
  }
  return join(folder, CONTRACT);
}

function makeStub(address: string): Stub {
  const definition = loadSync(findContract(), { longs: Number, enums: String, defaults: true, oneofs: true });
  const { interstice } = loadPackageDefinition(definition) as unknown as {
    interstice: { v1: { CollisionService: new (...args: unknown[]) => Stub } };
  };
  return new interstice.v1.CollisionService(address, credentials.createInsecure(), {
    'grpc.max_receive_message_length': -1,
    'grpc.max_send_message_length': -1,
    'grpc.initial_reconnect_backoff_ms': RECONNECT_MS,
  });
}
