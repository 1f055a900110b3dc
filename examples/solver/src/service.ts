import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type ClientDuplexStream, credentials, loadPackageDefinition, type ServiceError } from '@grpc/grpc-js';
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
}

interface StepMessage {
  readonly positions: { readonly data: Uint8Array };
  readonly report: Report;
  readonly contacts?: ContactsMessage | null;
}

interface StreamMessage {
  readonly response?: StepMessage;
  readonly error?: { readonly code: string; readonly message: string; readonly hint: string };
}

interface Stub {
  CreateSession(request: object, done: (error: ServiceError | null, session: CreatedSession) => void): void;
  DeleteSession(request: object, done: (error: ServiceError | null) => void): void;
  StepStream(): ClientDuplexStream<object, StreamMessage>;
  close(): void;
}

interface CreatedSession {
  readonly id: string;
  readonly resolved: Readonly<Record<string, number | string>>;
}

/** One session of the service, over one gRPC stream: an answer for every target, in order. */
export class Service {
  private constructor(
    private readonly stub: Stub,
    private readonly stream: ClientDuplexStream<object, StreamMessage>,
    private readonly session: CreatedSession,
  ) {}

  /**
   * @param address host:port of the gRPC door
   * @param start float64[3·V], free of intersections
   * @throws Error with the contract's code when the service refuses
   */
  static async open(address: string, model: Model, start: Float64Array, parameters: Parameters): Promise<Service> {
    const { mesh, masses, isKinematic, parts } = model;
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
      },
      start: positionsOf(start),
      parameters,
    };
    const session = await new Promise<CreatedSession>((resolve, reject) => {
      stub.CreateSession(request, (error, created) => (error ? reject(error) : resolve(created)));
    });
    return new Service(stub, stub.StepStream(), session);
  }

  /** A parameter as the service has resolved it for this mesh. */
  parameter(name: string): number {
    return Number(this.session.resolved[name]);
  }

  /**
   * Moves towards y as far as contact allows.
   * @param contactDistance pairs nearer than this in the answer come with it, m
   * @throws Error with the contract's code when the service refuses
   */
  step(y: Float64Array, contactDistance: number): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const settle = (act: () => void): void => {
        this.stream.removeAllListeners('data').removeAllListeners('error').removeAllListeners('end');
        act();
      };
      this.stream.once('data', ({ response, error }: StreamMessage) =>
        settle(() => {
          if (response) resolve(readAnswer(response));
          else reject(new Error(`${error?.code}: ${error?.message} ${error?.hint}`));
        }),
      );
      this.stream.once('error', (error) => settle(() => reject(error)));
      this.stream.once('end', () => settle(() => reject(new Error('The service has ended the stream.'))));
      this.stream.write({
        sessionId: this.session.id,
        target: positionsOf(y),
        include: { contacts: true, contactDistance },
      });
    });
  }

  async close(): Promise<void> {
    this.stream.on('error', () => {}); // what it says no longer matters
    this.stream.end();
    await new Promise<void>((resolve) => {
      this.stub.DeleteSession({ sessionId: this.session.id }, () => resolve());
    });
    this.stub.close();
  }
}

const readAnswer = ({ positions, contacts, report }: StepMessage): Answer => ({
  positions: Float64Array.from(new Float32Array(Uint8Array.from(positions.data).buffer)),
  contacts: contacts ? readContacts(contacts) : NO_CONTACTS,
  report,
});

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
  });
}
